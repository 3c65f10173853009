// Tests of the kernel's answers (acknowledgments and replies) over a scripted wire: how the header of an answer derives
// from that of its question, and when the memory of a get counts as read.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "portals/deliver.hpp"
#include "portals/memory/block.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/answers.hpp"
#include "tests/sim/scripted_wire.hpp"

namespace margay::sim::test {
namespace {

constexpr portals::PortalIndex kReadPortal = 4, kReturnPortal = 6;
constexpr std::uint64_t kAsked = 0x0000'4567'89ab'cdef;  // a number of the usual way that fills its bytes

// Rank 0 answers rank 1.
struct Answerer {
  Answerer() {
    portals::Options options;
    options.save = portals::Save::body;
    options.direction = portals::Direction::read_only;
    options.offset_by = portals::OffsetBy::sender;
    REQUIRE(table.attach(kReadPortal, block, options).ok());
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i);
  }
  // The header of rank 1's put or get, with user data of its own.
  [[nodiscard]] static portals::Header question(portals::Kind kind, std::uint64_t bytes) {
    portals::Header header;
    header.kind = kind;
    header.portal = kReadPortal;
    header.source = {3, 1};
    header.destination = {3, 0};
    header.match_bits = 0x11;
    header.return_portal = kReturnPortal;
    header.return_match_bits = 0x2222;
    header.return_offset = 40;
    header.return_length = bytes;
    header.offset = 8;
    for (std::size_t i = 0; i < header.user_data.size(); ++i) header.user_data[i] = static_cast<std::byte>(0xa0 + i);
    return header;
  }
  void get(std::uint64_t bytes, std::uint64_t sequence = kAsked) {
    const portals::Header header = question(portals::Kind::get, bytes);
    const portals::Verdict verdict = delivery.decide(header);
    REQUIRE(verdict.outcome == portals::Outcome::reply);
    answers.reply(verdict, header, sequence);
  }
  void acknowledge(portals::Saved saved, std::uint64_t bytes) {
    portals::Verdict verdict;
    verdict.outcome = portals::Outcome::deposit;
    verdict.saved = saved;
    verdict.acknowledge = true;
    verdict.landing = portals::Region(memory.data(), bytes);
    answers.acknowledge(verdict, question(portals::Kind::put, 0), kAsked);
  }
  // Handles a finished transmission as the kernel does.
  void give_back() {
    Transmission* const over = finished.pop();
    REQUIRE(over != nullptr);
    REQUIRE_EQ(over->owner_tag_kind, kOwnerKernel);
    initiator.gave_back();
    answers.finish(*over);
  }

  VirtualClock clock{1};
  Recorder recorder{clock};
  TransmissionList finished;
  ScriptedWire wire{finished};
  Routes routes{{&wire, &wire}};
  Registers registers{2};
  portals::PortalTable table;
  portals::ChangedList changed;
  std::array<std::byte, 64> memory{};
  portals::SingleBlock block{portals::Buffer{memory.data(), memory.size()}};
  portals::Delivery delivery{table, changed};
  Initiator initiator{{3, 0}, routes, finished, registers, recorder};
  Answers answers{initiator, delivery, recorder};
};

// Checks that an answer goes to its question's return portal. Of the question's user data it keeps bytes 1 to 3: byte 0
// has the saved parts, and bytes 4 to 11 have the answered message's number.
void check_returns(const portals::Header& answer) {
  CHECK_EQ(answer.source, portals::ProcessId{3, 0});
  CHECK_EQ(answer.destination, portals::ProcessId{3, 1});
  CHECK_EQ(answer.portal, kReturnPortal);
  CHECK_EQ(answer.return_portal, portals::kNoPortal);
  CHECK_EQ(answer.match_bits, 0x2222);
  CHECK_EQ(answer.offset, 40);
  CHECK_EQ(answered_sequence(answer), kAsked);
  for (std::size_t i = 1; i < 4; ++i) CHECK_EQ(answer.user_data[i], static_cast<std::byte>(0xa0 + i));
}

TEST_CASE("answers: an acknowledgment goes to the return portal and reports the saved parts and the message") {
  Answerer answerer;
  answerer.acknowledge(portals::Saved::body, 24);
  REQUIRE_EQ(answerer.wire.sent.size(), 1);
  const portals::Header& answer = answerer.wire.sent[0].header;
  check_returns(answer);
  CHECK(answer.kind == portals::Kind::acknowledgment);
  CHECK_EQ(answer.user_data[0], static_cast<std::byte>(portals::Saved::body));
  CHECK_EQ(answer.return_length, 24);
  CHECK_EQ(answer.length, 0);
  CHECK(answerer.answers.idle());
}

TEST_CASE("answers: an acknowledgment of a header alone reports no bytes") {
  Answerer answerer;
  answerer.acknowledge(portals::Saved::header, 0);
  CHECK_EQ(answerer.wire.sent.at(0).header.return_length, 0);
  CHECK_EQ(answerer.wire.sent.at(0).header.user_data[0], static_cast<std::byte>(portals::Saved::header));
}

TEST_CASE("answers: a reply contains the requested bytes, and their descriptor counts it") {
  Answerer answerer;
  answerer.get(16);
  REQUIRE_EQ(answerer.wire.sent.size(), 1);
  const portals::Header& answer = answerer.wire.sent[0].header;
  check_returns(answer);
  CHECK(answer.kind == portals::Kind::reply);
  CHECK_EQ(answer.user_data[0], std::byte{0xa0});  // unchanged from the question
  CHECK_EQ(answer.length, 16);
  CHECK_EQ(answer.return_length, 0);
  const auto from = answerer.memory.begin() + 8;
  CHECK(answerer.wire.sent[0].body == std::vector<std::byte>(from, from + 16));
  CHECK_EQ(answerer.block.messages(), 1);
  CHECK_EQ(answerer.block.bytes(), 16);
  CHECK(answerer.changed.take() == &answerer.block);
  CHECK(answerer.answers.idle());
}

TEST_CASE("answers: a get of no bytes is answered and counted as a message") {
  Answerer answerer;
  answerer.get(0);
  REQUIRE_EQ(answerer.wire.sent.size(), 1);
  CHECK_EQ(answerer.wire.sent[0].header.length, 0);
  CHECK(answerer.wire.sent[0].body.empty());
  CHECK_EQ(answerer.block.messages(), 1);
  CHECK_EQ(answerer.block.bytes(), 0);
}

TEST_CASE("answers: a reply that found its wire full counts as a read only after its bytes were taken") {
  for (const Transmission::State end : {Transmission::State::sent, Transmission::State::stopped}) {
    Answerer answerer;
    answerer.wire.full = true;
    answerer.get(16);
    REQUIRE_EQ(answerer.wire.queue.size(), 1);
    check_returns(answerer.wire.queue[0]->header);
    CHECK_EQ(answerer.wire.queue[0]->body.bytes(), 16);
    CHECK_EQ(answerer.wire.queue[0]->body.single().base, answerer.memory.data() + 8);
    CHECK_FALSE(answerer.answers.idle());
    CHECK_EQ(answerer.block.messages(), 0);
    CHECK_EQ(answerer.block.reserved_messages(), 1);
    answerer.wire.end(end);
    answerer.give_back();
    CHECK(answerer.answers.idle());
    CHECK_EQ(answerer.block.messages(), 1);
    CHECK_EQ(answerer.block.bytes(), 16);
    CHECK_EQ(answerer.block.reserved_messages(), 0);
  }
}

TEST_CASE("answers: a reply that could not be sent does not count as a read, and its memory is free again") {
  Answerer answerer;
  SUBCASE("its peer is lost while it is queued") {
    answerer.wire.full = true;
    answerer.get(16);
    answerer.wire.end(Transmission::State::failed);
  }
  SUBCASE("its peer was lost before") {
    answerer.initiator.mark_unreachable(1, "connection reset", false);
    answerer.get(16);
    CHECK(answerer.wire.queue.empty());
  }
  answerer.give_back();
  CHECK(answerer.answers.idle());
  CHECK_EQ(answerer.block.messages(), 0);
  CHECK_EQ(answerer.block.reserved_messages(), 0);
  CHECK(answerer.changed.empty());
}

TEST_CASE("answers: an acknowledgment that found its wire full is sent later, without a body") {
  Answerer answerer;
  answerer.wire.full = true;
  answerer.acknowledge(portals::Saved::both, 24);
  REQUIRE_EQ(answerer.wire.queue.size(), 1);
  CHECK_EQ(answerer.wire.queue[0]->header.length, 0);
  CHECK_EQ(answerer.wire.queue[0]->body.bytes(), 0);
  CHECK_EQ(answerer.wire.queue[0]->header.return_length, 24);
  CHECK_FALSE(answerer.answers.idle());
  answerer.wire.end(Transmission::State::sent);
  answerer.give_back();
  CHECK(answerer.answers.idle());
}

TEST_CASE("answers: each answer that waits for the wire has a transmission of its own, and these are reused") {
  Answerer answerer;
  answerer.wire.full = true;
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) answerer.get(sequence, sequence);
  REQUIRE_EQ(answerer.wire.queue.size(), 5);
  std::vector<Transmission*> first;
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) {
    first.push_back(answerer.wire.queue.front());
    CHECK_EQ(answered_sequence(first.back()->header), sequence);
    CHECK_EQ(first.back()->header.length, sequence);
    answerer.wire.end(Transmission::State::sent);
    CHECK_FALSE(answerer.answers.idle());
    answerer.give_back();
  }
  CHECK(answerer.answers.idle());
  CHECK_EQ(answerer.block.bytes(), 1 + 2 + 3 + 4 + 5);
  // Expect: the same five transmissions are used again, and an acknowledgment has no body, although a reply had one.
  for (int i = 0; i < 5; ++i) answerer.acknowledge(portals::Saved::both, 8);
  for (Transmission* const used : answerer.wire.queue) {
    CHECK(std::find(first.begin(), first.end(), used) != first.end());
    CHECK_EQ(used->body.bytes(), 0);
  }
  while (!answerer.wire.queue.empty()) {
    answerer.wire.end(Transmission::State::sent);
    answerer.give_back();
  }
  CHECK_EQ(answerer.block.messages(), 5);
}

TEST_CASE("answers: a trace records each answer under its own number, with that of its question") {
  Answerer answerer;
  REQUIRE(answerer.recorder.open_memory().ok());
  answerer.acknowledge(portals::Saved::both, 24);
  answerer.wire.full = true;
  answerer.get(16);
  const std::vector<TraceEvent> events = answerer.recorder.events();
  REQUIRE_EQ(events.size(), 2);
  CHECK(events[0].kind == TraceKind::kernel_ack_sent);
  CHECK_EQ(events[0].sequence, 1);
  CHECK_EQ(events[0].bytes, 24);
  CHECK(events[0].saved == portals::Saved::both);
  CHECK(events[1].kind == TraceKind::kernel_reply_sent);
  CHECK_EQ(events[1].sequence, 2);
  CHECK_EQ(events[1].bytes, 16);
  for (const TraceEvent& event : events) {
    CHECK_EQ(event.source, 0);
    CHECK_EQ(event.destination, 1);
    CHECK_EQ(event.detail, kAsked);
  }
}

}  // namespace
}  // namespace margay::sim::test
