// The C interface of the outboxes, and the floor of the disk.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "guarded.hpp"
#include "queue.hpp"

struct queue {
  std::unique_ptr<Queue> engine;
};

int queue_open(const char *engine, const char *directory, queue **result) {
  return guarded([&] {
    std::string name = engine;
    std::unique_ptr<Queue> made;
    if (name == "lmdb") made = open_lmdb_queue(directory);
    if (name == "sqlite") made = open_sqlite_queue(directory);
    if (name == "rocksdb") made = open_rocksdb_queue(directory);
    if (!made) throw Failure("there is no queue on " + name);
    *result = new queue{std::move(made)};
  });
}

void queue_close(queue *q) { delete q; }

int queue_enqueue(queue *q, const uint8_t *payload, size_t length, size_t count, size_t per_commit) {
  return guarded([&] {
    Queue &engine = *q->engine;
    for (size_t i = 0; i < count;) {
      engine.begin();
      size_t end = i + per_commit < count ? i + per_commit : count;
      for (; i < end; i++) {
        uint64_t id = engine.next_id++;
        engine.add(id, id, id, {payload, length});
      }
      engine.commit();
    }
  });
}

int queue_take(queue *q, size_t batch, int acknowledges_alone, size_t *taken) {
  return guarded([&] {
    Queue &engine = *q->engine;
    engine.begin();
    auto ids = engine.take(batch);
    engine.commit();
    if (!acknowledges_alone) engine.begin();
    for (uint64_t id : ids) {
      if (acknowledges_alone) engine.begin();
      engine.remove(id);
      if (acknowledges_alone) engine.commit();
    }
    if (!acknowledges_alone) engine.commit();
    *taken = ids.size();
  });
}

int queue_exchange(queue *q, const uint64_t *delivered, size_t count, size_t limit, uint64_t *ids, size_t *taken) {
  return guarded([&] {
    Queue &engine = *q->engine;
    engine.begin();
    for (size_t i = 0; i < count; i++) engine.remove(delivered[i]);
    auto found = engine.take(limit);
    engine.commit();
    std::copy(found.begin(), found.end(), ids);
    *taken = found.size();
  });
}

int disk_floor(const char *path, size_t count) {
  return guarded([&] {
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0) throw Failure(std::string("cannot open ") + path + ": " + strerror(errno));
    std::string block(4096, 'x');
    const off_t blocks = 256;
    bool failed = ftruncate(file, blocks * 4096) != 0;
    for (size_t i = 0; i < count && !failed; i++) {
      failed = pwrite(file, block.data(), block.size(), off_t(i) % blocks * 4096) != 4096 || fdatasync(file) != 0;
    }
    close(file);
    if (failed) throw Failure(std::string("cannot write ") + path + ": " + strerror(errno));
  });
}
