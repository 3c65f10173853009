// The contract of sim/wire/wire.hpp as tests, for any wire: call run_wire_contract() from a TEST_CASE with a factory of
// connected wires.
#pragma once

#include <algorithm>
#include <random>

#include "tests/sim/wire_harness.hpp"

namespace margay::sim::test {

inline constexpr std::size_t kContractSizes[] = {
    0,    1,    7,    8,    15,   16,    17,    31,    32,    33,    36,     39,     40,     41,     47,     48,
    49,   63,   64,   65,   127,  128,   255,   256,   257,   511,   1023,   1024,   1025,   2047,   2048,   2049,
    4095, 4096, 4097, 8191, 8193, 16384, 16385, 65535, 65536, 65537, 131071, 131072, 131073, 262144, 300001, 1048576};

inline portals::Header numbered(std::uint64_t number) {
  portals::Header header;
  header.portal = static_cast<portals::PortalIndex>(number % portals::kPortalCount);
  header.match_bits = number;
  return header;
}

// The sender and the receiver of a two-sided test: the same rank if the set is a wire to itself.
struct Roles {
  std::uint32_t ranks, from, to;
};
inline Roles roles(bool self) {
  return self ? Roles{1, 0, 0} : Roles{2, 0, 1};
}

// By try_send() and by send(), which wires implement separately: the arrivals are the same.
inline void check_sizes(const WireFactory& factory, bool self, bool pieces) {
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  rig[who.to].landing_piece = pieces ? 5 : 0;
  std::uint64_t number = 0;
  for (const std::size_t bytes : kContractSizes) {
    for (int how = 0; how < 6; ++how) {
      const int user_data = how % 3;
      const bool queued = how >= 3;
      CAPTURE(bytes);
      CAPTURE(queued);
      portals::Header header = numbered(++number);
      if (user_data >= 1) header.user_data[0] = std::byte{7};
      if (user_data == 2) header.user_data[11] = std::byte{9};
      if (queued) {
        rig[who.from].queue(who.to, header, pattern_body(number, bytes), pieces ? 3 : 0);
      } else {
        rig[who.from].send(who.to, header, pattern_body(number, bytes), pieces ? 3 : 0);
      }
      Endpoint& receiver = rig[who.to];
      REQUIRE(rig.until(
          [&] { return receiver.received.size() == 1 && receiver.received[0].state == Received::State::complete; }));
      const Received& got = receiver.received[0];
      CHECK_EQ(got.sequence, number);
      CHECK_EQ(got.peer, who.from);
      CHECK_EQ(got.header.source.rank, who.from);
      CHECK_EQ(got.header.destination.rank, who.to);
      header.length = bytes;
      header.source = got.header.source;
      header.destination = got.header.destination;
      CHECK(got.header == header);
      CHECK_EQ(got.body.size(), bytes);
      CHECK(body_is(got, number, bytes));
      receiver.received.clear();
    }
  }
  REQUIRE(rig.until([&] { return rig.all_idle(); }));
  CHECK_EQ(rig[who.from].transmissions_done, rig[who.from].outgoing.size());
}

inline void check_headers(const WireFactory& factory, bool self) {
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  std::mt19937_64 random(42);
  std::vector<portals::Header> sent;
  for (int i = 0; i < 300; ++i) {
    portals::Header header;
    header.kind = static_cast<portals::Kind>(random() % portals::kKindCount);
    header.portal = static_cast<portals::PortalIndex>(random() % portals::kPortalCount);
    if (header.kind == portals::Kind::get || random() % 2 != 0) {
      header.return_portal = static_cast<portals::PortalIndex>(random() % portals::kPortalCount);
    }
    for (std::byte& byte : header.user_data) byte = static_cast<std::byte>(random() % 3);
    for (std::uint64_t* field : {&header.match_bits, &header.offset, &header.return_match_bits, &header.return_length,
                                 &header.return_offset}) {
      if (random() % 2 != 0) *field = random();
    }
    const bool has_body = header.kind == portals::Kind::put || header.kind == portals::Kind::reply;
    header.length = has_body ? random() % 5000 : 0;
    rig[who.from].send(who.to, header, pattern_body(static_cast<std::uint64_t>(i), header.length));
    sent.push_back(header);
  }
  Endpoint& receiver = rig[who.to];
  REQUIRE(rig.until([&] {
    return receiver.received.size() == sent.size() && receiver.received.back().state == Received::State::complete &&
           rig.all_idle();
  }));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i].source = receiver.received[i].header.source;
    sent[i].destination = receiver.received[i].header.destination;
    CHECK(receiver.received[i].header == sent[i]);
  }
}

inline void check_message_order(const WireFactory& factory, bool self, std::uint64_t seed) {
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  std::mt19937_64 random(seed);
  constexpr std::uint64_t kMessages = 1500;
  std::vector<std::size_t> sizes;
  Endpoint& receiver = rig[who.to];
  std::uint64_t sent = 0;
  const auto send_some = [&] {
    for (std::uint64_t burst = random() % 40; burst != 0 && sent < kMessages; --burst) {
      const std::size_t bytes = random() % 8 == 0 ? random() % 200'000 : random() % (random() % 2 == 0 ? 60 : 6000);
      rig[who.from].send(who.to, numbered(sent + 1), pattern_body(sent + 1, bytes), random() % 3);
      sizes.push_back(bytes);
      ++sent;
    }
  };
  // Holds messages occasionally, so that the test covers the order over a hold.
  receiver.answer = [&](const Arrival&) {
    return random() % 16 == 0 ? Endpoint::Answer::hold : Endpoint::Answer::take;
  };
  REQUIRE(rig.until([&] {
    send_some();
    return receiver.received.size() == kMessages && receiver.received.back().state == Received::State::complete;
  }));
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const Received& got = receiver.received[i];
    REQUIRE_EQ(got.sequence, i + 1);
    REQUIRE_EQ(got.header.match_bits, i + 1);
    REQUIRE_EQ(got.body.size(), sizes[i]);
    CHECK(body_is(got, i + 1, sizes[i]));
  }
  REQUIRE(rig.until([&] { return rig.all_idle(); }));
}

// A receiver that does not poll: the sender is held back, then everything arrives in order.
inline void check_queueing(const WireFactory& factory, bool self, std::size_t bytes) {
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  Endpoint& sender = rig[who.from];
  Endpoint& receiver = rig[who.to];
  constexpr std::uint64_t kMessages = 6000;
  for (std::uint64_t i = 1; i <= kMessages; ++i) sender.send(who.to, numbered(i), pattern_body(i, bytes));
  CHECK_FALSE(sender.outgoing.empty());
  if (!self) {
    rig.drive_without(who.to, 20);
    CHECK_FALSE(sender.wire().idle());
  }
  REQUIRE(rig.until([&] {
    return receiver.received.size() == kMessages && receiver.received.back().state == Received::State::complete &&
           rig.all_idle();
  }));
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    REQUIRE_EQ(receiver.received[i].sequence, i + 1);
    REQUIRE(body_is(receiver.received[i], i + 1, bytes));
  }
  CHECK_EQ(sender.transmissions_done, sender.outgoing.size());
  for (const Outgoing& out : sender.outgoing) CHECK(out.transmission.state == Transmission::State::sent);
}

// Each third message that still waits behind a full wire is withdrawn: the replacement has its number, and its memory
// is not read any more.
inline void check_replacement(const WireFactory& factory, bool self, std::uint64_t messages, std::size_t bytes) {
  constexpr std::uint64_t kInstead = 1'000'000;
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  Endpoint& sender = rig[who.from];
  Endpoint& receiver = rig[who.to];
  std::deque<Outgoing> instead;
  for (std::uint64_t i = 1; i <= messages; ++i) sender.send(who.to, numbered(i), pattern_body(i, bytes));
  if (!self) rig.drive_without(who.to, 20);
  std::vector<bool> taken_back(messages + 1);
  for (Outgoing& out : sender.outgoing) {
    Transmission& transmission = out.transmission;
    if (transmission.sequence % 3 != 0 || transmission.state != Transmission::State::queued) continue;
    Transmission& other = instead.emplace_back().transmission;
    other.header = numbered(transmission.sequence + kInstead);
    other.sequence = transmission.sequence;
    other.state = Transmission::State::queued;
    other.cursor = portals::RegionCursor(other.body);
    if (sender.wire().replace(who.to, transmission, other)) {
      taken_back[transmission.sequence] = true;
      out.body.assign(bytes, std::byte{0});
    } else {
      instead.pop_back();
    }
  }
  CHECK_FALSE(instead.empty());
  REQUIRE(rig.until([&] {
    return receiver.received.size() == messages && receiver.received.back().state == Received::State::complete &&
           rig.all_idle();
  }));
  for (std::uint64_t i = 1; i <= messages; ++i) {
    const Received& got = receiver.received[i - 1];
    REQUIRE_EQ(got.sequence, i);
    REQUIRE_EQ(got.header.match_bits, taken_back[i] ? i + kInstead : i);
    REQUIRE_EQ(got.body.size(), taken_back[i] ? 0 : bytes);
    REQUIRE(body_is(got, i, got.body.size()));
  }
  CHECK_EQ(sender.transmissions_done, sender.outgoing.size());
}

inline void check_hold_order(const WireFactory& factory, bool self, std::size_t bytes) {
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  Endpoint& receiver = rig[who.to];
  int holds = 0;
  receiver.answer = [&](const Arrival& arrival) {
    CHECK_EQ(arrival.sequence, 1);  // no message behind the held one is seen
    ++holds;
    return Endpoint::Answer::hold;
  };
  rig[who.from].send(who.to, numbered(1), pattern_body(1, bytes));
  rig[who.from].send(who.to, numbered(2), pattern_body(2, 4));
  REQUIRE(rig.until([&] { return holds >= 5; }));
  CHECK(receiver.received.empty());
  receiver.answer = [](const Arrival&) { return Endpoint::Answer::take; };
  REQUIRE(rig.until([&] {
    return receiver.received.size() == 2 && receiver.received[0].state == Received::State::complete &&
           receiver.received[1].state == Received::State::complete && rig.all_idle();
  }));
  CHECK(body_is(receiver.received[0], 1, bytes));
  CHECK(body_is(receiver.received[1], 2, 4));
}

inline void check_hold_of_one_sender(const WireFactory& factory) {
  Rig rig(factory, 3);
  rig[2].answer = [](const Arrival& arrival) {
    return arrival.peer == 0 ? Endpoint::Answer::hold : Endpoint::Answer::take;
  };
  rig[0].send(2, numbered(1), pattern_body(1, 9000));
  rig[1].send(2, numbered(2), pattern_body(2, 9000));
  rig[1].send(2, numbered(3), pattern_body(3, 9));
  REQUIRE(rig.until([&] { return rig[2].received.size() == 2; }));
  CHECK_EQ(rig[2].received[0].peer, 1);
  rig[2].answer = [](const Arrival&) { return Endpoint::Answer::take; };
  REQUIRE(rig.until([&] { return rig[2].received.size() == 3 && rig.all_idle(); }));
  CHECK_EQ(rig[2].received[2].peer, 0);
}

// The bytes of a refused body are skipped; the following message is intact.
inline void check_refused_bodies(const WireFactory& factory) {
  Rig rig(factory, 2);
  rig[1].answer = [](const Arrival& arrival) {
    return arrival.kind == Arrival::Kind::started && arrival.sequence % 2 == 1 ? Endpoint::Answer::refuse
                                                                               : Endpoint::Answer::take;
  };
  for (std::uint64_t i = 1; i <= 12; ++i) rig[0].send(1, numbered(i), pattern_body(i, 100'000 + 37 * i));
  REQUIRE(rig.until([&] {
    return rig[1].received.size() == 12 && rig[1].received[11].state == Received::State::complete && rig.all_idle();
  }));
  for (std::uint64_t i = 1; i <= 12; ++i) {
    const Received& got = rig[1].received[i - 1];
    CHECK_EQ(got.sequence, i);
    if (i % 2 == 0) {
      CHECK(body_is(got, i, 100'000 + 37 * i));
    } else {
      CHECK((got.state == Received::State::refused || !got.was_started));
    }
  }
}

// A landing shorter than the body gets its beginning, in one piece or in many; the following message is intact.
inline void check_short_landings(const WireFactory& factory, bool pieces) {
  Rig rig(factory, 2);
  Endpoint& receiver = rig[1];
  receiver.landing_piece = pieces ? 5 : 0;
  std::uint64_t number = 0;
  for (const std::size_t bytes : std::initializer_list<std::size_t>{10'000, 70'000, 300'000, 3'000'000}) {
    for (const std::size_t room : std::initializer_list<std::size_t>{1, 17, 4096, 66'000}) {
      CAPTURE(bytes);
      CAPTURE(room);
      for (int i = 0; i < 2; ++i) {
        ++number;
        rig[0].send(1, numbered(number), pattern_body(number, bytes), pieces ? 3 : 0);
      }
      receiver.answer = [&](const Arrival& arrival) {
        receiver.landing_bytes = arrival.sequence % 2 == 1 ? room : SIZE_MAX;
        return Endpoint::Answer::take;
      };
      REQUIRE(rig.until([&] {
        return receiver.received.size() == 2 && receiver.received[1].state == Received::State::complete &&
               rig.all_idle();
      }));
      const Received& first = receiver.received[0];
      CHECK(first.state == Received::State::complete);
      CHECK_EQ(first.body.size(), first.was_started ? std::min(room, bytes) : bytes);
      CHECK(body_is(first, number - 1, first.body.size()));
      CHECK(body_is(receiver.received[1], number, bytes));
      receiver.received.clear();
    }
  }
}

// Stopped in the middle (the receiver does not poll), at the very beginning (behind another message), or when it is too
// late. `taken`: the receiver has emptied the wire just before, so the next message follows the stopped body directly.
inline void check_stopped_body(const WireFactory& factory, bool refuse, bool taken) {
  Rig rig(factory, 2);
  constexpr std::size_t kBytes = 3 << 20;
  if (refuse) {
    rig[1].answer = [](const Arrival& arrival) {
      return arrival.kind == Arrival::Kind::started && arrival.header.length == kBytes ? Endpoint::Answer::refuse
                                                                                       : Endpoint::Answer::take;
    };
  }
  Outgoing& middle = rig[0].queue(1, numbered(1), pattern_body(1, kBytes));
  Outgoing& behind = rig[0].queue(1, numbered(2), pattern_body(2, kBytes));
  Outgoing& last = rig[0].queue(1, numbered(3), pattern_body(3, 50'000));
  rig.drive_without(1, 20);
  if (taken) rig[1].round();
  rig[0].wire().stop(1, behind.transmission);
  rig[0].wire().stop(1, middle.transmission);
  REQUIRE(rig.until([&] {
    return rig[1].received.size() == 3 && rig[1].received[2].state == Received::State::complete && rig.all_idle() &&
           rig[0].transmissions_done == 3;
  }));
  CHECK(last.transmission.state == Transmission::State::sent);
  rig[0].wire().stop(1, last.transmission);  // too late: no effect
  CHECK(body_is(rig[1].received[2], 3, 50'000));
  const Outgoing* both[] = {&middle, &behind};
  for (std::size_t i = 0; i < 2; ++i) {
    const Received& got = rig[1].received[i];
    const bool stopped = both[i]->transmission.state == Transmission::State::stopped;
    CHECK((stopped || both[i]->transmission.state == Transmission::State::sent));
    if (refuse) continue;
    CHECK(got.state == (stopped ? Received::State::cut : Received::State::complete));
    if (!stopped) CHECK(body_is(got, i + 1, kBytes));
  }
  rig[0].send(1, numbered(4), pattern_body(4, 10));
  REQUIRE(rig.until([&] { return rig[1].received.size() == 4; }));
  CHECK(body_is(rig[1].received[3], 4, 10));
}

// All ranks send to all ranks, long and short messages mixed.
inline void check_many_peers(const WireFactory& factory, std::uint32_t ranks, std::uint64_t each) {
  Rig rig(factory, ranks);
  std::mt19937_64 random(ranks);
  std::vector<std::vector<std::size_t>> sizes(std::size_t{ranks} * ranks);
  for (std::uint64_t i = 1; i <= each; ++i) {
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) {
        if (from == to) continue;
        const std::size_t bytes = random() % 10 == 0 ? random() % 150'000 : random() % 300;
        sizes[from * ranks + to].push_back(bytes);
        rig[from].send(to, numbered(i * 1000 + from), pattern_body(i * 1000 + from, bytes));
      }
    }
  }
  const std::uint64_t expected = each * (ranks - 1);
  REQUIRE(rig.until([&] {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (rig[rank].received.size() != expected) return false;
    }
    return rig.all_idle();
  }));
  REQUIRE(rig.until([&] {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (const Received& got : rig[rank].received) {
        if (got.state != Received::State::complete) return false;
      }
    }
    return true;
  }));
  for (std::uint32_t to = 0; to < ranks; ++to) {
    std::vector<std::uint64_t> next(ranks);
    for (const Received& got : rig[to].received) {
      const std::uint64_t number = ++next[got.peer];
      REQUIRE_EQ(got.sequence, number);
      CHECK(body_is(got, number * 1000 + got.peer, sizes[got.peer * ranks + to][number - 1]));
    }
  }
}

// A kernel answers while it holds an arrival: sends between poll() and consume() are allowed.
inline void check_nested_answers(const WireFactory& factory, bool self) {
  const Roles who = roles(self);
  Rig rig(factory, who.ranks);
  Endpoint& receiver = rig[who.to];
  receiver.answer = [&](const Arrival& arrival) {
    if (arrival.header.kind == portals::Kind::get) {
      portals::Header reply;
      reply.kind = portals::Kind::reply;
      reply.match_bits = arrival.header.match_bits;
      receiver.send(arrival.peer, reply, pattern_body(arrival.header.match_bits, 500));
    }
    return Endpoint::Answer::take;
  };
  for (std::uint64_t i = 1; i <= 200; ++i) {
    portals::Header get = numbered(i);
    get.kind = portals::Kind::get;
    get.return_portal = 2;
    rig[who.from].send(who.to, get, {});
  }
  const auto replies = [&] {
    return std::ranges::count_if(rig[who.from].received,
                                 [](const Received& got) { return got.header.kind == portals::Kind::reply; });
  };
  REQUIRE(rig.until([&] { return replies() == 200 && rig.all_idle(); }));
}

// A long body is taken in many polls, and each poll that took a part of it reports that; only the end is an arrival.
inline void check_part_notices(const WireFactory& factory) {
  Rig rig(factory, 2);
  Endpoint& receiver = rig[1];
  constexpr std::size_t kBytes = 8 << 20;
  rig[0].queue(1, numbered(1), pattern_body(1, kBytes));
  CHECK_FALSE(receiver.wire().take_body_moved());
  int parts = 0;
  REQUIRE(rig.until([&] {
    if (!receiver.received.empty() && receiver.received[0].state == Received::State::coming) {
      parts += receiver.wire().take_body_moved() ? 1 : 0;
    }
    return rig.all_idle() && !receiver.received.empty() && receiver.received[0].state == Received::State::complete;
  }));
  CHECK(body_is(receiver.received[0], 1, kBytes));
  CHECK_GE(parts, 2);
  static_cast<void>(receiver.wire().take_body_moved());
  receiver.round();
  CHECK_FALSE(receiver.wire().take_body_moved());
}

// The whole contract. `self`: the factory makes sets of one rank.
inline void run_wire_contract(const WireFactory& factory, bool self = false) {
  SUBCASE("every size arrives") {
    check_sizes(factory, self, false);
  }
  SUBCASE("every size arrives, in pieces on both sides") {
    check_sizes(factory, self, true);
  }
  SUBCASE("headers survive") {
    check_headers(factory, self);
  }
  SUBCASE("order holds") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) check_message_order(factory, self, seed);
  }
  SUBCASE("a full wire queues: empty bodies") {
    check_queueing(factory, self, 0);
  }
  SUBCASE("a full wire queues: short bodies") {
    check_queueing(factory, self, 1000);
  }
  SUBCASE("a full wire queues: streamed bodies") {
    check_queueing(factory, self, 9000);
  }
  SUBCASE("withdrawn messages are replaced") {
    check_replacement(factory, self, 6000, 1000);
    check_replacement(factory, self, 200, 80'000);
  }
  SUBCASE("hold keeps later ones") {
    for (const std::size_t bytes : {8U, 1500U, 80'000U}) check_hold_order(factory, self, bytes);
  }
  SUBCASE("answers from within") {
    check_nested_answers(factory, self);
  }
  if (self) return;
  SUBCASE("hold does not hold others") {
    check_hold_of_one_sender(factory);
  }
  SUBCASE("parts of a body are reported") {
    check_part_notices(factory);
  }
  SUBCASE("refused bodies are skipped") {
    check_refused_bodies(factory);
  }
  SUBCASE("short landings get the beginning") {
    for (const bool pieces : {false, true}) check_short_landings(factory, pieces);
  }
  SUBCASE("stop ends a body") {
    for (const bool taken : {false, true}) check_stopped_body(factory, false, taken);
  }
  SUBCASE("stop ends a refused body") {
    for (const bool taken : {false, true}) check_stopped_body(factory, true, taken);
  }
  SUBCASE("many peers") {
    check_many_peers(factory, 3, 60);
    check_many_peers(factory, 9, 12);
  }
}

}  // namespace margay::sim::test
