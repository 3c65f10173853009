#include "sim/trace/folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "sim/base/resources.hpp"

namespace margay::sim {

using portals::Status;

namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

// A file descriptor that is closed at the end of its scope.
class OwnedFile {
 public:
  explicit OwnedFile(int number) : number_(number) {}
  OwnedFile(const OwnedFile&) = delete;
  OwnedFile& operator=(const OwnedFile&) = delete;
  ~OwnedFile() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

Status failure(const std::string& path, std::string_view what, int error) {
  return Status::error(fmt::format("trace: {}: {}: {}", path, what, std::strerror(error)));
}

Status check_folder(const std::string& folder, int descriptor) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0) return failure(folder, "cannot be examined", errno);
  if (about.st_uid != geteuid()) {
    return Status::error(
        fmt::format("trace: {}: belongs to user {}, not to {}; name a folder of your own, or one that is not there yet",
                    folder, about.st_uid, geteuid()));
  }
  // Another user who may write there could replace the file by a link.
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Status::error(
        fmt::format("trace: {}: others may write to it (mode {:04o}); chmod go-w it, or name another folder", folder,
                    static_cast<unsigned>(about.st_mode & 07777U)));
  }
  return {};
}

Status allocate_and_map(const std::string& path, int descriptor, std::uint64_t bytes, void*& memory) {
  int error = EINTR;
  // The file is allocated in full, so that a full file system is an error here and not a SIGBUS later.
  while (error == EINTR) error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    return failure(
        path, fmt::format("cannot allocate {} bytes (make the trace smaller, or name another folder)", bytes), error);
  }
  memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return failure(path, "cannot be mapped", errno);
  return {};
}

// The limit is tested first, because the operating system ends a process that exceeds it by a signal.
Status check_file_size(const std::string& folder, std::uint64_t bytes) {
  const std::optional<std::uint64_t> limit = file_size_limit();
  if (!limit || *limit >= bytes) return {};
  return Status::error(fmt::format("trace: {}: a rank's file takes {} bytes, and {}; raise it, or run without a trace",
                                   folder, bytes, describe_file_size_limit()));
}

}  // namespace

std::string trace_file_name(std::uint32_t rank) {
  return fmt::format("rank_{:05}.trace", rank);
}

Status map_new_trace_file(const std::string& wanted_folder, std::uint32_t rank, std::uint64_t bytes, std::string& path,
                          void*& memory) {
  if (Status status = check_file_size(wanted_folder, bytes); !status.ok()) return status;
  std::string folder = wanted_folder;
  // A slash at the end would follow a symbolic link.
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return failure(folder, "cannot create the folder", errno);
  }
  const OwnedFile directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory.number() < 0) {
    // O_NOFOLLOW with O_DIRECTORY fails with ENOTDIR for a link.
    const bool link = errno == ELOOP || errno == ENOTDIR;
    return failure(folder, link ? "is a symbolic link, or not a folder" : "cannot open the folder", errno);
  }
  if (Status status = check_folder(folder, directory.number()); !status.ok()) return status;

  const std::string name = trace_file_name(rank);
  std::string full = folder + "/" + name;
  // The path is relative to the opened folder, so that it has no effect if the folder is replaced by a link now.
  const OwnedFile file(
      openat(directory.number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (file.number() < 0 && errno == EEXIST) {
    return Status::error(fmt::format("trace: {}: is there already; name a new folder for each run", full));
  }
  if (file.number() < 0) return failure(full, "cannot be made", errno);
  if (Status status = allocate_and_map(full, file.number(), bytes, memory); !status.ok()) {
    unlinkat(directory.number(), name.c_str(), 0);
    return status;
  }
  path = std::move(full);
  return {};
}

std::array<std::uint8_t, 16> host_identity() {
  std::array<std::uint8_t, 16> result{};
  const OwnedFile file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t length = file.number() < 0 ? 0 : read(file.number(), text.data(), text.size());
  std::size_t digits = 0;
  for (ssize_t i = 0; i < length && digits < 2 * result.size(); ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    int value = -1;
    if (c >= '0' && c <= '9') value = c - '0';
    if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
    // The dashes of the UUID are skipped.
    if (value < 0) continue;
    result[digits / 2] = static_cast<std::uint8_t>(result[digits / 2] * 16 + value);
    ++digits;
  }
  return result;
}

}  // namespace margay::sim
