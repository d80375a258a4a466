// What Sources/instructions/StateReads.swift does, with liblmdb alone: mdb_get for each key, in one snapshot an operation.
#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { records = 10000, value_size = 219 };

static void must(int code) {
  if (code) {
    fprintf(stderr, "%s\n", mdb_strerror(code));
    exit(1);
  }
}

// The modes are merge-8 and miss-8 for random keys, near-8 and next-8 for neighbours, none-8 for neighbours without a
// record, memo-8 for one list again and again.
long state_reads(const char *mode, long operations, const char *path) {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi dbi;
  unsigned char value[value_size];
  memset(value, 7, sizeof value);
  must(mdb_env_create(&env));
  must(mdb_env_set_maxdbs(env, 32));
  must(mdb_env_set_maxreaders(env, 1024));
  must(mdb_env_set_mapsize(env, 256 << 20));
  must(mdb_env_open(env, path, MDB_NOTLS | MDB_NOSYNC, 0600));
  must(mdb_txn_begin(env, NULL, 0, &txn));
  must(mdb_dbi_open(txn, "state.record", MDB_CREATE, &dbi));
  static char keys[records][16];
  for (int n = 0; n < records; n++) {
    snprintf(keys[n], sizeof keys[n], "post:%08d", n);
    MDB_val key = {13, keys[n]}, data = {sizeof value, value};
    must(mdb_put(txn, dbi, &key, &data, 0));
  }
  static char absent[100][64][17];
  for (int list = 0; list < 100; list++) {
    for (int k = 0; k < 64; k++) snprintf(absent[list][k], sizeof absent[list][k], "post:%08d%03d", list * 97, k);
  }
  must(mdb_txn_commit(txn));
  must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
  int is_absent = !strncmp(mode, "none", 4);
  int width = atoi(strchr(mode, '-') + 1);
  long sum = 0;
  uint64_t state = 1;
  for (long n = 0; n < operations; n++) {
    mdb_txn_reset(txn);
    must(mdb_txn_renew(txn));
    uint64_t list = strncmp(mode, "memo", 4) ? n % 100 : 0;
    state = list * 0x9E3779B97F4A7C15u + 1;
    for (int k = 0; k < width; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      uint64_t number = mode[0] == 'n' ? (list * 97 + k) % records : (state >> 33) % records;
      MDB_val key = {13, keys[number]}, data;
      if (is_absent) {
        MDB_val none = {16, absent[list][k]};
        sum += mdb_get(txn, dbi, &none, &data) == MDB_NOTFOUND;
        continue;
      }
      must(mdb_get(txn, dbi, &key, &data));
      sum += ((unsigned char *)data.mv_data)[40] + ((unsigned char *)data.mv_data)[60];
    }
  }
  mdb_txn_abort(txn);
  mdb_env_close(env);
  return sum;
}
