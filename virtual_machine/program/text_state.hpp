// A rank's state of libc's functions for text and dates: values that they keep between calls or return pointers to.
#pragma once

#include <array>
#include <ctime>

namespace margay::virtual_machine {

// All values are initially as in a new process.
struct TextState {
  // strtok: the remaining text.
  char* token_rest = nullptr;
  // localtime and gmtime share their result, and asctime and ctime theirs.
  std::tm date = {};
  // asctime_r requires 26 bytes; years beyond 9999 take more.
  std::array<char, 64> date_text = {};
  // Whether the rank has called getopt.
  bool are_options_begun = false;
};

}  // namespace margay::virtual_machine
