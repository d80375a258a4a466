// Records what a program writes below one directory, and when it asks for it to be flushed.
//
//   cc -shared -fPIC -O2 -o recorder.so recorder.c -ldl
//   CRASHLAB_DIRECTORY=/abs/dir CRASHLAB_LOG=/abs/log LD_PRELOAD=./recorder.so PROGRAM
//
// The log is a row of records: kind (1 byte), length of the path (u32), path relative to the directory, offset (u64),
// length of the data (u64), data. Numbers in the machine's order. Kinds:
//   c  a file was made, or emptied       w  data at an offset           d  the same, flushed before it returned
//   s  a file or directory was flushed   t  the file has `offset` bytes  r  renamed to the path in the data
//   u  a name was removed                m  a directory was made         a  the program's own note, in the data
// What is written to a file called "notes" is a note: it tells how far the program thinks it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most_files = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -2;
static const char *directory;
static char *names[most_files];
static int is_flushed[most_files];

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static void start(void) {
  if (log_file != -2) return;
  directory = getenv("CRASHLAB_DIRECTORY");
  const char *path = getenv("CRASHLAB_LOG");
  if (!directory || !path) {
    log_file = -1;
    return;
  }
  log_file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// The path below the directory, or NULL.
static const char *inside(const char *path) {
  start();
  if (log_file < 0 || !path) return NULL;
  size_t length = strlen(directory);
  if (strncmp(path, directory, length)) return NULL;
  if (path[length] == 0) return ".";
  return path[length] == '/' ? path + length + 1 : NULL;
}

static const char *name_of(int fd) {
  return fd >= 0 && fd < most_files ? names[fd] : NULL;
}

static void record(char kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
  uint32_t path_length = (uint32_t)strlen(path);
  struct iovec parts[] = {
      {&kind, 1}, {&path_length, 4}, {(void *)path, path_length}, {&offset, 8}, {&length, 8}, {(void *)data, length}};
  size_t total = 21 + path_length + length;
  if ((size_t)syscall(SYS_writev, log_file, parts, 6) != total) {
    static const char text[] = "crashlab: the log cannot be written\n";
    syscall(SYS_write, 2, text, sizeof text - 1);
    _exit(70);
  }
}

static void record_write(int fd, uint64_t offset, const void *data, uint64_t length) {
  const char *name = name_of(fd);
  const char *base = strrchr(name, '/');
  int is_note = !strcmp(base ? base + 1 : name, "notes");
  record(is_note ? 'a' : is_flushed[fd] ? 'd' : 'w', name, offset, data, length);
}

static void remember(int fd, const char *path, int flags, int was_there) {
  if (fd < 0 || fd >= most_files) return;
  free(names[fd]);
  names[fd] = path ? strdup(path) : NULL;
  is_flushed[fd] = path && (flags & (O_SYNC | O_DSYNC)) != 0;
  if (path && (!was_there || (flags & O_TRUNC)) && (flags & O_CREAT)) record('c', path, 0, NULL, 0);
}

static int opened(int (*call)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  const char *name = inside(path);
  struct stat status;
  pthread_mutex_lock(&lock);
  int was_there = name && !stat(path, &status);
  int fd = call(path, flags, mode);
  int error = errno;
  remember(fd, name, flags, was_there);
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    return opened(next, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  NEXT(close);
  pthread_mutex_lock(&lock);
  if (name_of(fd)) {
    free(names[fd]);
    names[fd] = NULL;
  }
  pthread_mutex_unlock(&lock);
  return next(fd);
}

ssize_t write(int fd, const void *data, size_t count) {
  NEXT(write);
  if (!name_of(fd)) return next(fd, data, count);
  pthread_mutex_lock(&lock);
  off_t offset = lseek(fd, 0, SEEK_CUR);
  ssize_t done = next(fd, data, count);
  if (done > 0) record_write(fd, (uint64_t)offset, data, (uint64_t)done);
  pthread_mutex_unlock(&lock);
  return done;
}

#define PWRITE(name, offset_type) \
  ssize_t name(int fd, const void *data, size_t count, offset_type offset) { \
    NEXT(name); \
    if (!name_of(fd)) return next(fd, data, count, offset); \
    pthread_mutex_lock(&lock); \
    ssize_t done = next(fd, data, count, offset); \
    if (done > 0) record_write(fd, (uint64_t)offset, data, (uint64_t)done); \
    pthread_mutex_unlock(&lock); \
    return done; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

static void record_parts(int fd, uint64_t offset, const struct iovec *parts, int count, ssize_t done) {
  for (int i = 0; i < count && done > 0; i++) {
    size_t length = parts[i].iov_len < (size_t)done ? parts[i].iov_len : (size_t)done;
    record_write(fd, offset, parts[i].iov_base, length);
    offset += length;
    done -= (ssize_t)length;
  }
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  NEXT(writev);
  if (!name_of(fd)) return next(fd, parts, count);
  pthread_mutex_lock(&lock);
  off_t offset = lseek(fd, 0, SEEK_CUR);
  ssize_t done = next(fd, parts, count);
  record_parts(fd, (uint64_t)offset, parts, count, done);
  pthread_mutex_unlock(&lock);
  return done;
}

#define PWRITEV(name, offset_type) \
  ssize_t name(int fd, const struct iovec *parts, int count, offset_type offset) { \
    NEXT(name); \
    if (!name_of(fd)) return next(fd, parts, count, offset); \
    pthread_mutex_lock(&lock); \
    ssize_t done = next(fd, parts, count, offset); \
    record_parts(fd, (uint64_t)offset, parts, count, done); \
    pthread_mutex_unlock(&lock); \
    return done; \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define SYNC(name) \
  int name(int fd) { \
    NEXT(name); \
    if (!name_of(fd)) return next(fd); \
    pthread_mutex_lock(&lock); \
    int code = next(fd); \
    if (!code) record('s', name_of(fd), 0, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    return code; \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_type) \
  int name(int fd, offset_type length) { \
    NEXT(name); \
    if (!name_of(fd)) return next(fd, length); \
    pthread_mutex_lock(&lock); \
    int code = next(fd, length); \
    if (!code) record('t', name_of(fd), (uint64_t)length, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    return code; \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
  NEXT(rename);
  const char *old_name = inside(from), *new_name = inside(to);
  if (!old_name || !new_name) return next(from, to);
  pthread_mutex_lock(&lock);
  int code = next(from, to);
  if (!code) {
    record('r', old_name, 0, new_name, strlen(new_name));
    for (int fd = 0; fd < most_files; fd++) {
      if (!names[fd] || strcmp(names[fd], old_name)) continue;
      free(names[fd]);
      names[fd] = strdup(new_name);
    }
  }
  pthread_mutex_unlock(&lock);
  return code;
}

int unlink(const char *path) {
  NEXT(unlink);
  const char *name = inside(path);
  if (!name) return next(path);
  pthread_mutex_lock(&lock);
  int code = next(path);
  if (!code) record('u', name, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return code;
}

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  const char *name = inside(path);
  if (!name) return next(path, mode);
  pthread_mutex_lock(&lock);
  int code = next(path, mode);
  if (!code) record('m', name, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return code;
}
