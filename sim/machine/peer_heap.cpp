#include "sim/machine/peer_heap.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/shm/publish_once.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

namespace {

using portals::Status;

constexpr std::uint64_t kPageBytes = kSegmentPageBytes;

// Whether an open file is the arena that `owner` describes; else what differs.
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
  std::swap(process_, other.process_);
  std::swap(bytes_, other.bytes_);
  ranges_.swap(other.ranges_);
  return *this;
}

PeerHeap::~PeerHeap() {
  ranges_.clear();
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status PeerHeap::open(const RankArea& owner, PeerHeap& out) {
  const std::uint32_t number = read_published(owner.heap_descriptor);
  const std::string who = "the memory that process " + std::to_string(owner.pid) + " allocated for its node";
  if (number == 0) return Status::error(who + " cannot be mapped: it has not told of any");
  const std::string path = "/proc/" + std::to_string(owner.pid) + "/fd/" + std::to_string(number - 1);
  // The link may lead to anything: a pipe or a device is not opened, which could wait or have effects.
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    return Status::error(who + " cannot be mapped: " + path + " is no file of memory");
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Status::error(who + " cannot be mapped: " + path + ": " + std::strerror(errno));
  if (const std::string what = differs(descriptor, owner); !what.empty()) {
    ::close(descriptor);
    return Status::error(who + " cannot be mapped: " + path + " is not what it says: " + what);
  }
  PeerHeap opened;
  opened.descriptor_ = descriptor;
  opened.process_ = ::getpid();
  opened.bytes_ = owner.heap_bytes;
  out = std::move(opened);
  return {};
}

PeerHeap::Pages PeerHeap::pages_of(const HeapPlace& place) {
  return {place.offset / kPageBytes * kPageBytes,
          (place.offset + place.bytes + kPageBytes - 1) / kPageBytes * kPageBytes};
}

Status PeerHeap::map(const HeapPlace& place, std::byte*& out) {
  MARGAY_ASSERT(is_open());
  out = nullptr;
  if (place.bytes == 0 || place.offset >= bytes_ || place.bytes > bytes_ - place.offset) {
    return Status::error("a place of " + std::to_string(place.bytes) + " bytes at " + std::to_string(place.offset) +
                         " in a peer's memory, which has " + std::to_string(bytes_));
  }
  if (::getpid() != process_) return Status::error("a child of fork() maps no peers' memory: it is no rank of the job");
  const Pages pages = pages_of(place);
  auto found = ranges_.find(pages);
  if (found == ranges_.end()) {
    SharedRange range;
    if (Status status = SharedRange::map(descriptor_, pages.begin, pages.end - pages.begin, range); !status.ok()) {
      return status;
    }
    found = ranges_.emplace(pages, Mapped{std::move(range), 0}).first;
  }
  ++found->second.uses;
  out = found->second.range.data() + (place.offset - pages.begin);
  return {};
}

void PeerHeap::unmap(const HeapPlace& place) {
  const auto found = ranges_.find(pages_of(place));
  MARGAY_ASSERT(found != ranges_.end());
  if (--found->second.uses == 0) ranges_.erase(found);
}

}  // namespace margay::sim
