// A rank's own side of the memory that it allocates for its node: pieces apart from each other and from the allocator's
// data, zero whenever they are given, and the system's again when freed; peers' is in peer_heap_test.
#include "sim/machine/shared_heap.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/base/available_memory.hpp"
#include "sim/base/limits.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::span<std::byte> piece(SharedHeap& heap, std::uint64_t bytes) {
  void* base = nullptr;
  const portals::Status status = heap.allocate(bytes, base);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  REQUIRE(base != nullptr);
  return {static_cast<std::byte*>(base), bytes};
}

bool is_all(std::span<const std::byte> bytes, unsigned value) {
  return std::ranges::all_of(bytes, [&](std::byte byte) { return byte == std::byte(value); });
}

void fill(std::span<std::byte> bytes, unsigned value) {
  std::memset(bytes.data(), static_cast<int>(value), bytes.size());
}

TEST_CASE("shared heap: pieces are whole pages of zeros, long ones lie as huge pages do") {
  SharedHeap heap;
  CHECK(heap.descriptor() == -1);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kPage, kPage + 1, kMiB, kHugeMinBytes - 1,
                                    kHugeMinBytes, 3 * kHugeMinBytes + 1}) {
    CAPTURE(bytes);
    const std::span<std::byte> got = piece(heap, bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(got.data()) % (bytes >= kHugeMinBytes ? kHugePageBytes : kPage) == 0);
    CHECK(is_all(got, 0));
    fill(got, 0xa5);
    const std::optional<HeapPlace> place = heap.find(got.data(), bytes);
    REQUIRE(place.has_value());
    CHECK(place->offset % (bytes >= kHugeMinBytes ? kHugePageBytes : kPage) == 0);
    CHECK(heap.is_sound());
  }
  const int flags = ::fcntl(heap.descriptor(), F_GETFD);
  CHECK((flags & FD_CLOEXEC) != 0);
  CHECK(::fcntl(heap.descriptor(), F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  CHECK(::ftruncate(heap.descriptor(), static_cast<off_t>(kPage)) != 0);
}

TEST_CASE("shared heap: a range is found where it lies in one piece, by the bytes that were asked for") {
  SharedHeap heap;
  int local = 0;
  CHECK(!heap.find(&local, 1));  // no arena yet
  const std::span<std::byte> first = piece(heap, 2 * kPage + 10);
  const std::span<std::byte> second = piece(heap, 100);
  CHECK(!heap.find(&local, sizeof local));
  const HeapPlace whole = heap.find(first.data(), first.size()).value();
  CHECK(whole.bytes == first.size());
  CHECK(heap.find(first.data() + kPage + 3, 7) == HeapPlace{whole.offset + kPage + 3, 7});
  CHECK(heap.find(first.data() + first.size(), 0) == HeapPlace{whole.offset + first.size(), 0});
  CHECK(!heap.find(first.data(), first.size() + 1));
  CHECK(!heap.find(first.data() + 1, first.size()));
  CHECK(!heap.find(first.data() + 1, ~std::uint64_t{0}));
  CHECK(!heap.find(first.data() + first.size() + 1, 0));
  CHECK(!heap.find(first.data() - 1, 1));  // the allocator's
  CHECK(!heap.find(first.data(), static_cast<std::uint64_t>(second.data() + 1 - first.data())));
  CHECK(heap.owns(second.data()));
  CHECK(!heap.owns(second.data() + 1));
  heap.free(first.data());
  CHECK(!heap.find(first.data(), 1));
  CHECK(!heap.owns(first.data()));
  CHECK(heap.find(second.data(), 100));
}

TEST_CASE("shared heap: a freed piece's memory is the system's, and zero when it is allocated again") {
  SharedHeap heap;
  const std::span<std::byte> small = piece(heap, 10);
  const std::uint64_t before = heap.memory_bytes();
  constexpr std::uint64_t kLong = 8 * kMiB;
  const std::span<std::byte> big = piece(heap, kLong);
  CHECK(heap.used_bytes() == kLong + 10);
  CHECK(heap.memory_bytes() <= before + 2 * kPage);  // none before it is touched
  fill(big, 1);
  CHECK(heap.memory_bytes() >= before + kLong);
  heap.free(big.data());
  CHECK(heap.memory_bytes() <= before + 2 * kPage);
  CHECK(heap.used_bytes() == 10);
  const std::span<std::byte> again = piece(heap, kLong);
  CHECK(again.data() == big.data());
  CHECK(is_all(again, 0));
  heap.free(again.data());
  // A peer may still touch what was freed.
  fill(big, 2);
  CHECK(is_all(piece(heap, kLong), 0));
  CHECK(is_all(small, 0));
  CHECK(heap.is_sound());
}

TEST_CASE("shared heap: freed in any order, nothing of it stays, the allocator's pages neither") {
  SharedHeap heap;
  piece(heap, 1);
  const std::uint64_t before = heap.memory_bytes();
  std::mt19937_64 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::span<std::byte>> pieces;
    for (int i = 0; i < 40; ++i) fill(pieces.emplace_back(piece(heap, 1 + random() % (20 * kPage))), 9);
    std::ranges::shuffle(pieces, random);
    for (const std::span<std::byte> one : pieces) heap.free(one.data());
    CHECK(heap.memory_bytes() <= before);
    CHECK(heap.is_sound());
  }
}

// Against a model: what each piece holds. Neighbours written over, a page punched too much or too little all show.
TEST_CASE("shared heap: many random pieces keep what was written, and are zero at first") {
  struct Living {
    std::span<std::byte> bytes;
    unsigned value;
  };
  SharedHeap heap({.arena_bytes = 64 * kMiB});
  std::mt19937_64 random(20'26);
  std::vector<Living> living;
  std::uint64_t used = 0;
  std::uint64_t refused = 0;
  for (unsigned step = 0; step < 3000; ++step) {
    CAPTURE(step);
    if (living.empty() || random() % 5 < 3) {
      const std::uint64_t bytes = random() % (random() % 20 == 0 ? 10 * kMiB : 12 * kPage);
      void* base = nullptr;
      if (!heap.allocate(bytes, base).ok()) {
        REQUIRE(base == nullptr);
        ++refused;
      } else {
        const Living made{{static_cast<std::byte*>(base), bytes}, 1 + step % 255};
        REQUIRE(is_all(made.bytes, 0));
        fill(made.bytes, made.value);
        living.push_back(made);
        used += bytes;
      }
    } else {
      const auto at = living.begin() + static_cast<std::ptrdiff_t>(random() % living.size());
      REQUIRE(is_all(at->bytes, at->value));
      used -= at->bytes.size();
      heap.free(at->bytes.data());
      *at = living.back();
      living.pop_back();
    }
    REQUIRE(heap.used_bytes() == used);
    if (step % 16 == 0) REQUIRE(heap.is_sound());
  }
  CHECK(refused != 0);  // it was full at times
  for (const Living& one : living) {
    CHECK(is_all(one.bytes, one.value));
    heap.free(one.bytes.data());
  }
  CHECK(heap.is_sound());
  CHECK(heap.pieces() == 0);
  CHECK(piece(heap, 56 * kMiB).size() == 56 * kMiB);  // in one again
}

TEST_CASE("shared heap: where memfd is refused there is none, and a sentence says so") {
  SharedHeap heap({.refuse_memfd = true});
  int local = 0;
  void* base = &local;
  const portals::Status status = heap.allocate(100, base);
  CHECK(base == nullptr);
  CHECK(status.sentence().find("memfd refused") != std::string::npos);
  CHECK(heap.descriptor() == -1);
  CHECK(!heap.owns(&local));
  RankArea area;
  heap.publish(area);
  CHECK(area.heap_descriptor == 0);
}

TEST_CASE("shared heap: more than the machine has is refused, with the bytes asked and there") {
  SharedHeap heap;
  void* base = nullptr;
  const std::uint64_t asked = physical_memory_bytes() + kHeapUncheckedBytes;
  const std::string sentence = heap.allocate(asked, base).sentence();
  CHECK(base == nullptr);
  CHECK(sentence.find("window memory of " + std::to_string(asked) + " bytes is not to be had: ") == 0);
  CHECK(sentence.find(" bytes are there (" + available_memory().words) != std::string::npos);
  CHECK(!heap.allocate(~std::uint64_t{0}, base).ok());
  CHECK(!heap.allocate(~std::uint64_t{0} - kPage, base).ok());
  piece(heap, 1);
}

TEST_CASE("shared heap: pieces that were allocated and not touched count as taken") {
  SharedHeap heap;
  const std::uint64_t there = available_memory().bytes;
  REQUIRE(there > 16 * kHeapUncheckedBytes);
  const std::uint64_t most = there / 8 * 5;
  piece(heap, most);
  void* base = nullptr;
  const std::string sentence = heap.allocate(most, base).sentence();
  CHECK(base == nullptr);
  CHECK(sentence.find("allocated and not touched yet") != std::string::npos);
  CHECK(sentence.find(std::to_string(most)) != std::string::npos);
}

TEST_CASE("shared heap: a full arena refuses and goes on") {
  SharedHeap heap({.arena_bytes = 16 * kPage + kMiB});
  void* base = nullptr;
  const std::string sentence = heap.allocate(2 * kMiB, base).sentence();
  CHECK(base == nullptr);
  CHECK(sentence.find("bytes of addresses") != std::string::npos);
  const std::span<std::byte> got = piece(heap, kMiB);
  CHECK(!heap.allocate(kMiB, base).ok());
  heap.free(got.data());
  piece(heap, kMiB);
}

// Runs `body` in a child; whether it returned true.
template <typename Body>
bool in_child(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("shared heap: the limits on file sizes and addresses make a smaller arena, or none") {
  const auto arena_under = [](int resource, std::uint64_t most) {
    rlimit limit{};
    ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
    limit.rlim_cur = most;
    ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
    SharedHeap heap;
    void* base = nullptr;
    return heap.allocate(1, base).ok() ? heap.arena_bytes() : 0;
  };
  CHECK(in_child([&] { return arena_under(RLIMIT_FSIZE, 64 * kMiB) == 64 * kMiB; }));
  CHECK(in_child([&] { return arena_under(RLIMIT_FSIZE, kPage) == 0; }));
  if (testing::kSanitized) return;  // a sanitizer has more addresses than this for itself
  constexpr std::uint64_t kAddresses = 8192 * kMiB;
  CHECK(in_child([&] {
    const std::uint64_t bytes = arena_under(RLIMIT_AS, kAddresses);
    return bytes != 0 && bytes <= kAddresses / 4;
  }));
}

TEST_CASE("shared heap: a child of fork() has a copy of its own, and neither allocates nor frees") {
  SharedHeap heap;
  const std::span<std::byte> got = piece(heap, 3 * kPage);
  fill(got, 1);
  const bool as_expected = in_child([&] {
    const bool seen = is_all(got, 1);
    fill(got, 2);
    void* base = nullptr;
    const std::string sentence = heap.allocate(10, base).sentence();
    heap.free(got.data());
    // And its own child a copy of that.
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

// What the kernel says about the mapping that an address is in; and how many mappings of arenas there are.
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

// No thread was changing the list of ranges when its process forked: a child shares none, and can use the list itself.
TEST_CASE("shared heap: fork() while other threads allocate") {
  const auto use = [] {
    SharedHeap heap({.arena_bytes = 2 * kMiB});
    void* base = nullptr;
    return heap.allocate(kPage, base).ok();
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

TEST_CASE("shared heap: core dumps have the pieces and not the rest, and mappings do not add up") {
  SharedHeap heap;
  piece(heap, 1);
  const int before = arena_mappings();
  std::vector<std::span<std::byte>> pieces;
  for (const std::uint64_t bytes : {kPage, 2 * kHugeMinBytes, kPage, kMiB}) pieces.push_back(piece(heap, bytes));
  const bool huge = std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
  for (const std::span<std::byte> got : pieces) {
    const std::string flags = mapping_flags(got.data());
    CHECK(flags.find(" sh ") != std::string::npos);
    CHECK(flags.find(" dd ") == std::string::npos);
    CHECK((flags.find(" hg ") != std::string::npos) == (huge && got.size() >= kHugeMinBytes));
  }
  CHECK(mapping_flags(pieces[0].data() - 1).find(" dd ") != std::string::npos);
  CHECK(mapping_flags(pieces[0].data() + heap.arena_bytes() / 2).find(" dd ") != std::string::npos);
  CHECK(arena_mappings() > before);
  for (const std::span<std::byte> got : pieces) heap.free(got.data());
  CHECK(mapping_flags(pieces[1].data()).find(" dd ") != std::string::npos);
  CHECK(arena_mappings() == before);
}

TEST_CASE("shared heap: a child whose parent closed the arena's descriptor never reaches the job") {
  SharedHeap heap;
  const std::span<std::byte> got = piece(heap, kPage);
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
