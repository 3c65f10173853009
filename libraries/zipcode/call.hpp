// The frame of each function of zipcode.h: the call, and its errors.
#pragma once

#include <new>
#include <optional>
#include <string>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"
#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// Enters the rank, unless a call of the program has done so already.
class Entry {
 public:
  Entry(host::Rank& rank, const char* name, const void* caller) {
    if (program_call.rank == nullptr) call_.emplace(rank, shown_name(name), shown_caller(caller));
  }

 private:
  std::optional<host::Call> call_;
};

// Runs `body(session)` inside a call. After an error, calls the error handler, and returns `failure`. `caller`: an
// address in the program. A default argument is evaluated in the function that omits it, which is one of zipcode.h.
template <typename Result, typename Body>
Result call(const char* name, Result failure, Body body, const void* caller = __builtin_return_address(0)) {
  std::string error;
  if (Session* const session = here; session == nullptr) {
    error = "Zipcode has not begun in this thread, or has ended; call Zip_init() first";
  } else {
    const Entry inside(session->rank, name, caller);
    try {
      return body(*session);
    } catch (const Error& thrown) {
      error = thrown.what();
    } catch (const std::bad_alloc&) {
      error = "out of memory";
    }
  }
  report(std::string(shown_name(name)) + ": " + error);
  return failure;
}

// The same for a function without a result, and for one that returns 0, or -1 after an error.
template <typename Body>
void call_void(const char* name, Body body, const void* caller = __builtin_return_address(0)) {
  static_cast<void>(call(
      name, 0,
      [&](Session& session) {
        body(session);
        return 0;
      },
      caller));
}
template <typename Body>
int call_int(const char* name, Body body, const void* caller = __builtin_return_address(0)) {
  return call(
      name, -1,
      [&](Session& session) {
        body(session);
        return 0;
      },
      caller);
}

}  // namespace margay::zipcode::core
