// The system's LMDB, found through pkg-config.
#include <lmdb.h>
