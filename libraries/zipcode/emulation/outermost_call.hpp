// A call of the program whose function calls Zipcode's, on the stack of that function.
#pragma once

#include <utility>

#include "libraries/zipcode/program_call.hpp"
#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// Shows the call on board and in the trace, with the thread inside the rank. Without effect in another one, which is
// the outermost. The first call of a program begins the session, so it only gives its name to the calls of Zipcode.
class OutermostCall {
 public:
  explicit OutermostCall(const char* name, const void* caller = __builtin_return_address(0))
      : is_outermost_(program_call.name == nullptr) {
    if (!is_outermost_) return;
    program_call = {name, caller, here == nullptr ? nullptr : &here->rank};
    if (program_call.rank != nullptr) program_call.rank->enter(name, caller);
  }
  ~OutermostCall() {
    if (!is_outermost_) return;
    const ProgramCall ended = std::exchange(program_call, {});
    if (ended.rank != nullptr) ended.rank->leave(ended.name);
  }
  OutermostCall(const OutermostCall&) = delete;
  OutermostCall& operator=(const OutermostCall&) = delete;

 private:
  const bool is_outermost_;
};

}  // namespace margay::zipcode::core
