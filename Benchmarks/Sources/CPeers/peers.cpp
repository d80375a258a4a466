// The C interface: exceptions end here.
#include "guarded.hpp"
#include "peer.hpp"

struct peer {
  std::unique_ptr<Peer> engine;
};
struct peer_reader {
  std::unique_ptr<Reader> engine;
};

thread_local std::string message;

const char *peer_message() { return message.c_str(); }

const char *peer_version(const char *engine) {
  std::string name = engine;
  if (name == "lmdb") return lmdb_version();
  if (name == "sqlite" || name == "sqlite-in") return sqlite_version();
  if (name == "rocksdb") return rocksdb_version();
  if (name == "leveldb") return leveldb_version();
  if (name == "kyoto") return kyoto_version();
  if (name == "wiredtiger") return wiredtiger_version_text();
  return "";
}

int peer_open(const char *engine, const char *directory, peer_durability durability, size_t records, peer **result) {
  return guarded([&] {
    std::string name = engine;
    std::unique_ptr<Peer> made;
    if (name == "lmdb") made = open_lmdb(directory, durability, records);
    if (name == "sqlite") made = open_sqlite(directory, durability, records, false);
    if (name == "sqlite-in") made = open_sqlite(directory, durability, records, true);
    if (name == "rocksdb") made = open_rocksdb(directory, durability, records);
    if (name == "leveldb") made = open_leveldb(directory, durability, records);
    if (name == "kyoto") made = open_kyoto(directory, durability, records);
    if (name == "wiredtiger") made = open_wiredtiger(directory, durability, records);
    if (!made) throw Failure("there is no engine " + name);
    *result = new peer{std::move(made)};
  });
}

void peer_close(peer *p) { delete p; }
int peer_settle(peer *p) { return guarded([&] { p->engine->settle(); }); }
int peer_flush(peer *p) { return guarded([&] { p->engine->flush(); }); }

int peer_put(peer *p, peer_keys keys, const uint8_t *values, size_t value_length, size_t per_commit) {
  return guarded([&] { p->engine->put(keys, values, value_length, per_commit, false); });
}

int peer_append(peer *p, peer_keys keys, const uint8_t *values, size_t value_length, size_t per_commit) {
  return guarded([&] { p->engine->put(keys, values, value_length, per_commit, true); });
}

int peer_remove(peer *p, peer_keys keys, size_t per_commit) {
  return guarded([&] { p->engine->remove(keys, per_commit); });
}

int peer_reader_open(peer *p, peer_reader **result) {
  return guarded([&] { *result = new peer_reader{p->engine->reader()}; });
}

void peer_reader_close(peer_reader *r) { delete r; }
int peer_get(peer_reader *r, peer_keys keys, uint64_t *sum) { return guarded([&] { *sum = r->engine->get(keys); }); }

int peer_get_in_snapshot(peer_reader *r, peer_keys keys, uint64_t *sum) {
  return guarded([&] { *sum = r->engine->get_in_snapshot(keys); });
}

int peer_get_groups(peer_reader *r, peer_keys keys, size_t group, uint64_t *sum) {
  return guarded([&] { *sum = r->engine->get_groups(keys, group); });
}

int peer_scan(peer_reader *r, const uint8_t *key, size_t length, size_t limit, uint64_t *sum) {
  return guarded([&] { *sum = r->engine->scan({key, length}, limit); });
}

int peer_run(peer *p, peer_reader *r, peer_keys keys, const uint8_t *values, size_t value_length,
             const peer_operation *operations, size_t count, uint64_t *sum) {
  return guarded([&] { *sum = p->engine->run(*r->engine, keys, values, value_length, operations, count); });
}
