// Kyoto Cabinet's HashDB: twice as many buckets as records, linear collision chains, the whole file mapped.
// It has no snapshots, no order and no log: process-crash-safe is all it is compared in, and mostly for reads.
#include <kchashdb.h>

#include "peer.hpp"

namespace {
struct KyotoWriter {
  kyotocabinet::HashDB db;
  bool synchronizes;

  KyotoWriter(const std::string &directory, peer_durability durability, size_t records)
      : synchronizes(durability == PEER_POWER_LOSS_SAFE) {
    db.tune_options(kyotocabinet::HashDB::TLINEAR);
    db.tune_buckets(int64_t(records * 2));
    db.tune_map(int64_t(1) << 32);
    using kyotocabinet::HashDB;
    if (!db.open(directory + "/records.kch", HashDB::OWRITER | HashDB::OCREATE)) fail();
  }

  ~KyotoWriter() { db.close(); }
  [[noreturn]] void fail() { throw Failure(std::string("Kyoto Cabinet: ") + db.error().message()); }
  void begin() {}

  void put(Bytes key, Bytes value) {
    if (!db.set(reinterpret_cast<const char *>(key.data), key.size, reinterpret_cast<const char *>(value.data),
                value.size))
      fail();
  }

  void append(Bytes key, Bytes value) { put(key, value); }
  void remove(Bytes key) { db.remove(reinterpret_cast<const char *>(key.data), key.size); }

  void commit() {
    if (synchronizes) flush();
  }

  void settle() {}

  void flush() {
    if (!db.synchronize(true)) fail();
  }
};

struct KyotoReader {
  kyotocabinet::HashDB &db;
  std::string buffer = std::string(1 << 20, 0);

  explicit KyotoReader(KyotoWriter &writer) : db(writer.db) {}

  uint64_t one(Bytes key) {
    int32_t size = db.get(reinterpret_cast<const char *>(key.data), key.size, buffer.data(), buffer.size());
    return size < 0 ? 0 : touch(buffer.data(), size_t(size));
  }

  void begin() {}
  uint64_t next(Bytes key) { return one(key); }
  void end() {}

  uint64_t group(peer_keys keys) {
    uint64_t sum = 0;
    for (size_t i = 0; i < keys.count; i++) sum += one(key_at(keys, i));
    return sum;
  }

  uint64_t range(Bytes, size_t) { throw Failure("Kyoto Cabinet's HashDB has no order."); }
};
} // namespace

std::unique_ptr<Peer> open_kyoto(const std::string &directory, peer_durability durability, size_t records) {
  return std::make_unique<PeerOf<KyotoWriter, KyotoReader>>(directory, durability, records);
}

const char *kyoto_version() { return kyotocabinet::VERSION; }
