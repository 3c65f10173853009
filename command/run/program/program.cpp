#include "command/run/program/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "command/run/options/tokens.hpp"

namespace margay::command {
namespace {

using portals::Status;

std::string from_folder(const std::string& folder, const std::string& path) {
  return folder.empty() || path.front() == '/' ? path : folder + "/" + path;
}

// The compiler for a source file; empty: the name is not that of a source file.
std::string compiler_of(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kCompilers = {{{".c", "mpicc"},
                                                                                        {".cc", "mpicxx"},
                                                                                        {".cpp", "mpicxx"},
                                                                                        {".cxx", "mpicxx"},
                                                                                        {".C", "mpicxx"},
                                                                                        {".f", "mpifort"},
                                                                                        {".F", "mpifort"},
                                                                                        {".f90", "mpifort"},
                                                                                        {".F90", "mpifort"}}};
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const auto& [source, compiler] : kCompilers) {
    if (ending == source) return std::string(compiler);
  }
  return {};
}

// A source file in place of its program is a frequent mistake of beginners.
Status not_executable(const std::string& path) {
  const std::string compiler = compiler_of(path);
  if (compiler.empty()) return Status::error("program " + path + " is not executable: chmod +x it");
  const std::string program = std::filesystem::path(path).replace_extension().string();
  return Status::error("program " + path + " is a source file: compile it (" + compiler + " -o " + program + " " +
                       path + ") and run " + (program.find('/') == std::string::npos ? "./" : "") + program);
}

Status check_file(const std::string& path, int& exit_status) {
  struct stat info {};
  // As in a shell: 127 if there is no file, 126 if there may be one.
  if (::stat(path.c_str(), &info) != 0) {
    exit_status = errno == EACCES ? kStatusCannotRun : kStatusNotFound;
    return Status::error("program " + path + ": " + std::strerror(errno));
  }
  exit_status = kStatusCannotRun;
  if (S_ISDIR(info.st_mode)) return Status::error("program " + path + " is a folder");
  if (!S_ISREG(info.st_mode)) return Status::error("program " + path + " is not a regular file");
  if (::access(path.c_str(), X_OK) != 0) return not_executable(path);
  exit_status = 0;
  return {};
}

}  // namespace

Status find_program(const std::string& name, const std::string& working_directory, const char* search_path,
                    std::string& path, int& exit_status) {
  exit_status = kStatusNotFound;
  if (name.empty()) return Status::error("the program's name is empty");
  if (name.find('/') != std::string::npos) {
    path = name;
    return check_file(from_folder(working_directory, name), exit_status);
  }
  // A file that cannot be run does not end the search, but is reported if no other is found.
  Status refused;
  // Without PATH the usual folders, as in a shell.
  const std::string folders = search_path != nullptr ? search_path : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& folder : split(folders, ':')) {
    // An empty PATH is one empty piece, which means the working directory (POSIX).
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    int status = 0;
    // A relative folder of PATH is relative to the rank's working directory, because the rank enters that before
    // execve.
    const Status checked = check_file(from_folder(working_directory, candidate), status);
    if (checked.ok()) {
      path = candidate;
      exit_status = 0;
      return {};
    }
    if (status == kStatusCannotRun && refused.ok()) refused = checked;
  }
  if (!refused.ok()) {
    exit_status = kStatusCannotRun;
    return refused;
  }
  exit_status = kStatusNotFound;
  // A frequent mistake: the program is in the working directory, which PATH does not contain.
  const std::string own = from_folder(working_directory, name);
  const bool here = ::access(own.c_str(), X_OK) == 0;
  if (!here && ::access(own.c_str(), F_OK) == 0 && !compiler_of(name).empty()) return not_executable(name);
  return Status::error("program " + name + " is not in PATH" +
                       (here ? "; it is here, so write ./" + name : std::string()));
}

}  // namespace margay::command
