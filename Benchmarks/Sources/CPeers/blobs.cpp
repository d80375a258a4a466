// The C interface of the disk caches, and files.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blobs.hpp"
#include "guarded.hpp"

struct blobs {
  std::unique_ptr<Blobs> engine;
};

int blobs_open(const char *engine, const char *directory, blobs **result) {
  return guarded([&] {
    std::string name = engine;
    std::unique_ptr<Blobs> made;
    if (name == "yycache") made = open_yycache_blobs(directory);
    if (name == "sqlite") made = open_sqlite_blobs(directory, false);
    if (name == "sqlite-16k") made = open_sqlite_blobs(directory, true);
    if (name == "files") made = open_file_blobs(directory);
    if (name == "rocksdb") made = open_rocksdb_blobs(directory);
    if (name == "lmdb") made = open_lmdb_blobs(directory);
    if (!made) throw Failure("there is no cache on " + name);
    *result = new blobs{std::move(made)};
  });
}

void blobs_close(blobs *b) { delete b; }

int blobs_set(blobs *b, peer_keys keys, const uint8_t *values, size_t length) {
  return guarded([&] {
    for (size_t i = 0; i < keys.count; i++) b->engine->set(key_at(keys, i), {values + i * length, length});
  });
}

int blobs_get(blobs *b, peer_keys keys, uint64_t *sum) {
  return guarded([&] {
    Blobs &engine = *b->engine;
    *sum = 0;
    for (size_t i = 0; i < keys.count; i++)
      if (engine.get(key_at(keys, i))) *sum += touch(engine.buffer.data(), engine.buffer.size());
  });
}

int blobs_get_in_place(blobs *b, peer_keys keys, uint64_t *sum) {
  return guarded([&] {
    *sum = 0;
    for (size_t i = 0; i < keys.count; i++) *sum += b->engine->touch_in_place(key_at(keys, i));
  });
}

int blobs_remove(blobs *b, peer_keys keys) {
  return guarded([&] {
    for (size_t i = 0; i < keys.count; i++) b->engine->remove(key_at(keys, i));
  });
}

static Failure file_failure(const std::string &path) { return Failure(path + ": " + strerror(errno)); }

BlobFiles::BlobFiles(const std::string &folder) : folder(folder + "/") { mkdir(folder.c_str(), 0700); }

std::string BlobFiles::name_of(Bytes key) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < key.size; i++) hash = (hash ^ key.data[i]) * 1099511628211u;
  char name[17];
  snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
  return name;
}

void BlobFiles::write(const std::string &name, Bytes value) {
  std::string path = folder + name;
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) throw file_failure(path);
  bool isDone = ::write(file, value.data, value.size) == ssize_t(value.size);
  close(file);
  if (!isDone) throw file_failure(path);
}

bool BlobFiles::read(const std::string &name, std::string &buffer) {
  int file = open((folder + name).c_str(), O_RDONLY);
  if (file < 0) return false;
  struct stat status;
  bool isDone = fstat(file, &status) == 0;
  if (isDone) {
    buffer.resize(size_t(status.st_size));
    isDone = ::read(file, buffer.data(), buffer.size()) == ssize_t(buffer.size());
  }
  close(file);
  return isDone;
}

void BlobFiles::remove(const std::string &name) { unlink((folder + name).c_str()); }

namespace {
struct FileBlobs final : Blobs {
  BlobFiles files;
  explicit FileBlobs(const std::string &directory) : files(directory + "/data") {}
  void set(Bytes key, Bytes value) override { files.write(BlobFiles::name_of(key), value); }
  bool get(Bytes key) override { return files.read(BlobFiles::name_of(key), buffer); }
  void remove(Bytes key) override { files.remove(BlobFiles::name_of(key)); }
};
} // namespace

std::unique_ptr<Blobs> open_file_blobs(const std::string &directory) { return std::make_unique<FileBlobs>(directory); }
