// The cases of a test program on Nexus: NAME CASE...; a failed expectation ends the job, otherwise context 0 prints
// "CASE: right".
#pragma once

#include <margay/nexus.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cases {

inline void need(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "the test expects: %s\n", what.c_str());
  std::_Exit(1);
}

// Runs `call`, which must throw an `error` with this text.
template <class Call>
void need_error(const std::string& text, Call&& call) {
  std::string thrown = "nothing";
  try {
    call();
  } catch (const margay::nexus::error& error) {
    thrown = error.what();
  }
  need(thrown.find(text) != std::string::npos, "an error with \"" + text + "\", not " + thrown);
}

using Case = std::pair<const char*, void (*)()>;

// Runs the cases that the arguments name, after init().
inline int run(int argc, char** argv, std::span<const Case> all) {
  for (int i = 1; i < argc; ++i) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Case& each) { return std::string(each.first) == argv[i]; });
    need(found != all.end(), std::string("a case ") + argv[i]);
    found->second();
    if (margay::nexus::context() == 0) std::printf("%s: right\n", argv[i]);
  }
  return 0;
}

}  // namespace cases
