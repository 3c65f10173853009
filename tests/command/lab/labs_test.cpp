// Tests of the search of `margay lab` for the labs.
#include "command/lab/lab.hpp"

#include <unistd.h>

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

namespace margay::command {
namespace {

TEST_CASE("the labs of an installation lie beside its bin folder, also after it was moved") {
  std::string pattern = std::filesystem::temp_directory_path() / "margay_labs.XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  const std::filesystem::path prefix = pattern;
  const std::string command = prefix / "bin" / "margay";
  CHECK(labs_program(command).empty());  // the folder is missing
  std::filesystem::create_directories(prefix / "share" / "margay" / "labs" / "lab");
  CHECK(labs_program(command).empty());  // a folder is not a program
  std::filesystem::remove(prefix / "share" / "margay" / "labs" / "lab");
  std::ofstream(prefix / "share" / "margay" / "labs" / "lab") << "#!/usr/bin/env python3\n";
  CHECK(labs_program(command) == std::string(prefix / "share" / "margay" / "labs" / "lab"));
  CHECK(labs_program("").empty());  // the command's folder is unknown
  std::filesystem::remove_all(prefix);
}

}  // namespace
}  // namespace margay::command
