// Tests of packing: each type arrives as it was sent, with the expected size and description; objects that cannot be
// packed, and bytes that were not packed from the type, are refused.
#include "margay/rmi/type.hpp"

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "tests/libraries/rmi/packed.hpp"

namespace margay::rmi::test {
namespace {

enum class Colour : std::uint8_t { red, green };

struct Point {
  int x;
  double y;
  bool operator==(const Point&) const = default;
};

// Trivially copyable, without a default constructor.
struct Length {
  explicit Length(int value) : metres(value) {}
  int metres;
  bool operator==(const Length&) const = default;
};

template <class T>
void check_round_trip(const T& value, std::size_t bytes, const char* description) {
  CHECK(packed_size(value) == bytes);
  CHECK(describe<T>() == description);
  CHECK(round_trip(value) == value);
}

TEST_CASE("rmi type: numbers, enums and trivially copyable classes travel as their bytes") {
  check_round_trip(-5, 4, "i4");
  check_round_trip(std::uint64_t{1} << 63, 8, "u8");
  check_round_trip('x', 1, "i1");
  check_round_trip(true, 1, "b1");
  check_round_trip(2.5F, 4, "f4");
  check_round_trip(2.5L, sizeof(long double), "f16");
  check_round_trip(Colour::green, 1, "e1");
  check_round_trip(Point{3, 0.5}, sizeof(Point), "r16");
  check_round_trip(Length(7), sizeof(Length), "r4");
  check_round_trip(std::complex<double>(1, 2), 16, "r16");
}

TEST_CASE("rmi type: pairs, tuples, arrays, optionals and variants travel") {
  check_round_trip(std::pair(1, 2.0), 12, "(i4,f8)");
  check_round_trip(std::tuple(std::int8_t{1}, 2, Point{3, 4}), 21, "(i1,i4,r16)");
  check_round_trip(std::tuple(1, std::string("ab")), 4 + 4 + 2, "(i4,s)");
  check_round_trip(std::tuple<>(), 0, "()");
  check_round_trip(std::array<int, 3>{1, 2, 3}, 12, "i4*3");
  check_round_trip(std::array<Length, 2>{Length(1), Length(2)}, 8, "r4*2");
  check_round_trip(std::array<std::string, 2>{"a", ""}, 9, "s*2");
  check_round_trip(std::optional<int>(), 1, "?i4");
  check_round_trip(std::optional<Length>(Length(5)), 5, "?r4");
  check_round_trip(std::optional(std::vector<int>{1}), 12, "?[i4]");
  using Choice = std::variant<std::monostate, int, std::string>;
  check_round_trip(Choice(), 1, "<()|i4|s>");
  check_round_trip(Choice(5), 5, "<()|i4|s>");
  check_round_trip(Choice("five"), 9, "<()|i4|s>");
}

TEST_CASE("rmi type: strings and sequences travel") {
  check_round_trip(std::string(), 4, "s");
  check_round_trip(std::string("a\0b", 3), 7, "s");
  check_round_trip(std::u16string(u"ab"), 8, "s");
  check_round_trip(std::vector<int>{1, 2, 3}, 16, "[i4]");
  check_round_trip(std::vector<double>{1, 2}, 4 + 4 + 16, "[f8]");
  check_round_trip(std::vector<double>(), 4, "[f8]");
  check_round_trip(std::vector<Length>{Length(1)}, 8, "[r4]");
  check_round_trip(std::vector<bool>{true, false, true}, 7, "[b1]");
  check_round_trip(std::vector<std::string>{"a", "bc"}, 4 + 5 + 6, "[s]");
  check_round_trip(std::vector<std::vector<double>>{{1}, {}, {2, 3}}, 40, "[[f8]]");
  check_round_trip(std::vector<long double>{1, 2}, 8 + 32, "[f16]");
  check_round_trip(std::deque<Point>{{1, 2}}, 20, "[r16]");
  check_round_trip(std::list<std::pair<int, std::string>>{{1, "b"}}, 13, "[(i4,s)]");
}

TEST_CASE("rmi type: sets, maps and unique pointers travel") {
  check_round_trip(std::set<int>{3, 1, 2}, 16, "{i4}");
  check_round_trip(std::multiset<int>{1, 1}, 12, "{i4}");
  check_round_trip(std::unordered_set<std::string>{"a", "b"}, 14, "{s}");
  check_round_trip(std::map<std::string, std::vector<int>>{{"a", {1}}, {"b", {}}}, 29, "{s:[i4]}");
  check_round_trip(std::multimap<int, int>{{1, 2}, {1, 3}}, 20, "{i4:i4}");
  check_round_trip(std::unordered_map<int, bool>{{1, true}, {2, false}}, 14, "{i4:b1}");

  CHECK(round_trip(std::unique_ptr<int>()) == nullptr);
  CHECK(*round_trip(std::make_unique<std::string>("deep")) == "deep");
  CHECK(describe<std::unique_ptr<const int>>() == "?i4");
}

TEST_CASE("rmi type: define_type packs local and dynamic members") {
  Track track("ridge", {1.5, 2.5, 3.5});
  track.mark_corner(9);
  CHECK(describe<Track>() == "class(s,i4,i4,i4,f8*)");
  CHECK(packed_size(track) == 1 + (4 + 5) + 4 + 8 + 4 + 6 + 24);  // the six align the doubles
  const Track arrived = round_trip(track);
  CHECK(arrived.name() == "ridge");
  CHECK(arrived.heights() == std::vector{1.5, 2.5, 3.5});
  CHECK(arrived.corner() == 9);

  CHECK(round_trip(Track()).heights().empty());
  CHECK(round_trip(std::vector<Track>(3, track))[2].heights() == track.heights());

  Tracks tracks(2);
  tracks.all()[1] = track;
  CHECK(describe<Tracks>() == "class(u8,class(s,i4,i4,i4,f8*)*)");
  CHECK(round_trip(tracks).all()[1].heights() == track.heights());
}

// Trivially copyable, but with a pointer: define_type() has precedence.
struct Slice {
  int* values = nullptr;
  int count = 0;
  void define_type(typer& type) {
    type.local(count);
    type.dynamic(values, count);
  }
};

TEST_CASE("rmi type: define_type has precedence over the bytes of a class") {
  std::array<int, 2> values = {4, 5};
  const Slice arrived = round_trip(Slice{values.data(), 2});
  REQUIRE(arrived.values != values.data());
  CHECK(arrived.values[1] == 5);
  delete[] arrived.values;
}

// A list whose length the bytes decide.
struct Link {
  std::unique_ptr<Link> next;
  void define_type(typer& type) { type.local(next); }
};

Link chain(int links) {
  Link first;
  for (int i = 1; i < links; ++i) {
    auto next = std::make_unique<Link>(std::move(first));
    first.next = std::move(next);
  }
  return first;
}

TEST_CASE("rmi type: a recursive class travels up to a depth, and deeper bytes are refused") {
  CHECK(packed_size(round_trip(chain(kNestingMax))) == 2 * kNestingMax);
  CHECK_THROWS_AS(static_cast<void>(packed_size(chain(kNestingMax + 1))), error);
  CHECK(describe<Link>().find("class(?class(?") == 0);
  CHECK(describe<Link>().size() < 1000);

  AlignedBytes bytes = packed(chain(2));
  const std::byte mark = bytes[0];
  AlignedBytes deep(100000);
  for (std::size_t i = 0; i < deep.all().size(); ++i) deep[i] = i % 2 == 0 ? mark : std::byte{1};
  CHECK_THROWS_WITH_AS(static_cast<void>(unpacked<Link>(deep.all())),
                       "margay::rmi: damaged request: objects contain each other more than 1000 deep", error);
}

TEST_CASE("rmi type: const members of tuples and const elements of arrays travel") {
  check_round_trip(std::tuple<const int, std::string>(1, "b"), 9, "(i4,s)");
  check_round_trip(std::array<const int, 2>{1, 2}, 8, "i4*2");
  check_round_trip(std::optional<const int>(3), 5, "?i4");
}

TEST_CASE("rmi type: objects that cannot be packed are refused at the caller") {
  Track track("ridge", {});
  track.set_points(-1);
  CHECK_THROWS_WITH_AS(static_cast<void>(packed_size(track)),
                       "margay::rmi: define_type: a dynamic member has a negative count", error);
  Slice slice;
  slice.count = 3;
  CHECK_THROWS_WITH_AS(static_cast<void>(packed_size(slice)),
                       "margay::rmi: define_type: a dynamic member is null, but its count is not 0", error);
}

TEST_CASE("rmi type: a pack into too little room writes nothing beyond it, and returns the needed size") {
  const std::vector<std::string> value = {"one", "two"};
  const std::size_t needed = packed_size(value);
  for (std::size_t room = 0; room < needed; ++room) {
    AlignedBytes bytes(needed);
    for (std::byte& one : bytes.all()) one = std::byte{0xEE};
    Packer packer(bytes.all().first(room));
    pack(packer, value);
    CHECK_FALSE(packer.fits());
    CHECK(packer.size() == needed);
    for (const std::byte one : bytes.all().subspan(room)) CHECK(one == std::byte{0xEE});
  }
}

template <class T>
void check_refused(std::span<const std::byte> bytes, const char* sentence) {
  CHECK_THROWS_WITH_AS(static_cast<void>(unpacked<T>(bytes)), sentence, error);
}

TEST_CASE("rmi type: bytes that were not packed from the type are refused") {
  const char* early = "margay::rmi: damaged request: the packed arguments end early";
  const char* count = "margay::rmi: damaged request: a count exceeds the packed arguments";
  AlignedBytes text = packed(std::string("four"));
  check_refused<std::string>(text.all().first(3), early);
  check_refused<std::string>(text.all().first(7), count);
  check_refused<int>(text.all().first(0), early);
  check_refused<int>(text.all(), "margay::rmi: damaged request: bytes are left behind the packed arguments");

  AlignedBytes flag(1);
  flag[0] = std::byte{2};
  check_refused<bool>(flag.all(), "margay::rmi: damaged request: a bool is neither 0 nor 1");
  check_refused<std::optional<int>>(flag.all(), "margay::rmi: damaged request: a bool is neither 0 nor 1");
  check_refused<std::variant<char, int>>(
      flag.all(), "margay::rmi: damaged request: a variant has no alternative of the packed index");
  check_refused<Track>(flag.all(), "margay::rmi: damaged request: bytes of another class than the argument's");

  AlignedBytes aligned = packed(std::vector<double>{1});
  aligned[5] = std::byte{1};
  check_refused<std::vector<double>>(aligned.all(),
                                     "margay::rmi: damaged request: bytes between packed arguments are not zero");
}

TEST_CASE("rmi type: a count beyond the bytes allocates nothing") {
  AlignedBytes bytes(16);
  const std::uint32_t huge = std::numeric_limits<std::uint32_t>::max();
  std::memcpy(bytes.all().data(), &huge, sizeof huge);
  const char* count = "margay::rmi: damaged request: a count exceeds the packed arguments";
  check_refused<std::vector<char>>(bytes.all(), count);
  check_refused<std::vector<std::string>>(bytes.all(), count);
  check_refused<std::vector<Track>>(bytes.all(), count);
  check_refused<std::map<int, int>>(bytes.all(), count);
  check_refused<std::unordered_set<int>>(bytes.all(), count);
}

TEST_CASE("rmi type: a dynamic member's count must be its object's") {
  AlignedBytes bytes = packed(Track("a", {1, 2}));
  const std::size_t points = 1 + 5;
  REQUIRE(bytes[points] == std::byte{2});
  bytes[points] = std::byte{1};
  check_refused<Track>(bytes.all(), "margay::rmi: damaged request: a dynamic member has another count than its object");
}

}  // namespace
}  // namespace margay::rmi::test
