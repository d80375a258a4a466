// An outbox on raw liblmdb: the same databases, and the same rows for an entry, as ours, journal included; what is taken
// is one row, as ours is.
#include <lmdb.h>

#include <algorithm>
#include <deque>

#include "queue.hpp"

namespace {
void must(int code) {
  if (code != 0) throw Failure(std::string("LMDB: ") + mdb_strerror(code));
}

struct LmdbQueue final : Queue {
  MDB_env *env = nullptr;
  MDB_txn *txn = nullptr;
  MDB_dbi entries, states, due, lanes, running, journal;
  uint64_t journaled = 0;
  // What has been taken and not removed, and whether the file says otherwise.
  std::deque<uint64_t> taken;
  bool has_changed = false;

  explicit LmdbQueue(const std::string &directory) {
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, size_t(64) << 30));
    must(mdb_env_set_maxdbs(env, 32));
    must(mdb_env_open(env, directory.c_str(), MDB_NOTLS, 0600));
    begin();
    must(mdb_dbi_open(txn, "entry", MDB_CREATE, &entries));
    must(mdb_dbi_open(txn, "state", MDB_CREATE, &states));
    must(mdb_dbi_open(txn, "due", MDB_CREATE, &due));
    must(mdb_dbi_open(txn, "lane", MDB_CREATE, &lanes));
    must(mdb_dbi_open(txn, "run", MDB_CREATE, &running));
    must(mdb_dbi_open(txn, "journal", MDB_CREATE, &journal));
    commit();
  }

  ~LmdbQueue() override { mdb_env_close(env); }
  void begin() override { must(mdb_txn_begin(env, nullptr, 0, &txn)); }

  void commit() override {
    if (has_changed) {
      std::vector<uint64_t> list(taken.begin(), taken.end());
      put(running, big_endian(1), Bytes{reinterpret_cast<const uint8_t *>(list.data()), 8 * list.size()});
      has_changed = false;
    }
    must(mdb_txn_commit(txn));
  }

  void put(MDB_dbi dbi, const std::string &key, Bytes value) {
    MDB_val k = {key.size(), const_cast<char *>(key.data())};
    MDB_val v = {value.size, const_cast<uint8_t *>(value.data)};
    must(mdb_put(txn, dbi, &k, &v, 0));
  }

  void put(MDB_dbi dbi, const std::string &key, const std::string &value) {
    put(dbi, key, Bytes{reinterpret_cast<const uint8_t *>(value.data()), value.size()});
  }

  void del(MDB_dbi dbi, const std::string &key) {
    MDB_val k = {key.size(), const_cast<char *>(key.data())};
    must(mdb_del(txn, dbi, &k, nullptr));
  }

  void note() {
    put(journal, big_endian(++journaled), std::string(28, 'j'));
  }

  void add(uint64_t id, uint64_t lane, uint64_t time, Bytes payload) override {
    put(entries, big_endian(id), payload);
    put(states, big_endian(id), state_bytes('w'));
    put(lanes, big_endian(lane) + big_endian(id), "");
    put(due, big_endian(time) + big_endian(id), "");
    note();
  }

  std::vector<uint64_t> take(size_t limit) override {
    std::vector<uint64_t> ids;
    MDB_cursor *cursor = nullptr;
    must(mdb_cursor_open(txn, due, &cursor));
    MDB_val k, v;
    while (ids.size() < limit && mdb_cursor_get(cursor, &k, &v, MDB_FIRST) == 0) {
      uint64_t id = number_at(k.mv_data, 8);
      must(mdb_cursor_del(cursor, 0));
      std::string key = big_endian(id);
      MDB_val name = {8, key.data()}, entry;
      must(mdb_get(txn, entries, &name, &entry));
      put(states, key, state_bytes('f'));
      note();
      ids.push_back(id);
      taken.push_back(id);
      has_changed = true;
    }
    mdb_cursor_close(cursor);
    return ids;
  }

  void remove(uint64_t id) override {
    std::string key = big_endian(id);
    del(entries, key);
    del(states, key);
    del(lanes, key + key);
    taken.erase(std::find(taken.begin(), taken.end(), id)); // The first, as a rule.
    has_changed = true;
    note();
  }
};
} // namespace

std::unique_ptr<Queue> open_lmdb_queue(const std::string &directory) { return std::make_unique<LmdbQueue>(directory); }
