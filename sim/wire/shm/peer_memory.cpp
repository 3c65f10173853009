#include "sim/wire/shm/peer_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "sim/base/clock.hpp"
#include "sim/wire/shm/own_process.hpp"

namespace margay::sim {

namespace {

using portals::Buffer;
using portals::Region;
using portals::RegionCursor;

void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// The next pieces of both sides, cut to equal lengths, for one system call.
struct Batch {
  std::array<iovec, kReadPieces> mine;
  std::array<iovec, kReadPieces> theirs;
  std::size_t count = 0;
  std::uint64_t bytes = 0;

  Batch(RegionCursor from, RegionCursor to) {
    while (from.left() != 0 && count < kReadPieces) {
      const Buffer here = from.peek(from.left());
      const Buffer there = to.peek(here.bytes);
      const std::size_t both = std::min(here.bytes, there.bytes);
      mine[count] = {here.base, both};
      theirs[count] = {there.base, both};
      ++count;
      bytes += both;
      from.skip(both);
      to.skip(both);
    }
  }
};

}  // namespace

PeerMemory::~PeerMemory() {
  if (file_ >= 0) ::close(file_);
}

// Opens the file, and reads the test word through it, which proves the process's identity.
void PeerMemory::open_file() {
  file_ = kRefused;
  const int file = ::open(("/proc/" + std::to_string(area_->pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  std::uint64_t word = 0;
  if (::pread(file, &word, sizeof word, static_cast<off_t>(area_->test_address)) == sizeof word &&
      word == area_->test_word) {
    file_ = file;
  } else {
    ::close(file);
  }
}

// Proves the process's identity again, unless the last proof is less than a millisecond old. A proof costs 0.3 us.
ReadFault PeerMemory::prove() {
  const std::uint64_t now = real_clock().now_ns();
  if (proof_.fresh(now)) return ReadFault::none;
  if (try_reading(*area_) != ReadFault::none) return has_ended(*area_) ? ReadFault::gone : ReadFault::refused;
  proof_.record_proof(now);
  return ReadFault::none;
}

ReadFault PeerMemory::read(const Buffer& mine, std::uint64_t address) {
  // Most accesses of windows concern a few elements.
  if (mine.bytes <= kFileBytesMax && !is_this_process(*area_)) [[likely]]
    return copy_few(Direction::read, mine, address);
  return copy(Direction::read, Region(mine.base, mine.bytes), Region(pointer_to(address), mine.bytes));
}

ReadFault PeerMemory::write(const Buffer& mine, std::uint64_t address) {
  if (mine.bytes <= kFileBytesMax && !is_this_process(*area_)) [[likely]]
    return copy_few(Direction::write, mine, address);
  return copy(Direction::write, Region(mine.base, mine.bytes), Region(pointer_to(address), mine.bytes));
}

ReadFault PeerMemory::read(const Region& mine, const Region& theirs) {
  return copy(Direction::read, mine, theirs);
}

ReadFault PeerMemory::write(const Region& mine, const Region& theirs) {
  return copy(Direction::write, mine, theirs);
}

ReadFault PeerMemory::copy_few(Direction direction, const Buffer& mine, std::uint64_t address) {
  if (file_ == kNotOpened) open_file();
  for (std::size_t done = 0; file_ >= 0 && done < mine.bytes;) {
    std::byte* const from = mine.base + done;
    const std::size_t left = mine.bytes - done;
    const auto at = static_cast<off_t>(address + done);
    const ssize_t bytes =
        direction == Direction::write ? ::pwrite(file_, from, left, at) : ::pread(file_, from, left, at);
    if (bytes > 0) {
      done += static_cast<std::size_t>(bytes);
      if (done == mine.bytes) return ReadFault::none;
    } else if (bytes == 0) {
      // The process's memory no longer exists.
      return ReadFault::gone;
    } else if (errno == EIO || errno == EFAULT) {
      // The address is not mapped in the peer.
      return ReadFault::unreadable;
    } else if (errno != EINTR) {
      // After any other error the file is never used again, and copy() below transfers all bytes by the other method.
      ::close(file_);
      file_ = kRefused;
    }
  }
  return copy(direction, Region(mine.base, mine.bytes), Region(pointer_to(address), mine.bytes));
}

ReadFault PeerMemory::copy(Direction direction, const Region& mine, const Region& theirs) {
  if (is_this_process(*area_)) {
    portals::copy(direction == Direction::write ? theirs : mine, direction == Direction::write ? mine : theirs);
    return ReadFault::none;
  }
  if (const ReadFault fault = prove(); fault != ReadFault::none) return fault;
  RegionCursor here(mine), there(theirs);
  const auto process = static_cast<pid_t>(area_->pid);
  while (here.left() != 0) {
    const Batch batch(here, there);
    const ssize_t bytes =
        direction == Direction::write
            ? ::process_vm_writev(process, batch.mine.data(), batch.count, batch.theirs.data(), batch.count, 0)
            : ::process_vm_readv(process, batch.mine.data(), batch.count, batch.theirs.data(), batch.count, 0);
    if (bytes > 0) {
      here.skip(static_cast<std::uint64_t>(bytes));
      there.skip(static_cast<std::uint64_t>(bytes));
    } else if (bytes == 0) {
      return ReadFault::unreadable;
    } else if (const ReadFault fault = fault_of(errno); fault != ReadFault::none) {
      // `refused` promises that nothing was copied.
      return fault == ReadFault::refused && here.left() != mine.bytes() ? ReadFault::unreadable : fault;
    }
  }
  return ReadFault::none;
}

}  // namespace margay::sim
