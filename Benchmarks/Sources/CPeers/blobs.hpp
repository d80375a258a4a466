// What an engine implements to be a disk cache.
#pragma once

#include <memory>
#include <string>

#include "include/blobs.h"
#include "peer.hpp"

class Blobs {
public:
  virtual ~Blobs() = default;
  virtual void set(Bytes key, Bytes value) = 0;
  // Copies the value into `buffer`, which grows as needed; false if there is none.
  virtual bool get(Bytes key) = 0;
  // Touches the value where the engine has it; a design that must copy does so.
  virtual uint64_t touch_in_place(Bytes key) { return get(key) ? touch(buffer.data(), buffer.size()) : 0; }
  virtual void remove(Bytes key) = 0;
  std::string buffer;
};

// Files by name in a folder.
class BlobFiles {
public:
  explicit BlobFiles(const std::string &folder);
  void write(const std::string &name, Bytes value);
  bool read(const std::string &name, std::string &buffer);
  void remove(const std::string &name);
  // Sixteen hexadecimal digits, cheaper than the MD5 that YYCache takes.
  static std::string name_of(Bytes key);

private:
  std::string folder;
};

std::unique_ptr<Blobs> open_yycache_blobs(const std::string &directory);
std::unique_ptr<Blobs> open_sqlite_blobs(const std::string &directory, bool has_large_pages);
std::unique_ptr<Blobs> open_file_blobs(const std::string &directory);
std::unique_ptr<Blobs> open_rocksdb_blobs(const std::string &directory);
std::unique_ptr<Blobs> open_lmdb_blobs(const std::string &directory);
