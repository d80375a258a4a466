// LevelDB: Bloom filters of 10 bits, 1 GiB of block cache, 64 MiB of write buffer, no compression.
// Power-loss-safe is WriteOptions::sync; process-crash-safe is its log without.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "peer.hpp"

namespace {
void must(const leveldb::Status &status) {
  if (!status.ok()) throw Failure("LevelDB: " + status.ToString());
}

leveldb::Slice slice(Bytes bytes) { return {reinterpret_cast<const char *>(bytes.data), bytes.size}; }

// Each thread that writes has its own.
thread_local leveldb::WriteBatch batch;

struct LevelWriter {
  std::unique_ptr<leveldb::Cache> cache{leveldb::NewLRUCache(size_t(1) << 30)};
  std::unique_ptr<const leveldb::FilterPolicy> filter{leveldb::NewBloomFilterPolicy(10)};
  std::unique_ptr<leveldb::DB> db;
  leveldb::WriteOptions options;

  LevelWriter(const std::string &directory, peer_durability durability) {
    leveldb::Options opening;
    opening.create_if_missing = true;
    opening.compression = leveldb::kNoCompression;
    opening.block_cache = cache.get();
    opening.filter_policy = filter.get();
    opening.write_buffer_size = 64 << 20;
    leveldb::DB *opened = nullptr;
    must(leveldb::DB::Open(opening, directory, &opened));
    db.reset(opened);
    options.sync = durability == PEER_POWER_LOSS_SAFE;
  }

  void begin() { batch.Clear(); }
  void put(Bytes key, Bytes value) { batch.Put(slice(key), slice(value)); }
  void append(Bytes key, Bytes value) { put(key, value); }
  void remove(Bytes key) { batch.Delete(slice(key)); }
  void commit() { must(db->Write(options, &batch)); }
  void settle() { db->CompactRange(nullptr, nullptr); }

  // LevelDB has no call for it; an empty batch that is synced flushes the log before it.
  void flush() {
    leveldb::WriteOptions synced;
    synced.sync = true;
    leveldb::WriteBatch empty;
    must(db->Write(synced, &empty));
  }
};

struct LevelReader {
  leveldb::DB *db;
  leveldb::ReadOptions options;
  std::string value;

  explicit LevelReader(LevelWriter &writer) : db(writer.db.get()) {}

  uint64_t one(Bytes key) {
    auto status = db->Get(options, slice(key), &value);
    if (status.IsNotFound()) return 0;
    must(status);
    return touch(value.data(), value.size());
  }

  void begin() { options.snapshot = db->GetSnapshot(); }
  uint64_t next(Bytes key) { return one(key); }

  void end() {
    db->ReleaseSnapshot(options.snapshot);
    options.snapshot = nullptr;
  }

  uint64_t group(peer_keys keys) {
    uint64_t sum = 0;
    begin();
    for (size_t i = 0; i < keys.count; i++) sum += one(key_at(keys, i));
    end();
    return sum;
  }

  uint64_t range(Bytes from, size_t limit) {
    std::unique_ptr<leveldb::Iterator> iterator(db->NewIterator(options));
    if (from.size) iterator->Seek(slice(from));
    else iterator->SeekToFirst();
    uint64_t sum = 0;
    for (size_t i = 0; i < limit && iterator->Valid(); i++, iterator->Next())
      sum += touch(iterator->value().data(), iterator->value().size());
    must(iterator->status());
    return sum;
  }
};
} // namespace

std::unique_ptr<Peer> open_leveldb(const std::string &directory, peer_durability durability, size_t) {
  return std::make_unique<PeerOf<LevelWriter, LevelReader>>(directory, durability);
}

const char *leveldb_version() {
  static const std::string text = std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  return text.c_str();
}
