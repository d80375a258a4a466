// What an engine implements, and the loops around it. They are templates, so that an engine's calls are inlined.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "include/peers.h"

struct Bytes {
  const uint8_t *data;
  size_t size;
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads the first and the last eight bytes of a value.
inline uint64_t touch(const void *data, size_t size) {
  uint64_t first = 0, last = 0;
  if (size >= 8) {
    memcpy(&first, data, 8);
    memcpy(&last, static_cast<const uint8_t *>(data) + size - 8, 8);
  } else {
    memcpy(&first, data, size);
  }
  return first + last;
}

inline Bytes key_at(const peer_keys &keys, size_t index) { return {keys.bytes + index * keys.length, keys.length}; }

class Reader {
public:
  virtual ~Reader() = default;
  virtual uint64_t get(peer_keys keys) = 0;
  virtual uint64_t get_in_snapshot(peer_keys keys) = 0;
  virtual uint64_t get_groups(peer_keys keys, size_t group) = 0;
  virtual uint64_t scan(Bytes from, size_t limit) = 0;
};

class Peer {
public:
  virtual ~Peer() = default;
  virtual std::unique_ptr<Reader> reader() = 0;
  virtual void put(peer_keys keys, const uint8_t *values, size_t value_length, size_t per_commit, bool appends) = 0;
  virtual void remove(peer_keys keys, size_t per_commit) = 0;
  virtual uint64_t run(Reader &, peer_keys keys, const uint8_t *values, size_t value_length,
                       const peer_operation *operations, size_t count) = 0;
  virtual void settle() = 0;
  virtual void flush() = 0;
};

// R reads: one(key), begin(), next(key), end(), group(keys), range(from, limit).
template <class R> class ReaderOf final : public Reader {
public:
  R engine;
  template <class... A> explicit ReaderOf(A &&...arguments) : engine(std::forward<A>(arguments)...) {}

  uint64_t get(peer_keys keys) override {
    uint64_t sum = 0;
    for (size_t i = 0; i < keys.count; i++) sum += engine.one(key_at(keys, i));
    return sum;
  }

  uint64_t get_in_snapshot(peer_keys keys) override {
    uint64_t sum = 0;
    engine.begin();
    for (size_t i = 0; i < keys.count; i++) sum += engine.next(key_at(keys, i));
    engine.end();
    return sum;
  }

  uint64_t get_groups(peer_keys keys, size_t group) override {
    uint64_t sum = 0;
    for (size_t i = 0; i + group <= keys.count; i += group)
      sum += engine.group({keys.bytes + i * keys.length, keys.length, group});
    return sum;
  }

  uint64_t scan(Bytes from, size_t limit) override { return engine.range(from, limit); }
};

// W writes: begin(), put(key, value), append(key, value), remove(key), commit(), settle(), flush(), and makes an R.
template <class W, class R> class PeerOf final : public Peer {
public:
  W engine;
  template <class... A> explicit PeerOf(A &&...arguments) : engine(std::forward<A>(arguments)...) {}

  std::unique_ptr<Reader> reader() override { return std::make_unique<ReaderOf<R>>(engine); }

  void put(peer_keys keys, const uint8_t *values, size_t value_length, size_t per_commit, bool appends) override {
    for (size_t i = 0; i < keys.count;) {
      engine.begin();
      size_t end = i + per_commit < keys.count ? i + per_commit : keys.count;
      for (; i < end; i++) {
        Bytes value = {values + i * value_length, value_length};
        if (appends) {
          engine.append(key_at(keys, i), value);
        } else {
          engine.put(key_at(keys, i), value);
        }
      }
      engine.commit();
    }
  }

  void remove(peer_keys keys, size_t per_commit) override {
    for (size_t i = 0; i < keys.count;) {
      engine.begin();
      size_t end = i + per_commit < keys.count ? i + per_commit : keys.count;
      for (; i < end; i++) engine.remove(key_at(keys, i));
      engine.commit();
    }
  }

  uint64_t run(Reader &any, peer_keys keys, const uint8_t *values, size_t value_length,
               const peer_operation *operations, size_t count) override {
    R &reader = static_cast<ReaderOf<R> &>(any).engine;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
      const peer_operation &operation = operations[i];
      Bytes key = key_at(keys, operation.key);
      if (operation.kind == PEER_SCAN) {
        sum += reader.range(key, operation.length);
        continue;
      }
      if (operation.kind != PEER_UPDATE) sum += reader.one(key);
      if (operation.kind != PEER_READ) {
        // The value moves with the operation, so that an update changes something.
        size_t index = (operation.key + i) % keys.count;
        engine.begin();
        engine.put(key, {values + index * value_length, value_length});
        engine.commit();
      }
    }
    return sum;
  }

  void settle() override { engine.settle(); }
  void flush() override { engine.flush(); }
};

std::unique_ptr<Peer> open_lmdb(const std::string &directory, peer_durability durability, size_t records);
std::unique_ptr<Peer> open_sqlite(const std::string &directory, peer_durability durability, size_t records, bool uses_in);
std::unique_ptr<Peer> open_rocksdb(const std::string &directory, peer_durability durability, size_t records);
std::unique_ptr<Peer> open_leveldb(const std::string &directory, peer_durability durability, size_t records);
std::unique_ptr<Peer> open_kyoto(const std::string &directory, peer_durability durability, size_t records);
std::unique_ptr<Peer> open_wiredtiger(const std::string &directory, peer_durability durability, size_t records);

const char *lmdb_version();
const char *sqlite_version();
const char *rocksdb_version();
const char *leveldb_version();
const char *kyoto_version();
const char *wiredtiger_version_text();
