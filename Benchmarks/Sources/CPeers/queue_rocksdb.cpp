// An outbox on RocksDB: rows for entry, state, lane and due time, a write batch for each transaction, sync.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "queue.hpp"

namespace {
void must(const rocksdb::Status &status) {
  if (!status.ok()) throw Failure("RocksDB: " + status.ToString());
}

struct RocksQueue final : Queue {
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::WriteBatch batch;
  // Where the next search begins: past the tombstones of what has been taken.
  std::string first_due = "d";

  explicit RocksQueue(const std::string &directory) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
    table.block_cache = rocksdb::NewLRUCache(size_t(1) << 30);
    rocksdb::Options opening;
    opening.create_if_missing = true;
    opening.compression = rocksdb::kNoCompression;
    opening.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    opening.stats_dump_period_sec = 0;
    rocksdb::DB *opened = nullptr;
    must(rocksdb::DB::Open(opening, directory, &opened));
    db.reset(opened);
  }

  void begin() override { batch.Clear(); }

  void commit() override {
    rocksdb::WriteOptions options;
    options.sync = true;
    must(db->Write(options, &batch));
  }

  void add(uint64_t id, uint64_t lane, uint64_t due, Bytes payload) override {
    std::string key = big_endian(id);
    must(batch.Put("e" + key, {reinterpret_cast<const char *>(payload.data), payload.size}));
    must(batch.Put("s" + key, state_bytes('w')));
    must(batch.Put("l" + big_endian(lane) + key, ""));
    must(batch.Put("d" + big_endian(due) + key, ""));
  }

  std::vector<uint64_t> take(size_t limit) override {
    std::vector<uint64_t> ids;
    // Without an end, the last search of all would go through the tombstones of every entry that ever was.
    rocksdb::ReadOptions options;
    rocksdb::Slice end = "e";
    options.iterate_upper_bound = &end;
    std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(options));
    std::string entry;
    for (iterator->Seek(first_due); iterator->Valid() && ids.size() < limit; iterator->Next()) {
      auto key = iterator->key();
      if (key.size() != 17 || key[0] != 'd') break;
      uint64_t id = number_at(key.data(), 9);
      must(batch.Delete(key));
      must(db->Get({}, "e" + big_endian(id), &entry));
      must(batch.Put("s" + big_endian(id), state_bytes('f')));
      ids.push_back(id);
      first_due = key.ToString();
    }
    must(iterator->status());
    return ids;
  }

  void remove(uint64_t id) override {
    std::string key = big_endian(id);
    must(batch.Delete("e" + key));
    must(batch.Delete("s" + key));
    must(batch.Delete("l" + key + key));
  }
};
} // namespace

std::unique_ptr<Queue> open_rocksdb_queue(const std::string &directory) {
  return std::make_unique<RocksQueue>(directory);
}
