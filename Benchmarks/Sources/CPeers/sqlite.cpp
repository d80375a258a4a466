// SQLite: write-ahead log, prepared statements, a WITHOUT ROWID table, 512 MiB of cache, the file mapped.
// Power-loss-safe is synchronous=FULL (one flush a commit); process-crash-safe is synchronous=OFF.
#include <sqlite3.h>

#include <ctime>
#include <vector>

#include "peer.hpp"

namespace {
void must(int code, sqlite3 *db) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
    throw Failure(std::string("SQLite: ") + sqlite3_errmsg(db));
}

int wait_shortly(void *, int) {
  timespec time = {0, 100000};
  nanosleep(&time, nullptr);
  return 1;
}

struct Connection {
  sqlite3 *db = nullptr;
  std::string path;
  peer_durability durability;

  Connection(const std::string &path, peer_durability durability) : path(path), durability(durability) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    must(sqlite3_open_v2(path.c_str(), &db, flags, nullptr), db);
    // Waits shortly, not for up to 100 ms as sqlite3_busy_timeout does, which is several times slower here.
    sqlite3_busy_handler(db, wait_shortly, nullptr);
    run("PRAGMA journal_mode=WAL");
    run(durability == PEER_POWER_LOSS_SAFE ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    run("PRAGMA cache_size=-524288");
    run("PRAGMA mmap_size=1099511627776");
    run("PRAGMA temp_store=MEMORY");
    run("CREATE TABLE IF NOT EXISTS records(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID");
  }

  ~Connection() { sqlite3_close(db); }
  void run(const char *sql) { must(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), db); }

  sqlite3_stmt *prepare(const std::string &sql) {
    sqlite3_stmt *statement = nullptr;
    must(sqlite3_prepare_v3(db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr), db);
    return statement;
  }

  void step(sqlite3_stmt *statement) {
    must(sqlite3_step(statement), db);
    sqlite3_reset(statement);
  }
};

struct SqliteWriter {
  Connection connection;
  bool uses_in;
  sqlite3_stmt *begins, *commits, *puts, *removes;

  SqliteWriter(const std::string &directory, peer_durability durability, bool uses_in)
      : connection(directory + "/records.sqlite", durability), uses_in(uses_in) {
    begins = connection.prepare("BEGIN IMMEDIATE");
    commits = connection.prepare("COMMIT");
    puts = connection.prepare("INSERT OR REPLACE INTO records(k, v) VALUES(?1, ?2)");
    removes = connection.prepare("DELETE FROM records WHERE k = ?1");
  }

  ~SqliteWriter() {
    for (sqlite3_stmt *statement : {begins, commits, puts, removes}) sqlite3_finalize(statement);
  }

  void begin() { connection.step(begins); }

  void put(Bytes key, Bytes value) {
    sqlite3_bind_blob(puts, 1, key.data, int(key.size), SQLITE_STATIC);
    sqlite3_bind_blob(puts, 2, value.data, int(value.size), SQLITE_STATIC);
    connection.step(puts);
  }

  void append(Bytes key, Bytes value) { put(key, value); }

  void remove(Bytes key) {
    sqlite3_bind_blob(removes, 1, key.data, int(key.size), SQLITE_STATIC);
    connection.step(removes);
  }

  void commit() { connection.step(commits); }
  void settle() { connection.run("PRAGMA wal_checkpoint(TRUNCATE)"); }
  void flush() { settle(); }
};

struct SqliteReader {
  Connection connection;
  bool uses_in;
  sqlite3_stmt *begins, *commits, *gets, *scans, *firsts;
  // The statement for as many keys as its index.
  std::vector<sqlite3_stmt *> ins;

  explicit SqliteReader(SqliteWriter &writer)
      : connection(writer.connection.path, writer.connection.durability), uses_in(writer.uses_in) {
    begins = connection.prepare("BEGIN");
    commits = connection.prepare("COMMIT");
    gets = connection.prepare("SELECT v FROM records WHERE k = ?1");
    scans = connection.prepare("SELECT k, v FROM records WHERE k >= ?1 ORDER BY k LIMIT ?2");
    firsts = connection.prepare("SELECT k, v FROM records ORDER BY k LIMIT ?1");
  }

  ~SqliteReader() {
    for (sqlite3_stmt *statement : {begins, commits, gets, scans, firsts}) sqlite3_finalize(statement);
    for (sqlite3_stmt *statement : ins) sqlite3_finalize(statement);
  }

  uint64_t value(sqlite3_stmt *statement, int column) {
    return touch(sqlite3_column_blob(statement, column), size_t(sqlite3_column_bytes(statement, column)));
  }

  uint64_t one(Bytes key) {
    sqlite3_bind_blob(gets, 1, key.data, int(key.size), SQLITE_STATIC);
    int code = sqlite3_step(gets);
    must(code, connection.db);
    uint64_t sum = code == SQLITE_ROW ? value(gets, 0) : 0;
    sqlite3_reset(gets);
    return sum;
  }

  void begin() { connection.step(begins); }
  uint64_t next(Bytes key) { return one(key); }
  void end() { connection.step(commits); }

  uint64_t group(peer_keys keys) {
    if (uses_in) return group_in(keys);
    uint64_t sum = 0;
    begin();
    for (size_t i = 0; i < keys.count; i++) sum += one(key_at(keys, i));
    end();
    return sum;
  }

  uint64_t group_in(peer_keys keys) {
    if (ins.size() <= keys.count) ins.resize(keys.count + 1, nullptr);
    sqlite3_stmt *&statement = ins[keys.count];
    if (!statement) {
      std::string sql = "SELECT k, v FROM records WHERE k IN (?";
      for (size_t i = 1; i < keys.count; i++) sql += ",?";
      statement = connection.prepare(sql + ")");
    }
    for (size_t i = 0; i < keys.count; i++)
      sqlite3_bind_blob(statement, int(i) + 1, key_at(keys, i).data, int(keys.length), SQLITE_STATIC);
    return rows(statement);
  }

  uint64_t rows(sqlite3_stmt *statement) {
    uint64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) sum += value(statement, 1);
    must(code, connection.db);
    sqlite3_reset(statement);
    return sum;
  }

  uint64_t range(Bytes from, size_t limit) {
    sqlite3_stmt *statement = from.size ? scans : firsts;
    if (from.size) sqlite3_bind_blob(statement, 1, from.data, int(from.size), SQLITE_STATIC);
    sqlite3_bind_int64(statement, from.size ? 2 : 1, sqlite3_int64(limit));
    return rows(statement);
  }
};
} // namespace

std::unique_ptr<Peer> open_sqlite(const std::string &directory, peer_durability durability, size_t, bool uses_in) {
  return std::make_unique<PeerOf<SqliteWriter, SqliteReader>>(directory, durability, uses_in);
}

const char *sqlite_version() { return sqlite3_libversion(); }
