// RocksDB: Bloom filters of 10 bits, 1 GiB of block cache, a hash index in each block, no compression (the values are
// random), values pinned and not copied. Power-loss-safe is WriteOptions::sync; process-crash-safe is its log without.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <vector>

#include "peer.hpp"

namespace {
void must(const rocksdb::Status &status) {
  if (!status.ok()) throw Failure("RocksDB: " + status.ToString());
}

rocksdb::Slice slice(Bytes bytes) { return {reinterpret_cast<const char *>(bytes.data), bytes.size}; }

// Each thread that writes has its own.
thread_local rocksdb::WriteBatch batch;

struct RocksWriter {
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::WriteOptions options;

  RocksWriter(const std::string &directory, peer_durability durability) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
    table.block_cache = rocksdb::NewLRUCache(size_t(1) << 30);
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    rocksdb::Options opening;
    opening.create_if_missing = true;
    opening.compression = rocksdb::kNoCompression;
    opening.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    opening.write_buffer_size = 64 << 20;
    opening.max_background_jobs = 2;
    opening.stats_dump_period_sec = 0;
    rocksdb::DB *opened = nullptr;
    must(rocksdb::DB::Open(opening, directory, &opened));
    db.reset(opened);
    options.sync = durability == PEER_POWER_LOSS_SAFE;
  }

  void begin() { batch.Clear(); }
  void put(Bytes key, Bytes value) { must(batch.Put(slice(key), slice(value))); }
  void append(Bytes key, Bytes value) { put(key, value); }
  void remove(Bytes key) { must(batch.Delete(slice(key))); }
  void commit() { must(db->Write(options, &batch)); }

  void settle() {
    must(db->Flush({}));
    must(db->CompactRange({}, nullptr, nullptr));
  }

  void flush() { must(db->FlushWAL(true)); }
};

struct RocksReader {
  rocksdb::DB *db;
  rocksdb::ReadOptions options;
  rocksdb::PinnableSlice pinned;
  std::vector<rocksdb::Slice> keys;
  std::vector<rocksdb::PinnableSlice> values;
  std::vector<rocksdb::Status> statuses;

  explicit RocksReader(RocksWriter &writer) : db(writer.db.get()) {}

  uint64_t one(Bytes key) {
    pinned.Reset();
    auto status = db->Get(options, db->DefaultColumnFamily(), slice(key), &pinned);
    if (status.IsNotFound()) return 0;
    must(status);
    return touch(pinned.data(), pinned.size());
  }

  void begin() { options.snapshot = db->GetSnapshot(); }
  uint64_t next(Bytes key) { return one(key); }

  void end() {
    db->ReleaseSnapshot(options.snapshot);
    options.snapshot = nullptr;
  }

  uint64_t group(peer_keys group) {
    keys.clear();
    for (size_t i = 0; i < group.count; i++) keys.push_back(slice(key_at(group, i)));
    if (values.size() < group.count) {
      values = std::vector<rocksdb::PinnableSlice>(group.count);
      statuses.resize(group.count);
    }
    db->MultiGet(options, db->DefaultColumnFamily(), group.count, keys.data(), values.data(), statuses.data());
    uint64_t sum = 0;
    for (size_t i = 0; i < group.count; i++) {
      if (statuses[i].ok()) {
        sum += touch(values[i].data(), values[i].size());
      } else if (!statuses[i].IsNotFound()) {
        must(statuses[i]);
      }
      values[i].Reset();
    }
    return sum;
  }

  uint64_t range(Bytes from, size_t limit) {
    std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(options));
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

std::unique_ptr<Peer> open_rocksdb(const std::string &directory, peer_durability durability, size_t) {
  return std::make_unique<PeerOf<RocksWriter, RocksReader>>(directory, durability);
}

const char *rocksdb_version() {
  static const std::string text = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
                                  std::to_string(ROCKSDB_PATCH);
  return text.c_str();
}
