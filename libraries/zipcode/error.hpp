// Errors: an exception inside of the library, which the function of zipcode.h that the program has called turns into a
// call of the error handler and an error value (call.hpp).
#pragma once

#include <stdexcept>
#include <string>

namespace margay::zipcode::core {

// The message is the end of a sentence that begins with the called function: "the mailer is closed; ...".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const std::string& message) {
  throw Error(message);
}

// Calls the error handler of the program, or ends the job with the message. Requires: outside, or in an OutermostCall.
void report(const std::string& message);

}  // namespace margay::zipcode::core
