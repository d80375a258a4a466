// The system's LMDB, found through pkg-config.
#include <lmdb.h>
#ifdef __linux__
// statfs(2), which Swift's Glibc module leaves out.
#include <sys/vfs.h>
#endif
