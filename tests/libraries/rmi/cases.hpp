// The cases of a test program on RMI: NAME CASE...; a failed expectation ends the job, otherwise node 0 prints
// "CASE: right".
#pragma once

#include <margay/rmi.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

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

// Whether the node has a communication thread.
inline bool has_thread() {
  const char* const scheduler = std::getenv("MARGAY_RMI_SCHEDULER");
  return scheduler != nullptr && std::string(scheduler) != "polling";
}

using Case = std::pair<const char*, void (*)()>;

// Runs the cases that the arguments name.
inline int run(int argc, char** argv, std::span<const Case> all) {
  for (int i = 1; i < argc; ++i) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Case& each) { return std::string(each.first) == argv[i]; });
    if (found == all.end()) margay::rmi::fail(std::string("there is no case ") + argv[i]);
    found->second();
    margay::rmi::rmi_fence();
    if (margay::rmi::get_node_id() == 0) std::printf("%s: right\n", argv[i]);
  }
  return 0;
}

}  // namespace cases
