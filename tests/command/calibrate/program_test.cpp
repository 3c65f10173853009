// Tests of the search for the program whose ranks the command measures.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "command/calibrate/calibrate.hpp"

namespace margay::command {

TEST_CASE("the measuring program lies beside the command's folder, in one of two places") {
  char name[] = "/tmp/margay-measure-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::string prefix = name;
  for (const std::string folder : {"/lib/margay", "/libexec/margay"}) {
    CHECK(measuring_program(prefix + "/bin/margay").find(folder) == std::string::npos);
    std::filesystem::create_directories(prefix + folder);
    const std::string program = prefix + folder + "/measure";
    std::ofstream(program) << "#!/bin/sh\n";
    REQUIRE(::chmod(program.c_str(), 0700) == 0);
    CHECK(measuring_program(prefix + "/bin/margay") == program);
  }
  std::filesystem::remove_all(prefix);
}

TEST_CASE("a command in the root folder, or in an unknown folder, has no program beside it") {
  CHECK(measuring_program("/margay").empty());
  CHECK(measuring_program("margay").empty());
  CHECK(measuring_program("").empty());
}

}  // namespace margay::command
