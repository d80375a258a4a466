// Disk caches on RocksDB and on raw liblmdb.
#include <lmdb.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include "blobs.hpp"

namespace {
void must(const rocksdb::Status &status) {
  if (!status.ok()) throw Failure("RocksDB: " + status.ToString());
}

void must(int code) {
  if (code != 0) throw Failure(std::string("LMDB: ") + mdb_strerror(code));
}

rocksdb::Slice slice(Bytes bytes) { return {reinterpret_cast<const char *>(bytes.data), bytes.size}; }
MDB_val val(Bytes bytes) { return {bytes.size, const_cast<uint8_t *>(bytes.data)}; }

struct RocksBlobs final : Blobs {
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::PinnableSlice pinned;

  explicit RocksBlobs(const std::string &directory) {
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

  void set(Bytes key, Bytes value) override { must(db->Put({}, slice(key), slice(value))); }

  bool get(Bytes key) override {
    pinned.Reset();
    auto status = db->Get({}, db->DefaultColumnFamily(), slice(key), &pinned);
    if (status.IsNotFound()) return false;
    must(status);
    buffer.assign(pinned.data(), pinned.size());
    return true;
  }

  uint64_t touch_in_place(Bytes key) override {
    pinned.Reset();
    auto status = db->Get({}, db->DefaultColumnFamily(), slice(key), &pinned);
    if (status.IsNotFound()) return 0;
    must(status);
    return touch(pinned.data(), pinned.size());
  }

  void remove(Bytes key) override { must(db->Delete({}, slice(key))); }
};

struct LmdbBlobs final : Blobs {
  MDB_env *env = nullptr;
  MDB_dbi dbi = 0;
  MDB_txn *reader = nullptr;

  explicit LmdbBlobs(const std::string &directory) {
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, size_t(64) << 30));
    must(mdb_env_open(env, directory.c_str(), MDB_NOTLS | MDB_NOSYNC, 0600));
    MDB_txn *txn = nullptr;
    must(mdb_txn_begin(env, nullptr, 0, &txn));
    must(mdb_dbi_open(txn, nullptr, 0, &dbi));
    must(mdb_txn_commit(txn));
    must(mdb_txn_begin(env, nullptr, MDB_RDONLY, &reader));
    mdb_txn_reset(reader);
  }

  ~LmdbBlobs() override {
    mdb_txn_abort(reader);
    mdb_env_close(env);
  }

  void set(Bytes key, Bytes value) override {
    MDB_txn *txn = nullptr;
    must(mdb_txn_begin(env, nullptr, 0, &txn));
    MDB_val k = val(key), v = val(value);
    must(mdb_put(txn, dbi, &k, &v, 0));
    must(mdb_txn_commit(txn));
  }

  bool get(Bytes key) override {
    must(mdb_txn_renew(reader));
    MDB_val k = val(key), v;
    int code = mdb_get(reader, dbi, &k, &v);
    if (code == 0) buffer.assign(static_cast<const char *>(v.mv_data), v.mv_size);
    mdb_txn_reset(reader);
    if (code != MDB_NOTFOUND) must(code);
    return code == 0;
  }

  uint64_t touch_in_place(Bytes key) override {
    must(mdb_txn_renew(reader));
    MDB_val k = val(key), v;
    int code = mdb_get(reader, dbi, &k, &v);
    uint64_t sum = code == 0 ? touch(v.mv_data, v.mv_size) : 0;
    mdb_txn_reset(reader);
    if (code != MDB_NOTFOUND) must(code);
    return sum;
  }

  void remove(Bytes key) override {
    MDB_txn *txn = nullptr;
    must(mdb_txn_begin(env, nullptr, 0, &txn));
    MDB_val k = val(key);
    mdb_del(txn, dbi, &k, nullptr);
    must(mdb_txn_commit(txn));
  }
};
} // namespace

std::unique_ptr<Blobs> open_rocksdb_blobs(const std::string &directory) {
  return std::make_unique<RocksBlobs>(directory);
}

std::unique_ptr<Blobs> open_lmdb_blobs(const std::string &directory) { return std::make_unique<LmdbBlobs>(directory); }
