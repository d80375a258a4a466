// A client with a thread for each of its connections.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "guarded.hpp"
#include "http.hpp"
#include "include/http.h"
#include "peer.hpp"

namespace {
struct Job {
  std::string message;
  void *context;
  void (*done)(void *, int);
};

std::string request(const uint8_t *body, size_t length, uint64_t key) {
  std::string text = "POST /entries HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n"
                     "Idempotency-Key: " +
                     std::to_string(key) + "\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
  return text.append(reinterpret_cast<const char *>(body), length);
}
} // namespace

struct http_client {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool closing = false;
  std::vector<std::thread> threads;
  std::vector<int> sockets;

  void work(int socket) {
    HTTPReader reader(socket);
    std::string head;
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return closing || !jobs.empty(); });
      if (jobs.empty()) return;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      bool answered = write_all(socket, job.message.data(), job.message.size()) && reader.read_message(head);
      job.done(job.context, answered && head.size() > 12 ? atoi(head.c_str() + 9) : 0);
    }
  }

  void post(std::string message, void *context, void (*done)(void *, int)) {
    {
      std::lock_guard lock(mutex);
      jobs.push_back({std::move(message), context, done});
    }
    changed.notify_one();
  }

  ~http_client() {
    {
      std::lock_guard lock(mutex);
      closing = true;
    }
    changed.notify_all();
    for (auto &thread : threads) thread.join();
    for (int socket : sockets) close(socket);
  }
};

int http_client_open(uint16_t port, size_t connections, http_client **result) {
  return guarded([&] {
    auto client = std::make_unique<http_client>();
    for (size_t i = 0; i < connections; i++) {
      int socket = ::socket(AF_INET, SOCK_STREAM, 0);
      if (socket >= 0) client->sockets.push_back(socket);
      sockaddr_in address = loopback(port);
      if (socket < 0 || connect(socket, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
        throw Failure(std::string("cannot connect to 127.0.0.1: ") + strerror(errno));
      set_no_delay(socket);
    }
    for (int socket : client->sockets) client->threads.emplace_back([c = client.get(), socket] { c->work(socket); });
    *result = client.release();
  });
}

void http_client_close(http_client *client) { delete client; }

void http_client_post(http_client *client, const uint8_t *body, size_t length, uint64_t key, void *context,
                      void (*done)(void *, int)) {
  client->post(request(body, length, key), context, done);
}

int http_client_post_all(http_client *client, const uint8_t *body, size_t length, const uint64_t *keys, size_t count) {
  return guarded([&] {
    struct Rest {
      std::mutex mutex;
      std::condition_variable ended;
      size_t left;
      bool failed = false;
    } rest;
    rest.left = count;
    for (size_t i = 0; i < count; i++)
      client->post(request(body, length, keys[i]), &rest, [](void *context, int status) {
        Rest &rest = *static_cast<Rest *>(context);
        std::lock_guard lock(rest.mutex);
        if (status != 200) rest.failed = true;
        if (--rest.left == 0) rest.ended.notify_one();
      });
    std::unique_lock lock(rest.mutex);
    rest.ended.wait(lock, [&] { return rest.left == 0; });
    if (rest.failed) throw Failure("the server has not answered with 200");
  });
}
