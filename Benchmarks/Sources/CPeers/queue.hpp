// What an engine implements to be an outbox.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "include/queues.h"
#include "peer.hpp"

class Queue {
public:
  virtual ~Queue() = default;
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void add(uint64_t id, uint64_t lane, uint64_t due, Bytes payload) = 0;
  // The first entries by due time, marked as taken.
  virtual std::vector<uint64_t> take(size_t limit) = 0;
  virtual void remove(uint64_t id) = 0;
  uint64_t next_id = 1;
};

// Numbers as keys sort as numbers do.
inline std::string big_endian(uint64_t number) {
  std::string bytes(8, 0);
  for (int i = 0; i < 8; i++) bytes[size_t(i)] = char(number >> (56 - 8 * i));
  return bytes;
}

inline uint64_t number_at(const void *bytes, size_t offset) {
  uint64_t number = 0;
  for (int i = 0; i < 8; i++) number = number << 8 | static_cast<const uint8_t *>(bytes)[offset + size_t(i)];
  return number;
}

// What the state of an entry takes.
inline std::string state_bytes(char phase) { return std::string(40, phase); }

std::unique_ptr<Queue> open_lmdb_queue(const std::string &directory);
std::unique_ptr<Queue> open_sqlite_queue(const std::string &directory);
std::unique_ptr<Queue> open_rocksdb_queue(const std::string &directory);
