// Tests of access to another process's memory, by its open file and by process_vm_writev: both give the same results.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "sim/wire/shm/own_process.hpp"
#include "sim/wire/shm/peer_memory.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim::test {
namespace {

using portals::Buffer;
using portals::Region;

constexpr std::size_t kBytes = 1 << 16;

// A child of this process that has the same memory at the same addresses, and sleeps. Writes to its memory affect the
// child only.
class Peer {
 public:
  Peer() : bytes_(kBytes, std::byte{'c'}) {
    open_for_reading(area_, test_word_, true);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      for (;;) ::pause();
    }
    area_.pid = static_cast<std::uint32_t>(pid_);
    std::ranges::fill(bytes_, std::byte{'p'});
  }
  ~Peer() { end(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void end() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] RankArea& area() { return area_; }
  // An address in the child.
  [[nodiscard]] std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(bytes_.data()) + offset;
  }
  [[nodiscard]] Buffer piece(std::size_t offset, std::size_t bytes) {
    return {bytes_.data() + offset, bytes};  // its address only
  }
  // This process's own memory at the child's address.
  [[nodiscard]] bool is_own_memory_untouched() const {
    return std::ranges::all_of(bytes_, [](std::byte byte) { return byte == std::byte{'p'}; });
  }

 private:
  RankArea area_{};
  std::uint64_t test_word_ = 0;
  std::vector<std::byte> bytes_;
  pid_t pid_ = 0;
};

std::vector<std::byte> seven_steps(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 7 + 1);
  return made;
}

}  // namespace

TEST_CASE("peer memory: few bytes and many are written to the other process and read from it") {
  Peer peer;
  PeerMemory memory(peer.area());
  for (const std::size_t bytes : {1, 8, 511, 512, 513, 4096, 60000}) {
    INFO("bytes ", bytes);
    std::vector<std::byte> wrote = seven_steps(bytes);
    REQUIRE(memory.write({wrote.data(), bytes}, peer.address(3)) == ReadFault::none);
    std::vector<std::byte> read(bytes + 1);
    REQUIRE(memory.read({read.data(), bytes + 1}, peer.address(3)) == ReadFault::none);
    CHECK(std::memcmp(read.data(), wrote.data(), bytes) == 0);
    CHECK(read[bytes] != std::byte{'p'});  // the child's byte, not this process's
  }
  CHECK(peer.is_own_memory_untouched());
}

TEST_CASE("peer memory: pieces may have different lengths on the two sides, and be more than one call accepts") {
  Peer peer;
  PeerMemory memory(peer.area());
  std::vector<std::byte> wrote = seven_steps(3000);
  std::vector<Buffer> mine, theirs;
  for (std::size_t at = 0; at < wrote.size(); at += 10) mine.push_back({wrote.data() + at, 10});
  for (std::size_t at = 0; at < wrote.size(); at += 15) theirs.push_back(peer.piece(2 * at, 15));
  REQUIRE(memory.write(Region(std::span<const Buffer>(mine)), Region(std::span<const Buffer>(theirs))) ==
          ReadFault::none);
  std::vector<std::byte> read(3000);
  REQUIRE(memory.read(Region(read.data(), read.size()), Region(std::span<const Buffer>(theirs))) == ReadFault::none);
  CHECK(read == wrote);
  std::array<std::byte, 15> gap{};
  REQUIRE(memory.read({gap.data(), gap.size()}, peer.address(15)) == ReadFault::none);
  CHECK(std::ranges::all_of(gap, [](std::byte byte) { return byte == std::byte{'c'}; }));
  CHECK(peer.is_own_memory_untouched());
}

TEST_CASE("peer memory: unmapped memory is unreadable, and an ended process is reported as gone") {
  Peer peer;
  PeerMemory memory(peer.area());
  std::array<std::byte, 8> few{};
  std::vector<std::byte> many(4096);
  REQUIRE(memory.write({few.data(), few.size()}, peer.address(0)) == ReadFault::none);
  CHECK(memory.write({few.data(), few.size()}, 8) == ReadFault::unreadable);
  CHECK(memory.read({many.data(), many.size()}, 8) == ReadFault::unreadable);
  peer.end();
  CHECK(memory.write({few.data(), few.size()}, peer.address(0)) == ReadFault::gone);
  CHECK(memory.read({few.data(), few.size()}, peer.address(0)) == ReadFault::gone);
  // A new PeerMemory tests the process again, because another one may have its number by then.
  PeerMemory again(peer.area());
  CHECK(again.read({many.data(), many.size()}, peer.address(0)) == ReadFault::gone);
  CHECK(again.read({few.data(), few.size()}, peer.address(0)) == ReadFault::gone);
}

TEST_CASE("peer memory: a process other than the intended one is neither read nor written") {
  Peer peer;
  peer.area().test_word ^= 1;
  PeerMemory memory(peer.area());
  std::array<std::byte, 8> few{};
  std::vector<std::byte> many(4096);
  CHECK(memory.write({few.data(), few.size()}, peer.address(0)) == ReadFault::refused);
  CHECK(memory.write({many.data(), many.size()}, peer.address(0)) == ReadFault::refused);
  peer.area().test_word ^= 1;
  PeerMemory right(peer.area());
  REQUIRE(right.read({few.data(), few.size()}, peer.address(0)) == ReadFault::none);
  CHECK(few[0] == std::byte{'c'});
}

TEST_CASE("peer memory: few bytes, many bytes and pieces are copied to and from a thread of this process") {
  RankArea area{};
  open_for_reading(area, process_test_word(), true);
  area.pid = static_cast<std::uint32_t>(::getpid());
  PeerMemory memory(area);
  std::vector<std::byte> theirs(kBytes, std::byte{'c'});
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(theirs.data());
  for (const std::size_t bytes : {1, 512, 513, 60000}) {
    INFO("bytes ", bytes);
    std::vector<std::byte> wrote = seven_steps(bytes), read(bytes);
    REQUIRE(memory.write({wrote.data(), bytes}, address + 1) == ReadFault::none);
    REQUIRE(memory.read({read.data(), bytes}, address + 1) == ReadFault::none);
    CHECK(read == wrote);
    CHECK(theirs[0] == std::byte{'c'});
    CHECK(theirs[bytes + 1] == std::byte{'c'});
    std::ranges::fill(theirs, std::byte{'c'});
  }
  std::vector<std::byte> wrote = seven_steps(20);
  const std::array mine{Buffer{wrote.data(), 5}, Buffer{wrote.data() + 5, 15}};
  const std::array pieces{Buffer{theirs.data() + 100, 12}, Buffer{theirs.data() + 200, 8}};
  REQUIRE(memory.write(Region(std::span<const Buffer>(mine)), Region(std::span<const Buffer>(pieces))) ==
          ReadFault::none);
  CHECK(std::ranges::equal(std::span(theirs).subspan(100, 12), std::span(wrote).first(12)));
  CHECK(std::ranges::equal(std::span(theirs).subspan(200, 8), std::span(wrote).subspan(12)));
}

}  // namespace margay::sim::test
