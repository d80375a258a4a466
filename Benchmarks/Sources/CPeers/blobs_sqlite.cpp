// Disk caches on SQLite: one table of blobs, tuned; and YYCache's design with its schema, its pragmas, its file for a
// value above 20,480 bytes and its update of the access time at each read. Unlike the original, statements are reset as
// soon as they are done, so that the log can be checkpointed.
#include <sqlite3.h>

#include <ctime>

#include "blobs.hpp"

namespace {
struct Statements {
  sqlite3 *db = nullptr;

  void open(const std::string &path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    must(sqlite3_open_v2(path.c_str(), &db, flags, nullptr));
  }

  void must(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
      throw Failure(std::string("SQLite: ") + sqlite3_errmsg(db));
  }

  void run(const char *sql) { must(sqlite3_exec(db, sql, nullptr, nullptr, nullptr)); }

  sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = nullptr;
    must(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }

  void step(sqlite3_stmt *statement) {
    must(sqlite3_step(statement));
    sqlite3_reset(statement);
  }
};

void bind(sqlite3_stmt *statement, int index, Bytes text) {
  sqlite3_bind_text(statement, index, reinterpret_cast<const char *>(text.data), int(text.size), SQLITE_STATIC);
}

struct SqliteBlobs final : Blobs, Statements {
  sqlite3_stmt *sets, *gets, *removes;

  // Pages of 16 KiB are what SQLite's documentation recommends for large values; 4 KiB is the default.
  SqliteBlobs(const std::string &directory, bool has_large_pages) {
    open(directory + "/blobs.sqlite");
    if (has_large_pages) run("PRAGMA page_size=16384");
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=OFF");
    run("PRAGMA cache_size=-524288");
    run("PRAGMA mmap_size=1099511627776");
    run("CREATE TABLE IF NOT EXISTS blob(k TEXT PRIMARY KEY, v BLOB NOT NULL)");
    sets = prepare("INSERT OR REPLACE INTO blob(k, v) VALUES(?1, ?2)");
    gets = prepare("SELECT v FROM blob WHERE k = ?1");
    removes = prepare("DELETE FROM blob WHERE k = ?1");
  }

  ~SqliteBlobs() override {
    for (sqlite3_stmt *statement : {sets, gets, removes}) sqlite3_finalize(statement);
    sqlite3_close(db);
  }

  void set(Bytes key, Bytes value) override {
    bind(sets, 1, key);
    sqlite3_bind_blob(sets, 2, value.data, int(value.size), SQLITE_STATIC);
    step(sets);
  }

  bool get(Bytes key) override {
    bind(gets, 1, key);
    int code = sqlite3_step(gets);
    must(code);
    if (code == SQLITE_ROW)
      buffer.assign(static_cast<const char *>(sqlite3_column_blob(gets, 0)), size_t(sqlite3_column_bytes(gets, 0)));
    sqlite3_reset(gets);
    return code == SQLITE_ROW;
  }

  uint64_t touch_in_place(Bytes key) override {
    bind(gets, 1, key);
    int code = sqlite3_step(gets);
    must(code);
    // SQLite puts a value of several pages together; nobody copies it again.
    uint64_t sum = 0;
    if (code == SQLITE_ROW) sum = touch(sqlite3_column_blob(gets, 0), size_t(sqlite3_column_bytes(gets, 0)));
    sqlite3_reset(gets);
    return sum;
  }

  void remove(Bytes key) override {
    bind(removes, 1, key);
    step(removes);
  }
};

struct YYCacheBlobs final : Blobs, Statements {
  static constexpr size_t threshold = 20480;
  BlobFiles files;
  sqlite3_stmt *saves, *gets, *touches, *names, *removes;

  explicit YYCacheBlobs(const std::string &directory) : files(directory + "/data") {
    open(directory + "/manifest.sqlite");
    run("pragma journal_mode = wal");
    run("pragma synchronous = normal");
    run("create table if not exists manifest (key text, filename text, size integer, inline_data blob, "
        "modification_time integer, last_access_time integer, extended_data blob, primary key(key))");
    run("create index if not exists last_access_time_idx on manifest(last_access_time)");
    saves = prepare("insert or replace into manifest (key, filename, size, inline_data, modification_time, "
                    "last_access_time, extended_data) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    gets = prepare("select key, filename, size, inline_data, modification_time, last_access_time, extended_data from "
                   "manifest where key = ?1");
    touches = prepare("update manifest set last_access_time = ?1 where key = ?2");
    names = prepare("select filename from manifest where key = ?1");
    removes = prepare("delete from manifest where key = ?1");
  }

  ~YYCacheBlobs() override {
    for (sqlite3_stmt *statement : {saves, gets, touches, names, removes}) sqlite3_finalize(statement);
    sqlite3_close(db);
  }

  // The file that a key has, if it has one.
  std::string file_of(Bytes key) {
    bind(names, 1, key);
    std::string name;
    int code = sqlite3_step(names);
    must(code);
    if (code == SQLITE_ROW && sqlite3_column_type(names, 0) == SQLITE_TEXT)
      name = reinterpret_cast<const char *>(sqlite3_column_text(names, 0));
    sqlite3_reset(names);
    return name;
  }

  void set(Bytes key, Bytes value) override {
    bool is_file = value.size > threshold;
    std::string name = is_file ? BlobFiles::name_of(key) : file_of(key);
    if (is_file) files.write(name, value);
    else if (!name.empty()) files.remove(name);
    int now = int(time(nullptr));
    bind(saves, 1, key);
    if (is_file) sqlite3_bind_text(saves, 2, name.data(), int(name.size()), SQLITE_STATIC);
    else sqlite3_bind_null(saves, 2);
    sqlite3_bind_int(saves, 3, int(value.size));
    if (is_file) sqlite3_bind_null(saves, 4);
    else sqlite3_bind_blob(saves, 4, value.data, int(value.size), SQLITE_STATIC);
    sqlite3_bind_int(saves, 5, now);
    sqlite3_bind_int(saves, 6, now);
    sqlite3_bind_null(saves, 7);
    step(saves);
  }

  bool get(Bytes key) override {
    bind(gets, 1, key);
    int code = sqlite3_step(gets);
    must(code);
    if (code != SQLITE_ROW) {
      sqlite3_reset(gets);
      return false;
    }
    std::string name;
    if (sqlite3_column_type(gets, 1) == SQLITE_TEXT) name = reinterpret_cast<const char *>(sqlite3_column_text(gets, 1));
    else buffer.assign(static_cast<const char *>(sqlite3_column_blob(gets, 3)), size_t(sqlite3_column_bytes(gets, 3)));
    sqlite3_reset(gets);
    sqlite3_bind_int(touches, 1, int(time(nullptr)));
    bind(touches, 2, key);
    step(touches);
    return name.empty() || files.read(name, buffer);
  }

  void remove(Bytes key) override {
    std::string name = file_of(key);
    if (!name.empty()) files.remove(name);
    bind(removes, 1, key);
    step(removes);
  }
};
} // namespace

std::unique_ptr<Blobs> open_sqlite_blobs(const std::string &directory, bool has_large_pages) {
  return std::make_unique<SqliteBlobs>(directory, has_large_pages);
}

std::unique_ptr<Blobs> open_yycache_blobs(const std::string &directory) {
  return std::make_unique<YYCacheBlobs>(directory);
}
