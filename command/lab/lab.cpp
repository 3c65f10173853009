#include "command/lab/lab.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace margay::command {
namespace {

// The status with which `lab check` reports this failure, too.
constexpr int kStatusCouldNotRun = 2;

std::string path_of_this_command() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

}  // namespace

std::string labs_program(const std::string& own_path) {
  if (own_path.empty()) return {};
  const std::filesystem::path prefix = std::filesystem::path(own_path).parent_path().parent_path();
  const std::filesystem::path program = prefix / "share" / "margay" / "labs" / "lab";
  std::error_code error;
  return std::filesystem::is_regular_file(program, error) ? program.string() : std::string();
}

int lab_command(const std::vector<std::string>& tokens) {
  const std::string own_path = path_of_this_command();
  const std::string program = labs_program(own_path);
  if (program.empty()) {
    std::fprintf(
        stderr,
        "margay lab: the labs are not beside this command (share/margay/labs/lab next to its bin folder): install "
        "margay, or run labs/lab of the sources\n");
    return kStatusCouldNotRun;
  }
  // The labs start programs with the margay that started them, not with another one in PATH.
  ::setenv("MARGAY_COMMAND", own_path.c_str(), 1);
  // execvp's parameter lacks const, but the call changes nothing.
  std::vector<char*> arguments = {const_cast<char*>("python3"), const_cast<char*>(program.c_str())};
  for (const std::string& token : tokens) arguments.push_back(const_cast<char*>(token.c_str()));
  arguments.push_back(nullptr);
  ::execvp("python3", arguments.data());
  std::fprintf(stderr, "margay lab: the labs need python3, which cannot be started (%s): install python3\n",
               std::strerror(errno));
  return kStatusCouldNotRun;
}

}  // namespace margay::command
