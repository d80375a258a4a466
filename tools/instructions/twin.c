// What Sources/instructions/main.swift does, with liblmdb alone.
#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long state_reads(const char *mode, long operations, const char *path);
long outbox_work(const char *mode, long operations, const char *path);

static const uint64_t entries = 10000;
static uint64_t state = 1;
static MDB_env *env;
static MDB_dbi a;
static unsigned char value[100];

static void must(int code) {
  if (code) {
    fprintf(stderr, "%s\n", mdb_strerror(code));
    exit(1);
  }
}

static uint64_t random_number(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % entries;
}

static void encode(uint64_t number, unsigned char key[8]) {
  for (int i = 0; i < 8; i++) key[i] = (unsigned char)(number >> (56 - 8 * i));
}

static void put_thousand(uint64_t first) {
  MDB_txn *txn;
  unsigned char bytes[8];
  must(mdb_txn_begin(env, NULL, 0, &txn));
  for (uint64_t n = 0; n < 1000; n++) {
    encode(first + n, bytes);
    MDB_val key = {8, bytes}, data = {100, value};
    must(mdb_put(txn, a, &key, &data, 0));
  }
  must(mdb_txn_commit(txn));
}

// A disk cache of 1,000 values of one size, in the least that it can be: hits that are copied out, or sets, a commit each.
static long disk_cache(const char *mode, long operations) {
  size_t width = strstr(mode, "4k") ? 4096 : 20000;
  int sets = !strncmp(mode, "set", 3);
  unsigned char *bytes = malloc(width);
  memset(bytes, 7, width);
  long sum = 0;
  MDB_txn *txn;
  for (long n = -1000; n < (sets ? operations : 0); n++) {
    char text[64];
    MDB_val key = {0, text}, data = {width, bytes};
    key.mv_size = sprintf(text, "thumbnail:%ld", 10000000 + (n < 0 ? n + 1000 : n * 7 % 1000) * 7919 % 1000003);
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_put(txn, a, &key, &data, 0));
    must(mdb_txn_commit(txn));
  }
  char keys[1000][32];
  for (long n = 0; n < 1000; n++) sprintf(keys[n], "thumbnail:%ld", 10000000 + n * 7919 % 1000003);
  must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
  for (long n = 0; n < (sets ? 0 : operations); n++) {
    char *text = keys[n * 7 % 1000];
    MDB_val key = {strlen(text), text}, data;
    mdb_txn_reset(txn);
    must(mdb_txn_renew(txn));
    must(mdb_get(txn, a, &key, &data));
    unsigned char *copy = malloc(data.mv_size);
    memcpy(copy, data.mv_data, data.mv_size);
    sum += copy[data.mv_size - 1];
    free(copy);
  }
  mdb_txn_abort(txn);
  free(bytes);
  return sum;
}

int main(int argc, char **argv) {
  const char *mode = argv[1];
  long operations = atol(argv[2]);
  long sum = 0;
  MDB_txn *txn;
  if (strchr(mode, '-')) {
    printf("%ld\n", state_reads(mode, operations, argv[3]));
    return 0;
  }
  if (!strcmp(mode, "enqueue") || !strcmp(mode, "deliver")) {
    printf("%ld\n", outbox_work(mode, operations, argv[3]));
    return 0;
  }
  memset(value, 7, sizeof value);
  must(mdb_env_create(&env));
  must(mdb_env_set_maxdbs(env, 32));
  must(mdb_env_set_maxreaders(env, 1024));
  must(mdb_env_set_mapsize(env, 256 << 20));
  must(mdb_env_open(env, argv[3], MDB_NOTLS | MDB_NOSYNC, 0600));
  must(mdb_txn_begin(env, NULL, 0, &txn));
  must(mdb_dbi_open(txn, "a", MDB_CREATE, &a));
  must(mdb_txn_commit(txn));
  if (strchr(mode, 'k') && strchr("hs", *mode)) {
    printf("%ld\n", disk_cache(mode, operations));
    mdb_env_close(env);
    return 0;
  }
  for (int part = 0; part < 10; part++) put_thousand(part * 1000);
  must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
  unsigned char bytes[8];
  MDB_val key = {8, bytes}, data;
  if (!strcmp(mode, "scope")) {
    for (long n = 0; n < operations; n++) {
      encode(random_number(), bytes);
      mdb_txn_reset(txn);
      must(mdb_txn_renew(txn));
      must(mdb_get(txn, a, &key, &data));
      sum += data.mv_size;
    }
  } else if (!strcmp(mode, "get")) {
    for (long n = 0; n < operations; n++) {
      encode(random_number(), bytes);
      must(mdb_get(txn, a, &key, &data));
      sum += data.mv_size;
    }
  } else if (!strcmp(mode, "text")) {
    MDB_val text = {23, "a key that is not there"};
    for (long n = 0; n < operations; n++) sum += mdb_get(txn, a, &text, &data) == MDB_NOTFOUND;
  } else if (!strcmp(mode, "composed")) {
    const char *type = "user", *id = "0123456789abcdef";
    for (long n = 0; n < operations; n++) {
      char composed[511];
      size_t length = strlen(type);
      memcpy(composed, type, length);
      composed[length++] = ':';
      memcpy(composed + length, id, strlen(id));
      MDB_val parts = {length + strlen(id), composed};
      sum += mdb_get(txn, a, &parts, &data) == MDB_NOTFOUND;
    }
  } else if (!strcmp(mode, "step")) {
    for (long n = 0; n < operations / 10000; n++) {
      MDB_cursor *cursor;
      must(mdb_cursor_open(txn, a, &cursor));
      while (!mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) sum += data.mv_size;
      mdb_cursor_close(cursor);
    }
  } else if (!strcmp(mode, "hit")) {
    // The least that a hit on disk can do: a snapshot, a key of text, a copy of the value.
    for (long n = 0; n < operations; n++) {
      encode(random_number(), bytes);
      mdb_txn_reset(txn);
      must(mdb_txn_renew(txn));
      must(mdb_get(txn, a, &key, &data));
      void *copy = malloc(data.mv_size);
      memcpy(copy, data.mv_data, data.mv_size);
      sum += ((unsigned char *)copy)[data.mv_size - 1];
      free(copy);
    }
  } else if (!strcmp(mode, "put")) {
    for (long part = 0; part < operations / 1000; part++) put_thousand(entries + part * 1000);
  }
  mdb_txn_abort(txn);
  mdb_env_close(env);
  printf("%ld\n", sum);
}
