#include "sim/boot/user_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace margay::sim {

namespace {

using portals::Status;

constexpr char kFolderVariable[] = "MARGAY_USER_FOLDER";

// Behind a slash the system would follow a symbolic link.
std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool is_own_folder(const char* path) {
  struct stat info {};
  return ::stat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

}  // namespace

Status user_folder_path(std::string& path) {
  if (const char* const given = std::getenv(kFolderVariable); given != nullptr && *given != '\0') {
    // The processes of a job may have different working folders.
    if (*given != '/') {
      return Status::error(std::string(kFolderVariable) + "=" + given + " is a relative path; take an absolute one");
    }
    path = without_end_slashes(given);
    return {};
  }
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && is_own_folder(runtime)) {
    path = without_end_slashes(runtime) + "/margay";
  } else {
    path = "/tmp/margay-" + std::to_string(::geteuid());
  }
  return {};
}

Status open_user_folder(PrivateFolder& out) {
  std::string path;
  if (Status status = user_folder_path(path); !status.ok()) return status;
  Status status = open_private_folder(nullptr, path, out);
  if (status.ok()) return status;
  return Status::error(status.sentence() + " (the user's folder; " + kFolderVariable + " names another)");
}

}  // namespace margay::sim
