// The exceptions of RMI. All derive from `error`, so that one handler takes what RMI itself reports.
//
// The paper has no word about errors; margay's rule is: a mistake that the compiler can see is a static_assert that
// names the argument (travel.hpp); one that only a run can see throws at the caller before anything is sent; and bytes
// from another node are checked and refused, never trusted and never asserted.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace margay::rmi {

// An error that RMI detected: a damaged or truncated request, an unknown object, a method that cannot be named in
// another process, different programs in one job. `what()` has what happened, where, and the cure.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class typer;

// An exception that left a method on another node, as it travels back: the text of what() and the method's name. The
// exception's type does not travel. Texts are cut at kFailureTextMax bytes.
struct Failure {
  std::string method;
  std::string what;

  // Both members are local; see type.hpp.
  inline void define_type(typer& type);
};

// The longest text of a failure in bytes. A reply must fit the buffer of a node that expects a number, and a what() of
// more than a screen helps nobody.
inline constexpr std::size_t kFailureTextMax = 1024;

// Thrown at the caller of a method that ended with an exception: by sync_rmi at once, for async_rmi by the caller's
// next fence. Names the node and the method.
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
