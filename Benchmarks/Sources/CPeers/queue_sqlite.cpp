// An outbox in one table of SQLite, as one would write it there: an index of what is due, one of the lanes; WAL, FULL.
#include <sqlite3.h>

#include "queue.hpp"

namespace {
struct SqliteQueue final : Queue {
  sqlite3 *db = nullptr;
  sqlite3_stmt *begins, *commits, *adds, *finds, *marks, *removes;

  explicit SqliteQueue(const std::string &directory) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    must(sqlite3_open_v2((directory + "/queue.sqlite").c_str(), &db, flags, nullptr));
    for (const char *sql :
         {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA cache_size=-524288",
          "PRAGMA mmap_size=1099511627776", "PRAGMA temp_store=MEMORY",
          "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, lane INTEGER NOT NULL, due INTEGER, state BLOB NOT "
          "NULL, payload BLOB NOT NULL)",
          "CREATE INDEX IF NOT EXISTS entry_due ON entry(due) WHERE due IS NOT NULL",
          "CREATE INDEX IF NOT EXISTS entry_lane ON entry(lane)"})
      must(sqlite3_exec(db, sql, nullptr, nullptr, nullptr));
    begins = prepare("BEGIN IMMEDIATE");
    commits = prepare("COMMIT");
    adds = prepare("INSERT INTO entry(id, lane, due, state, payload) VALUES(?1, ?2, ?3, ?4, ?5)");
    finds = prepare("SELECT id, payload FROM entry WHERE due IS NOT NULL ORDER BY due LIMIT ?1");
    marks = prepare("UPDATE entry SET due = NULL, state = ?2 WHERE id = ?1");
    removes = prepare("DELETE FROM entry WHERE id = ?1");
  }

  ~SqliteQueue() override {
    for (sqlite3_stmt *statement : {begins, commits, adds, finds, marks, removes}) sqlite3_finalize(statement);
    sqlite3_close(db);
  }

  void must(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
      throw Failure(std::string("SQLite: ") + sqlite3_errmsg(db));
  }

  sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = nullptr;
    must(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }

  void step(sqlite3_stmt *statement) {
    must(sqlite3_step(statement));
    sqlite3_reset(statement);
  }

  void begin() override { step(begins); }
  void commit() override { step(commits); }

  void add(uint64_t id, uint64_t lane, uint64_t due, Bytes payload) override {
    std::string state = state_bytes('w');
    sqlite3_bind_int64(adds, 1, sqlite3_int64(id));
    sqlite3_bind_int64(adds, 2, sqlite3_int64(lane));
    sqlite3_bind_int64(adds, 3, sqlite3_int64(due));
    sqlite3_bind_blob(adds, 4, state.data(), int(state.size()), SQLITE_STATIC);
    sqlite3_bind_blob(adds, 5, payload.data, int(payload.size), SQLITE_STATIC);
    step(adds);
  }

  std::vector<uint64_t> take(size_t limit) override {
    std::vector<uint64_t> ids;
    std::string payload;
    int code;
    sqlite3_bind_int64(finds, 1, sqlite3_int64(limit));
    while ((code = sqlite3_step(finds)) == SQLITE_ROW) {
      ids.push_back(uint64_t(sqlite3_column_int64(finds, 0)));
      payload.assign(static_cast<const char *>(sqlite3_column_blob(finds, 1)), size_t(sqlite3_column_bytes(finds, 1)));
    }
    must(code);
    sqlite3_reset(finds);
    std::string state = state_bytes('f');
    for (uint64_t id : ids) {
      sqlite3_bind_int64(marks, 1, sqlite3_int64(id));
      sqlite3_bind_blob(marks, 2, state.data(), int(state.size()), SQLITE_STATIC);
      step(marks);
    }
    return ids;
  }

  void remove(uint64_t id) override {
    sqlite3_bind_int64(removes, 1, sqlite3_int64(id));
    step(removes);
  }
};
} // namespace

std::unique_ptr<Queue> open_sqlite_queue(const std::string &directory) {
  return std::make_unique<SqliteQueue>(directory);
}
