// Tests of long bodies that the receiver reads from the sender's memory: the wire contract, and reads that are
// impossible, become impossible, or are offered wrongly.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "sim/wire/shm/own_process.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "tests/sim/shm_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

constexpr std::size_t kLongBytes = 3 << 20;  // several visits

std::unique_ptr<WireSet> cma_set(std::uint32_t ranks) {
  return std::make_unique<ShmSet>(ranks, LongMethod::cma);
}
std::unique_ptr<WireSet> automatic_set(std::uint32_t ranks) {
  return std::make_unique<ShmSet>(ranks, LongMethod::automatic);
}
ShmSet& shm_set(Rig& rig) {
  return static_cast<ShmSet&>(rig.set());
}
RankArea& area_of(Rig& rig, std::uint32_t rank) {
  ShmLayout layout;
  REQUIRE(ShmLayout::attach(shm_set(rig).segment(), shm_set(rig).ranks(), layout).ok());
  return layout.area(rank);
}
const LongChoice& choice(Rig& rig) {
  return shm_set(rig).shm(0).long_choice(1);
}
// The bytes that passed through the channel's byte ring, all of which are consumed.
std::uint64_t ring_bytes(Rig& rig) {
  rig[1].round();  // a round that finds nothing returns the credit that was held back
  ShmLayout layout;
  REQUIRE(ShmLayout::attach(shm_set(rig).segment(), shm_set(rig).ranks(), layout).ok());
  return layout.channel(0, 1).consumer.bytes_consumed;
}
// The offer in the first cell of rank 0's channel to rank 1.
ReadOffer read_offer(const ShmLayout& layout, std::byte*& at) {
  portals::Header header;
  DecodedHead head;
  auto& cell = layout.channel(0, 1).cells[0];
  REQUIRE(decode_head(std::as_bytes(std::span(cell.words)), header, head, true).verdict == Decode::ok);
  REQUIRE(head.read_body);
  at = reinterpret_cast<std::byte*>(cell.words.data()) + head.bytes;
  ReadOffer offer;
  std::memcpy(&offer, at, sizeof offer);
  return offer;
}
// The bytes of the body in whole pages that have arrived.
std::uint64_t pages_there(const std::vector<std::byte>& landing, std::uint64_t number) {
  constexpr std::ptrdiff_t kPage = 4096;
  const std::vector<std::byte> body = pattern_body(number, landing.size());
  std::uint64_t bytes = 0;
  for (std::ptrdiff_t at = 0; at + kPage <= std::ssize(body); at += kPage) {
    const bool is_there = std::equal(body.begin() + at, body.begin() + at + kPage, landing.begin() + at);
    bytes += is_there ? kPage : 0;
  }
  return bytes;
}
bool complete(Rig& rig, std::size_t messages) {
  return rig[1].received.size() == messages && rig[1].received.back().state == Received::State::complete;
}
bool arrived(Rig& rig, std::uint64_t number, std::size_t bytes) {
  Outgoing& out = rig[0].queue(1, numbered(number), pattern_body(number, bytes));
  const std::size_t before = rig[1].received.size();
  const bool done = rig.until([&] {
    return rig[1].received.size() == before + 1 && rig[1].received.back().state == Received::State::complete &&
           out.transmission.state == Transmission::State::sent && rig.all_idle();
  });
  return done && body_is(rig[1].received.back(), number, bytes);
}

TEST_CASE("wire contract: shm, with long bodies by process_vm_readv") {
  run_wire_contract(cma_set);
}

TEST_CASE("cma: a long body does not touch the ring, a short one does") {
  Rig rig(cma_set, 2);
  REQUIRE(arrived(rig, 1, kLongBytes));
  CHECK(choice(rig).reads);
  CHECK(choice(rig).reason == "--method long=cma");
  CHECK_EQ(ring_bytes(rig), 0);
  REQUIRE(arrived(rig, 2, kReadBodyMinBytes));
  CHECK_EQ(ring_bytes(rig), 0);
  for (const std::size_t at : {0U, 1U}) {
    CHECK(rig[1].received[at].reported.method == TraceBody::read);
    CHECK(rig[0].outgoing[at].transmission.method == TraceBody::read);
    CHECK_EQ(rig[0].outgoing[at].transmission.copied_bytes, 0);
  }
  REQUIRE(arrived(rig, 3, kReadBodyMinBytes - 1));
  CHECK_EQ(ring_bytes(rig), kReadBodyMinBytes - 1);
  CHECK(rig[1].received[2].reported.method == TraceBody::ring);
  CHECK_EQ(rig[0].outgoing[2].transmission.copied_bytes, kReadBodyMinBytes - 1);
  REQUIRE(arrived(rig, 4, 20));
  CHECK_EQ(ring_bytes(rig), kReadBodyMinBytes - 1);
  CHECK(rig[1].received[3].reported.method == TraceBody::cell);
}

TEST_CASE("cma: a refused body is not transferred, and its sender continues at once") {
  Rig rig(cma_set, 2);
  rig[1].answer = [](const Arrival&) { return Endpoint::Answer::refuse; };
  Outgoing& out = rig[0].queue(1, numbered(1), pattern_body(1, kLongBytes));
  CHECK(out.transmission.state == Transmission::State::queued);
  rig[1].round();
  rig[0].round();
  CHECK(out.transmission.state == Transmission::State::sent);
  CHECK_EQ(ring_bytes(rig), 0);
  CHECK_EQ(out.transmission.copied_bytes, 0);
}

TEST_CASE("cma: the sender may reuse the body's memory only after it was read") {
  Rig rig(cma_set, 2);
  rig[1].answer = [](const Arrival&) { return Endpoint::Answer::hold; };
  Outgoing& out = rig[0].queue(1, numbered(1), pattern_body(1, kLongBytes));
  rig.drive_without(2, 30);
  CHECK(out.transmission.state == Transmission::State::queued);
  CHECK_FALSE(rig[0].wire().idle());
  rig[1].answer = [](const Arrival&) { return Endpoint::Answer::take; };
  REQUIRE(rig.until([&] { return out.transmission.state == Transmission::State::sent; }));
  // The sender is notified by the round that read the last byte, not before, so it may overwrite the body now.
  std::ranges::fill(out.body, std::byte{0});
  REQUIRE(rig.until([&] { return rig[1].received[0].state == Received::State::complete; }));
  CHECK(body_is(rig[1].received[0], 1, kLongBytes));
}

TEST_CASE("cma: bodies of many pieces on both sides are read, and one of too many goes through the ring") {
  Rig rig(cma_set, 2);
  rig[1].landing_piece = 11;
  std::size_t messages = 0;
  for (const std::size_t first : {1U, 3U, 4000U}) {
    auto body = pattern_body(first, kLongBytes / 2);
    auto pieces = std::make_unique<Pieces>(body, first);
    rig[0].queue(1, numbered(first), std::move(body), std::move(pieces));
    ++messages;
    REQUIRE(rig.until([&] { return rig.all_idle() && complete(rig, messages); }));
    CHECK(body_is(rig[1].received.back(), first, kLongBytes / 2));
  }
  CHECK_EQ(ring_bytes(rig), 0);
  std::vector<std::byte> body = pattern_body(9, kOfferPiecesMax * 8);
  std::vector<portals::Buffer> table;
  for (std::size_t at = 0; at < body.size(); at += 4) table.push_back({body.data() + at, 4});
  Transmission many;
  many.header = numbered(9);
  many.header.length = body.size();
  many.body = portals::Region(std::span<const portals::Buffer>(table));
  rig[0].wire().send(1, many);
  REQUIRE(rig.until([&] { return rig.all_idle() && complete(rig, 4); }));
  CHECK(body_is(rig[1].received.back(), 9, body.size()));
  CHECK_EQ(ring_bytes(rig), body.size());
  CHECK(choice(rig).reads);
}

TEST_CASE("cma: for a peer that cannot be read the sender uses the ring, with a reason") {
  Rig rig(cma_set, 2);
  TraceBody first = TraceBody::ring_in_parts;
  SUBCASE("the sender's test: another process has this number") {
    area_of(rig, 1).test_word ^= 1;
  }
  SUBCASE("the sender's test: no process has this number") {
    area_of(rig, 1).pid = 0x3fff'ffff;
  }
  SUBCASE("the receiver's test: it cannot read the sender") {
    area_of(rig, 0).test_word ^= 1;
    first = TraceBody::ring_instead;
  }
  SUBCASE("the receiver's test: an invalid address") {
    area_of(rig, 0).test_address = 8;
    first = TraceBody::ring_instead;
  }
  for (std::uint64_t number = 1; number <= 3; ++number) REQUIRE(arrived(rig, number, kLongBytes));
  CHECK_FALSE(choice(rig).reads);
  CHECK_FALSE(choice(rig).reason.empty());
  CHECK_EQ(ring_bytes(rig), 3 * kLongBytes);
  CHECK(rig[1].received[0].reported.method == first);
  CHECK(rig[0].outgoing[0].transmission.method == first);
  CHECK(rig[1].received[1].reported.method == TraceBody::ring_in_parts);
  for (const Outgoing& out : rig[0].outgoing) CHECK_EQ(out.transmission.copied_bytes, kLongBytes);
  INFO(choice(rig).reason);
}

TEST_CASE("cma: a peer that has not attached yet gets bodies through the ring, and reads later ones") {
  Rig rig(cma_set, 2);
  const std::uint32_t pid = area_of(rig, 1).pid;
  area_of(rig, 1).pid = 0;
  REQUIRE(arrived(rig, 1, kLongBytes));
  CHECK_EQ(ring_bytes(rig), kLongBytes);
  area_of(rig, 1).pid = pid;
  REQUIRE(arrived(rig, 2, kLongBytes));
  CHECK_EQ(ring_bytes(rig), kLongBytes);
}

TEST_CASE("cma: memory that cannot be read goes through the ring from its beginning; the next body is read again") {
  Rig rig(cma_set, 2);
  REQUIRE(arrived(rig, 1, kLongBytes));
  // The second half of the body in the table is an invalid address, as a device's mapping would be; it is repaired
  // before it is sent.
  std::vector<std::byte> body = pattern_body(2, kLongBytes);
  std::vector<portals::Buffer> table{{body.data(), kLongBytes / 2}, {reinterpret_cast<std::byte*>(16), kLongBytes / 2}};
  Transmission out;
  out.header = numbered(2);
  out.header.length = kLongBytes;
  out.body = portals::Region(std::span<const portals::Buffer>(table));
  rig[0].wire().send(1, out);
  REQUIRE(rig.until([&] {
    // Only the receiver acts until it has given up reading, because the sender would read the bad piece itself.
    while (rig[1].round()) {
    }
    table[1].base = body.data() + kLongBytes / 2;
    return out.state == Transmission::State::sent && rig[1].received.back().state == Received::State::complete;
  }));
  CHECK(body_is(rig[1].received.back(), 2, kLongBytes));
  CHECK_EQ(ring_bytes(rig), kLongBytes);
  CHECK(choice(rig).reads);
  CHECK(rig[1].received.back().reported.method == TraceBody::ring_instead);
  CHECK_EQ(out.copied_bytes, kLongBytes);
  REQUIRE(arrived(rig, 3, kLongBytes));
  CHECK_EQ(ring_bytes(rig), kLongBytes);
  CHECK(rig[1].received.back().reported.method == TraceBody::read);
}

TEST_CASE("cma: an offer that contradicts its header loses the peer, and writes nothing beyond the landing") {
  Rig rig(cma_set, 2);
  ShmLayout layout;
  REQUIRE(ShmLayout::attach(shm_set(rig).segment(), 2, layout).ok());
  std::vector<std::byte> body = pattern_body(1, kLongBytes);
  std::array table{portals::Buffer{body.data(), 100'000}, portals::Buffer{body.data() + 100'000, kLongBytes - 100'000}};
  Transmission out;
  out.header = numbered(1);
  out.header.length = kLongBytes;
  out.body = portals::Region(std::span<const portals::Buffer>(table));
  const auto offer_body = [&](bool in_pieces) {
    if (!in_pieces) out.body = portals::Region(body.data(), kLongBytes);
    rig[0].wire().send(1, out);
  };
  const auto say_pieces = [&](std::uint64_t count) {
    std::byte* at = nullptr;
    ReadOffer offer = read_offer(layout, at);
    offer.count = count;
    std::memcpy(at, &offer, sizeof offer);
  };
  SUBCASE("no pieces") {
    offer_body(false);
    say_pieces(0);
  }
  SUBCASE("too many pieces") {
    offer_body(true);
    say_pieces(kOfferPiecesMax + 1);
  }
  SUBCASE("pieces shorter than the body") {
    offer_body(true);
    std::byte* at = nullptr;
    reinterpret_cast<portals::Buffer*>(read_offer(layout, at).address)->bytes = 100;
  }
  REQUIRE(rig.until([&] { return !rig[1].lost.empty(); }));
  CHECK_EQ(rig[1].lost.front(), 0);
  REQUIRE_EQ(rig[1].received.size(), 1);
  CHECK(rig[1].received[0].state == Received::State::cut);
}

TEST_CASE("cma: pieces longer than the body are read no further than the body") {
  Rig rig(cma_set, 2);
  ShmLayout layout;
  REQUIRE(ShmLayout::attach(shm_set(rig).segment(), 2, layout).ok());
  std::vector<std::byte> body = pattern_body(1, kLongBytes + 5000);
  Transmission out;
  out.header = numbered(1);
  out.header.length = kLongBytes;
  const std::array table{portals::Buffer{body.data(), 5000}, portals::Buffer{body.data() + 5000, kLongBytes - 5000}};
  out.body = portals::Region(std::span<const portals::Buffer>(table));
  rig[0].wire().send(1, out);
  std::byte* at = nullptr;
  reinterpret_cast<portals::Buffer*>(read_offer(layout, at).address)[1].bytes += 5000;
  REQUIRE(rig.until([&] { return out.state == Transmission::State::sent; }));
  REQUIRE(rig.until([&] { return rig[1].received[0].state == Received::State::complete; }));
  CHECK(body_is(rig[1].received[0], 1, kLongBytes));
}

TEST_CASE(
    "cma: several bodies are on offer at once, and small messages behind them; messages that need the ring wait") {
  Rig rig(cma_set, 2);
  constexpr std::size_t kBytes = 50'000;
  constexpr std::size_t kBodies = kOffersMost + 3;
  SUBCASE("bodies only") {
    for (std::size_t number = 1; number <= kBodies; ++number) {
      rig[0].queue(1, numbered(number), pattern_body(number, kBytes));
    }
    while (rig[1].round()) {
    }
    CHECK_EQ(rig[1].received.size(), kOffersMost);  // the sender did nothing meanwhile
    REQUIRE(rig.until([&] { return complete(rig, kBodies) && rig.all_idle(); }));
    for (std::size_t number = 1; number <= kBodies; ++number)
      CHECK(body_is(rig[1].received[number - 1], number, kBytes));
    CHECK_EQ(ring_bytes(rig), 0);
  }
  SUBCASE("with others between") {
    const std::array<std::size_t, 6> sizes = {kBytes, kBytes, 10, 1000, kBytes, 20};
    for (std::size_t i = 0; i < sizes.size(); ++i) rig[0].queue(1, numbered(i + 1), pattern_body(i + 1, sizes[i]));
    while (rig[1].round()) {
    }
    CHECK_EQ(rig[1].received.size(), 3);
    REQUIRE(rig.until([&] { return complete(rig, sizes.size()) && rig.all_idle(); }));
    for (std::size_t i = 0; i < sizes.size(); ++i) CHECK(body_is(rig[1].received[i], i + 1, sizes[i]));
    CHECK_EQ(ring_bytes(rig), 1000);
  }
}

TEST_CASE("cma: an offered body that cannot be read goes through the ring before the others are read") {
  Rig rig(cma_set, 2);
  REQUIRE(arrived(rig, 1, kLongBytes));
  constexpr std::size_t kBytes = 300'000;  // longer than the ring
  std::vector<std::byte> body = pattern_body(3, kBytes);
  std::vector<portals::Buffer> table{{body.data(), kBytes / 2}, {reinterpret_cast<std::byte*>(16), kBytes / 2}};
  Transmission bad;
  bad.header = numbered(3);
  bad.header.length = kBytes;
  bad.body = portals::Region(std::span<const portals::Buffer>(table));
  rig[0].queue(1, numbered(2), pattern_body(2, kBytes));
  rig[0].wire().send(1, bad);
  rig[0].queue(1, numbered(4), pattern_body(4, kBytes));
  rig[0].queue(1, numbered(5), pattern_body(5, 8));
  while (rig[1].round()) {
  }
  CHECK_EQ(rig[1].received.size(), 3);  // the third is arriving
  table[1].base = body.data() + kBytes / 2;
  rig[0].wire().stop(1, bad);  // too late: there are others behind its cell
  REQUIRE(rig.until([&] { return complete(rig, 5) && rig.all_idle() && bad.state == Transmission::State::sent; }));
  CHECK(body_is(rig[1].received[1], 2, kBytes));
  CHECK(body_is(rig[1].received[2], 3, kBytes));
  CHECK(body_is(rig[1].received[3], 4, kBytes));
  CHECK(body_is(rig[1].received[4], 5, 8));
  CHECK_EQ(ring_bytes(rig), kBytes);
}

TEST_CASE("cma: an idle sender carries a part of the body; if it cannot, it leaves the body to the receiver") {
  Rig rig(cma_set, 2);
  REQUIRE(arrived(rig, 1, kLongBytes));  // the first test of the peer has been made
  const std::uint64_t word = area_of(rig, 1).test_word;
  bool works = true;
  SUBCASE("it can") {}
  SUBCASE("it finds another process where the receiver should be") {
    ::usleep(2000);  // a proof holds for a millisecond
    area_of(rig, 1).test_word = word + 1;
    works = false;
  }
  Outgoing& out = rig[0].queue(1, numbered(2), pattern_body(2, kLongBytes));
  rig[1].round();  // the first of several visits
  REQUIRE(rig[1].received.back().state == Received::State::coming);
  const std::uint64_t receiver_read = pages_there(rig[1].received.back().body, 2);
  for (int i = 0; i < 20; ++i) rig[0].round();  // as a coprocessor's rounds
  CHECK_FALSE(rig[1].received.back().body.back() == pattern(2, kLongBytes - 1));
  for (int i = 0; i < 20; ++i) {
    rig[0].wire().idle_round();
    rig[0].round();
  }
  const std::vector<std::byte>& landing = rig[1].received.back().body;
  CHECK_EQ(landing.back() == pattern(2, kLongBytes - 1), works);
  // Only the sender has written to the landing since the receiver's round; from now on only the receiver does.
  const std::uint64_t sender_wrote = pages_there(landing, 2) - receiver_read;
  CHECK_EQ(sender_wrote != 0, works);
  REQUIRE(rig.until([&] {
    return out.transmission.state == Transmission::State::sent &&
           rig[1].received.back().state == Received::State::complete;
  }));
  CHECK(body_is(rig[1].received.back(), 2, kLongBytes));
  CHECK_EQ(ring_bytes(rig), 0);
  CHECK(rig[1].received.back().reported.method == TraceBody::read);
  CHECK_EQ(rig[1].received.back().reported.aside_bytes, sender_wrote);
  area_of(rig, 1).test_word = word;
  REQUIRE(arrived(rig, 3, kLongBytes));
}

// Process-local roles over a channel whose shared words the test damages, as a faulty sender might.
TEST_CASE("cma: for any values of the shared words, a receiver writes only inside its landing") {
  constexpr std::size_t kBytes = 64 << 10;  // two chunks
  constexpr std::uint64_t kWord = std::uint64_t{1} << 32;
  static_assert(BodyChunks(kBytes).count() == 2);
  const auto channel = std::make_unique<ChannelData>();
  const auto sender = std::make_unique<RankArea>();
  std::uint64_t word = 0;
  open_for_reading(*sender, word, true);
  sender->pid = static_cast<std::uint32_t>(::getpid());
  const std::vector<std::byte> body(9 * kBytes, std::byte{'s'});
  for (const std::uint64_t claims : {0U, 1U, 2U, 3U, 0x1'0001U, 0x2'0000U, 0xffffU, 0xffff'ffffU}) {
    for (const std::uint64_t carried : {0U, 1U, 2U, 5U, 0x1'0000U, 0x1'0001U, 0x1'0002U, 0x1'0003U, 0x1'0005U}) {
      CAPTURE(claims);
      CAPTURE(carried);
      std::vector<std::byte> memory(9 * kBytes, std::byte{'.'});
      DirectReader reader(*channel, *sender);
      reader.begin(1, reinterpret_cast<std::uintptr_t>(body.data()) + 4 * kBytes, {memory.data() + 4 * kBytes, kBytes},
                   true);
      channel->shared.claims = kWord | claims;
      channel->producer.carried = kWord | carried;
      std::uint64_t moved = 0;
      const ReadFault fault = reader.step(1 << 20, 1, moved);
      CHECK((fault == ReadFault::none || fault == ReadFault::malformed));
      const auto first = memory.begin() + 4 * kBytes;
      const auto is_untouched = [](std::byte byte) { return byte == std::byte{'.'}; };
      CHECK(std::all_of(memory.begin(), first, is_untouched));
      CHECK(std::all_of(first + kBytes, memory.end(), is_untouched));
    }
  }
}

// A sender in another process: a first body, and a second one that is offered until the process is killed.
[[noreturn]] void offer_and_wait(std::span<std::byte> segment, std::size_t first, std::size_t second) {
  TransmissionList finished;
  ShmWire wire(segment, 0, 2, counting(2), finished, 0, LongMethod::cma);
  std::vector<std::byte> body = pattern_body(1, std::max(first, second));
  std::array<Transmission, 2> out;
  for (std::size_t i = 0; i < 2; ++i) {
    out[i].header = numbered(i + 1);
    out[i].header.length = i == 0 ? first : second;
    out[i].body = portals::Region(body.data(), out[i].header.length);
    wire.send(1, out[i]);
  }
  for (;;) {
    wire.push();
    ::usleep(1000);
  }
}

Arrival next_arrival(ShmWire& wire) {
  Arrival arrival;
  const auto end = std::chrono::steady_clock::now() + kGuard;
  while (!wire.poll(arrival)) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    ::sched_yield();
  }
  return arrival;
}

TEST_CASE("cma: a peer that dies during a transfer is lost, and a message reports it") {
  const SharedSegment segment(2);
  TransmissionList finished;
  ShmWire wire(segment.bytes(), 1, 2, counting(2), finished, 0, LongMethod::cma);
  constexpr std::size_t kBytes = 8 << 20;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) offer_and_wait(segment.bytes(), kReadBodyMinBytes, kBytes);
  const auto end_child = [child] {
    REQUIRE_EQ(::kill(child, SIGKILL), 0);
    REQUIRE_EQ(::waitpid(child, nullptr, 0), child);
  };
  std::vector<std::byte> landing(kBytes);
  int cookie = 0;
  REQUIRE(next_arrival(wire).kind == Arrival::Kind::started);
  wire.accept(portals::Region(landing.data(), kReadBodyMinBytes), &cookie);
  REQUIRE(next_arrival(wire).kind == Arrival::Kind::finished);
  REQUIRE(next_arrival(wire).kind == Arrival::Kind::started);
  SUBCASE("before the first byte") {
    end_child();
    wire.accept(portals::Region(landing.data(), landing.size()), &cookie);
  }
  SUBCASE("after the first visit") {
    wire.accept(portals::Region(landing.data(), landing.size()), &cookie);
    CHECK(landing[100'000] == pattern(1, 100'000));
    end_child();
  }
  const Arrival cut = next_arrival(wire);
  CHECK(cut.kind == Arrival::Kind::cut);
  CHECK(cut.cookie == &cookie);
  const Arrival lost = next_arrival(wire);
  CHECK(lost.kind == Arrival::Kind::lost);
  CHECK(lost.loss == fault_text(ReadFault::gone));
  Arrival none;
  CHECK_FALSE(wire.poll(none));
}

TEST_CASE("cma: automatic always reads between ranks that share their only processor, and measures otherwise") {
  Rig rig(automatic_set, 2);
  // As ranks of different processes: each with a test word of its own.
  std::array<std::uint64_t, 2> words{17, 18};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    area_of(rig, rank).test_address = reinterpret_cast<std::uintptr_t>(&words[rank]);
    area_of(rig, rank).test_word = words[rank];
  }
  area_of(rig, 0).only_processor = 3;
  bool shared = false;
  SUBCASE("shared") {
    area_of(rig, 1).only_processor = 3;
    shared = true;
  }
  SUBCASE("each its own") {
    area_of(rig, 1).only_processor = 2;
  }
  SUBCASE("the other rank has several") {
    area_of(rig, 1).only_processor = 0;
  }
  constexpr std::size_t kTriedBytes = 1 << 20;  // bodies longer than 2 MiB try nothing
  for (std::uint64_t number = 1; number <= 4; ++number) REQUIRE(arrived(rig, number, kTriedBytes));
  CHECK(choice(rig).reads);
  CHECK_EQ(choice(rig).measured, !shared);
  CHECK_EQ(ring_bytes(rig), shared ? 0 : 2 * kTriedBytes);  // two of the four went each way
}

namespace {

class CountingClock final : public Clock {
 public:
  CountingClock() : Clock(ClockKind::virtual_ns) {}
  [[nodiscard]] std::uint64_t now_ns() const override { return ++readings_; }
  [[nodiscard]] std::uint64_t ticks() const override { return readings_; }
  [[nodiscard]] std::uint64_t readings() const { return readings_; }

 private:
  mutable std::uint64_t readings_ = 0;
};

}  // namespace

TEST_CASE("wire contract: shm, long bodies by memcpy between threads of one process") {
  run_wire_contract(automatic_set);
}

TEST_CASE("cma: between threads of one process the receiver copies every long body, in pieces or not") {
  Rig rig(automatic_set, 2);
  for (std::uint64_t number = 1; number <= 4; ++number) REQUIRE(arrived(rig, number, kLongBytes));
  CHECK(is_this_process(area_of(rig, 0)));
  CHECK(choice(rig).reads);
  CHECK_FALSE(choice(rig).measured);
  CHECK(choice(rig).reason == "both ranks are threads of one process");
  std::vector<std::byte> body = pattern_body(5, kLongBytes);
  const std::array pieces{portals::Buffer{body.data(), 1}, portals::Buffer{body.data() + 1, 0},
                          portals::Buffer{body.data() + 1, kLongBytes / 2},
                          portals::Buffer{body.data() + 1 + kLongBytes / 2, kLongBytes / 2 - 1}};
  Transmission out;
  out.header = numbered(5);
  out.header.length = kLongBytes;
  out.body = portals::Region(std::span<const portals::Buffer>(pieces));
  rig[0].wire().send(1, out);
  REQUIRE(rig.until([&] { return out.state == Transmission::State::sent && complete(rig, 5); }));
  CHECK(body_is(rig[1].received.back(), 5, kLongBytes));
  CHECK_EQ(ring_bytes(rig), 0);
}

TEST_CASE("cma: another process's word, or the same word in a child of fork(), is not this process") {
  RankArea area{};
  open_for_reading(area, process_test_word(), false);
  area.pid = static_cast<std::uint32_t>(::getpid());
  CHECK(is_this_process(area));
  const std::uint64_t word = area.test_word;
  area.test_word = word + 1;
  CHECK_FALSE(is_this_process(area));
  area.test_word = word;
  ++area.pid;
  CHECK_FALSE(is_this_process(area));
  --area.pid;
  const pid_t child = ::fork();
  if (child == 0) {
    RankArea own{};
    open_for_reading(own, process_test_word(), false);
    own.pid = static_cast<std::uint32_t>(::getpid());
    ::_exit(is_this_process(own) && !is_this_process(area) && own.test_word != word ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  CHECK(is_this_process(area));
}

TEST_CASE("cma: long bodies are measured by the clock of their wires") {
  const CountingClock clock;
  for (const LongMethod method : {LongMethod::automatic, LongMethod::cma}) {
    const std::uint64_t before = clock.readings();
    Rig rig([&](std::uint32_t ranks) { return std::make_unique<ShmSet>(ranks, method, clock); }, 2);
    REQUIRE(arrived(rig, 1, 8));
    CHECK(clock.readings() == before);
    REQUIRE(arrived(rig, 2, kLongBytes));
    REQUIRE(arrived(rig, 3, kLongBytes));
    CHECK(clock.readings() > before);
  }
}

TEST_CASE("cma: the values of --method long are parsed") {
  LongMethod method = LongMethod::ring;
  CHECK(parse_long_method("", method).ok());
  CHECK(method == LongMethod::automatic);
  CHECK(parse_long_method("cma", method).ok());
  CHECK(method == LongMethod::cma);
  const portals::Status wrong = parse_long_method("rdma", method);
  CHECK_FALSE(wrong.ok());
  CHECK(wrong.sentence().find("long=rdma") != std::string::npos);
  CHECK(wrong.sentence().find("cma") != std::string::npos);
}

}  // namespace
}  // namespace margay::sim::test
