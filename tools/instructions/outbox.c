// What Sources/instructions/OutboxWork.swift does, with liblmdb alone: the same databases and rows, 256 entries a commit.
#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batch = 256, rows_of_an_entry = 280, rows_of_a_state = 57, rows_of_a_record = 28 };

static MDB_txn *txn;
static MDB_dbi entries, states, due, lanes, running, journal;
static uint64_t journaled;

static void must(int code) {
  if (code) {
    fprintf(stderr, "%s\n", mdb_strerror(code));
    exit(1);
  }
}

static void number(unsigned char *key, uint64_t value) {
  for (int i = 0; i < 8; i++) key[i] = (unsigned char)(value >> (56 - 8 * i));
}

static void put(MDB_dbi dbi, const void *key, size_t length, const void *value, size_t size) {
  MDB_val k = {length, (void *)key}, v = {size, (void *)value};
  must(mdb_put(txn, dbi, &k, &v, 0));
}

static void del(MDB_dbi dbi, const void *key, size_t length) {
  MDB_val k = {length, (void *)key};
  must(mdb_del(txn, dbi, &k, NULL));
}

static void note(void) {
  unsigned char key[8], value[rows_of_a_record] = {1};
  number(key, ++journaled);
  put(journal, key, 8, value, sizeof value);
}

// "post:" and the number in decimal, 0xFF, and the number.
static size_t lane_key(unsigned char key[32], uint64_t id) {
  unsigned char digits[20];
  size_t count = 0, length = 5;
  memcpy(key, "post:", 5);
  for (uint64_t rest = id; rest || !count; rest /= 10) digits[count++] = (unsigned char)('0' + rest % 10);
  while (count) key[length++] = digits[--count];
  key[length++] = 0xFF;
  number(key + length, id);
  return length + 8;
}

static void due_key(unsigned char key[25], uint64_t id) {
  memset(key, 1, 25);
  number(key + 17, id);
}

static void add(uint64_t id) {
  unsigned char key[8], lane[32], time[25], value[rows_of_an_entry] = {1};
  number(key, id);
  size_t length = lane_key(lane, id);
  due_key(time, id);
  put(entries, key, 8, value, sizeof value);
  put(states, key, 8, value, rows_of_a_state);
  put(lanes, lane, length, "", 0);
  put(due, time, 25, "", 0);
  note();
}

static void take(uint64_t id) {
  unsigned char key[8], time[25], value[rows_of_a_state] = {1};
  number(key, id);
  due_key(time, id);
  del(due, time, 25);
  MDB_val k = {8, key}, v;
  must(mdb_get(txn, entries, &k, &v));
  must(mdb_get(txn, states, &k, &v));
  put(states, key, 8, value, sizeof value);
  note();
}

static void settle(uint64_t id) {
  unsigned char key[8], lane[32];
  number(key, id);
  size_t length = lane_key(lane, id);
  del(entries, key, 8);
  del(states, key, 8);
  del(lanes, lane, length);
  note();
}

static void each(MDB_env *env, void (*body)(uint64_t), uint64_t first, uint64_t end) {
  unsigned char epoch[8] = {0};
  uint64_t taken[batch];
  must(mdb_txn_begin(env, NULL, 0, &txn));
  for (uint64_t id = first; id < end; id++) body(id);
  for (uint64_t id = first; id < end; id++) taken[id - first] = id;
  if (body == take) put(running, epoch, 8, taken, (end - first) * 8);
  if (body == settle) del(running, epoch, 8);
  must(mdb_txn_commit(txn));
}

long outbox_work(const char *mode, long operations, const char *path) {
  MDB_env *env;
  must(mdb_env_create(&env));
  must(mdb_env_set_maxdbs(env, 32));
  must(mdb_env_set_mapsize(env, 256 << 20));
  must(mdb_env_open(env, path, MDB_NOTLS | MDB_NOSYNC, 0600));
  must(mdb_txn_begin(env, NULL, 0, &txn));
  must(mdb_dbi_open(txn, "entry", MDB_CREATE, &entries));
  must(mdb_dbi_open(txn, "state", MDB_CREATE, &states));
  must(mdb_dbi_open(txn, "due", MDB_CREATE, &due));
  must(mdb_dbi_open(txn, "lane", MDB_CREATE, &lanes));
  must(mdb_dbi_open(txn, "run", MDB_CREATE, &running));
  must(mdb_dbi_open(txn, "log", MDB_CREATE, &journal));
  must(mdb_txn_commit(txn));
  for (uint64_t first = 0; first < (uint64_t)operations; first += batch) {
    uint64_t end = first + batch < (uint64_t)operations ? first + batch : (uint64_t)operations;
    each(env, add, first, end);
    if (strcmp(mode, "deliver")) continue;
    each(env, take, first, end);
    each(env, settle, first, end);
  }
  return operations;
}
