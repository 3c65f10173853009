// Tests of messages with random trees of datatypes between two devices: sent with one type and received with another of
// the same signature, in every protocol, and compared with the bytes of the type maps.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <span>

#include "tests/mpi_adi/datatype_trees.hpp"
#include "tests/mpi_adi/device_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {
namespace {

constexpr int kTag = 5;
constexpr std::size_t kShortBytes = 64;      // longer ones are long messages
constexpr std::size_t kPackedMax = 1 << 14;  // a longer limit would only cost time

// A type with the elements of `items`, in their order, in another tree and at other addresses: blocks of equal
// neighbors, behind one another with gaps or in front of one another, in structs of structs.
class Rearranged {
 public:
  Rearranged(Trees& random, PredefinedTypes& types) : random_(random), types_(types) {}

  Type grow(std::span<const Item> items, int depth) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<TypePtr> parts;
    Map map;
    const bool backwards = random_.below(3) == 0;
    std::int64_t at = 0;
    while (!items.empty()) {
      const auto [part, length, taken] = next(items, depth);
      items = items.subspan(taken);
      // The parts do not overlap: each begins at the end of the last one's data, or ends at its beginning.
      const std::int64_t low = part.made->true_bounds.lower;
      const std::int64_t high = part.made->true_bounds.upper + (length - 1) * part.map.extent();
      const std::int64_t gap = random_.below(2) == 0 ? 0 : random_.below(20);
      const std::int64_t place = backwards ? at - gap - high : at + gap - low;
      at = backwards ? place + low : place + high;
      lengths.push_back(static_cast<int>(length));
      places.push_back(place);
      parts.push_back(part.made);
      for (std::int64_t i = 0; i < length; ++i) map.add(part.map, place + i * part.map.extent());
    }
    if (map.any) map.most += (map.alignment - map.extent() % map.alignment) % map.alignment;
    return {make_struct(lengths, places, parts, {}), std::move(map)};
  }

 private:
  struct Part {
    Type type;
    std::int64_t length;  // the number of elements of the type
    std::size_t taken;    // the number of items
  };

  // Takes the first items as a part: a struct of some of them, or a block of equal ones.
  Part next(std::span<const Item> items, int depth) {
    if (depth > 0 && random_.below(2) == 0) {
      const auto some = static_cast<std::size_t>(random_.between(1, static_cast<std::int64_t>(items.size())));
      return {grow(items.first(some), depth - 1), 1, some};
    }
    const Item first = items.front();
    std::size_t equal = 1;
    while (equal < items.size() && items[equal].handle == first.handle) ++equal;
    const auto length = static_cast<std::size_t>(random_.between(1, static_cast<std::int64_t>(equal)));
    Map map;
    map.items = {{0, first.handle, first.bytes}};
    map.any = true;
    map.most = first.bytes;
    const TypePtr made = types_.find(first.handle)->definition;
    map.alignment = made->alignment;
    return {Type{made, std::move(map)}, static_cast<std::int64_t>(length), length};
  }

  Trees& random_;
  PredefinedTypes& types_;
};

// One message and all objects that it needs.
struct Sending {
  Sending(const Type& out, std::int64_t outgoing, const Type& in, std::int64_t incoming)
      : out_type(out.made),
        in_type(in.made),
        from(out, outgoing),
        to(in, incoming),
        expected(in, incoming),
        out_count(outgoing),
        in_count(incoming) {
    const std::vector<std::byte*> read = places_of(out, out_count, from.base);
    const std::vector<std::byte*> written = places_of(in, in_count, expected.base);
    bytes = read.size();
    REQUIRE(written.size() == bytes);
    for (std::size_t i = 0; i < from.bytes.size(); ++i) from.bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + 1);
    for (std::size_t i = 0; i < bytes; ++i) *written[i] = *read[i];
  }
  Datatype out_type, in_type;
  Memory from, to, expected;
  std::int64_t out_count, in_count;
  std::size_t bytes = 0;
};

bool distinct(std::vector<std::byte*> places) {
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) == places.end();
}

class Messages {
 public:
  explicit Messages(std::uint64_t seed) : random_(seed), world_(options(seed), network()) {}

  void one() {
    const Type out = random_.grow(static_cast<int>(random_.between(1, 3)));
    REQUIRE(out.made != nullptr);
    const std::int64_t count = random_.between(1, 3);
    if (out.made->size * static_cast<std::uint64_t>(count) > (random_.below(32) == 0 ? kPackedMax : 200)) return;
    ++sent_;
    // Into the same type if it contains no byte twice, or into another one of its signature.
    if (random_.below(4) == 0 && distinct(places_of(out, count, Memory(out, count).base))) {
      return pass({out, count, out, count});
    }
    std::vector<Item> items;
    for (std::int64_t i = 0; i < count; ++i) items.insert(items.end(), out.map.items.begin(), out.map.items.end());
    pass({out, count, Rearranged(random_, types_).grow(items, 2), 1});
  }

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] VirtualWorld& world() { return world_; }

 private:
  static WorldOptions options(std::uint64_t seed) {
    WorldOptions options;
    options.seed = seed;
    options.device.short_limit_virtual = kShortBytes;
    options.device.heap_bytes = 64 * 1024;
    if (seed % 4 == 0) options.device.long_protocol = DeviceOptions::LongProtocol::rendezvous;
    return options;
  }
  static sim::VirtualOptions network() {
    sim::VirtualOptions network;
    network.segment_bytes = 96;  // bodies are divided at any byte
    network.window_bytes = 1024;
    return network;
  }

  void pass(Sending sending) {
    const auto from = static_cast<std::uint32_t>(random_.below(2));
    const auto to = random_.below(8) == 0 ? from : 1 - from;
    const bool posted = random_.below(2) == 0;
    static constexpr std::array kModes{SendMode::standard, SendMode::standard, SendMode::synchronous, SendMode::ready};
    const SendMode mode = kModes[static_cast<std::size_t>(random_.below(posted ? 4 : 3))];
    Device& receiver = world_.device(to);
    Request* received = nullptr;
    const auto post = [&] {
      received = receiver.start_receive(
          {sending.to.base, sending.in_count, &sending.in_type, static_cast<int>(from), kTag, &world_.world(to)});
    };
    if (posted) post();
    Request* const sent = world_.device(from).start_send({mode, sending.from.base, sending.out_count, &sending.out_type,
                                                          static_cast<int>(to), kTag, &world_.world(from)});
    if (!posted) {
      // The message may have arrived by then, in part or not at all.
      for (std::int64_t steps = random_.below(8); steps > 0; --steps) (void)world_.step();
      post();
    }
    REQUIRE(world_.until([&] { return sent->complete && received->complete; }));
    REQUIRE(received->error_class == MPI_SUCCESS);
    REQUIRE(received->bytes == sending.bytes);
    REQUIRE(sending.to.bytes == sending.expected.bytes);
    receiver.free(*received);
    world_.device(from).free(*sent);
  }

  Trees random_;
  PredefinedTypes types_;
  VirtualWorld world_;
  std::uint64_t sent_ = 0;
};

TEST_CASE("random trees of datatypes are sent and received with another type of the same signature") {
  constexpr int kTreesOfASeed = 250;
  constexpr std::uint64_t kTreesMin = 10'000;
  std::uint64_t sent = 0;
  std::array<std::uint64_t, 7> by_protocol{};
  for (const std::uint64_t seed : testing::Seeds(testing::of_one_thread(500))) {
    CAPTURE(seed);
    Messages messages(seed);
    for (int tree = 0; tree < kTreesOfASeed; ++tree) {
      CAPTURE(tree);
      messages.one();
    }
    sent += messages.sent();
    messages.world().settle();
    messages.world().check_accounting();
    for (const std::uint32_t rank : {0U, 1U}) {
      CHECK(messages.world().device(rank).quiet());
      const ProtocolCounts& counts = messages.world().device(rank).counts();
      const std::array seen{counts.short_,
                            counts.long_matched,
                            counts.long_pulled,
                            counts.synchronous_short,
                            counts.synchronous_long,
                            counts.synchronous_long_pulled,
                            counts.ready};
      for (std::size_t i = 0; i < seen.size(); ++i) by_protocol[i] += seen[i].messages;
    }
  }
  if (sent < kTreesMin) return;  // a run of one seed
  MESSAGE("sent ", sent);
  for (const std::uint64_t messages : by_protocol) CHECK(messages > 100);
}

}  // namespace
}  // namespace margay::mpi_adi
