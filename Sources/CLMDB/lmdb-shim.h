// The system's LMDB, found through pkg-config.
#include <lmdb.h>
#ifdef __linux__
// What Swift's Glibc module leaves out: statfs(2) and, without _GNU_SOURCE, fallocate(2).
#include <sys/vfs.h>
int fallocate(int descriptor, int mode, off_t offset, off_t length);
#endif
