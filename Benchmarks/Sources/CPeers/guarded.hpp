// Where exceptions end.
#pragma once

#include <exception>
#include <string>

// What the last call that failed on this thread has said.
extern thread_local std::string message;

template <class F> int guarded(F body) {
  try {
    body();
    return 0;
  } catch (const std::exception &error) {
    message = error.what();
    return -1;
  }
}
