// Raw liblmdb, as fast as C can be: one reader transaction that is renewed and reset, one cursor, no call too many.
// Power-loss-safe is the default mode (two flushes a commit); process-crash-safe is MDB_NOSYNC.
#include <lmdb.h>

#include "peer.hpp"

static void must(int code) {
  if (code != 0) throw Failure(std::string("LMDB: ") + mdb_strerror(code));
}

static MDB_val val(Bytes bytes) { return {bytes.size, const_cast<uint8_t *>(bytes.data)}; }

namespace {
struct LmdbWriter {
  MDB_env *env = nullptr;
  MDB_dbi dbi = 0;
  MDB_txn *txn = nullptr;

  LmdbWriter(const std::string &directory, peer_durability durability) {
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, size_t(64) << 30));
    must(mdb_env_set_maxdbs(env, 32));
    must(mdb_env_set_maxreaders(env, 1024));
    unsigned flags = MDB_NOTLS | (durability == PEER_POWER_LOSS_SAFE ? 0 : MDB_NOSYNC);
    must(mdb_env_open(env, directory.c_str(), flags, 0600));
    begin();
    must(mdb_dbi_open(txn, "records", MDB_CREATE, &dbi));
    commit();
  }

  ~LmdbWriter() { mdb_env_close(env); }
  void begin() { must(mdb_txn_begin(env, nullptr, 0, &txn)); }

  void put(Bytes key, Bytes value) {
    MDB_val k = val(key), v = val(value);
    must(mdb_put(txn, dbi, &k, &v, 0));
  }

  void append(Bytes key, Bytes value) {
    MDB_val k = val(key), v = val(value);
    must(mdb_put(txn, dbi, &k, &v, MDB_APPEND));
  }

  void remove(Bytes key) {
    MDB_val k = val(key);
    int code = mdb_del(txn, dbi, &k, nullptr);
    if (code != MDB_NOTFOUND) must(code);
  }

  void commit() { must(mdb_txn_commit(txn)); }
  void settle() {}
  void flush() { must(mdb_env_sync(env, 1)); }
};

struct LmdbReader {
  MDB_txn *txn = nullptr;
  MDB_cursor *cursor = nullptr;
  MDB_dbi dbi;

  explicit LmdbReader(LmdbWriter &writer) : dbi(writer.dbi) {
    must(mdb_txn_begin(writer.env, nullptr, MDB_RDONLY, &txn));
    must(mdb_cursor_open(txn, dbi, &cursor));
    mdb_txn_reset(txn);
  }

  ~LmdbReader() {
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
  }

  uint64_t one(Bytes key) {
    must(mdb_txn_renew(txn));
    uint64_t sum = next(key);
    mdb_txn_reset(txn);
    return sum;
  }

  void begin() { must(mdb_txn_renew(txn)); }
  void end() { mdb_txn_reset(txn); }

  uint64_t next(Bytes key) {
    MDB_val k = val(key), v;
    int code = mdb_get(txn, dbi, &k, &v);
    if (code == MDB_NOTFOUND) return 0;
    must(code);
    return touch(v.mv_data, v.mv_size);
  }

  uint64_t group(peer_keys keys) {
    uint64_t sum = 0;
    begin();
    for (size_t i = 0; i < keys.count; i++) sum += next(key_at(keys, i));
    end();
    return sum;
  }

  uint64_t range(Bytes from, size_t limit) {
    begin();
    must(mdb_cursor_renew(txn, cursor));
    MDB_val k = val(from), v;
    int code = mdb_cursor_get(cursor, &k, &v, from.size ? MDB_SET_RANGE : MDB_FIRST);
    uint64_t sum = 0;
    for (size_t i = 0; i < limit && code == 0;) {
      sum += touch(v.mv_data, v.mv_size);
      if (++i < limit) code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }
    end();
    if (code != MDB_NOTFOUND) must(code);
    return sum;
  }
};
} // namespace

std::unique_ptr<Peer> open_lmdb(const std::string &directory, peer_durability durability, size_t) {
  return std::make_unique<PeerOf<LmdbWriter, LmdbReader>>(directory, durability);
}

const char *lmdb_version() { return MDB_VERSION_STRING; }
