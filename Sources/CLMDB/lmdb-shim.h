// The system's LMDB, found through pkg-config.
#include <lmdb.h>
#ifdef __linux__
// What Swift's Glibc module leaves out: statfs(2) and, without _GNU_SOURCE, fallocate(2).
#include <sys/vfs.h>
int fallocate(int descriptor, int mode, off_t offset, off_t length);

// The device and the inode at a path and nothing else: after a look at its times, the next write to a file has to note and
// flush a new one, which costs a quarter of a commit. -1 if there is nothing.
#include <fcntl.h>
#include <linux/stat.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
static inline int clmdb_identity(const char *path, uint64_t *device, uint64_t *inode) {
  struct statx found;
  if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO, &found) != 0) return -1;
  *device = makedev(found.stx_dev_major, found.stx_dev_minor);
  *inode = found.stx_ino;
  return 0;
}
#endif
// Has the processor fetch what lies at an address, without waiting for it.
static inline void clmdb_prefetch(const void *address) { __builtin_prefetch(address); }
