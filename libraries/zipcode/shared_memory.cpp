#include "libraries/zipcode/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <utility>

namespace margay::zipcode::core {

std::unique_ptr<SharedMemory> SharedMemory::map(const std::string& name, int flags, std::size_t members) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (file < 0) return nullptr;
  const bool is_new = (flags & O_CREAT) != 0;
  const std::size_t bytes = bytes_of(members);
  // Reserved now: a full file system would otherwise end the process at its first write.
  const bool has_room = !is_new || posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
  void* const base = has_room ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (base == MAP_FAILED) {
    if (is_new) shm_unlink(name.c_str());
    return nullptr;
  }
  // New memory is zero, which is the first value of the counts.
  return std::unique_ptr<SharedMemory>(new SharedMemory(name, static_cast<std::byte*>(base), members, is_new));
}

std::unique_ptr<SharedMemory> SharedMemory::create(std::size_t members) {
  std::random_device random;
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "/margay-zipcode-%08x%08x", random(), random());
  return map(name.data(), O_CREAT | O_EXCL, members);
}

std::unique_ptr<SharedMemory> SharedMemory::open(const std::string& name, std::size_t members) {
  return map(name, 0, members);
}

void SharedMemory::unlink() {
  if (std::exchange(is_linked_, false)) shm_unlink(name_.c_str());
}

SharedMemory::~SharedMemory() {
  unlink();
  munmap(base_, bytes_of(members_));
}

void SharedMemory::arrive(std::size_t member) {
  Line& mine = line(member);
  // Publishes what this member has written. Pairs with the acquire in is_over(): whoever sees the count sees the bytes.
  // Without it another member could combine a slot that is half written.
  mine.arrived.store(mine.arrived.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

bool SharedMemory::is_over(std::size_t member) const {
  // Relaxed: only this member writes its count.
  const std::uint64_t mine = line(member).arrived.load(std::memory_order_relaxed);
  for (std::size_t each = 0; each < members_; ++each) {
    // Pairs with the release in arrive().
    if (line(each).arrived.load(std::memory_order_acquire) < mine) return false;
  }
  return true;
}

}  // namespace margay::zipcode::core
