// The system's LMDB, found through pkg-config.
#include <lmdb.h>
#ifdef __linux__
// What Swift's Glibc module leaves out: statfs(2) and, without _GNU_SOURCE, fallocate(2).
#include <sys/vfs.h>
int fallocate(int descriptor, int mode, off_t offset, off_t length);
#endif
// Has the processor fetch what lies at an address, without waiting for it.
static inline void clmdb_prefetch(const void *address) { __builtin_prefetch(address); }
