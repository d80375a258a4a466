// The system's libcurl, found through pkg-config.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "Holdfast needs libcurl 7.80 or later, which tells when a request is about to be sent."
#endif

// What Swift cannot call, since it takes an argument of any type: once for each type.

static inline CURLcode holdfast_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode holdfast_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode holdfast_curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode holdfast_curl_set_headers(CURL *handle, struct curl_slist *headers) {
  return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

// Allows nothing but HTTP, under the name that this option has in the version at hand.
static inline CURLcode holdfast_curl_allow_http_only(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

// Sets the callbacks, each of which is given `context`, and the buffer for the message of a failure.
static inline CURLcode holdfast_curl_set_callbacks(
    CURL *handle, curl_write_callback header, curl_write_callback body, curl_read_callback read,
    curl_prereq_callback ready, void *context, char *message) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, ready);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
  return code;
}

static inline long holdfast_curl_long(CURL *handle, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}
