// The exception of Nexus.
//
// The paper has no rules for errors. margay's are:
// 1. Misuse that this context can detect throws `error` in the call, before anything is sent.
// 2. A full queue and a lost context are ordinary results of send(): values of Result (request.hpp).
// 3. The receiver reports an error that only it can detect, such as an unknown handler, to the sender, whose next
// poll(),
//    wait_until() or finish() throws it. For an exception of a handler, a damaged message or a failed module, the next
//    such call of the context where it occurred throws. Each error is thrown once.
#pragma once

#include <stdexcept>
#include <string>

namespace margay::nexus {

// An error that Nexus detected. what() begins with "margay::nexus: " and has the call, what happened, and the cure.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws `error` with this message.
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(const std::string& sentence) {
  throw error("margay::nexus: " + sentence);
}

}  // namespace margay::nexus
