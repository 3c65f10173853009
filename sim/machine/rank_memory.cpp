#include "sim/machine/rank_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sim/base/limits.hpp"
#include "sim/base/resources.hpp"

namespace margay::sim {

namespace {

using portals::Status;

// Private pieces from this size on have pages of their own, because fresh pages are zero without being touched.
constexpr std::uint64_t kMappedBytesMin = std::uint64_t{1} << 20;
constexpr std::uint64_t kAddressesEnd = std::uint64_t{1} << 62;

Status refuse(std::uint64_t bytes, const std::string& why) {
  return Status::error("cannot allocate " + std::to_string(bytes) + " bytes: " + why);
}

Status map_private(std::uint64_t bytes, std::uint64_t alignment, std::span<std::byte>& range, void*& out) {
  const std::uint64_t room = bytes + alignment;
  void* const base = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return refuse(bytes, std::string(std::strerror(errno)) + "; see ulimit -v");
  range = {static_cast<std::byte*>(base), room};
  const std::uint64_t behind = reinterpret_cast<std::uintptr_t>(base) % alignment;
  out = range.data() + (behind == 0 ? 0 : alignment - behind);
  return {};
}

}  // namespace

// Untouched memory of this rank's heap counts as taken, because programs allocate first and touch later.
Status RankMemory::check(std::uint64_t bytes) const {
  // The test reads several files, which takes longer than most short allocations.
  if (bytes <= kMemoryUncheckedBytes) return {};
  const AvailableMemory memory = available_memory();
  const std::uint64_t untouched = heap_ == nullptr ? 0 : heap_->untouched_bytes();
  const std::uint64_t there = memory.bytes - std::min(memory.bytes, untouched);
  if (bytes <= there) return {};
  const std::string beside =
      untouched == 0 ? "" : ", beside " + std::to_string(untouched) + " that were allocated and not touched yet";
  return refuse(bytes, std::to_string(there) + " are available (" + memory.limit + beside +
                           "); ask for less, or start fewer ranks on this node");
}

Status RankMemory::allocate_shared(std::uint64_t bytes, std::uint64_t alignment, void*& out) {
  out = nullptr;
  if (Status status = check(bytes); !status.ok()) return status;
  if (heap_ == nullptr) return Status::error("the ranks of this node share no memory");
  return heap_->allocate(bytes, out, alignment);
}

Status RankMemory::allocate(std::uint64_t bytes, std::uint64_t alignment, void*& out) {
  out = nullptr;
  if (Status status = check(bytes); !status.ok()) return status;
  // A failure of the heap is not reported, because private memory serves as well.
  if (heap_ != nullptr && alignment <= SharedHeap::kAlignmentMaxBytes && heap_->allocate(bytes, out, alignment).ok()) {
    return {};
  }
  alignment = std::max<std::uint64_t>(alignment, kCacheLineBytes);
  if (bytes > kAddressesEnd - alignment) return refuse(bytes, "it exceeds the address space");
  // At least one byte, so that each piece has its own address.
  const std::uint64_t room = (std::max<std::uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (room >= kMappedBytesMin) {
    std::span<std::byte> range;
    Status status = map_private(bytes, alignment, range, out);
    if (status.ok()) mapped_.emplace(out, range);
    return status;
  }
  out = std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(room));
  if (out == nullptr) return refuse(bytes, "malloc failed; check ulimit -v");
  // aligned_alloc may return memory that was used before.
  std::memset(out, 0, static_cast<std::size_t>(bytes));
  return {};
}

void RankMemory::free(void* address) {
  if (heap_ != nullptr && heap_->owns(address)) return heap_->free(address);
  // A piece is of one of three kinds: the heap recognises its pieces by their address, mapped_ has the long private
  // pieces, and all others came from aligned_alloc().
  const auto found = mapped_.find(address);
  if (found == mapped_.end()) return std::free(address);
  ::munmap(found->second.data(), found->second.size());
  mapped_.erase(found);
}

}  // namespace margay::sim
