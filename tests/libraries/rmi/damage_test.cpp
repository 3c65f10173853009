// Tests of damaged bytes: for any damage to packed arguments and requests, unpacking and execution read only inside the
// buffer, leak nothing, allocate in proportion to the bytes, and throw only `error`. The address sanitizer detects most
// violations.
#include <doctest/doctest.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"
#include "tests/libraries/rmi/packed.hpp"
#include "tests/support/seeds.hpp"

namespace margay::rmi::test {
namespace {

using margay::testing::of_one_thread;
using margay::testing::Seeds;

// Flips one to eight bits, or cuts the end off, or overwrites a word with a large or small number.
std::span<std::byte> damage(std::span<std::byte> bytes, std::mt19937_64& random) {
  if (bytes.empty()) return bytes;
  switch (random() % 4) {
    case 0:
      return bytes.first(random() % bytes.size());
    case 1:
      for (std::size_t i = 0; i < 4 && i < bytes.size(); ++i)
        bytes[bytes.size() - 1 - i] = std::byte{static_cast<unsigned char>(random())};
      return bytes;
    case 2: {
      const std::uint32_t word = random() % 2 == 0 ? ~std::uint32_t{0} >> random() % 32 : random() % 16;
      if (bytes.size() >= sizeof word) std::memcpy(&bytes[random() % (bytes.size() - 3)], &word, sizeof word);
      return bytes;
    }
    default:
      for (std::uint64_t flips = 1 + random() % 8; flips != 0; --flips)
        bytes[random() % bytes.size()] ^= std::byte{1} << static_cast<int>(random() % 8);
      return bytes;
  }
}

// A copy in a block of exactly its size, so that the sanitizer sees each byte past its end.
struct Exact {
  explicit Exact(std::span<const std::byte> bytes)
      : block(new std::uint64_t[(bytes.size() + 7) / 8]), all(reinterpret_cast<std::byte*>(block.get()), bytes.size()) {
    if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  }
  std::unique_ptr<std::uint64_t[]> block;
  std::span<std::byte> all;
};

template <class T>
void damage_packed(const T& value, std::mt19937_64& random) {
  AlignedBytes bytes = packed(value);
  const Exact damaged(damage(bytes.all(), random));
  try {
    static_cast<void>(unpacked<T>(damaged.all));
  } catch (const error&) {
  }
}

TEST_CASE("rmi damage: damaged packed values of all kinds are unpacked or rejected with an error") {
  const Track track("ridge", {1, 2, 3});
  for (const std::uint64_t seed : Seeds(of_one_thread(5000))) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    damage_packed(std::string("some text"), random);
    damage_packed(std::vector<double>{1, 2, 3}, random);
    damage_packed(std::vector<bool>{true, false}, random);
    damage_packed(std::vector<std::string>{"a", "bcd", ""}, random);
    damage_packed(std::map<std::string, std::vector<int>>{{"a", {1, 2}}, {"b", {}}}, random);
    damage_packed(std::unordered_map<int, std::optional<std::string>>{{1, "x"}, {2, {}}}, random);
    damage_packed(std::tuple(std::list<int>{1, 2}, std::variant<int, std::string>("v"), track), random);
    damage_packed(std::vector<Track>(3, track), random);
    damage_packed(std::vector<std::unique_ptr<std::string>>(2), random);
    Tracks tracks(3);
    for (Track& one : tracks.all()) one = track;
    damage_packed(tracks, random);
  }
}

// The object of the damaged requests. Each method may run with any arguments.
struct Target {
  long calls = 0;
  virtual ~Target() = default;
  void add(int x, double y) { calls += y > x ? 2 : 1; }
  virtual void polymorphic(const std::string& text) { calls += static_cast<long>(text.size()); }
  std::vector<int> values(std::span<const int> of, std::string_view text) {
    calls += static_cast<long>(text.size());
    return {of.begin(), of.end()};
  }
  void tracks(const std::vector<Track>& tracks) { calls += static_cast<long>(tracks.size()); }
};

class CountingSink final : public ReplySink {
 public:
  std::span<std::byte> reserve(std::size_t least) override {
    room_ = AlignedBytes(least);
    return room_.all();
  }
  void commit(std::size_t used) override { used_ = used; }
  [[nodiscard]] std::span<std::byte> reply() { return room_.all().first(used_); }

 private:
  AlignedBytes room_{0};
  std::size_t used_ = 0;
};

TEST_CASE("rmi damage: damaged requests and replies are executed or rejected with an error") {
  AlignedBytes room(512);
  const Envelope to{.object = 7, .atomic = true, .call = 99};
  for (const std::uint64_t seed : Seeds(of_one_thread(20000))) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Target target;
    Written written;
    switch (seed % 5) {
      case 0:
        written = write_request<Target>(room.all(), to, &Target::add, 1, 2.0);
        break;
      case 1:
        written = write_call<Target>(room.all(), to, &Target::polymorphic, "text");
        break;
      case 2:
        written = write_call<Target>(room.all(), to, &Target::values, std::vector<int>{1, 2, 3}, "text");
        break;
      case 3:
        written =
            write_request<Target>(room.all(), to, method<&Target::tracks>, std::vector<Track>(2, Track("t", {1})));
        break;
      default:
        written = write_call<Target>(
            room.all(), to, [seed](Target& of, std::uint64_t x) { return of.calls + static_cast<long>(seed + x); }, 3U);
    }
    REQUIRE(written.fits);
    const Exact damaged(damage(room.all().first(written.bytes), random));
    CountingSink sink;
    Failure failure;
    try {
      const RequestView request = RequestView::parse(damaged.all);
      const auto find = [&](std::uint32_t id) {
        return id == 7 ? core::ObjectEntry{&target, &typeid(Target)} : core::ObjectEntry{};
      };
      static_cast<void>(execute(request, find, &sink, failure));
    } catch (const error&) {
    }
    const Exact reply(damage(sink.reply(), random));
    try {
      static_cast<void>(read_reply<std::vector<int>>(reply.all, 1));
    } catch (const error&) {
    }
  }
}

}  // namespace
}  // namespace margay::rmi::test
