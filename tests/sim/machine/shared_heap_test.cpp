// Tests of SharedHeap, the owner's side of memory that the node shares (peer_heap_test.cpp: the peers' side). Pieces do
// not overlap one another or the allocator's data, are zero when allocated, and return to the system when freed.
#include "sim/machine/shared_heap.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "sim/base/limits.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "tests/sim/heap_pieces.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

std::uint64_t lies_by(std::uint64_t bytes) {
  return bytes >= kHugeMinBytes ? kHugePageBytes : bytes > Slabs::kSlotBytesMax ? kHeapPage : kCacheLineBytes;
}

TEST_CASE("shared heap: pieces are zero, long ones whole pages, the longest aligned for huge pages") {
  SharedHeap heap;
  CHECK(heap.descriptor() == -1);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kHeapPage, kHeapPage + 1, kMiB,
                                    kHugeMinBytes - 1, kHugeMinBytes, 3 * kHugeMinBytes + 1}) {
    CAPTURE(bytes);
    const std::span<std::byte> got = piece(heap, bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(got.data()) % lies_by(bytes) == 0);
    CHECK(is_all(got, 0));
    fill(got, 0xa5);
    const std::optional<HeapAddress> slot = heap.find(got.data(), bytes);
    REQUIRE(slot.has_value());
    CHECK(slot->offset % lies_by(bytes) == 0);
    CHECK(heap.is_sound());
  }
  const int flags = ::fcntl(heap.descriptor(), F_GETFD);
  CHECK((flags & FD_CLOEXEC) != 0);
  CHECK(::fcntl(heap.descriptor(), F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  CHECK(::ftruncate(heap.descriptor(), static_cast<off_t>(kHeapPage)) != 0);
}

TEST_CASE("shared heap: a range is found if it lies in one piece, up to its requested bytes") {
  SharedHeap heap;
  int local = 0;
  CHECK(!heap.find(&local, 1));  // no arena yet
  const std::span<std::byte> first = piece(heap, 2 * kHeapPage + 10);
  const std::span<std::byte> second = piece(heap, 100);
  CHECK(!heap.find(&local, sizeof local));
  const HeapAddress whole = heap.find(first.data(), first.size()).value();
  CHECK(whole.bytes == first.size());
  CHECK(heap.find(first.data() + kHeapPage + 3, 7) == HeapAddress{whole.offset + kHeapPage + 3, 7});
  CHECK(heap.find(first.data() + first.size(), 0) == HeapAddress{whole.offset + first.size(), 0});
  CHECK(!heap.find(first.data(), first.size() + 1));
  CHECK(!heap.find(first.data() + 1, first.size()));
  CHECK(!heap.find(first.data() + 1, ~std::uint64_t{0}));
  CHECK(!heap.find(first.data() + first.size() + 1, 0));
  CHECK(!heap.find(first.data() - 1, 1));  // the allocator's data
  CHECK(!heap.find(first.data(), static_cast<std::uint64_t>(second.data() + 1 - first.data())));
  CHECK(heap.owns(second.data()));
  CHECK(!heap.owns(second.data() + 1));
  heap.free(first.data());
  CHECK(!heap.find(first.data(), 1));
  CHECK(!heap.owns(first.data()));
  CHECK(heap.find(second.data(), 100));
}

TEST_CASE("shared heap: a freed piece's memory returns to the system, and is zero when it is allocated again") {
  SharedHeap heap;
  const std::span<std::byte> small = piece(heap, 10);
  const std::uint64_t before = heap.memory_bytes();
  constexpr std::uint64_t kLong = 8 * kMiB;
  const std::span<std::byte> big = piece(heap, kLong);
  CHECK(heap.used_bytes() == kLong + 10);
  CHECK(heap.memory_bytes() <= before + 2 * kHeapPage);  // no memory before it is touched
  fill(big, 1);
  CHECK(heap.memory_bytes() >= before + kLong);
  heap.free(big.data());
  CHECK(heap.memory_bytes() <= before + 2 * kHeapPage);
  CHECK(heap.used_bytes() == 10);
  const std::span<std::byte> again = piece(heap, kLong);
  CHECK(again.data() == big.data());
  CHECK(is_all(again, 0));
  heap.free(again.data());
  // A peer may still write to a freed piece.
  fill(big, 2);
  CHECK(is_all(piece(heap, kLong), 0));
  CHECK(is_all(small, 0));
  CHECK(heap.is_sound());
}

TEST_CASE(
    "shared heap: after pieces are freed in any order none of their memory remains, nor of the allocator's pages") {
  SharedHeap heap;
  piece(heap, 1);
  const std::uint64_t before = heap.memory_bytes();
  std::mt19937_64 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::span<std::byte>> pieces;
    for (int i = 0; i < 40; ++i) {
      fill(pieces.emplace_back(piece(heap, Slabs::kSlotBytesMax + 1 + random() % (20 * kHeapPage))), 9);
    }
    std::ranges::shuffle(pieces, random);
    for (const std::span<std::byte> one : pieces) heap.free(one.data());
    CHECK(heap.memory_bytes() <= before);
    CHECK(heap.is_sound());
  }
}

// Against a model with the contents of each piece. Overwritten neighbours, and a page too many or too few in a punched
// hole, are all detected.
TEST_CASE("shared heap: many random pieces keep their contents, and are zero at first") {
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
      const std::uint64_t bytes = random() % (random() % 20 == 0 ? 10 * kMiB : 12 * kHeapPage);
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
  CHECK(piece(heap, 56 * kMiB).size() == 56 * kMiB);  // contiguous again
}

TEST_CASE("shared heap: if memfd is refused there is no heap, and a message reports it") {
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

TEST_CASE("shared heap: a short piece costs only its aligned length, and is zero again") {
  SharedHeap heap;
  std::vector<std::span<std::byte>> pieces;
  constexpr std::uint64_t kPieces = 20'000;
  for (std::uint64_t i = 0; i < kPieces; ++i)
    fill(pieces.emplace_back(piece(heap, 64)), 1 + static_cast<unsigned>(i % 255));
  CHECK(heap.pieces() == kPieces);
  CHECK(heap.used_bytes() == 64 * kPieces);
  CHECK(heap.memory_bytes() < 64 * kPieces / 4 * 5);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kPieces; ++i) wrong += is_all(pieces[i], 1 + static_cast<unsigned>(i % 255)) ? 0 : 1;
  CHECK(wrong == 0);
  for (const std::span<std::byte> one : pieces) heap.free(one.data());
  CHECK(heap.pieces() == 0);
  CHECK(heap.memory_bytes() <= 4 * Slabs::kSlabBytes);
  CHECK(is_all(piece(heap, 64), 0));
  for (std::uint64_t alignment = 1; alignment <= SharedHeap::kAlignmentMaxBytes; alignment *= 2) {
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{100}, 5 * kHeapPage}) {
      void* base = nullptr;
      REQUIRE(heap.allocate(bytes, base, alignment).ok());
      CHECK(reinterpret_cast<std::uintptr_t>(base) % alignment == 0);
    }
  }
  CHECK(heap.is_sound());
}

TEST_CASE("shared heap: a full arena rejects an allocation and remains usable") {
  SharedHeap heap({.arena_bytes = 16 * kHeapPage + kMiB});
  CHECK(!heap.allocate(~std::uint64_t{0}, *std::make_unique<void*>()).ok());
  CHECK(!heap.allocate(~std::uint64_t{0} - kHeapPage, *std::make_unique<void*>()).ok());
  void* base = nullptr;
  const std::string sentence = heap.allocate(2 * kMiB, base).sentence();
  CHECK(base == nullptr);
  CHECK(sentence.find("bytes of addresses") != std::string::npos);
  const std::span<std::byte> got = piece(heap, kMiB);
  CHECK(!heap.allocate(kMiB, base).ok());
  heap.free(got.data());
  piece(heap, kMiB);
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
  CHECK(in_child([&] { return arena_under(RLIMIT_FSIZE, kHeapPage) == 0; }));
  if (testing::kSanitized) return;  // a sanitizer has more addresses than this for itself
  constexpr std::uint64_t kAddresses = 8192 * kMiB;
  CHECK(in_child([&] {
    const std::uint64_t bytes = arena_under(RLIMIT_AS, kAddresses);
    return bytes != 0 && bytes <= kAddresses / 4;
  }));
}

}  // namespace
}  // namespace margay::sim::test
