// The system's LMDB, found through pkg-config.
#include <lmdb.h>
#ifdef __linux__
// What Swift's Glibc module leaves out: statfs(2) and, without _GNU_SOURCE, fallocate(2).
#include <sys/vfs.h>
int fallocate(int descriptor, int mode, off_t offset, off_t length);
#endif
// Asks the processor for a line of memory that will be read soon, which Swift has no word for. Harmless for any address.
static inline void prefetch(const void *address) { __builtin_prefetch(address); }
