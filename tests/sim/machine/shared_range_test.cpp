// Tests of memory that the heap shares with the job: a child of fork() gets a private copy, also while other threads
// change the list of ranges, and core dumps contain only allocated pieces.
#include "sim/machine/mapping.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/base/limits.hpp"
#include "tests/sim/heap_pieces.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

TEST_CASE("mapping: ranks of a process that map one file share the mapping until the last of them ends") {
  const int file = ::memfd_create("margay-test", 0), other_file = ::memfd_create("margay-test", 0);
  const int again = ::dup(file);
  REQUIRE(::ftruncate(file, 8192) == 0);
  REQUIRE(::ftruncate(other_file, 8192) == 0);
  Mapping first, second, other, shorter;
  REQUIRE(Mapping::map(file, 8192, first).ok());
  REQUIRE(Mapping::map(again, 8192, second).ok());
  REQUIRE(Mapping::map(other_file, 8192, other).ok());
  REQUIRE(Mapping::map(file, 4096, shorter).ok());
  CHECK(first.bytes().data() == second.bytes().data());
  CHECK(first.bytes().data() != other.bytes().data());
  CHECK(first.bytes().data() != shorter.bytes().data());
  CHECK_EQ(shorter.bytes().size(), 4096);
  first.bytes()[0] = std::byte{7};
  CHECK(shorter.bytes()[0] == std::byte{7});
  std::byte* const base = first.bytes().data();
  const auto is_mapped = [base] { return ::msync(base, 4096, MS_ASYNC) == 0; };
  first = Mapping();
  CHECK(is_mapped());
  CHECK(second.bytes()[0] == std::byte{7});
  // Moved, it still has one owner.
  Mapping moved = std::move(second);
  CHECK(is_mapped());
  moved = Mapping();
  CHECK_FALSE(is_mapped());
  REQUIRE(Mapping::map(file, 8192, first).ok());
  CHECK(first.bytes()[0] == std::byte{7});
  CHECK_FALSE(Mapping::map(-1, 8192, other).ok());
  for (const int descriptor : {file, again, other_file}) ::close(descriptor);
}

TEST_CASE("shared range: a child of fork() has a private copy, and neither allocates nor frees") {
  SharedHeap heap;
  const std::span<std::byte> got = piece(heap, 3 * kHeapPage);
  fill(got, 1);
  const bool as_expected = in_child([&] {
    const bool seen = is_all(got, 1);
    fill(got, 2);
    void* base = nullptr;
    const std::string sentence = heap.allocate(10, base).sentence();
    heap.free(got.data());
    // And its own child has a copy of that.
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      const bool copied = is_all(got, 2);
      fill(got, 3);
      ::_exit(copied ? 0 : 1);
    }
    int status = 0;
    ::waitpid(grandchild, &status, 0);
    return seen && status == 0 && is_all(got, 2) && base == nullptr &&
           sentence.find("a child of fork()") != std::string::npos;
  });
  CHECK(as_expected);
  CHECK(is_all(got, 1));
  CHECK(heap.owns(got.data()));
  heap.free(got.data());
  CHECK(heap.is_sound());
}

// The kernel's flags of the mapping that contains an address; and the number of mappings of arenas.
std::string mapping_flags(const void* address) {
  std::ifstream in("/proc/self/smaps");
  std::string line;
  bool is_here = false;
  while (std::getline(in, line)) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      is_here = begin <= at && at < end;
    } else if (is_here && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return {};
}
int arena_mappings(std::string_view kind = "rw") {
  std::ifstream in("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    const bool is_one = line.find("margay-heap") != std::string::npos;
    count += is_one && line.find(" " + std::string(kind)) != std::string::npos ? 1 : 0;
  }
  return count;
}

// fork() waits for a thread that changes the list of ranges: a child shares no range, and can use the list itself.
TEST_CASE("shared range: a fork() while other threads allocate leaves a usable list of ranges") {
  const auto use = [] {
    SharedHeap heap({.arena_bytes = 2 * kMiB});
    void* base = nullptr;
    return heap.allocate(kHeapPage, base).ok();
  };
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_over.load()) static_cast<void>(use());
    });
  }
  int failed = 0;
  for (std::uint64_t i = 0; i < testing::of_threads(200); ++i) {
    failed += in_child([&] {
      ::alarm(60);
      return arena_mappings("rw-s") == 0 && use();
    })
                  ? 0
                  : 1;
  }
  is_over.store(true);
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
}

TEST_CASE("shared range: core dumps contain the pieces only, and the number of mappings is bounded") {
  SharedHeap heap;
  piece(heap, 1);
  const int before = arena_mappings();
  std::vector<std::span<std::byte>> pieces;
  constexpr std::uint64_t kPages = 5 * kHeapPage;  // not in a slab
  for (const std::uint64_t bytes : {kPages, 2 * kHugeMinBytes, kPages, kMiB}) pieces.push_back(piece(heap, bytes));
  // Huge pages are possible without this file too: in a root without /sys.
  const bool surely_huge = std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
  for (const std::span<std::byte> got : pieces) {
    const std::string flags = mapping_flags(got.data());
    CHECK(flags.find(" sh ") != std::string::npos);
    CHECK(flags.find(" dd ") == std::string::npos);
    const bool huge = flags.find(" hg ") != std::string::npos;
    CHECK((got.size() < kHugeMinBytes ? !huge : huge || !surely_huge));
  }
  CHECK(mapping_flags(pieces[0].data() + heap.arena_bytes() / 2).find(" dd ") != std::string::npos);
  CHECK(arena_mappings() > before);
  for (const std::span<std::byte> got : pieces) heap.free(got.data());
  CHECK(mapping_flags(pieces[1].data()).find(" dd ") != std::string::npos);
  CHECK(arena_mappings() == before);
  pieces.clear();
  for (const std::uint64_t bytes : {std::uint64_t{64}, kPages}) {
    for (int i = 0; i < 2000; ++i) pieces.push_back(piece(heap, bytes));
  }
  CHECK(mapping_flags(pieces.back().data()).find(" dd ") == std::string::npos);
  CHECK(arena_mappings() <= before + 2);
  // Every other one, because the number of separate mappings is bounded.
  for (std::size_t i = 0; i < pieces.size(); i += 2) heap.free(pieces[i].data());
  for (int i = 0; i < 20'000; ++i) piece(heap, 10 * kHeapPage);
  CHECK(static_cast<std::size_t>(arena_mappings()) <= before + 2 * kHeapAdvisedPieces + 2);
}

TEST_CASE("shared range: a child whose parent closed the arena's descriptor never writes to the job's memory") {
  SharedHeap heap;
  const std::span<std::byte> got = piece(heap, kHeapPage);
  fill(got, 1);
  const int kept = ::dup(heap.descriptor());
  REQUIRE(kept >= 0);
  int other = -1;
  ::close(heap.descriptor());
  SUBCASE("closed") {}
  SUBCASE("another file has its number") {
    other = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    REQUIRE(other == heap.descriptor());
  }
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    got[0] = std::byte{2};
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(is_all(got, 1));
  REQUIRE(::dup3(kept, heap.descriptor(), O_CLOEXEC) == heap.descriptor());
  ::close(kept);
}

}  // namespace
}  // namespace margay::sim::test
