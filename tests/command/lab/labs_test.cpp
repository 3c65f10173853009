// Where `margay lab` looks for the labs.
#include "command/lab/lab.hpp"

#include <unistd.h>

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

namespace margay::command {
namespace {

TEST_CASE("the labs of an installation lie beside its bin folder, wherever it was moved to") {
  std::string pattern = std::filesystem::temp_directory_path() / "margay_labs.XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  const std::filesystem::path prefix = pattern;
  const std::string command = prefix / "bin" / "margay";
  CHECK(labs_program(command).empty());  // nothing is there yet
  std::filesystem::create_directories(prefix / "share" / "margay" / "labs" / "lab");
  CHECK(labs_program(command).empty());  // a folder is no program
  std::filesystem::remove(prefix / "share" / "margay" / "labs" / "lab");
  std::ofstream(prefix / "share" / "margay" / "labs" / "lab") << "#!/usr/bin/env python3\n";
  CHECK(labs_program(command) == std::string(prefix / "share" / "margay" / "labs" / "lab"));
  CHECK(labs_program("").empty());  // the system did not say where the command lies
  std::filesystem::remove_all(prefix);
}

}  // namespace
}  // namespace margay::command
