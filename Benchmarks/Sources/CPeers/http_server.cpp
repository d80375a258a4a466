// A server that takes everything.
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "guarded.hpp"
#include "http.hpp"
#include "include/http.h"
#include "peer.hpp"

struct http_server {
  int listener = -1;
  std::atomic<uint64_t> count{0};
  std::thread acceptor;
  std::vector<std::thread> threads;

  void serve(int socket) {
    HTTPReader reader(socket);
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    std::string head;
    while (reader.read_message(head)) {
      count++;
      if (!write_all(socket, answer, sizeof answer - 1)) break;
    }
    close(socket);
  }

  void accept_all() {
    for (;;) {
      int socket = accept(listener, nullptr, nullptr);
      if (socket < 0 && errno == EINTR) continue;
      if (socket < 0) return;
      set_no_delay(socket);
      threads.emplace_back([this, socket] { serve(socket); });
    }
  }
};

int http_server_start(http_server **result, uint16_t *port) {
  return guarded([&] {
    auto server = std::make_unique<http_server>();
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    auto *raw = reinterpret_cast<sockaddr *>(&address);
    if (server->listener < 0 || bind(server->listener, raw, length) != 0 || listen(server->listener, 128) != 0 ||
        getsockname(server->listener, raw, &length) != 0)
      throw Failure(std::string("cannot listen on 127.0.0.1: ") + strerror(errno));
    *port = ntohs(address.sin_port);
    *result = server.release();
    (*result)->acceptor = std::thread([server = *result] { server->accept_all(); });
  });
}

uint64_t http_server_count(http_server *server) { return server->count; }

void http_server_stop(http_server *server) {
  shutdown(server->listener, SHUT_RDWR);
  server->acceptor.join();
  close(server->listener);
  for (auto &thread : server->threads) thread.join();
  delete server;
}
