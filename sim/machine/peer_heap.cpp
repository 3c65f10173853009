#include "sim/machine/peer_heap.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"
#include "sim/shm/published.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

namespace {

using portals::Status;

constexpr std::uint64_t kPageBytes = kSegmentPageBytes;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

// The least size of a range. It is smaller if the process's addresses are limited, because the program needs them.
std::uint64_t least_range_bytes() {
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY) return kPeerRangeBytes;
  return std::clamp<std::uint64_t>(addresses.rlim_cur / 1024, kPageBytes, kPeerRangeBytes);
}

// The difference between an open file and the arena that `owner` describes; empty: the file is that arena.
std::string differs(int descriptor, const RankArea& owner) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return std::strerror(errno);
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kHeapSeals) != kHeapSeals) return "it is not sealed against changes of its size";
  if (static_cast<std::uint64_t>(about.st_size) != owner.heap_bytes) {
    return "it has " + std::to_string(about.st_size) + " bytes and not " + std::to_string(owner.heap_bytes);
  }
  if (about.st_ino != owner.heap_file) return "it is another file, of another process";
  return {};
}

}  // namespace

PeerHeap::PeerHeap(PeerHeap&& other) noexcept {
  *this = std::move(other);
}

PeerHeap& PeerHeap::operator=(PeerHeap&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(file_, other.file_);
  std::swap(process_, other.process_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  ranges_.swap(other.ranges_);
  return *this;
}

PeerHeap::~PeerHeap() {
  ranges_.clear();
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status PeerHeap::open(const RankArea& owner, PeerHeap& out) {
  // Acquire: heap_bytes and heap_file, which were stored before heap_descriptor, are visible afterwards.
  const std::uint32_t number = read_published(owner.heap_descriptor);
  const std::string who = "the memory that process " + std::to_string(owner.pid) + " allocated for its node";
  if (number == 0) return Status::error(who + " cannot be mapped: that process has announced none");
  const std::string path = "/proc/" + std::to_string(owner.pid) + "/fd/" + std::to_string(number - 1);
  // The link may lead to any file. Only a regular file is opened, because opening a pipe or a device could wait or have
  // side effects.
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    return Status::error(who + " cannot be mapped: " + path + " is not a memory file");
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Status::error(who + " cannot be mapped: " + path + ": " + std::strerror(errno));
  if (const std::string what = differs(descriptor, owner); !what.empty()) {
    ::close(descriptor);
    return Status::error(who + " cannot be mapped: " + path + " has other contents than announced: " + what);
  }
  PeerHeap opened;
  opened.descriptor_ = descriptor;
  opened.file_ = owner.heap_file;
  opened.process_ = ::getpid();
  opened.bytes_ = owner.heap_bytes;
  out = std::move(opened);
  return {};
}

Status PeerHeap::map_range(std::uint64_t begin, std::uint64_t end) {
  SharedRange memory;
  if (Status status = SharedRange::map(descriptor_, begin, end - begin, memory); !status.ok()) return status;
  mapped_bytes_ += end - begin;
  ranges_.push_back({begin, std::move(memory)});
  return {};
}

// Maps a range at least as long as all earlier ones together, but cut at the file's end. If the operating system
// refuses that, maps the pages of the address only.
Status PeerHeap::map_around(const HeapAddress& address) {
  const std::uint64_t file_end = round_up(bytes_, kPageBytes);
  const auto map_by = [&](std::uint64_t step) {
    return map_range(address.offset / step * step, std::min(round_up(address.offset + address.bytes, step), file_end));
  };
  const std::uint64_t step = std::bit_ceil(std::max({least_range_bytes(), mapped_bytes_, address.bytes}));
  return map_by(step).ok() ? Status() : map_by(kPageBytes);
}

Status PeerHeap::map(const HeapAddress& address, std::byte*& out) {
  MARGAY_ASSERT(is_open());
  out = nullptr;
  // The address comes from a peer's message, so it may be anything. The last comparison subtracts, so that no sum can
  // wrap.
  if (address.bytes == 0 || address.offset >= bytes_ || address.bytes > bytes_ - address.offset) {
    return Status::error("a range of " + std::to_string(address.bytes) + " bytes at " + std::to_string(address.offset) +
                         " is outside a peer's memory, which has " + std::to_string(bytes_) + " bytes");
  }
  // A new mapping in a forked child would be shared with the job.
  if (::getpid() != process_)
    return Status::error("a child of fork() maps no peers' memory: it is not a rank of the job");
  const auto covers = [&](const Range& range) {
    return range.begin <= address.offset && address.offset + address.bytes <= range.begin + range.memory.bytes();
  };
  auto found = std::ranges::find_if(ranges_, covers);
  if (found == ranges_.end()) {
    if (Status status = map_around(address); !status.ok()) return status;
    // map_around() appends the range that covers the address.
    found = std::prev(ranges_.end());
  }
  out = found->memory.data() + (address.offset - found->begin);
  return {};
}

}  // namespace margay::sim
