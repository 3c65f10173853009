// Tests of ways: two kernels with two networks between them. Each message names its way, and links move between ways
// while messages are under way.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "portals/memory/block.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/wire/self_wire.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::sim::test {
namespace {

constexpr portals::PortalIndex kLogPortal = 2;
constexpr WayCode kSlowWay = way_by(WireId::tcp);
constexpr std::uint32_t kMessages = 120, kLinks = 2;
constexpr std::uint64_t kSeeds = 1000;
constexpr int kIdleRounds = 300;

VirtualOptions options_of(WireId wire, std::uint64_t delay_max_ns) {
  VirtualOptions options;
  options.wire = wire;
  options.delay_max_ns = delay_max_ns;
  options.segment_bytes = 64;
  options.window_bytes = 512;
  options.window_messages = 6;
  return options;
}

// A message's body: its link and its number in the link, as often as its length demands.
struct Entry {
  std::uint32_t link = 0, number = 0, words = 0;
};

// One rank: its kernel over the wires of both networks, and the log of bodies that arrived, in order.
struct Seat {
  Seat(VirtualNetwork& fast, VirtualNetwork& slow, std::uint32_t me)
      : self({0, me}, finished), kernel({0, me}, routes(fast, slow, me), finished, recorder) {
    kernel.target().moves().enable();
    portals::Options options;
    options.save = portals::Save::body;
    options.offset_by = portals::OffsetBy::receiver;
    REQUIRE(kernel.table().attach(kLogPortal, log, options).ok());
  }
  Routes routes(VirtualNetwork& fast, VirtualNetwork& slow, std::uint32_t me) {
    std::vector<Wire*> usual(2, &fast.attach(me, finished));
    usual[me] = &self;
    Routes made(usual);
    std::vector<bool> reached(2, true);
    reached[me] = false;
    made.add_way(slow.attach(me, finished), reached);
    return made;
  }
  void put(const Entry& entry, WayCode way) {
    Outgoing& message = outgoing.emplace_back();
    for (std::uint32_t i = 0; i < entry.words; ++i) {
      message.words.insert(message.words.end(), {entry.link, entry.number, entry.words});
    }
    message.transmission.header.destination = {0, 1 - kernel.me().rank};
    message.transmission.header.portal = kLogPortal;
    message.transmission.header.length = message.words.size() * sizeof(std::uint32_t);
    message.transmission.body =
        portals::Region(reinterpret_cast<std::byte*>(message.words.data()), message.transmission.header.length);
    message.transmission.way = way;
    message.transmission.owner_tag_kind = kOwnerKernel + 1;
    kernel.send(message.transmission);
  }
  bool progress() {
    const bool moved = kernel.progress();
    while (kernel.next_finished() != nullptr) {
    }
    while (kernel.changed().take() != nullptr) {
    }
    return moved;
  }
  // The messages in the log.
  [[nodiscard]] std::vector<Entry> entries() const {
    std::vector<Entry> all;
    for (std::size_t at = 0; at < log.local_offset();) {
      Entry entry;
      std::memcpy(&entry, memory.data() + at, sizeof entry);
      REQUIRE_NE(entry.words, 0);
      all.push_back(entry);
      at += entry.words * sizeof entry;
    }
    return all;
  }

  struct Outgoing {
    std::vector<std::uint32_t> words;
    Transmission transmission;
  };
  VirtualClock clock{1};
  Recorder recorder{clock};
  TransmissionList finished;
  std::deque<Outgoing> outgoing;
  std::vector<std::byte> memory = std::vector<std::byte>(std::size_t{kMessages} * kLinks * 80 * sizeof(Entry));
  portals::SingleBlock log{portals::Buffer{memory.data(), memory.size()}};
  SelfWire self;
  Kernel kernel;
};

// Two ranks with links between them, in both directions.
struct Pair {
  explicit Pair(std::uint64_t seed)
      : random(seed),
        fast(2, seed, options_of(WireId::shm, 2'000)),
        slow(2, seed + 1, options_of(WireId::tcp, 60'000)),
        seats{{Seat(fast, slow, 0), Seat(fast, slow, 1)}} {}
  [[nodiscard]] std::uint32_t draw(std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most)(random);
  }
  // Lets some time pass: a few rounds and arrivals, in random order.
  void run_some() {
    for (std::uint32_t steps = draw(4); steps != 0; --steps) {
      (draw(1) == 0 ? fast : slow).advance();
      static_cast<void>(seats[draw(1)].progress());
    }
  }
  void settle() {
    // The slow wire is polled in some rounds only.
    for (int idle = 0; idle < kIdleRounds; ++idle) {
      const bool moved = seats[0].progress() | seats[1].progress();
      if (moved | fast.advance() | slow.advance()) idle = 0;
    }
  }

  std::mt19937_64 random;
  VirtualNetwork fast, slow;
  std::array<Seat, 2> seats;
};

// The links of one direction, which send by their ways.
struct LinkSender {
  std::array<WayCode, kLinks> way{kUsualWay, kSlowWay};
  std::array<std::uint32_t, kLinks> sent{};
};

void send_and_move(Pair& pair, std::array<LinkSender, 2>& senders) {
  for (std::uint32_t n = 0; n < 2 * kLinks * kMessages; ++n) {
    const std::uint32_t from = n % 2;
    const std::uint32_t link = n / 2 % kLinks;
    Seat& seat = pair.seats[from];
    LinkSender& sender = senders[from];
    if (pair.draw(7) == 0) {
      const WayCode to = sender.way[link] == kUsualWay ? kSlowWay : kUsualWay;
      seat.kernel.move(1 - from, sender.way[link], to);
      sender.way[link] = to;
    }
    seat.put({link, ++sender.sent[link], pair.draw(9) == 0 ? 60 : 1 + pair.draw(4)}, sender.way[link]);
    pair.run_some();
  }
}

void check_law(const Kernel& from, const Kernel& to) {
  for (std::size_t each = 0; each < kWayCodes; ++each) {
    const auto way = static_cast<WayCode>(each);
    const std::uint32_t source = from.me().rank;
    CHECK_EQ(from.registers().sent(to.me().rank, way), to.registers().delivered(source, way));
    CHECK(to.registers().dropped(source, way) == DropCounts{});
  }
}

TEST_CASE("moves: with 1,000 seeds, no message of a link is lost, overtaken or doubled") {
  std::uint64_t by_slow = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Pair pair(seed);
    std::array<LinkSender, 2> senders;
    send_and_move(pair, senders);
    pair.settle();
    for (std::uint32_t to = 0; to < 2; ++to) {
      std::array<std::uint32_t, kLinks> last{};
      for (const Entry& entry : pair.seats[to].entries()) {
        REQUIRE_LT(entry.link, kLinks);
        REQUIRE_EQ(entry.number, ++last[entry.link]);
      }
      for (const std::uint32_t each : last) CHECK_EQ(each, kMessages);
      check_law(pair.seats[1 - to].kernel, pair.seats[to].kernel);
      CHECK(pair.seats[to].kernel.target().held_messages().empty());
      by_slow += pair.seats[to].kernel.registers().sent(1 - to, kSlowWay);
    }
  }
  CHECK_GT(by_slow, kSeeds * kMessages);
}

TEST_CASE("moves: a message names its way, and its number has it") {
  Pair pair(1);
  pair.seats[0].put({0, 1, 1}, kSlowWay);
  pair.seats[0].put({0, 2, 1}, kUsualWay);
  pair.seats[0].put({0, 3, 1}, kSlowWay);
  pair.settle();
  CHECK_EQ(pair.seats[0].outgoing[0].transmission.sequence, message_number(kSlowWay, 1));
  CHECK_EQ(pair.seats[0].outgoing[1].transmission.sequence, 1);
  CHECK_EQ(pair.seats[0].outgoing[2].transmission.sequence, message_number(kSlowWay, 2));
  CHECK_EQ(number_text(message_number(kSlowWay, 2)), "tcp.2");
  CHECK_EQ(pair.seats[0].kernel.initiator().counts(WireId::tcp).messages, 2);
  CHECK_EQ(pair.seats[1].kernel.registers().delivered(0, kSlowWay), 2);
  CHECK_EQ(pair.seats[1].kernel.registers().delivered(0), 1);
}

TEST_CASE("moves: the loss of a further way leaves the usual one") {
  Pair pair(2);
  pair.slow.lose(1);
  pair.settle();
  const Initiator& initiator = pair.seats[0].kernel.initiator();
  CHECK(initiator.is_way_lost(1, kSlowWay));
  CHECK_FALSE(initiator.way_loss(1, kSlowWay).empty());
  CHECK_FALSE(initiator.is_unreachable(1));
  pair.seats[0].put({0, 1, 1}, kSlowWay);
  CHECK(pair.seats[0].outgoing[0].transmission.state == Transmission::State::failed);
  pair.seats[0].put({0, 2, 1}, kUsualWay);
  pair.settle();
  CHECK_EQ(pair.seats[1].entries().size(), 1);
}

TEST_CASE("moves: a marker waits for the old way, and ends its wait when that way is lost") {
  Pair pair(3);
  pair.seats[0].put({0, 1, 1}, kSlowWay);
  pair.seats[0].kernel.move(1, kSlowWay, kUsualWay);
  pair.seats[0].put({0, 2, 1}, kUsualWay);
  // The fast network only: the begin marker arrives first, and holds what follows it.
  for (int rounds = 0; rounds < 20; ++rounds) {
    pair.fast.advance();
    static_cast<void>(pair.seats[1].progress());
  }
  CHECK(pair.seats[1].entries().empty());
  REQUIRE_EQ(pair.seats[1].kernel.target().held_messages().size(), 1);
  pair.slow.lose(0);
  pair.settle();
  REQUIRE_EQ(pair.seats[1].entries().size(), 1);
  CHECK_EQ(pair.seats[1].entries()[0].number, 2);
  CHECK(pair.seats[1].kernel.target().held_messages().empty());
}

}  // namespace
}  // namespace margay::sim::test
