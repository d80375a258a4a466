// Disk caches as one would build them on another engine: each value is copied out, each write is a commit without a
// flush (process-crash-safe).
#ifndef BLOBS_H
#define BLOBS_H

#include "peers.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blobs blobs;

// Engines: yycache (its SQL, pragmas and file discipline), sqlite, sqlite-16k, files, rocksdb, lmdb.
int blobs_open(const char *engine, const char *directory, blobs **result);
void blobs_close(blobs *);
int blobs_set(blobs *, peer_keys keys, const uint8_t *values, size_t length);
// `sum` is that of the values' first and last eight bytes, after a copy of the whole.
int blobs_get(blobs *, peer_keys keys, uint64_t *sum);
// The same without a copy of ours: the value is touched where the engine has it. Files have to be read all the same.
int blobs_get_in_place(blobs *, peer_keys keys, uint64_t *sum);
int blobs_remove(blobs *, peer_keys keys);

#ifdef __cplusplus
}
#endif
#endif
