// Tests of the memory for windows and MPI_Alloc_mem, with and without a heap that the node shares: it is zero, takes no
// physical memory before it is touched, and an allocation fails if the machine does not have enough.
#include "sim/machine/rank_memory.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "sim/base/limits.hpp"
#include "sim/base/resources.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "tests/sim/heap_pieces.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

// A rank that is alone on its node.
class Place {
 public:
  explicit Place(bool with_heap) {
    if (!with_heap) return;
    REQUIRE(Mapping::anonymous(shm_segment_bytes(1, 0), segment_).ok());
    ShmLayout layout;
    REQUIRE(ShmLayout::attach(segment_.bytes(), 1, layout).ok());
    heap_.emplace(layout, 0);
  }
  [[nodiscard]] RankMemory memory() { return RankMemory(heap_ ? &*heap_ : nullptr); }
  [[nodiscard]] bool shares(const void* address) const { return heap_ && heap_->owns(address); }

 private:
  Mapping segment_;
  std::optional<NodeHeap> heap_;
};

std::uint64_t statm(int field) {
  std::ifstream in("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int i = 0; i <= field; ++i) in >> pages;
  return pages * kHeapPage;
}
std::uint64_t resident_bytes() {
  return statm(1);
}

TEST_CASE("rank memory: it is zero, aligned, and not taken before it is touched") {
  for (const bool with_heap : {false, true}) {
    CAPTURE(with_heap);
    Place place(with_heap);
    RankMemory memory = place.memory();
    const std::uint64_t before = resident_bytes();
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}, kHeapPage + 1, kMiB - 1,
                                      kMiB, 3 * kMiB + 5, kMemoryUncheckedBytes}) {
      for (std::uint64_t alignment = 64; alignment <= 64 * kMiB; alignment *= 16) {
        CAPTURE(bytes);
        CAPTURE(alignment);
        void* base = nullptr;
        for (int again = 0; again < 2; ++again) {
          REQUIRE(memory.allocate(bytes, alignment, base).ok());
          CHECK(reinterpret_cast<std::uintptr_t>(base) % alignment == 0);
          CHECK(place.shares(base) == (with_heap && alignment <= kHeapPage));
          if (bytes <= kMiB) {
            const std::span<std::byte> got(static_cast<std::byte*>(base), bytes);
            CHECK(is_all(got, 0));
            fill(got, 7);
          }
          if (bytes == kMemoryUncheckedBytes) CHECK(resident_bytes() < before + bytes / 2);
          memory.free(base);
        }
      }
    }
  }
}

TEST_CASE("rank memory: more than the machine has is an error, with the requested and the available bytes") {
  for (const bool with_heap : {false, true}) {
    Place place(with_heap);
    RankMemory memory = place.memory();
    void* base = &place;
    const std::uint64_t asked = physical_memory_bytes() + kMemoryUncheckedBytes;
    const std::string sentence = memory.allocate(asked, 64, base).sentence();
    CHECK(base == nullptr);
    CHECK(sentence.find("cannot allocate " + std::to_string(asked) + " bytes: ") == 0);
    CHECK(sentence.find(" are available (" + available_memory().limit) != std::string::npos);
    for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - kHeapPage, ~std::uint64_t{0} / 2}) {
      CHECK(!memory.allocate(bytes, 64, base).ok());
      CHECK(!memory.allocate_shared(bytes, 64, base).ok());
      CHECK(base == nullptr);
    }
    CHECK(memory.allocate(1, 64, base).ok());
    memory.free(base);
  }
}

TEST_CASE("rank memory: the heap only, if that is requested") {
  void* base = nullptr;
  Place none(false);
  RankMemory without = none.memory();
  CHECK(!without.allocate_shared(1, 64, base).ok());
  CHECK(!without.has_heap());
  Place place(true);
  RankMemory with = place.memory();
  REQUIRE(with.allocate_shared(1, 64, base).ok());
  CHECK(with.has_heap());
  CHECK(place.shares(base));
  with.free(base);
}

TEST_CASE("rank memory: allocated untouched pieces count as taken") {
  Place place(true);
  RankMemory memory = place.memory();
  const std::uint64_t there = available_memory().bytes;
  REQUIRE(there > 16 * kMemoryUncheckedBytes);
  const std::uint64_t most = there / 8 * 5;
  void* base = nullptr;
  void* second = nullptr;
  REQUIRE(memory.allocate(most, 64, base).ok());
  const std::string sentence = memory.allocate(most, 64, second).sentence();
  CHECK(second == nullptr);
  CHECK(sentence.find("allocated and not touched yet") != std::string::npos);
  CHECK(sentence.find(std::to_string(most)) != std::string::npos);
  memory.free(base);
}

TEST_CASE("rank memory: without addresses a long piece is an error, and short ones are still available") {
  if (testing::kSanitized) return;  // a sanitizer has more addresses than this for itself
  for (const bool with_heap : {false, true}) {
    CHECK(in_child([&] {
      Place place(with_heap);
      RankMemory memory = place.memory();
      rlimit limit{};
      ::getrlimit(RLIMIT_AS, &limit);
      limit.rlim_cur = statm(0) + 16 * kMiB;
      ::setrlimit(RLIMIT_AS, &limit);
      void* base = nullptr;
      const std::string sentence = memory.allocate(32 * kMiB, 64, base).sentence();
      return base == nullptr && sentence.find("ulimit -v") != std::string::npos && memory.allocate(100, 64, base).ok();
    }));
  }
}

}  // namespace
}  // namespace margay::sim::test
