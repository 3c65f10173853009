#include "sim/launch/program/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/launch/options/words.hpp"

namespace margay::sim {
namespace {

using portals::Status;

std::string from_folder(const std::string& folder, const std::string& path) {
  return folder.empty() || path.front() == '/' ? path : folder + "/" + path;
}

Status check_file(const std::string& path, int& exit_status) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    exit_status = errno == EACCES ? kStatusCannotRun : kStatusNotFound;
    return Status::error("program " + path + ": " + std::strerror(errno));
  }
  exit_status = kStatusCannotRun;
  if (S_ISDIR(info.st_mode)) return Status::error("program " + path + " is a folder");
  if (!S_ISREG(info.st_mode)) return Status::error("program " + path + " is not a regular file");
  if (::access(path.c_str(), X_OK) != 0) return Status::error("program " + path + " is not executable: chmod +x it");
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
  Status refused;
  const std::string folders = search_path != nullptr ? search_path : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& folder : split(folders, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    int status = 0;
    const Status checked = check_file(candidate, status);
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
  const bool here = ::access(from_folder(working_directory, name).c_str(), X_OK) == 0;
  return Status::error("program " + name + " is not in PATH" +
                       (here ? "; it is here, so write ./" + name : std::string()));
}

}  // namespace margay::sim
