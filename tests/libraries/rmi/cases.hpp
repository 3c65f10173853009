// The cases of a program on RMI, one or more a run: PROGRAM CASE... A case throws if an expectation does not hold,
// which ends the job; otherwise node 0 prints "CASE: right".
#pragma once

#include <margay/rmi.hpp>

#include <cstdio>
#include <string>

namespace cases {

inline void need(bool holds, const std::string& what) {
  if (!holds) margay::rmi::fail("the test expects: " + what);
}

// Runs `call`, which must throw an `error` with this text.
template <class Call>
void need_error(const std::string& text, Call&& call) {
  std::string thrown = "nothing";
  try {
    call();
  } catch (const margay::rmi::error& error) {
    thrown = error.what();
  }
  need(thrown.find(text) != std::string::npos, "an error with \"" + text + "\", not " + thrown);
}

// A counter that all nodes call.
struct Counter {
  int total = 0;
  int latest = -1;
  void add(int x) { total += x, latest = x; }
  int get() const { return total; }
  int add_and_get(int x) { return total += x; }
};

struct Case {
  const char* name;
  void (*run)();
};

// Runs the cases that the arguments name.
template <class Cases>
int run_named(int argc, char** argv, const Cases& cases) {
  for (int i = 1; i < argc; ++i) {
    const Case* found = nullptr;
    for (const Case& each : cases) {
      if (std::string(each.name) == argv[i]) found = &each;
    }
    if (found == nullptr) margay::rmi::fail(std::string("there is no case ") + argv[i]);
    found->run();
    margay::rmi::rmi_fence();
    if (margay::rmi::get_node_id() == 0) std::printf("%s: right\n", argv[i]);
  }
  return 0;
}

}  // namespace cases
