// Tests that docs/options.md equals the text generated from the tables of options.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "command/commands.hpp"

// With WRITE_DOCUMENTS in the environment the document is written.
TEST_CASE("docs/options.md is made from the tables of options") {
  const std::string here = __FILE__;
  const std::string path = here.substr(0, here.rfind("tests/command/")) + "docs/options.md";
  const std::string made = margay::command::options_document();
  if (std::getenv("WRITE_DOCUMENTS") != nullptr) std::ofstream(path) << made;
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  const bool is_same = text.str() == made;
  CHECK_MESSAGE(is_same,
                "docs/options.md differs from the program: WRITE_DOCUMENTS=1 command_test -tc=\"docs/options.md*\"");
}
