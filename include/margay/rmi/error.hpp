// The exceptions of RMI. All derive from `error`, so that one handler takes all that RMI itself reports.
//
// The paper has no rules for errors. margay's are:
// 1. A mistake that the compiler can see is a static_assert that names the argument (travel.hpp).
// 2. A mistake that the caller's node can see at run time throws `error` there, before anything is sent.
// 3. A mistake that only the destination can see, such as an object that was removed there, returns to the caller like
//    an exception of the method: as `remote_error`.
// 4. Bytes from another node are checked, and never reach an assertion.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace margay::rmi {

// An error that RMI detected: an invalid node, an object that is not registered, a damaged request, a method that
// cannot be named in another process, different programs in one job, a lost node. what() has the call, what happened,
// and the cure; it begins with "margay::rmi: ", except in a `remote_error`.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class typer;

// An exception that left a method on another node, as it travels back: the text of what() and the method's name. The
// exception's type does not travel, because the caller's node may not have its class. Both texts are cut at
// kFailureTextMax bytes.
struct Failure {
  std::string method;
  std::string what;

  // Both members are local; see type.hpp.
  inline void define_type(typer& type);
};

// The longest text of a failure in bytes, for the method and the what() each: a failure has at most about 2 KiB on the
// wire. Bounds what a failed asynchronous request adds to the caller's memory until its next fence.
inline constexpr std::size_t kFailureTextMax = 1024;

// Thrown at the caller of a method that ended with an exception: by sync_rmi() and rmi_handle::wait() at once, and by
// the caller's next fence for async_rmi() and broadcast_rmi(). collect_rmi() throws it on all nodes. Names the node and
// the method.
class remote_error : public error {
 public:
  // `node`: the node that ran the method.
  remote_error(int node, Failure failure)
      : error("node " + std::to_string(node) + ": " + failure.method + " threw: " + failure.what),
        node_(node),
        failure_(std::move(failure)) {}

  // The node that ran the method.
  [[nodiscard]] int node() const { return node_; }
  // The method's name, demangled.
  [[nodiscard]] const std::string& method() const { return failure_.method; }
  // The text of the exception's own what(), without node and method.
  [[nodiscard]] const std::string& reason() const { return failure_.what; }

 private:
  int node_;
  Failure failure_;
};

// Throws `error`. Out of line and cold, so that a passed check costs its caller the test alone.
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(const std::string& sentence) {
  throw error("margay::rmi: " + sentence);
}
// The same for a constant sentence: the caller builds no string.
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(const char* sentence) {
  fail(std::string(sentence));
}

}  // namespace margay::rmi
