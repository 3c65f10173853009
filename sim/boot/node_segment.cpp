#include "sim/boot/node_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/base/resources.hpp"

namespace margay::sim {
namespace {

using portals::Status;

// Fails if `bytes` exceed the limit on file sizes, because ftruncate() would end the process with SIGXFSZ.
Status check_file_size_limit(std::uint64_t bytes) {
  const std::optional<std::uint64_t> limit = file_size_limit();
  if (!limit || *limit >= bytes) return {};
  return Status::error("shared memory of " + std::to_string(bytes) + " bytes: " + describe_file_size_limit() +
                       "; raise it");
}

// Returns -1 on failure, with the reason in `why`. If the fallback fails too, its message contains both reasons.
int make_memfd(const SegmentRequest& request, std::string& why) {
  if (request.refuse_memfd) {
    why = "memfd refused by option";
    return -1;
  }
  // The launcher's segment is inherited by its ranks; under another launcher each rank opens it by itself.
  const unsigned flags = MFD_ALLOW_SEALING | (request.inheritable ? 0U : MFD_CLOEXEC);
  const int descriptor = ::memfd_create(request.name, flags);
  if (descriptor < 0) {
    why = std::string("memfd_create: ") + std::strerror(errno);
    return -1;
  }
  if (::ftruncate(descriptor, static_cast<off_t>(request.sizes.sparse)) != 0) {
    why = std::string("memfd of this size: ") + std::strerror(errno);
    ::close(descriptor);
    return -1;
  }
  // The seal is optional, so its failure is ignored.
  static_cast<void>(::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK));
  return descriptor;
}

std::optional<std::uint64_t> available_in(const char* directory) {
  struct statvfs info {};
  if (::statvfs(directory, &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

std::string there_in(const char* directory) {
  const std::optional<std::uint64_t> available = available_in(directory);
  if (!available) return std::string(directory) + " cannot be used (" + std::strerror(errno) + ")";
  return std::to_string(*available) + " bytes are free in " + directory;
}

Status make_file(const SegmentRequest& request, const std::string& why_no_memfd, int& descriptor) {
  const SegmentSizes& sizes = request.sizes;
  // At most half of the free bytes, because other jobs and programs use /dev/shm too.
  const bool ample = sizes.allocated <= available_in(request.directory).value_or(0) / 2;
  const std::uint64_t bytes = ample ? sizes.allocated : sizes.least;
  const auto refuse = [&](int error) {
    return Status::error("cannot allocate shared memory of " + std::to_string(bytes) +
                         " bytes: " + there_in(request.directory) + " (" + std::strerror(error) + "), and " +
                         why_no_memfd + "; enlarge /dev/shm, or start fewer ranks on this node (--nodes)");
  };
  std::string path = std::string(request.directory) + "/margay.XXXXXX";
  std::vector<char> name(path.c_str(), path.c_str() + path.size() + 1);
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return refuse(errno);
  // Unlinked at once, so that no file is left behind however the job ends.
  ::unlink(name.data());
  const int error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::close(file);
    return refuse(error);
  }
  if (request.inheritable) static_cast<void>(::fcntl(file, F_SETFD, 0));
  descriptor = file;
  return {};
}

}  // namespace

Status create_segment(const SegmentRequest& request, int& descriptor) {
  // Far above every layout: 1024 ranks need 156 GB of addresses.
  constexpr std::uint64_t kMaxSegmentBytes = std::uint64_t{1} << 46;
  const std::uint64_t most = request.sizes.sparse;
  if (most == 0 || most > kMaxSegmentBytes) {
    return Status::error("shared memory of " + std::to_string(most) + " bytes is not a possible size");
  }
  MARGAY_ASSERT(request.sizes.least <= request.sizes.allocated && request.sizes.allocated <= most);
  if (Status status = check_file_size_limit(most); !status.ok()) return status;
  std::string why;
  descriptor = make_memfd(request, why);
  return descriptor >= 0 ? Status() : make_file(request, why, descriptor);
}

std::uint64_t bytes_of_segment(int descriptor) {
  struct stat info {};
  const bool known = ::fstat(descriptor, &info) == 0;
  MARGAY_ASSERT(known);
  return static_cast<std::uint64_t>(info.st_size);
}

std::string describe_segment(int descriptor) {
  char target[256];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return "unknown";
  const std::string_view text(target, static_cast<std::size_t>(length));
  return text.find("memfd:") != std::string_view::npos ? "memfd" : "file in /dev/shm";
}

}  // namespace margay::sim
