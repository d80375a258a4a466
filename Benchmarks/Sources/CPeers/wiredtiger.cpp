// WiredTiger: a B-tree with a log, 1 GiB of cache, one cursor a session.
// Power-loss-safe flushes the log at each commit; process-crash-safe writes it without a flush.
#include <wiredtiger.h>

#include "peer.hpp"

namespace {
void must(int code) {
  if (code != 0) throw Failure(std::string("WiredTiger: ") + wiredtiger_strerror(code));
}

WT_ITEM item(Bytes bytes) {
  WT_ITEM result = {};
  result.data = bytes.data;
  result.size = bytes.size;
  return result;
}

struct WiredWriter {
  WT_CONNECTION *connection = nullptr;
  WT_SESSION *session = nullptr;
  WT_CURSOR *cursor = nullptr;

  WiredWriter(const std::string &directory, peer_durability durability) {
    std::string options = "create,cache_size=1GB,log=(enabled=true,file_max=128MB),checkpoint=(log_size=256MB),";
    options += durability == PEER_POWER_LOSS_SAFE ? "transaction_sync=(enabled=true,method=fsync)"
                                                  : "transaction_sync=(enabled=true,method=none)";
    must(wiredtiger_open(directory.c_str(), nullptr, options.c_str(), &connection));
    must(connection->open_session(connection, nullptr, nullptr, &session));
    must(session->create(session, "table:records", "key_format=u,value_format=u"));
    must(session->open_cursor(session, "table:records", nullptr, "overwrite=true", &cursor));
  }

  ~WiredWriter() { connection->close(connection, nullptr); }
  void begin() { must(session->begin_transaction(session, nullptr)); }

  void put(Bytes key, Bytes value) {
    WT_ITEM k = item(key), v = item(value);
    cursor->set_key(cursor, &k);
    cursor->set_value(cursor, &v);
    must(cursor->insert(cursor));
  }

  void append(Bytes key, Bytes value) { put(key, value); }

  void remove(Bytes key) {
    WT_ITEM k = item(key);
    cursor->set_key(cursor, &k);
    must(cursor->remove(cursor));
  }

  void commit() { must(session->commit_transaction(session, nullptr)); }
  void settle() { must(session->checkpoint(session, nullptr)); }
  void flush() { must(session->log_flush(session, "sync=on")); }
};

struct WiredReader {
  WT_SESSION *session = nullptr;
  WT_CURSOR *cursor = nullptr;

  explicit WiredReader(WiredWriter &writer) {
    must(writer.connection->open_session(writer.connection, nullptr, nullptr, &session));
    must(session->open_cursor(session, "table:records", nullptr, nullptr, &cursor));
  }

  ~WiredReader() { session->close(session, nullptr); }

  uint64_t next(Bytes key) {
    WT_ITEM k = item(key), v;
    cursor->set_key(cursor, &k);
    int code = cursor->search(cursor);
    if (code == WT_NOTFOUND) return 0;
    must(code);
    must(cursor->get_value(cursor, &v));
    return touch(v.data, v.size);
  }

  uint64_t one(Bytes key) {
    uint64_t sum = next(key);
    must(cursor->reset(cursor));
    return sum;
  }

  void begin() { must(session->begin_transaction(session, "isolation=snapshot")); }

  void end() {
    must(cursor->reset(cursor));
    must(session->commit_transaction(session, nullptr));
  }

  uint64_t group(peer_keys keys) {
    uint64_t sum = 0;
    begin();
    for (size_t i = 0; i < keys.count; i++) sum += next(key_at(keys, i));
    end();
    return sum;
  }

  uint64_t range(Bytes from, size_t limit) {
    int code;
    if (from.size) {
      WT_ITEM k = item(from);
      int order = 0;
      cursor->set_key(cursor, &k);
      code = cursor->search_near(cursor, &order);
      if (code == 0 && order < 0) code = cursor->next(cursor);
    } else {
      code = cursor->next(cursor);
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < limit && code == 0; i++) {
      WT_ITEM v;
      must(cursor->get_value(cursor, &v));
      sum += touch(v.data, v.size);
      code = cursor->next(cursor);
    }
    if (code != WT_NOTFOUND) must(code);
    must(cursor->reset(cursor));
    return sum;
  }
};
} // namespace

std::unique_ptr<Peer> open_wiredtiger(const std::string &directory, peer_durability durability, size_t) {
  return std::make_unique<PeerOf<WiredWriter, WiredReader>>(directory, durability);
}

const char *wiredtiger_version_text() { return WIREDTIGER_VERSION_STRING; }
