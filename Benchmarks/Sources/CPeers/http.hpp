// What the server and the client of HTTP share.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Small messages leave at once.
inline void set_no_delay(int socket) {
  int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

inline bool write_all(int socket, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = send(socket, bytes, length, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    length -= size_t(written);
  }
  return true;
}

// Reads messages that have a Content-Length, one after the other.
class HTTPReader {
  int socket;
  std::string buffer;

  bool read_more() {
    char bytes[16384];
    ssize_t count;
    do count = recv(socket, bytes, sizeof bytes, 0);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    buffer.append(bytes, size_t(count));
    return true;
  }

public:
  explicit HTTPReader(int socket) : socket(socket) {}

  // The next message's head; its body is read and left out. False at the end.
  bool read_message(std::string &head) {
    size_t end;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
      if (!read_more()) return false;
    head = buffer.substr(0, end + 2);
    size_t place = head.find("\r\nContent-Length: ");
    size_t length = place == std::string::npos ? 0 : strtoul(head.c_str() + place + 18, nullptr, 10);
    while (buffer.size() < end + 4 + length)
      if (!read_more()) return false;
    buffer.erase(0, end + 4 + length);
    return true;
  }
};
