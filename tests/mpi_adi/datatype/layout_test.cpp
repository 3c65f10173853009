// Tests of compiled layouts: which loops are folded, their cost and their bounds; external32, and types by size.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/elements.hpp"
#include "mpi_adi/datatype/external32.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {
namespace {

using Kind = LayoutNode::Kind;

struct Fixture {
  PredefinedTypes types;
  [[nodiscard]] TypePtr type(MPI_Datatype handle) { return types.find(handle)->definition; }
};

TEST_CASE_FIXTURE(Fixture, "layouts fold: contiguous elements, vectors of vectors, equal blocks") {
  const TypePtr twice = make_hvector(1, 100, 0, type(MPI_INT), {});
  CHECK(Datatype(twice).dense());
  CHECK(twice->size == 400);
  CHECK(make_hvector(7, 3, 12, type(MPI_INT), {})->layout.is_run());
  // Four rows of five, each row a vector: one loop, since the rows follow at the vector's own distance.
  const TypePtr row = make_hvector(5, 1, 16, type(MPI_DOUBLE), {});
  const TypePtr rows = make_hvector(4, 1, 80, row, {});
  REQUIRE(rows->layout.node->kind == Kind::loop);
  CHECK(rows->layout.node->count == 20);
  CHECK(rows->layout.node->depth == 2);
  const std::array<int, 3> lengths{2, 2, 2};
  const std::array<int, 3> even{0, 5, 10};
  CHECK(make_indexed(lengths, even, 8, type(MPI_DOUBLE), {})->layout.node->kind == Kind::loop);
  const std::array<int, 3> uneven{0, 5, 11};
  CHECK(make_indexed(lengths, uneven, 8, type(MPI_DOUBLE), {})->layout.node->kind == Kind::blocks);
  const std::array<int, 3> touching{4, 6, 8};
  const TypePtr one = make_indexed(lengths, touching, 8, type(MPI_DOUBLE), {});
  CHECK(one->layout.is_run());
  CHECK(one->layout.offset == 32);
  // A struct without holes is a run with two kinds of elements.
  const std::array<MPI_Aint, 2> places{0, 8};
  const std::array<TypePtr, 2> parts{type(MPI_DOUBLE), type(MPI_INT)};
  const TypePtr pair = make_struct(std::array{1, 2}, places, parts, {});
  CHECK(Datatype(pair).dense());
  CHECK(pair->basic() == 0);
  CHECK(pair->elements == 3);
  CHECK(make_subarray(std::array{4, 6}, std::array{2, 6}, std::array{1, 0}, MPI_ORDER_C, type(MPI_INT), {})
            ->layout.is_run());
}

// Memory with unmapped pages before and behind it.
class Island {
 public:
  explicit Island(std::size_t pages) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), bytes_(pages * page_) {
    void* const mapped = mmap(nullptr, bytes_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapped != MAP_FAILED);
    mapped_ = static_cast<std::byte*>(mapped);
    REQUIRE(mprotect(mapped_, page_, PROT_NONE) == 0);
    REQUIRE(mprotect(begin() + bytes_, page_, PROT_NONE) == 0);
  }
  Island(const Island&) = delete;
  Island& operator=(const Island&) = delete;
  ~Island() { munmap(mapped_, bytes_ + 2 * page_); }
  [[nodiscard]] std::byte* begin() const { return mapped_ + page_; }
  [[nodiscard]] std::byte* end() const { return begin() + bytes_; }
  // Whether the memory around `part` holds `value` everywhere.
  [[nodiscard]] bool around(std::span<const std::byte> part, std::byte value) const {
    constexpr std::ptrdiff_t kFar = 256;
    const std::byte* const before = part.data() - std::min(kFar, part.data() - begin());
    const std::byte* const behind = part.data() + part.size();
    return std::count(before, part.data(), value) == part.data() - before &&
           std::count(behind, behind + std::min(kFar, end() - behind), value) == std::min(kFar, end() - behind);
  }
  // A piece of `bytes` that begins or ends `steps` from the unmapped pages.
  [[nodiscard]] std::span<std::byte> at(bool the_end, std::size_t bytes, std::size_t steps) const {
    return {the_end ? end() - bytes - steps : begin() + steps, bytes};
  }

 private:
  std::size_t page_, bytes_;
  std::byte* mapped_ = nullptr;
};

// Any number of doubles, every other one of an array, from any offset in a cache line. The gaps must not be changed,
// and the memory before the first double and behind the last one is not mapped.
TEST_CASE_FIXTURE(Fixture, "a vector of every other double, at the ends of pages") {
  const Island spreads(8), packeds(4);
  constexpr std::byte kGap{0xa5};
  constexpr std::array<std::size_t, 15> kSteps{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 3, 4, 12, 20, 63};
  std::vector<std::size_t> counts;
  for (std::size_t count = 1; count < 80; ++count) counts.push_back(count);
  for (const std::size_t count : {127, 128, 200, 1024, 1025, 1100, 1500}) counts.push_back(count);
  std::size_t round = 0;
  for (const std::size_t count : counts) {
    const TypePtr vector = make_hvector(static_cast<int>(count), 1, 16, type(MPI_DOUBLE), {});
    std::vector<std::byte> data(count * 8);
    for (std::size_t at = 0; at < data.size(); ++at) data[at] = static_cast<std::byte>(at * 7 + count + at / 256);
    for (std::size_t skipped = 0; skipped < data.size();
         skipped += 1 + skipped % 11 + skipped * count / 1024, ++round) {
      const std::span<std::byte> spread = spreads.at(round % 2 == 0, count * 16 - 8, kSteps[round / 4 % kSteps.size()]);
      const std::span<std::byte> packed =
          packeds.at(round % 4 < 2, data.size() - skipped, kSteps[round / 7 % kSteps.size()]);
      std::fill(spreads.begin(), spreads.end(), kGap);
      std::copy(data.begin() + static_cast<std::ptrdiff_t>(skipped), data.end(), packed.begin());
      vector->in_a_row->scatter(spread.data(), skipped, packed);
      std::size_t wrong = 0;
      for (std::size_t at = 0; at < spread.size(); ++at) {
        const std::size_t from = at / 16 * 8 + at % 16;
        const bool set = at % 16 < 8 && from >= skipped;
        wrong += spread[at] != (set ? data[from] : kGap) ? 1 : 0;
      }
      CHECK(wrong == 0);
      CHECK(spreads.around(spread, kGap));
      std::fill(packeds.begin(), packeds.end(), kGap);
      vector->in_a_row->gather(spread.data(), skipped, packed);
      CHECK(std::equal(packed.begin(), packed.end(), data.begin() + static_cast<std::ptrdiff_t>(skipped)));
      CHECK(packeds.around(packed, kGap));
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "a vector may have 10^8 blocks, and displacements beyond 2^31 bytes") {
  const TypePtr vector = make_hvector(100'000'000, 1, 16, type(MPI_DOUBLE), {});
  CHECK(vector->size == 800'000'000);
  CHECK(vector->extent() == 1'599'999'992);
  CHECK(vector->layout.node->depth == 2);
  CHECK(vector->basic() == MPI_DOUBLE);
  const TypePtr huge = make_hvector(1000, 1, 1'600'000'000, vector, {});
  CHECK(huge->size == 800'000'000'000);
  auto* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
  const portals::Region region(*huge->in_a_row, base, huge->size);
  const portals::Buffer piece = region.slice(799'999'999'998, 2).single();
  CHECK(piece.base == base + 999 * 1'600'000'000LL + 99'999'999 * 16LL + 6);
  CHECK(elements_in(*huge, 799'999'999'992) == 99'999'999'999);
  CHECK(!elements_in(*huge, 799'999'999'990));
}

TEST_CASE_FIXTURE(Fixture, "sizes that do not fit in 63 bits are rejected") {
  TypePtr big = make_hvector(1, INT32_MAX, 0, type(MPI_DOUBLE), {});
  big = make_hvector(1, INT32_MAX / 8, 0, big, {});
  REQUIRE(big != nullptr);
  CHECK(big->size > std::uint64_t{1} << 60);
  CHECK(make_hvector(1, 4, 0, big, {}) == nullptr);
  CHECK(make_hvector(3, 1, INT64_MAX / 2, type(MPI_INT), {}) == nullptr);
  CHECK(make_resized(type(MPI_INT), INT64_MAX, 1, {}) == nullptr);
  CHECK(make_indexed(std::array{1}, std::array<MPI_Aint, 1>{INT64_MAX}, 1, type(MPI_INT), {}) == nullptr);
  // Overlapping bytes: the bounds fit.
  CHECK(make_hvector(2, 1, 0, big, {}) == nullptr);
  // A long array of which a small part is used.
  constexpr std::array<int, 3> kLarge{INT32_MAX, INT32_MAX, INT32_MAX};
  CHECK(make_subarray(kLarge, std::array{1, 1, 1}, std::array{0, 0, 0}, MPI_ORDER_C, type(MPI_INT), {}) == nullptr);
  CHECK(bytes_of_elements(*type(MPI_SHORT), (std::uint64_t{1} << 62) - 1) == INT64_MAX - 1);
  CHECK(!bytes_of_elements(*type(MPI_SHORT), std::uint64_t{1} << 62));
}

TEST_CASE_FIXTURE(Fixture, "loops that follow each other are one loop at equal distances only") {
  const std::array<MPI_Aint, 2> hole{0, 8};
  const std::array<TypePtr, 2> two{type(MPI_INT), type(MPI_SHORT)};
  const TypePtr part = make_struct(std::array{1, 1}, hole, two, {});
  const TypePtr near = make_hvector(2, 1, 16, part, {});
  const TypePtr far = make_hvector(2, 1, 24, part, {});
  const std::array<MPI_Aint, 2> places{0, 32};
  const auto last_run = [&](const TypePtr& second) {
    const TypePtr both = make_struct(std::array{1, 1}, places, std::array<TypePtr, 2>{near, second}, {});
    return reinterpret_cast<std::uintptr_t>(both->in_a_row->piece(nullptr, both->size - 1).base);
  };
  CHECK(last_run(near) == 48 + 8 + 1);
  CHECK(last_run(far) == 56 + 8 + 1);
}

TEST_CASE_FIXTURE(Fixture, "a walk has room for its position at any depth") {
  // A table needs a level of its own, which a run does not.
  TypePtr deep = make_struct(std::array{1, 1}, std::array<MPI_Aint, 2>{0, 4},
                             std::array<TypePtr, 2>{type(MPI_CHAR), type(MPI_SHORT)}, {});
  std::int64_t stride = 8;
  std::int64_t last = 5;
  for (std::uint32_t depth = 2; depth <= 12; ++depth, stride *= 3) {
    deep = make_hvector(2, 1, stride, deep, {});
    last += stride;
    CAPTURE(depth);
    CHECK(deep->layout.node->depth == depth);
    CHECK(deep->in_a_row->piece(nullptr, deep->size - 1).base == reinterpret_cast<std::byte*>(last));
  }
}

template <typename Value>
struct Padded {
  Value value;
  char mark;
};
template <typename Value>
struct Place {
  Value value;
  int index;
};

TEST_CASE_FIXTURE(Fixture, "structs are padded as in C, for each strictest element") {
  const auto extent = [this](MPI_Datatype handle, std::size_t mark_at) {
    const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(mark_at)};
    return make_struct(std::array{1, 1}, places, std::array<TypePtr, 2>{type(handle), type(MPI_CHAR)}, {})->extent();
  };
#define AS_C(handle, ...) \
  CHECK(extent(handle, offsetof(Padded<__VA_ARGS__>, mark)) == static_cast<std::int64_t>(sizeof(Padded<__VA_ARGS__>)))
  AS_C(MPI_WCHAR, wchar_t);
  AS_C(MPI_SHORT, short);
  AS_C(MPI_UNSIGNED_SHORT, unsigned short);
  AS_C(MPI_INT, int);
  AS_C(MPI_UNSIGNED, unsigned);
  AS_C(MPI_LONG, long);
  AS_C(MPI_UNSIGNED_LONG, unsigned long);
  AS_C(MPI_LONG_LONG, long long);
  AS_C(MPI_UNSIGNED_LONG_LONG, unsigned long long);
  AS_C(MPI_FLOAT, float);
  AS_C(MPI_DOUBLE, double);
  AS_C(MPI_LONG_DOUBLE, long double);
  AS_C(MPI_INT16_T, std::int16_t);
  AS_C(MPI_UINT32_T, std::uint32_t);
  AS_C(MPI_INT64_T, std::int64_t);
  AS_C(MPI_C_BOOL, bool);
  AS_C(MPI_C_COMPLEX, std::complex<float>);
  AS_C(MPI_C_DOUBLE_COMPLEX, std::complex<double>);
  AS_C(MPI_C_LONG_DOUBLE_COMPLEX, std::complex<long double>);
  AS_C(MPI_AINT, MPI_Aint);
  AS_C(MPI_COUNT, MPI_Count);
  AS_C(MPI_OFFSET, MPI_Offset);
  AS_C(MPI_2INT, Place<int>);
  AS_C(MPI_SHORT_INT, Place<short>);
  AS_C(MPI_FLOAT_INT, Place<float>);
  AS_C(MPI_LONG_INT, Place<long>);
  AS_C(MPI_DOUBLE_INT, Place<double>);
  AS_C(MPI_LONG_DOUBLE_INT, Place<long double>);
#undef AS_C
}

TEST_CASE_FIXTURE(Fixture, "a value and its index are two elements") {
  for (const int handle : {MPI_2INT, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_SHORT_INT, MPI_FLOAT_INT,
                           MPI_LONG_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT}) {
    CAPTURE(types.find(handle)->name);
    CHECK(elements_in(*type(handle), 3 * type(handle)->size) == 6);
  }
  CHECK(elements_in(*type(MPI_2INT), 12) == 3);
  CHECK(elements_in(*type(MPI_C_COMPLEX), 16) == 2);
}

TEST_CASE_FIXTURE(Fixture, "a duplicate equals its original, also in types made of it") {
  const std::array<TypePtr, 2> parts{type(MPI_DOUBLE), type(MPI_CHAR)};
  const std::array<MPI_Aint, 2> places{0, 8};
  for (const TypePtr& model : {make_struct(std::array{1, 1}, places, parts, {}),
                               make_resized(type(MPI_DOUBLE), -4, 32, {}), types.find(MPI_SHORT_INT)->definition}) {
    const TypePtr copy = make_dup(model, {});
    const auto in_a_struct = [&](const TypePtr& one) {
      return make_struct(std::array{1, 1}, std::array<MPI_Aint, 2>{-40, 32},
                         std::array<TypePtr, 2>{type(MPI_CHAR), one}, {});
    };
    const TypePtr of_model = in_a_struct(model);
    const TypePtr of_copy = in_a_struct(copy);
    CHECK(of_copy->size == of_model->size);
    CHECK(of_copy->bounds.lower == of_model->bounds.lower);
    CHECK(of_copy->bounds.upper == of_model->bounds.upper);
    CHECK(of_copy->true_bounds.lower == of_model->true_bounds.lower);
    CHECK(of_copy->true_bounds.upper == of_model->true_bounds.upper);
    CHECK(of_copy->alignment == of_model->alignment);
    CHECK(of_copy->elements == of_model->elements);
    CHECK(of_copy->external_size == of_model->external_size);
    CHECK(elements_in(*copy, model->size) == model->elements);
  }
}

TEST_CASE_FIXTURE(Fixture, "deeply nested types are walked and freed without recursion") {
  constexpr int kDepth = 20'000;
  TypePtr deep = type(MPI_INT);
  for (int i = 0; i < kDepth; ++i) {
    const std::array<MPI_Aint, 2> places{0, 1000 + i};
    const std::array<TypePtr, 2> parts{type(MPI_CHAR), deep};
    // Tables in tables: every sixteenth is too long to become part of the next.
    if (i % 4 == 0) {
      deep = make_struct(std::array{1, 1}, places, parts, {MPI_COMBINER_STRUCT, {}, {}, {parts[0], deep}});
    } else {
      deep = make_hvector(1, 1, 0, deep, {MPI_COMBINER_CONTIGUOUS, {}, {}, {deep}});
    }
  }
  CHECK(deep->size == 4 + kDepth / 4);
  const portals::Buffer last = deep->in_a_row->piece(nullptr, deep->size - 1);
  CHECK(last.bytes == 1);
  deep.reset();
}

TEST_CASE_FIXTURE(Fixture, "absolute addresses work from a null base") {
  std::array<double, 3> a{1, 2, 3};
  int b = 9;
  const std::array<MPI_Aint, 2> places{reinterpret_cast<MPI_Aint>(&a), reinterpret_cast<MPI_Aint>(&b)};
  const std::array<TypePtr, 2> parts{type(MPI_DOUBLE), type(MPI_INT)};
  const TypePtr both = make_struct(std::array{3, 1}, places, parts, {});
  std::array<std::byte, 28> packed;
  portals::copy(portals::Region(packed.data(), packed.size()), portals::Region(*both->in_a_row, nullptr, both->size));
  CHECK(std::memcmp(packed.data(), a.data(), 24) == 0);
  CHECK(std::memcmp(&packed[24], &b, 4) == 0);
}

TEST_CASE_FIXTURE(Fixture, "explicit bounds hold in types made of the type, and an upper one disables padding") {
  const TypePtr resized = make_resized(type(MPI_INT), -4, 16, {});
  const std::array<MPI_Aint, 2> places{-100, 8};
  const std::array<TypePtr, 2> parts{type(MPI_INT), resized};
  const TypePtr both = make_struct(std::array{1, 1}, places, parts, {});
  CHECK(both->bounds.lower == 4);
  CHECK(both->bounds.upper == 20);
  CHECK(both->true_bounds.lower == -100);
  const std::array<MPI_Aint, 3> marks{-8, 0, 30};
  const std::array<TypePtr, 3> marked{type(MPI_LB), type(MPI_INT), type(MPI_UB)};
  const TypePtr old = make_struct(std::array{1, 1, 1}, marks, marked, {});
  CHECK(old->bounds.lower == -8);
  CHECK(old->extent() == 38);
  // The lower one alone does not: the extent from it is a multiple of 8.
  const std::array<MPI_Aint, 3> behind{-4, 0, 8};
  const std::array<TypePtr, 3> odd{type(MPI_LB), type(MPI_DOUBLE), type(MPI_CHAR)};
  const TypePtr padded = make_struct(std::array{1, 1, 1}, behind, odd, {});
  CHECK(padded->bounds.lower == -4);
  CHECK(padded->bounds.upper == 12);
  CHECK(old->size == 4);
}

TEST_CASE_FIXTURE(Fixture, "extents differ from MPICH 4.0.2's in some cases") {
  // Markers decide, for any position of the other members (MPI 4.0, 5.1.6 and 5.1.7).
  const TypePtr resized = make_resized(type(MPI_INT), 0, 10, {});
  const TypePtr part = make_subarray(std::array{10}, std::array{2}, std::array{3}, MPI_ORDER_C, type(MPI_INT), {});
  for (const auto& [marked, extent] : std::array{std::pair{resized, 10}, std::pair{part, 40}}) {
    const TypePtr made =
        make_struct(std::array{1, 1}, std::array<MPI_Aint, 2>{0, 100}, std::array{marked, type(MPI_DOUBLE)}, {});
    CHECK(made->bounds.lower == 0);
    CHECK(made->extent() == extent);
    CHECK(made->true_bounds.upper == 108);
  }
  // Padding is for the alignment of the elements, for any number of types of the members.
  const TypePtr odd = make_indexed(std::array{1, 1}, std::array<MPI_Aint, 2>{0, 5}, 1, type(MPI_INT), {});
  CHECK(odd->extent() == 9);
  CHECK(make_struct(std::array{1}, std::array<MPI_Aint, 1>{0}, std::array{odd}, {})->extent() == 12);
  // A block of no elements occupies nothing.
  for (const TypePtr& empty : {make_hvector(3, 0, 20, type(MPI_INT), {}),
                               make_indexed(std::array{0, 0}, std::array<MPI_Aint, 2>{-7, 9}, 4, type(MPI_INT), {})}) {
    CHECK(empty->extent() == 0);
    CHECK(empty->true_bounds.upper == empty->true_bounds.lower);
  }
}

template <typename Number>
std::vector<int> external(const TypeDefinition& type, const Number& number) {
  std::vector<std::byte> out(type.external_size);
  pack_external32(type, &number, 1, out.data());
  Number back{};
  unpack_external32(type, &back, 1, out.data());
  CHECK(std::memcmp(&back, &number, type.size < sizeof number ? type.size : sizeof number) == 0);
  std::vector<int> bytes;
  for (const std::byte byte : out) bytes.push_back(std::to_integer<int>(byte));
  return bytes;
}

TEST_CASE_FIXTURE(Fixture, "external32 is big-endian, with the sizes of the standard's table") {
  using Bytes = std::vector<int>;
  CHECK(external(*type(MPI_INT), 0x01020304) == Bytes{1, 2, 3, 4});
  CHECK(external(*type(MPI_SHORT), short{-2}) == Bytes{0xff, 0xfe});
  CHECK(external(*type(MPI_LONG), -3L) == Bytes{0xff, 0xff, 0xff, 0xfd});
  CHECK(external(*type(MPI_UNSIGNED_LONG), 0x80000001UL) == Bytes{0x80, 0, 0, 1});
  CHECK(external(*type(MPI_LONG_LONG), 1LL) == Bytes{0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(external(*type(MPI_WCHAR), L'A') == Bytes{0, 0x41});
  CHECK(external(*type(MPI_WCHAR), wchar_t{0xfffe}) == Bytes{0xff, 0xfe});
  CHECK(external(*type(MPI_DOUBLE), -2.0) == Bytes{0xc0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(external(*type(MPI_C_COMPLEX), std::array{1.0F, -1.0F}) == Bytes{0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0});
  for (const int handle : {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16}) {
    CHECK(external(*type(handle), std::array{1.0, -2.0}) ==
          Bytes{0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0});
  }
  for (const int handle : {MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8}) {
    CHECK(external(*type(handle), std::array{1.0F, -1.0F}) == Bytes{0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0});
  }
  CHECK(type(MPI_LONG_DOUBLE_INT)->external_size == 20);
  long double quarter = 0;
  std::memset(&quarter, 0, sizeof quarter);
  quarter = -1.5L;
  std::vector<std::byte> out(16);
  pack_external32(*type(MPI_LONG_DOUBLE), &quarter, 1, out.data());
  CHECK(out[0] == std::byte{0xbf});
  CHECK(out[1] == std::byte{0xff});
  CHECK(out[2] == std::byte{0x80});
  long double back = 0;
  unpack_external32(*type(MPI_LONG_DOUBLE), &back, 1, out.data());
  CHECK(back == quarter);
  // The same bytes for any previous contents, here and on the stack.
  for (const int handle : {MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_LONG_DOUBLE_INT}) {
    std::array<std::byte, 32> sent{}, first{}, second{};
    second.fill(std::byte{0x5a});
    std::vector<std::byte> packed(type(handle)->external_size);
    pack_external32(*type(handle), sent.data(), 1, packed.data());
    unpack_external32(*type(handle), first.data(), 1, packed.data());
    unpack_external32(*type(handle), second.data(), 1, packed.data());
    CHECK(first == sent);
    CHECK(std::equal(second.begin(), second.begin() + static_cast<std::ptrdiff_t>(type(handle)->size), sent.begin()));
  }

  // Longer than the conversion's buffer, and in pieces.
  struct Mixed {
    char a;
    double b;
    long c;
  };
  const std::array<MPI_Aint, 3> places{offsetof(Mixed, a), offsetof(Mixed, b), offsetof(Mixed, c)};
  const std::array<TypePtr, 3> parts{type(MPI_CHAR), type(MPI_DOUBLE), type(MPI_LONG)};
  const TypePtr mixed = make_struct(std::array{1, 1, 1}, places, parts, {});
  CHECK(mixed->external_size == 13);
  std::vector<Mixed> many(1000), again(1000);
  for (int i = 0; i < 1000; ++i) many[static_cast<std::size_t>(i)] = {static_cast<char>(i), i / 3.0, -i};
  std::vector<std::byte> bytes(13 * many.size());
  pack_external32(*mixed, many.data(), many.size(), bytes.data());
  CHECK(bytes[13] == std::byte{1});
  unpack_external32(*mixed, again.data(), again.size(), bytes.data());
  for (std::size_t i = 0; i < many.size(); ++i) {
    REQUIRE(again[i].a == many[i].a);
    REQUIRE(again[i].b == many[i].b);
    REQUIRE(again[i].c == many[i].c);
  }
}

TEST_CASE("types are found by size, and by the precision and range of Fortran's requests") {
  CHECK(type_of_size(MPI_TYPECLASS_REAL, 8) == MPI_REAL8);
  CHECK(type_of_size(MPI_TYPECLASS_INTEGER, 1) == MPI_INTEGER1);
  CHECK(type_of_size(MPI_TYPECLASS_COMPLEX, 8) == MPI_COMPLEX8);
  CHECK(type_of_size(MPI_TYPECLASS_INTEGER, 16) == MPI_DATATYPE_NULL);
  CHECK(real_of(6, 37) == MPI_REAL);
  CHECK(real_of(6, 38) == MPI_DOUBLE_PRECISION);
  CHECK(real_of(7, MPI_UNDEFINED) == MPI_DOUBLE_PRECISION);
  CHECK(real_of(33, MPI_UNDEFINED) == MPI_REAL16);
  CHECK(real_of(34, MPI_UNDEFINED) == MPI_DATATYPE_NULL);
  CHECK(complex_of(15, 307) == MPI_DOUBLE_COMPLEX);
  CHECK(integer_of(2) == MPI_INTEGER1);
  CHECK(integer_of(3) == MPI_INTEGER2);
  CHECK(integer_of(5) == MPI_INTEGER4);
  CHECK(integer_of(9) == MPI_INTEGER4);
  CHECK(integer_of(10) == MPI_INTEGER8);
  CHECK(integer_of(18) == MPI_INTEGER8);
  CHECK(integer_of(19) == MPI_DATATYPE_NULL);
}

}  // namespace
}  // namespace margay::mpi_adi
