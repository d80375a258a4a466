// A server and a client of HTTP/1.1 on this machine, with as little as possible between the sockets and whoever measures.
#ifndef HTTP_H
#define HTTP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct http_server http_server;
typedef struct http_client http_client;

// Calls return 0, or -1 with peer_message().

// Answers each request with 200 once its body is there; a thread a connection.
int http_server_start(http_server **result, uint16_t *port);
// How many requests it has answered.
uint64_t http_server_count(http_server *);
// Ends it; all its clients must be closed.
void http_server_stop(http_server *);

// Opens connections that are kept, with a thread each.
int http_client_open(uint16_t port, size_t connections, http_client **result);
// Waits for what has been posted.
void http_client_close(http_client *);
// Posts a body, of which it keeps a copy, under an idempotency key, with the next connection that is free; `done` is
// called on its thread with the status, or 0 if there is none.
void http_client_post(http_client *, const uint8_t *body, size_t length, uint64_t key, void *context,
                      void (*done)(void *context, int status));
// Posts a body under several keys, and waits until all are answered with 200.
int http_client_post_all(http_client *, const uint8_t *body, size_t length, const uint64_t *keys, size_t count);

#ifdef __cplusplus
}
#endif
#endif
