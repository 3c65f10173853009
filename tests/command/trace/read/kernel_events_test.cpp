// Tests of the real kernel's records: the story of each kind of message, and correct accounts.
#include <doctest/doctest.h>

#include <array>
#include <span>
#include <string>

#include "command/trace/audit.hpp"
#include "command/trace/read/reader.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/self_wire.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;
using namespace margay::portals;

namespace {

constexpr PortalIndex kInbox = 1;
constexpr PortalIndex kAcknowledgments = 2;
constexpr PortalIndex kReadable = 3;
constexpr PortalIndex kReplies = 4;
constexpr PortalIndex kTiny = 5;
constexpr PortalIndex kNothing = 9;
constexpr std::size_t kTinyBytes = 8;

// A process that sends to itself, with a portal for each part.
class OneProcess {
 public:
  explicit OneProcess(std::uint32_t walk_steps = 0) {
    sim::RecorderOptions options;
    options.walk_steps = walk_steps;
    REQUIRE(recorder.open(folder.path(), options).ok());
    portals::Options acknowledged;
    acknowledged.acknowledge = true;
    REQUIRE(kernel.table().attach(kInbox, inbox, acknowledged).ok());
    portals::Options header_only;
    header_only.save = Save::header;
    REQUIRE(kernel.table().attach(kAcknowledgments, acknowledgments, header_only).ok());
    portals::Options readable;
    readable.direction = Direction::read_only;
    readable.save = Save::body;
    readable.offset_by = OffsetBy::sender;
    REQUIRE(kernel.table().attach(kReadable, source, readable).ok());
    portals::Options body;
    body.save = Save::body;
    REQUIRE(kernel.table().attach(kReplies, replies, body).ok());
    REQUIRE(kernel.table().attach(kTiny, tiny, body).ok());
    kernel.target().hold_when_no_room(kTiny);
  }

  void send(Kind kind, PortalIndex portal, std::uint64_t length, PortalIndex answer = kNoPortal) {
    Header header;
    header.kind = kind;
    header.portal = portal;
    header.return_portal = answer;
    (kind == Kind::get ? header.return_length : header.length) = length;
    REQUIRE(kernel.try_send(header, Region(outgoing.data(), header.length)));
  }
  void run() {
    for (int i = 0; i < 20; ++i) kernel.progress();
  }
  // "kernel_send kernel_arrive ..." since the last call.
  std::string story() {
    std::string text;
    for (const sim::TraceEvent& event : recorder.events()) text += std::string(name(event.kind)) + " ";
    recorder.clear();
    return text;
  }
  Trace finish() {
    recorder.close();
    Trace trace;
    const Status status = read_trace(folder.path(), trace);
    REQUIRE_MESSAGE(status.ok(), status.sentence());
    return trace;
  }

  const sim::TraceFolder folder;
  const sim::RealClock clock;
  sim::Recorder recorder{clock};
  sim::TransmissionList finished;
  sim::SelfWire wire{{0, 0}, finished};
  sim::Kernel kernel{{0, 0}, {{&wire}}, finished, recorder};
  std::array<std::byte, 64> outgoing{};
  std::array<std::byte, 4096> memory{};
  SingleBlock inbox{{memory.data(), 1024}};
  SingleBlock acknowledgments{{memory.data() + 1024, 0}};
  SingleBlock source{{memory.data() + 1024, 64}};
  SingleBlock replies{{memory.data() + 2048, 64}};
  SingleBlock tiny{{memory.data() + 3072, kTinyBytes}};
};

void expect_right(const Trace& trace) {
  const Audit result = audit(trace);
  CHECK_MESSAGE(result.violations.empty(), (result.violations.empty() ? "" : result.violations.front()));
}

}  // namespace

TEST_CASE("the kernel records the story of an acknowledged put") {
  OneProcess process;
  process.send(Kind::put, kInbox, 8, kAcknowledgments);
  process.run();
  CHECK(process.story() ==
        "kernel_send kernel_arrive kernel_match kernel_deposit kernel_ack_sent kernel_ack_arrived kernel_match "
        "kernel_deposit ");
}

TEST_CASE("the kernel records the story of a get") {
  OneProcess process;
  process.send(Kind::get, kReadable, 16, kReplies);
  process.run();
  CHECK(process.story() ==
        "kernel_send kernel_get_arrived kernel_match kernel_reply_sent kernel_arrive kernel_match kernel_deposit ");
}

TEST_CASE("the kernel records the story of a put to an unattached portal") {
  OneProcess process;
  process.send(Kind::put, kNothing, 8);
  process.run();
  const std::vector<sim::TraceEvent> events = process.recorder.events();
  REQUIRE(events.size() == 3);
  CHECK(events[2].kind == sim::TraceKind::kernel_drop);
  CHECK(events[2].reason == static_cast<std::uint8_t>(DropReason::no_such_portal));
  CHECK(events[2].sequence == events[0].sequence);
}

TEST_CASE("a walk is recorded entry by entry when that is requested") {
  OneProcess process(sim::kAllWalkSteps);
  MatchList list;
  SingleBlock block({process.memory.data() + 3500, 64});
  std::array<MatchEntry, 3> entries;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    portals::Options options;
    options.save = Save::body;
    entries[i].set({.match_bits = i == 2 ? 0 : i + 1}, block, options);
    list.append(entries[i]);
  }
  REQUIRE(process.kernel.table().attach(20, list).ok());
  process.send(Kind::put, 20, 8);
  process.run();
  CHECK(process.story() == "kernel_send kernel_arrive kernel_pass kernel_pass kernel_match kernel_deposit ");
  process.kernel.table().detach(20);
  for (MatchEntry& entry : entries) list.remove(entry);
}

TEST_CASE("the first entries of a long walk are recorded and all are counted, with or without the index") {
  constexpr std::uint32_t kExpected = 3;
  constexpr std::uint64_t kEntries = 40;
  OneProcess process(kExpected);
  MatchList list;
  SingleBlock block({process.memory.data() + 3500, 64});
  std::array<MatchEntry, kEntries> entries;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    entries[i].set({.match_bits = i + 1 == kEntries ? 0 : i + 1}, block, {.save = Save::body});
    list.append(entries[i]);
  }
  REQUIRE(process.kernel.table().attach(20, list).ok());
  for (const bool by_index : {false, true}) {  // the first walk makes the index
    CAPTURE(by_index);
    process.send(Kind::put, 20, 8);
    process.run();
    const std::vector<sim::TraceEvent> events = process.recorder.events();
    process.recorder.clear();
    REQUIRE(events.size() == 2 + kExpected + 2);
    CHECK(events[2 + kExpected - 1].kind == sim::TraceKind::kernel_pass);
    const sim::TraceEvent& match = events[2 + kExpected];
    CHECK(match.kind == sim::TraceKind::kernel_match);
    CHECK(match.a == kEntries);
    CHECK((match.reason & (sim::kTraceWalkByIndex | sim::kTraceWalkCut)) == (by_index ? sim::kTraceWalkByIndex : 0));
    CHECK(sim::matched_descriptor(match.reason) == 1U + static_cast<std::uint32_t>(DescriptorType::single_block));
  }
  list.remove(entries.back());
  process.send(Kind::put, 20, 8);
  process.run();
  const sim::TraceEvent drop = process.recorder.events().back();
  CHECK(drop.kind == sim::TraceKind::kernel_drop);
  CHECK(drop.a == kEntries - 1);
  process.kernel.table().detach(20);
  for (MatchEntry& entry : std::span(entries).first(kEntries - 1)) list.remove(entry);
}

TEST_CASE("the kernel's accounts are right for delivered, answered, dropped, held and released messages") {
  OneProcess process;
  for (int i = 0; i < 5; ++i) {
    process.send(Kind::put, kInbox, 8, kAcknowledgments);
    process.send(Kind::get, kReadable, 8, kReplies);
    process.send(Kind::put, kNothing, 8);
    process.run();
  }
  process.send(Kind::put, kTiny, kTinyBytes);
  process.send(Kind::put, kTiny, kTinyBytes);  // no room: held
  process.run();
  CHECK(process.kernel.registers().delivered(0) == 5 * 4 + 1);
  process.tiny.reset_local_offset();
  process.run();
  const std::uint64_t dropped = 5;
  CHECK(process.kernel.registers().delivered(0) == 5 * 4 + 2);
  const Trace trace = process.finish();
  expect_right(trace);
  const Audit result = audit(trace);
  const Audit::Pair& self = result.pairs.at({0, 0});
  CHECK(self.sent == 5 * 4 + 2);  // without the acknowledgments
  CHECK(self.delivered == self.sent - dropped);
  CHECK(self.dropped == dropped);
  CHECK(result.drops.at(static_cast<std::uint8_t>(DropReason::no_such_portal)) == dropped);
}
