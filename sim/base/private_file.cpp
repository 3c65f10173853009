#include "sim/base/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "sim/base/random.hpp"

namespace margay::sim {

namespace {

using portals::Status;

constexpr mode_t kForOthers = S_IRWXG | S_IRWXO;

Status failed_at(const std::string& what, const std::string& path, int error) {
  return Status::error("cannot " + what + " " + path + ": " + std::strerror(error));
}

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%04o", mode & 07777U));
  return text.data();
}

// The owner and the permissions that files and folders must have. `mode`: the right one, for the cure.
Status check_access(const struct stat& info, const std::string& path, const char* mode) {
  if (info.st_uid != ::geteuid()) {
    return Status::error(path + " belongs to user " + std::to_string(info.st_uid) + ", not to user " +
                         std::to_string(::geteuid()) + ": use another path");
  }
  if ((info.st_mode & kForOthers) != 0) {
    return Status::error(path + " is accessible for the group or others (mode " + octal(info.st_mode) + "): chmod " +
                         mode + " " + path);
  }
  return {};
}

// The reason why a path could not be opened as a folder.
Status explain_folder(int parent, const std::string& name, const std::string& path, int error) {
  struct stat info {};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISLNK(info.st_mode)) return Status::error(path + " is a symbolic link, not a folder: use another path");
    if (!S_ISDIR(info.st_mode)) return Status::error(path + " is not a folder: use another path");
    // Another user's folder usually cannot be opened at all.
    if (Status status = check_access(info, path, "700"); !status.ok()) return status;
  }
  return failed_at("open the folder", path, error);
}

bool write_all_of(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Status open_private_folder(const PrivateFolder* parent, const std::string& name, PrivateFolder& out) {
  const int at = parent == nullptr ? AT_FDCWD : parent->descriptor.number();
  std::string path = parent == nullptr ? name : parent->path + "/" + name;
  if (::mkdirat(at, name.c_str(), S_IRWXU) != 0 && errno != EEXIST) return failed_at("make the folder", path, errno);
  FileDescriptor opened(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened.is_open()) return explain_folder(at, name, path, errno);
  struct stat info {};
  if (::fstat(opened.number(), &info) != 0) return failed_at("examine", path, errno);
  if (Status status = check_access(info, path, "700"); !status.ok()) return status;
  out = {std::move(opened), std::move(path)};
  return {};
}

PrivateFile read_private_file(const FileAt& file, std::size_t bytes_max) {
  const FileDescriptor opened(
      ::openat(file.folder, file.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!opened.is_open()) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP) return {FileState::unfit, {}, Status::error(file.path + " is a symbolic link")};
    // A socket, or a device without a driver.
    const FileState state = errno == ENXIO || errno == ENODEV ? FileState::unfit : FileState::unknown;
    return {state, {}, failed_at("read", file.path, errno)};
  }
  struct stat info {};
  if (::fstat(opened.number(), &info) != 0) return {FileState::unknown, {}, failed_at("examine", file.path, errno)};
  if (!S_ISREG(info.st_mode)) return {FileState::unfit, {}, Status::error(file.path + " is not a regular file")};
  if (Status status = check_access(info, file.path, "600"); !status.ok()) return {FileState::unfit, {}, status};
  // One byte more than the limit detects a file that is too long.
  std::string content(bytes_max + 1, '\0');
  std::size_t length = 0;
  while (length < content.size()) {
    const ssize_t count =
        ::pread(opened.number(), content.data() + length, content.size() - length, static_cast<off_t>(length));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {FileState::unknown, {}, failed_at("read", file.path, errno)};
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  if (length > bytes_max) {
    return {FileState::unfit, {}, Status::error(file.path + " has more than " + std::to_string(bytes_max) + " bytes")};
  }
  content.resize(length);
  return {FileState::read, std::move(content), {}};
}

// link() fails if the name exists, unlike rename(); and a reader never sees a part of the content.
Status make_private_file(const FileAt& file, std::string_view content, bool& made) {
  made = false;
  const std::uint64_t number = random_u64();
  const std::string fresh = ".new-" + to_hex(std::as_bytes(std::span(&number, 1)));
  const FileDescriptor opened(
      ::openat(file.folder, fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!opened.is_open()) return failed_at("make", file.path, errno);
  // The process's mask may have removed permissions.
  const bool written = ::fchmod(opened.number(), S_IRUSR | S_IWUSR) == 0 && write_all_of(opened.number(), content);
  made = written && ::linkat(file.folder, fresh.c_str(), file.folder, file.name.c_str(), 0) == 0;
  const int error = errno;
  ::unlinkat(file.folder, fresh.c_str(), 0);
  if (made || (written && error == EEXIST)) return {};
  return failed_at("make", file.path, error);
}

}  // namespace margay::sim
