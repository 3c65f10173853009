#include "sim/boot/user_key.hpp"

#include <fcntl.h>
#include <string.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "sim/base/private_file.hpp"
#include "sim/base/random.hpp"
#include "sim/boot/user_folder.hpp"

namespace margay::sim {

namespace {

using portals::Status;

constexpr char kKeyVariable[] = "MARGAY_KEY_FILE";
// The file may be removed between a failed attempt to make it and the attempt to read it.
constexpr int kKeyAttempts = 16;

// Opens the folder of a key file that the user named. Its permissions do not matter, because the file's are checked.
Status open_folder_of(const std::string& path, FileDescriptor& folder, FileAt& file) {
  const std::size_t slash = path.rfind('/');
  if (path.front() != '/' || slash + 1 == path.size()) {
    return Status::error(std::string(kKeyVariable) + "=" + path + " is not the absolute path of a file");
  }
  folder = FileDescriptor(::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) {
    return Status::error(std::string(kKeyVariable) + ": cannot open the folder of " + path + ": " +
                         std::strerror(errno));
  }
  file = {folder.number(), path.substr(slash + 1), path};
  return {};
}

Status read_or_make(const FileAt& file, std::array<std::byte, kUserKeyBytes>& key) {
  for (int attempt = 0; attempt < kKeyAttempts; ++attempt) {
    PrivateFile read = read_private_file(file, kUserKeyBytes);
    if (read.state == FileState::absent) {
      std::array<std::byte, kUserKeyBytes> fresh;
      fill_random(fresh);
      bool made = false;
      Status status = make_private_file(file, {reinterpret_cast<const char*>(fresh.data()), fresh.size()}, made);
      ::explicit_bzero(fresh.data(), fresh.size());
      if (!status.ok()) return status;
      // The file is read in either case: another process may have made it first.
      continue;
    }
    if (read.state != FileState::read) return read.status;
    const bool whole = read.content.size() == key.size();
    if (whole) std::memcpy(key.data(), read.content.data(), key.size());
    ::explicit_bzero(read.content.data(), read.content.size());
    return whole ? Status()
                 : Status::error(file.path + " has " + std::to_string(read.content.size()) + " bytes, not the " +
                                 std::to_string(key.size()) + " of a key: remove it, and a new one is made");
  }
  return Status::error(file.path + " was removed again each time after it had been made");
}

}  // namespace

Status user_key(std::array<std::byte, kUserKeyBytes>& key) {
  PrivateFolder user;
  FileDescriptor folder;
  FileAt file;
  if (const char* const given = std::getenv(kKeyVariable); given != nullptr && *given != '\0') {
    if (Status status = open_folder_of(given, folder, file); !status.ok()) return status;
  } else {
    if (Status status = open_user_folder(user); !status.ok()) return status;
    file = {user.descriptor.number(), "key", user.path + "/key"};
  }
  Status status = read_or_make(file, key);
  return status.ok() ? status : Status::error("the user's key: " + status.sentence());
}

}  // namespace margay::sim
