// Stories of messages, from a trace made by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "portals/verdict.hpp"
#include "sim/trace/names.hpp"
#include "sim/trace/story/messages.hpp"
#include "sim/trace/story/tell.hpp"
#include "sim/trace/story/whole.hpp"
#include "sim/trace/story/words.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint64_t kTag7 = std::uint64_t{7} << 32U;
constexpr std::uint64_t kLong = 4;
constexpr std::uint32_t kRequest = 3;
constexpr std::uint32_t kType = 0x4c000405;

// Each event lies a microsecond behind the one before.
class HandMade {
 public:
  HandMade() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      TraceFile& file = trace.files.emplace_back();
      file.rank = rank;
      file.size = 2;
      file.closed = true;
      file.names = {"MPI_Send", "MPI_Recv"};
      file.definitions = {
          {DefinitionKind::communicator, 0, 0, std::uint64_t{2} << 32U | rank, "MPI_COMM_WORLD"},
          {DefinitionKind::datatype, 0, kType, 4, "MPI_INT"},
          {DefinitionKind::portal, 0, 0, 0, "receives"},
          {DefinitionKind::portal, 0, 3, 1, "collective trees"},
          {DefinitionKind::owner, 0, 1, 0, "a posted receive"},
          {DefinitionKind::owner, 0, 2, 0, "the heap of unexpected messages"},
          {DefinitionKind::entry, 0, entry_number(0, 99), 0, "unexpected long"},
      };
    }
  }
  TraceEvent& add(std::uint32_t rank, TraceKind kind, MessageIdentity message = {}) {
    TraceEvent event;
    event.time = 1000 * (trace.entries.size() + 1);
    event.kind = kind;
    event.source = message.source;
    event.destination = message.destination;
    event.sequence = message.sequence;
    trace.entries.push_back({event, rank});
    return trace.entries.back().event;
  }
  // With a header.
  TraceEvent& add(std::uint32_t rank, TraceKind kind, MessageIdentity message, portals::Kind header,
                  portals::PortalIndex portal, std::uint64_t bits) {
    TraceEvent& event = add(rank, kind, message);
    event.header = static_cast<std::uint8_t>(header);
    event.portal = portal;
    event.match_bits = bits;
    event.wire = 1;
    return event;
  }

  Trace trace;
};

constexpr MessageIdentity kMessage{0, 1, 5};
constexpr MessageIdentity kAcknowledgment{1, 0, 1};
constexpr MessageIdentity kGet{1, 0, 2};
constexpr MessageIdentity kReply{0, 1, 6};

// A long message that comes before its receive, and whose body is pulled.
HandMade pulled() {
  using portals::Kind;
  HandMade made;
  made.add(0, TraceKind::mpi_enter).a = 0;
  TraceEvent& begin = made.add(0, TraceKind::send_begin, kMessage);
  begin.protocol = TraceProtocol::long_send;
  begin.reason = static_cast<std::uint8_t>(TraceChoice::above_short);
  begin.match_bits = kTag7;
  begin.bytes = 40000;
  begin.b = kType;
  made.add(0, TraceKind::kernel_send, kMessage, Kind::put, 0, kTag7 | kLong).bytes = 40000;
  made.add(1, TraceKind::kernel_arrive, kMessage, Kind::put, 0, kTag7 | kLong).bytes = 40000;
  TraceEvent& pass = made.add(1, TraceKind::kernel_pass, kMessage, Kind::put, 0, std::uint64_t{8} << 32U);
  pass.reason = static_cast<std::uint8_t>(portals::Passed::no_match);
  pass.bytes = 5;
  pass.a = 1U << 16U;
  pass.b = portals::kAnyRank;
  TraceEvent& match = made.add(1, TraceKind::kernel_match, kMessage, Kind::put, 0, kTag7 | kLong);
  match.detail = 99;
  match.a = 2;
  match.b = 2;
  match.saved = portals::Saved::header;
  made.add(1, TraceKind::kernel_deposit, kMessage, Kind::put, 0, kTag7 | kLong).saved = portals::Saved::header;
  made.add(1, TraceKind::kernel_ack_sent, kAcknowledgment, Kind::acknowledgment, 1, 1).detail = kMessage.sequence;
  made.add(0, TraceKind::kernel_ack_arrived, kAcknowledgment, Kind::acknowledgment, 1, 1).detail = kMessage.sequence;
  made.add(1, TraceKind::mpi_enter).a = 1;
  TraceEvent& post = made.add(1, TraceKind::post_receive, {portals::kAnyRank, 1, 0});
  post.a = kRequest;
  post.b = kType;
  post.bytes = 40000;
  post.match_bits = kTag7;
  post.detail = 0xffff'0000 | 5;
  made.add(1, TraceKind::search_hit, kMessage).a = kRequest;
  TraceEvent& pull = made.add(1, TraceKind::pull_begin, kMessage);
  pull.a = kRequest;
  pull.detail = kGet.sequence;
  made.add(1, TraceKind::kernel_send, kGet, Kind::get, 2, 1);
  made.add(0, TraceKind::kernel_get_arrived, kGet, Kind::get, 2, 1);
  made.add(0, TraceKind::kernel_reply_sent, kReply, Kind::reply, 0, 2).detail = kGet.sequence;
  made.add(1, TraceKind::kernel_arrive, kReply, Kind::reply, 0, 2).detail = kGet.sequence;
  made.add(1, TraceKind::pull_complete, kMessage).a = kRequest;
  made.add(1, TraceKind::receive_complete, kMessage).a = kRequest;
  made.add(1, TraceKind::mpi_leave).a = 1;
  made.add(0, TraceKind::request_complete, kMessage);
  made.add(0, TraceKind::mpi_leave).a = 0;
  return made;
}

std::vector<std::string> missing(const Trace& trace) {
  return missing_steps(trace, TraceNames(trace), Messages(trace));
}

std::string told(const Trace& trace, MessageIdentity message) {
  const TraceNames names(trace);
  const Messages messages(trace);
  return tell(trace, messages, EventWords(trace, names), messages.story(message));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("story: acknowledgment, get and reply are parts of the message that they serve") {
  const HandMade made = pulled();
  const Messages messages(made.trace);
  REQUIRE_EQ(messages.roots().size(), 1);
  CHECK(messages.roots().front() == kMessage);
  for (const MessageIdentity& hop : {kMessage, kAcknowledgment, kGet, kReply}) CHECK(messages.root_of(hop) == kMessage);
  const MessageStory story = messages.story(kMessage);
  CHECK(story.unexpected);
  // All events but the calls.
  CHECK_EQ(story.steps.size(), made.trace.entries.size() - 4);
  CHECK(made.trace.entries[story.posted].event.kind == TraceKind::post_receive);
  CHECK(missing(made.trace).empty());
}

TEST_CASE("story: it says in words what happened, and who waited") {
  const HandMade made = pulled();
  const std::string text = told(made.trace, kMessage);
  CAPTURE(text);
  for (const char* part :
       {"0>1 #5: 10000 x MPI_INT, tag 7 from 0 in MPI_COMM_WORLD\n", "calls MPI_Send",
        "to rank 1: long, as it is longer than the short limit",
        "passes over a posted receive: no match, it wants tag 8, and the message has tag 7; its link leads to the next",
        "is taken by the entry \"unexpected long\", the second of the entries that were looked at; its header is kept",
        "wants at most 10000 x MPI_INT, tag 7 from any source in MPI_COMM_WORLD (request 3)",
        "The message lay there for 7.00 us before a receive was posted.", "Rank 0 sent it in MPI_Send, 21.0 us long",
        "Rank 1 received it in MPI_Recv, 10.0 us long"}) {
    CHECK_MESSAGE(contains(text, part), part);
  }
}

TEST_CASE("story: a program's own entries, one for another rank, and a portal without a list") {
  using portals::Kind;
  constexpr std::uint8_t kPortal = 4;
  constexpr auto kNoMatch = static_cast<std::uint8_t>(portals::Passed::no_match);
  HandMade made;
  made.trace.files[1].definitions.push_back({DefinitionKind::portal, 0, kPortal, 0, "desk"});
  made.add(0, TraceKind::kernel_send, kMessage, Kind::put, kPortal, 7);
  made.add(1, TraceKind::kernel_arrive, kMessage, Kind::put, kPortal, 7);
  made.add(1, TraceKind::kernel_pass, kMessage, Kind::put, kPortal, 6).reason = kNoMatch;
  TraceEvent& stranger = made.add(1, TraceKind::kernel_pass, kMessage, Kind::put, kPortal, 7);
  stranger.reason = kNoMatch;
  stranger.b = 1;  // the rank that it takes
  stranger.detail = 2;
  made.add(1, TraceKind::kernel_match, kMessage, Kind::put, kPortal, 7);
  const std::string text = told(made.trace, kMessage);
  CAPTURE(text);
  CHECK(contains(text, "no match, it wants bits 0x6, and 0x1 differ"));
  CHECK(contains(text, "passes over entry 2: no match, the match bits fit; it takes rank 1 only"));
  CHECK(contains(text, "is taken by the descriptor of portal 4 (desk)"));
}

TEST_CASE("story: a step that is not there is missed") {
  const HandMade made = pulled();
  for (std::size_t gone = 0; gone < made.trace.entries.size(); ++gone) {
    Trace without = made.trace;
    const TraceKind kind = without.entries[gone].event.kind;
    without.entries.erase(without.entries.begin() + static_cast<std::ptrdiff_t>(gone));
    const bool is_needed = kind == TraceKind::send_begin || kind == TraceKind::search_hit ||
                           kind == TraceKind::post_receive || kind == TraceKind::kernel_match ||
                           kind == TraceKind::kernel_get_arrived || kind == TraceKind::kernel_reply_sent ||
                           kind == TraceKind::pull_complete;
    CAPTURE(name(kind));
    if (is_needed) CHECK_FALSE(missing(without).empty());
    // Where the rank's ring went round, nothing is missed that may have been in it.
    without.files[0].lost = without.files[1].lost = 1;
    CHECK(missing(without).empty());
  }
}

TEST_CASE("story: what was overwritten is told as such, and nothing is said to be unreceived") {
  HandMade made = pulled();
  const auto arrived =
      std::find_if(made.trace.entries.begin(), made.trace.entries.end(),
                   [](const Trace::Entry& entry) { return entry.event.kind == TraceKind::search_hit; });
  made.trace.entries.erase(arrived, made.trace.entries.end());
  CHECK(contains(told(made.trace, kMessage), "Nothing in this trace received it."));
  made.trace.files[1].lost = 10;
  CHECK_FALSE(contains(told(made.trace, kMessage), "Nothing in this trace received it."));
  made.trace.entries.erase(made.trace.entries.begin() + 3, made.trace.entries.end());
  CHECK(contains(told(made.trace, kMessage), "The beginning at rank 1 was overwritten or left out"));
}

TEST_CASE("story: damaged events, with answers in a ring and numbers that mean nothing, have some story") {
  HandMade made;
  made.add(0, TraceKind::kernel_ack_sent, {0, 1, 1}).detail = 2;
  made.add(1, TraceKind::kernel_ack_sent, {1, 0, 2}).detail = 1;
  for (std::uint16_t kind = 0; kind < kTraceKindCount + 2; ++kind) {
    TraceEvent& event = made.add(0, static_cast<TraceKind>(kind), {0, 1, 3});
    event.reason = event.portal = event.header = 0xee;
    event.saved = static_cast<portals::Saved>(0xee);
    event.a = event.b = 0xeeee'eeee;
    event.detail = event.match_bits = event.bytes = 0xeeee'eeee'eeee'eeee;
  }
  const TraceNames names(made.trace);
  const EventWords words(made.trace, names);
  for (const Trace::Entry& entry : made.trace.entries) CHECK_FALSE(words.of(entry).empty());
  const Messages messages(made.trace);
  for (const MessageIdentity& root : {MessageIdentity{0, 1, 1}, MessageIdentity{1, 0, 2}, MessageIdentity{0, 1, 3}}) {
    CHECK_FALSE(told(made.trace, messages.root_of(root)).empty());
  }
  CHECK(told(made.trace, {5, 6, 7}) != "");
}

TEST_CASE("names: the latest definition before an event is meant, and where there is none the number is told") {
  HandMade made;
  made.trace.files[0].definitions.push_back({DefinitionKind::communicator, 5000, 2, std::uint64_t{4} << 32U, ""});
  made.trace.files[0].definitions.push_back({DefinitionKind::communicator, 9000, 2, std::uint64_t{4} << 32U, "row"});
  const TraceNames names(made.trace);
  CHECK_EQ(names.communicator(0, 2, 5000), "communicator 2 (4 ranks)");
  CHECK_EQ(names.communicator(0, 3, 8999), "communicator 2 (4 ranks)");
  CHECK_EQ(names.communicator(0, 2, 9000), "row");
  CHECK_EQ(names.communicator(1, 2, 9000), "communicator 2");
  CHECK_EQ(names.communicator(0, 2, 4999), "communicator 2");
  CHECK_EQ(names.elements(0, kType, 40, 0), "10 x MPI_INT");
  CHECK_EQ(names.elements(0, 17, 40, 0), "40 bytes");
  // Where the room was full, the number may be another type's by now.
  made.trace.files[1].definitions_lost = 1;
  CHECK_EQ(names.elements(1, kType, 40, 0), "10 x MPI_INT");
  CHECK_EQ(names.elements(1, kType, 40, 1), "40 bytes");
  CHECK_EQ(names.portal(1, 0), "portal 0 (receives)");
  CHECK_EQ(names.bits(0, 0, std::uint64_t{3758096387U} << 32U, 0),
           "the library's tag 0xe0000003 from 0 in MPI_COMM_WORLD");
  CHECK_EQ(names.portal(0, 9), "portal 9");
  CHECK(names.is_internal(0, 3));
  CHECK_FALSE(names.is_internal(0, 0));
  CHECK_EQ(names.entry(0, 0, 12, 77, 0), "entry 12");
  CHECK_EQ(names.bits(0, 5, 0x17, 0), "bits 0x17");
  CHECK_EQ(names.wanted(0, 0, 4, ~std::uint64_t{7}, 0), "any long message");
  CHECK_EQ(names.wanted(0, 0, kTag7, 0xffff'0005, 0), "tag 7 from any source in MPI_COMM_WORLD");
  CHECK_EQ(names.mismatch(0, 0, kTag7, 5, kTag7 | 0x20000, 0), "it wants source 0, and the message is from 2");
  CHECK_EQ(names.mismatch(0, 0, kTag7, 5, kTag7 | 0x10, 9000), "it wants MPI_COMM_WORLD, and the message is of row");
}

}  // namespace margay::sim::test
