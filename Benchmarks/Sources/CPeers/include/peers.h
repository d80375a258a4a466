// The engines that Holdfast is compared with, behind one interface whose loops run in C++: no call from Swift, no
// copy and no allocation is counted against a peer.
#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer peer;
typedef struct peer_reader peer_reader;

// When a commit is safe. Each engine has its documented options for it; they are named in its file.
typedef enum { PEER_PROCESS_CRASH_SAFE = 1, PEER_POWER_LOSS_SAFE = 2 } peer_durability;

// Keys of equal length, one after the other.
typedef struct {
  const uint8_t *bytes;
  size_t length;
  size_t count;
} peer_keys;

typedef enum { PEER_READ, PEER_UPDATE, PEER_SCAN, PEER_READ_MODIFY_WRITE } peer_operation_kind;
typedef struct {
  uint32_t kind;    // a peer_operation_kind
  uint32_t key;     // index of the key, and of the value
  uint32_t length;  // records of a scan
} peer_operation;

// The message of the last call that failed on this thread. All calls return 0, or -1 when they fail.
const char *peer_message(void);
// The version of an engine, for the report; empty if there is no such engine.
const char *peer_version(const char *engine);

// Opens or makes a store. `records` is how many it will hold, which some engines must be told to be at their best.
int peer_open(const char *engine, const char *directory, peer_durability durability, size_t records, peer **result);
void peer_close(peer *);
// Finishes what the engine does in the background: checkpoints, compactions.
int peer_settle(peer *);
// Writes records, `per_commit` in a transaction each. `value_length` bytes of `values` belong to each key.
int peer_put(peer *, peer_keys keys, const uint8_t *values, size_t value_length, size_t per_commit);
// The same for rising keys that are above all others, where an engine has a faster call for that.
int peer_append(peer *, peer_keys keys, const uint8_t *values, size_t value_length, size_t per_commit);
int peer_remove(peer *, peer_keys keys, size_t per_commit);
int peer_flush(peer *);

// One for each thread. `sum` is made of the first and last eight bytes of each value: proof that all was read.
int peer_reader_open(peer *, peer_reader **result);
void peer_reader_close(peer_reader *);
// Each key in a snapshot of its own.
int peer_get(peer_reader *, peer_keys keys, uint64_t *sum);
// All keys in one snapshot, one call each.
int peer_get_in_snapshot(peer_reader *, peer_keys keys, uint64_t *sum);
// Groups of `group` keys, each in a snapshot of its own, with the engine's call for many keys where it has one.
int peer_get_groups(peer_reader *, peer_keys keys, size_t group, uint64_t *sum);
// As many records as `limit` from the first key at or after `key` (`length` 0: from the first of all), in order.
int peer_scan(peer_reader *, const uint8_t *key, size_t length, size_t limit, uint64_t *sum);
int peer_run(peer *, peer_reader *, peer_keys keys, const uint8_t *values, size_t value_length,
             const peer_operation *operations, size_t count, uint64_t *sum);

#ifdef __cplusplus
}
#endif
#endif
