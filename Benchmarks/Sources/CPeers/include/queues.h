// Outboxes as one would build them on another engine, with what ours does for an entry: a row for the entry, its state,
// its place in its lane and the time at which it is due.
#ifndef QUEUES_H
#define QUEUES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct queue queue;

// Engines: lmdb, sqlite, rocksdb; each commit is flushed. Calls return 0, or -1 with peer_message().
int queue_open(const char *engine, const char *directory, queue **result);
void queue_close(queue *);
// Adds entries, each in a lane of its own, `per_commit` in a transaction each.
int queue_enqueue(queue *, const uint8_t *payload, size_t length, size_t count, size_t per_commit);
// Takes up to `batch` entries that are due and marks them in one transaction, then removes them: all in a second one,
// or each in its own. `taken` is how many there were.
int queue_take(queue *, size_t batch, int acknowledges_alone, size_t *taken);
// Removes entries that were taken, and takes and marks up to `limit` others, in one transaction: with a delivery between
// two calls, a commit for each batch. `ids` has room for `limit`; `taken` is how many there were.
int queue_exchange(queue *, const uint64_t *delivered, size_t count, size_t limit, uint64_t *ids, size_t *taken);

// What the disk itself gives: overwrites 4 KiB of a file and flushes, `count` times.
int disk_floor(const char *path, size_t count);

#ifdef __cplusplus
}
#endif
#endif
