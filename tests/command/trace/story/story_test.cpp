// Tests of stories of messages, from a hand-made trace.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/fate.hpp"
#include "command/trace/story/format.hpp"
#include "command/trace/story/messages.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using made::HandMade;
using made::kAcknowledgment;
using made::kGet;
using made::kMessage;
using made::kReply;
using made::kRequest;
using made::kTag7;
using made::pulled;

std::vector<std::string> missing(const Trace& trace) {
  return missing_steps(trace, TraceNames(trace), Messages(trace));
}

std::string story(const Trace& trace, MessageIdentity message) {
  const TraceNames names(trace);
  const Messages messages(trace);
  return format_story(trace, messages, EventText(trace, names), messages.story(message));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("story: a message returned from the heap was not received, and is not described as still there") {
  HandMade made;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7).bytes = 4;
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kTag7).bytes = 4;
  sim::TraceEvent& match = made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kTag7);
  match.b = mpi_adi::kOwnerHeap;
  sim::TraceEvent& given_back = made.add(1, sim::TraceKind::given_back, kMessage, portals::Kind::put, 0, kTag7);
  given_back.reason = static_cast<std::uint8_t>(sim::TraceGivenBack::never_wanted);
  const Messages messages(made.trace);
  CHECK(fate(messages, messages.story(kMessage)) == "never received");
  made.trace.entries.back().event.reason = static_cast<std::uint8_t>(sim::TraceGivenBack::cancelled);
  const MessageStory story = messages.story(kMessage);
  CHECK(fate(messages, story) == "cancelled");
  const TraceNames names(made.trace);
  const std::string text = format_story(made.trace, messages, EventText(made.trace, names), story);
  CHECK(text.find("leaves the heap unread") != std::string::npos);
  CHECK(text.find("Nothing in this trace received it") == std::string::npos);
}

TEST_CASE("story: a message that its receiver's MPI_Finalize finds in the heap is not a freed communicator's") {
  HandMade made;
  made.trace.files[1].names = {"MPI_Finalize", "MPI_Comm_free"};
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::mpi_enter);
  sim::TraceEvent& given_back = made.add(1, sim::TraceKind::given_back, kMessage, portals::Kind::put, 0, kTag7);
  given_back.reason = static_cast<std::uint8_t>(sim::TraceGivenBack::freed);
  CHECK(contains(story(made.trace, kMessage), "its receiver ended MPI, and no receive had come for it"));
  made.trace.entries[1].event.a = 1;
  CHECK(contains(story(made.trace, kMessage), "its communicator was freed, and no receive had come for it"));
}

TEST_CASE("story: an incomplete body was not received") {
  HandMade made;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kTag7).b = mpi_adi::kOwnerReceive;
  made.add(1, sim::TraceKind::kernel_deposit_begin, kMessage, portals::Kind::put, 0, kTag7);
  made.trace.files[0].closed = false;
  {
    const Messages messages(made.trace);
    CHECK(fate(messages, messages.story(kMessage)) == "broken off");
    CHECK(unreceived(messages, messages.story(kMessage)) == Unreceived::yes);
  }
  CHECK(contains(story(made.trace, kMessage),
                 "- Its body did not come to its end.\n- Rank 0 was killed, or still runs.\n"));
  made.add(1, sim::TraceKind::peer_lost, {0, 1, 0});
  CHECK(contains(story(made.trace, kMessage), "- Rank 1 lost rank 0, which was killed, or still runs.\n"));
  made.add(1, sim::TraceKind::kernel_deposit, kMessage, portals::Kind::put, 0, kTag7).saved = portals::Saved::both;
  const Messages messages(made.trace);
  CHECK(fate(messages, messages.story(kMessage)) == "expected");
  CHECK(unreceived(messages, messages.story(kMessage)) == Unreceived::no);
  CHECK_FALSE(contains(story(made.trace, kMessage), "did not come to its end"));
}

TEST_CASE("story: a send that failed or was cancelled is not shown as complete, and the lost rank is named") {
  HandMade made;
  made.trace.files[0].names = {"MPI_Isend", "MPI_Wait"};
  made.add(0, sim::TraceKind::mpi_enter).a = 0;
  made.add(0, sim::TraceKind::send_begin, kMessage).protocol =
      sim::TraceProtocol::long_send;  // its request has number 0
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7);
  made.add(0, sim::TraceKind::mpi_leave).a = 0;
  made.add(0, sim::TraceKind::peer_lost, {1, 0, 0});
  made.add(0, sim::TraceKind::mpi_enter).a = 1;
  made.add(0, sim::TraceKind::request_complete, kMessage).protocol = sim::TraceProtocol::long_send;
  made.add(0, sim::TraceKind::mpi_leave).a = 1;
  sim::TraceEvent& end = made.trace.entries[6].event;
  end.b = 101;
  made.trace.files[1].closed = false;
  made.trace.files[1].end = sim::TraceEnd::signal;
  made.trace.files[1].end_value = 9;
  const std::string text = story(made.trace, kMessage);
  CAPTURE(text);
  CHECK(contains(text, "the send ends with MPIX_ERR_PROC_FAILED"));
  CHECK_FALSE(contains(text, "complete"));
  CHECK(contains(text, "- Rank 0 lost rank 1, which was killed by signal 9 (SIGKILL).\n"));
  CHECK(contains(text, "- Rank 0 began to send it in MPI_Isend,"));
  CHECK(contains(text, "- That failed (MPIX_ERR_PROC_FAILED) while rank 0 was in MPI_Wait,"));
  end.b = 0;
  end.reason = sim::kTraceCancelled;
  CHECK(contains(story(made.trace, kMessage), "the send is cancelled"));
  CHECK(contains(story(made.trace, kMessage), "- That was cancelled while rank 0 was in MPI_Wait,"));
  made.trace.entries.resize(4);
  CHECK(contains(story(made.trace, kMessage), "- Rank 0 began to send it in MPI_Isend,"));
  made.trace.entries[1].event.a = sim::kTraceNoRequest;
  CHECK(contains(story(made.trace, kMessage), "- Rank 0 sent it in MPI_Isend,"));
}

TEST_CASE("story: the rank that waited for a pulled body is named") {
  HandMade made = pulled();
  for (auto& [event, file] : made.trace.entries) {
    if (event.kind == sim::TraceKind::kernel_get_arrived) event.time += 400;
  }
  CHECK(contains(story(made.trace, kMessage),
                 "- The receive waited 1.40 us until rank 0 saw that its body was asked for.\n"
                 "- From there the body took 2.60 us to its end.\n"));
}

TEST_CASE("story: a get has no body that could be incomplete") {
  HandMade made;
  made.add(1, sim::TraceKind::kernel_send, kGet, portals::Kind::get, 7, 1);
  made.add(0, sim::TraceKind::kernel_get_arrived, kGet, portals::Kind::get, 7, 1);
  made.add(0, sim::TraceKind::kernel_match, kGet, portals::Kind::get, 7, 1);
  const Messages messages(made.trace);
  CHECK(fate(messages, messages.story(kGet)) == "matched");
}

TEST_CASE("story: a message without a receive is not called expected: an entry, a heap or a window took it") {
  const auto taken = [](std::uint8_t portal, std::uint64_t bits, portals::DescriptorType type, bool is_mpi) {
    HandMade made;
    if (!is_mpi) made.trace.files[1].definitions.clear();
    made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, portal, bits);
    made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, portal, bits);
    made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, portal, bits).reason =
        static_cast<std::uint8_t>((1U + static_cast<unsigned>(type)) << sim::kTraceDescriptorShift);
    made.add(1, sim::TraceKind::kernel_deposit, kMessage, portals::Kind::put, portal, bits).saved =
        portals::Saved::both;
    const Messages messages(made.trace);
    return std::string(fate(messages, messages.story(kMessage)));
  };
  using enum portals::DescriptorType;
  CHECK_EQ(taken(0, 7, single_block, false), "matched");
  CHECK_EQ(taken(4, 7, independent_block, false), "matched");
  CHECK_EQ(taken(0, 7, dynamic_block, false), "heap");
  CHECK_EQ(taken(4, mpi_adi::kWindowTag, single_block, false), "matched");  // its bits have no meaning there
  CHECK_EQ(taken(10, mpi_adi::kWindowTag, dynamic_block, true), "window");
  CHECK_EQ(taken(3, 7, dynamic_block, true), "heap");
  CHECK_EQ(taken(0, kTag7, single_block, true), "expected");
}

TEST_CASE("story: an overwritten file accounts only for the time since its first event") {
  HandMade made;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kTag7).b = mpi_adi::kOwnerHeap;
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 6}, portals::Kind::put, 0, kTag7);
  made.trace.files[1].lost = 3;
  const auto is = [&](MessageIdentity message) {
    const Messages messages(made.trace);
    return unreceived(messages, messages.story(message));
  };
  CHECK(is(kMessage) == Unreceived::yes);
  CHECK(contains(story(made.trace, kMessage), "Nothing in this trace received it."));
  CHECK(is({0, 1, 6}) == Unreceived::yes);  // sent after the first recorded event
  made.trace.entries.erase(made.trace.entries.begin() + 1, made.trace.entries.begin() + 3);
  made.add(1, sim::TraceKind::sleep).time = 5000;  // after both sends
  CHECK(is(kMessage) == Unreceived::not_known);
  CHECK(is({0, 1, 6}) == Unreceived::not_known);
}

TEST_CASE("story: a message begins with its send, though its receive was posted before") {
  HandMade made;
  made.add(1, sim::TraceKind::post_receive, {0, 1, 0}).a = kRequest;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kTag7);
  made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kTag7).b = mpi_adi::kOwnerReceive;
  made.add(1, sim::TraceKind::receive_complete, kMessage).a = kRequest;
  const Messages messages(made.trace);
  const MessageStory story = messages.story(kMessage);
  CHECK_EQ(story.steps.front(), 0);
  CHECK_EQ(first_step(story), 1);
  CHECK_EQ(duration_ns(made.trace, story), 3000);
}

TEST_CASE("story: no body is missing from an answer without one") {
  HandMade made;
  made.add(1, sim::TraceKind::kernel_send, kAcknowledgment, portals::Kind::put, mpi_adi::kAcknowledgmentPortal, 2);
  made.add(0, sim::TraceKind::kernel_match, kAcknowledgment, portals::Kind::put, mpi_adi::kAcknowledgmentPortal, 2)
      .saved = portals::Saved::header;
  made.add(0, sim::TraceKind::kernel_deposit, kAcknowledgment, portals::Kind::put, mpi_adi::kAcknowledgmentPortal, 2)
      .saved = portals::Saved::header;
  const std::string text = story(made.trace, kAcknowledgment);
  CAPTURE(text);
  CHECK_FALSE(contains(text, "its body is not"));
  CHECK(contains(text, "it is there"));
}

TEST_CASE("story: a ready message that arrived before its receive was dropped for that reason") {
  HandMade made;
  sim::TraceEvent& begin = made.add(0, sim::TraceKind::send_begin, kMessage);
  begin.protocol = sim::TraceProtocol::ready_short;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7 | 1);
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kTag7 | 1);
  made.add(1, sim::TraceKind::kernel_drop, kMessage, portals::Kind::put, 0, kTag7 | 1).reason =
      static_cast<std::uint8_t>(portals::DropReason::no_match);
  CHECK(contains(story(made.trace, kMessage), "It was dropped: it was ready, and no receive was posted for it."));
  made.trace.entries.front().event.protocol = sim::TraceProtocol::short_send;
  CHECK(contains(story(made.trace, kMessage), "It was dropped: no match."));
}

// #5 arrives when the heap is full, and #6 behind it.
HandMade held() {
  using portals::Kind;
  constexpr MessageIdentity kBehind{0, 1, 6};
  HandMade made;
  made.add(0, sim::TraceKind::kernel_send, kMessage, Kind::put, 0, kTag7);    // 1 us
  made.add(0, sim::TraceKind::kernel_send, kBehind, Kind::put, 0, kTag7);     // 2 us
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, Kind::put, 0, kTag7);  // 3 us
  sim::TraceEvent& hold = made.add(1, sim::TraceKind::kernel_hold, kMessage, Kind::put, 0, kTag7);
  hold.reason = static_cast<std::uint8_t>(portals::DropReason::no_room);
  sim::TraceEvent& pass = made.add(1, sim::TraceKind::kernel_pass, kMessage, Kind::put, 0, 0);
  pass.reason = static_cast<std::uint8_t>(portals::Passed::inactive);
  pass.a = mpi_adi::kOwnerHeap << 16U;
  pass.detail = 99;
  for (const MessageIdentity& each : {kMessage, kBehind}) {
    if (each != kMessage) made.add(1, sim::TraceKind::kernel_arrive, each, Kind::put, 0, kTag7);    // 8 us
    sim::TraceEvent& match = made.add(1, sim::TraceKind::kernel_match, each, Kind::put, 0, kTag7);  // 6 us, 9 us
    match.b = mpi_adi::kOwnerHeap;
    match.a = each == kMessage ? 21 : 11;
    made.add(1, sim::TraceKind::kernel_deposit, each, Kind::put, 0, kTag7);
  }
  for (const MessageIdentity& each : {kMessage, kBehind}) {
    made.add(1, sim::TraceKind::post_receive, {0, 1, 0}).a = kRequest;  // 11 us, 14 us
    made.add(1, sim::TraceKind::search_hit, each).a = kRequest;
    made.add(1, sim::TraceKind::receive_complete, each).a = kRequest;
  }
  return made;
}

TEST_CASE("story: a message held for lack of room, and one behind it, are described as having waited for room") {
  HandMade made = held();
  const std::string text = story(made.trace, kMessage);
  CAPTURE(text);
  CHECK(contains(text, "The message lay there for 5.00 us before its receive was posted."));
  CHECK(contains(text, "The header was on its way for 2.00 us until rank 1 saw it."));
  CHECK(contains(text, "It was held on its wire for 2.00 us, until rank 1 had room for it."));
  CHECK(contains(text, "\"unexpected long\": closed: messages go to the other heap"));
  CHECK(contains(text, "the 21st entry of its walk"));
  const std::string behind = story(made.trace, {0, 1, 6});
  CAPTURE(behind);
  CHECK(contains(behind, "for 6.00 us until rank 1 saw it, 2.00 us of it behind 0>1 #5, which was held for lack of"));
  CHECK(contains(behind, "the 11th entry of its walk"));
  made.trace.entries.resize(5);
  CHECK(contains(story(made.trace, kMessage), "It was held on its wire to the end: rank 1 had no room for it."));
  CHECK(contains(story(made.trace, {0, 1, 6}), "It was behind 0>1 #5, which was held for lack of room, for 1.00 us."));
}

TEST_CASE("story: a walk of which only the first entries were recorded is described as such") {
  HandMade made = pulled();
  for (Trace::Entry& entry : made.trace.entries) {
    if (entry.event.kind == sim::TraceKind::kernel_match) entry.event.a = 25;
  }
  const Messages messages(made.trace);
  const TraceNames names(made.trace);
  const auto text = [&] {
    return format_story(made.trace, messages, EventText(made.trace, names), messages.story(kMessage));
  };
  const auto match = std::find_if(made.trace.entries.begin(), made.trace.entries.end(), [](const Trace::Entry& entry) {
    return entry.event.kind == sim::TraceKind::kernel_match;
  });
  CHECK(contains(text(), "the 25th entry of its walk;"));
  CHECK(contains(text(), "Of the 24 entries that the walk passes over, 1 is listed; --trace-walks records all."));
  CHECK_FALSE(contains(text(), "index"));
  match->event.reason = sim::kTraceWalkByIndex;
  match->event.a = 42;
  CHECK(contains(text(), "the 42nd entry of the paper's walk, by the index;"));
  CHECK(contains(text(), "The kernel's index found the entry; the walk of the paper passes over 41 before it."));
  CHECK(contains(text(), "Of the 41 entries that the walk passes over, 1 is listed;"));
  match->event.reason = sim::kTraceWalkByIndex | sim::kTraceWalkCut;
  CHECK(contains(text(), ", behind at least 42 others, by the index;"));
  CHECK(contains(text(), "passes over at least 42 before it."));
  CHECK(contains(text(), "Of at least 42 entries that the walk passes over, 1 is listed;"));
  match->event.reason = sim::kTraceWalkByIndex;
  match->event.a = 2;
  CHECK_FALSE(contains(text(), "are listed"));
}

TEST_CASE("story: a collective call's messages have its algorithm and their own number") {
  constexpr std::uint64_t kCall12 = std::uint64_t{12} << 32U | std::uint64_t{1} << 3U;  // of the collective context
  constexpr std::uint32_t kAllreduceByExchange = 4U | 1U << 8U;
  HandMade made;
  sim::TraceEvent& begin = made.add(0, sim::TraceKind::collective_begin, {0, portals::kAnyRank, 0});
  begin.match_bits = kCall12;
  begin.a = 12;
  begin.b = kAllreduceByExchange;
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 1}, portals::Kind::put, 3, kCall12).bytes = 80;
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 2}, portals::Kind::put, 0, kTag7).bytes =
      4;  // not a message of the call
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 3}, portals::Kind::put, 3, kCall12).bytes = 80;
  sim::TraceEvent& end = made.add(0, sim::TraceKind::collective_end, {0, portals::kAnyRank, 0});
  end.match_bits = kCall12;
  end.a = 12;
  const TraceNames names(made.trace);
  const Collectives collectives(made.trace, names);
  REQUIRE(collectives.parts().size() == 1);
  CHECK(collectives.parts()[0].sends.size() == 2);
  CHECK(collectives.parts()[0].end == 4);
  CHECK(collectives.step_of({0, 1, 2}) == nullptr);
  const EventText event_text(made.trace, names, {}, &collectives);
  CHECK(event_text.message(made.trace.entries[3]) ==
        "80 bytes, collective call 12 of MPI_COMM_WORLD: allreduce by exchange, message 2 of 2 that rank 0 sends in "
        "it");
  CHECK(event_text.of(made.trace.entries[0]) ==
        "begins collective call 12 of MPI_COMM_WORLD: allreduce by exchange, 0 bytes");
  CHECK(event_text.of(made.trace.entries[4]) == "collective call 12 of MPI_COMM_WORLD is over");
  CHECK(collective_call_text(1, 0x8000'0000U | 3U << 11U | 2U) == "persistent collective call 3, start 2");
}

TEST_CASE("story: the root of a call between two groups is named as in the rank's call") {
  constexpr std::uint32_t kBcastByTree = 2U, kBarrier = 1U;
  const auto recorded_root = [](sim::TraceRoot named, std::uint32_t root, std::uint32_t operation) {
    sim::TraceEvent begin;
    begin.b = operation | root << 16U;
    begin.reason = static_cast<std::uint8_t>(named);
    return shape_text(collective_shape(begin));
  };
  CHECK(recorded_root(sim::TraceRoot::member, 3, kBcastByTree) == "bcast by tree, root 3");
  CHECK(recorded_root(sim::TraceRoot::remote, 3, kBcastByTree) == "bcast by tree, root rank 3 of the remote group");
  CHECK(recorded_root(sim::TraceRoot::here, 0, kBcastByTree) == "bcast by tree, root MPI_ROOT");
  CHECK(recorded_root(sim::TraceRoot::another, 0, kBcastByTree) == "bcast by tree, root MPI_PROC_NULL");
  CHECK(recorded_root(sim::TraceRoot::of_both, 3, kBcastByTree) == "bcast by tree, root 3 of both groups as one");
  CHECK(recorded_root(sim::TraceRoot::here, 0, kBarrier) == "barrier by tree");
}

TEST_CASE("story: an agreement among some members of a communicator is named so, and the communicator keeps its name") {
  HandMade made;
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::communicator, 0, 1, std::uint64_t{1} << 32U, ""});
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::members, 0, 0, 30, ""});
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::members, 0, 1, 10, ""});
  constexpr std::uint32_t kOfText = 3U << 30U | 678587U << 11U | 903U;
  for (const std::uint32_t number : {7U, kOfText}) {
    sim::TraceEvent& begin = made.add(0, sim::TraceKind::collective_begin, {0, portals::kAnyRank, 0});
    begin.a = number;
    begin.match_bits = std::uint64_t{number} << 32U;
    made.add(0, sim::TraceKind::kernel_send, {0, 1, made.trace.entries.size()}, portals::Kind::put, 3,
             begin.match_bits);
  }
  made.add(0, sim::TraceKind::send_begin, {0, 1, 9}).match_bits = kTag7;
  const TraceNames names(made.trace);
  const Collectives collectives(made.trace, names);
  const EventText event_text(made.trace, names, {}, &collectives);
  CHECK(event_text.of(made.trace.entries[0]) ==
        "begins the agreement with tag 7 of 1 rank of MPI_COMM_WORLD: an agreement on a context, 0 bytes");
  CHECK(contains(event_text.message(made.trace.entries[1]), "the agreement with tag 7 of 1 rank of MPI_COMM_WORLD: "));
  CHECK(
      contains(event_text.of(made.trace.entries[2]), "begins the agreement by string tag of 1 rank of MPI_COMM_WORLD"));
  CHECK(contains(event_text.message(made.trace.entries[4]), "tag 7 from 0 in MPI_COMM_WORLD"));
  CHECK(names.communicator_of_calls(0, 1, 9000) == "MPI_COMM_WORLD");
  CHECK(names.members_number(0, 0, 9000) == 10);
  CHECK(names.members_number(0, 1, 9000) == 30);
  CHECK(names.members(0, 0, 9000) == 1);
  CHECK(names.members(0, 1, 9000) == 2);
}

TEST_CASE("story: starts of a persistent call continue to be counted beyond the bits of its number") {
  constexpr std::uint64_t kContext1 = std::uint64_t{1} << 3U;
  HandMade made;
  const auto start = [&](std::uint32_t channel, std::uint32_t number) {
    sim::TraceEvent& begin = made.add(0, sim::TraceKind::collective_begin, {0, portals::kAnyRank, 0});
    begin.a = 1U << 31U | channel << 11U | (number & 2047U);
    begin.match_bits = kContext1 | std::uint64_t{begin.a} << 32U;
    begin.b = 1;
  };
  for (std::uint32_t i = 0; i < 2050; ++i) start(3, i);
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 1}, portals::Kind::put, 3,
           kContext1 | std::uint64_t{1U << 31U | 3U << 11U | 1U} << 32U);
  start(4, 0);
  start(3, 0);
  const TraceNames names(made.trace);
  const Collectives collectives(made.trace, names);
  const EventText event_text(made.trace, names, {}, &collectives);
  const auto said = [&](std::size_t at) { return event_text.of(made.trace.entries[at]); };
  CHECK(said(2047) == "begins persistent collective call 3, start 2047 of MPI_COMM_WORLD: barrier by tree, 0 bytes");
  CHECK(said(2049) == "begins persistent collective call 3, start 2049 of MPI_COMM_WORLD: barrier by tree, 0 bytes");
  CHECK(said(2051) == "begins persistent collective call 4, start 0 of MPI_COMM_WORLD: barrier by tree, 0 bytes");
  CHECK(said(2052) == "begins persistent collective call 3, start 0 of MPI_COMM_WORLD: barrier by tree, 0 bytes");
  CHECK(said(2050).ends_with("persistent collective call 3, start 2049 of MPI_COMM_WORLD"));
  CHECK(said(1) == "begins persistent collective call 3, start 1 of MPI_COMM_WORLD: barrier by tree, 0 bytes");
}

TEST_CASE("story: requests of sends and of receives are distinguished, also those of a rank with itself") {
  HandMade made;
  const auto complete = [&](MessageIdentity message, sim::TraceProtocol protocol, std::uint32_t request) {
    sim::TraceEvent& event = made.add(0, sim::TraceKind::request_complete, message);
    event.protocol = protocol;
    event.a = request;
  };
  complete({0, 1, 1}, sim::TraceProtocol::long_send, 0);
  complete({1, 0, 1}, sim::TraceProtocol::none, 0);
  complete({0, 0, 1}, sim::TraceProtocol::synchronous_short, 2);
  complete({0, 0, 1}, sim::TraceProtocol::none, 2);
  const TraceNames names(made.trace);
  const EventText event_text(made.trace, names);
  const char* const kExpected[] = {"the send is complete", "the receive is complete (request 0)",
                                   "the send is complete", "the receive is complete (request 2)"};
  for (std::size_t i = 0; i < std::size(kExpected); ++i) CHECK(event_text.of(made.trace.entries[i]) == kExpected[i]);
  CHECK(Messages(made.trace).story({0, 0, 1}).completed == 2);
}

}  // namespace

TEST_CASE("story: acknowledgment, get and reply are parts of the message to which they belong") {
  const HandMade made = pulled();
  const Messages messages(made.trace);
  REQUIRE_EQ(messages.roots().size(), 1);
  CHECK(messages.roots().front() == kMessage);
  for (const MessageIdentity& hop : {kMessage, kAcknowledgment, kGet, kReply}) CHECK(messages.root_of(hop) == kMessage);
  const MessageStory story = messages.story(kMessage);
  CHECK(story.unexpected);
  // All events except calls.
  CHECK_EQ(story.steps.size(), made.trace.entries.size() - 4);
  CHECK(made.trace.entries[story.posted].event.kind == sim::TraceKind::post_receive);
  CHECK(missing(made.trace).empty());
}

TEST_CASE("story: a message longer than its receive is described as truncated") {
  HandMade made = pulled();
  for (Trace::Entry& entry : made.trace.entries) {
    if (entry.event.kind == sim::TraceKind::receive_complete) entry.event.bytes = 100;
  }
  const std::string there = "It was longer than its receive (MPI_ERR_TRUNCATE): 100 of its 40000 bytes are there";
  CHECK(contains(story(made.trace, kMessage), there + ".\n"));
  sim::TraceEvent* leave = nullptr;
  for (Trace::Entry& entry : made.trace.entries) {
    if (entry.event.kind == sim::TraceKind::mpi_leave && entry.file == 1) leave = &entry.event;
  }
  constexpr std::uint32_t kInStatus = 17;
  leave->b = kInStatus;
  CHECK(contains(story(made.trace, kMessage), there + ", and MPI_Recv returned MPI_ERR_IN_STATUS.\n"));
  leave->kind = sim::TraceKind::sleep;
  CHECK(contains(story(made.trace, kMessage), there + ", and MPI_Recv did not return.\n"));
}

TEST_CASE("story: a message without an arrival is described as not arrived") {
  HandMade made;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7).bytes = 4;
  CHECK(contains(story(made.trace, kMessage), "It never arrived: rank 1's recording ends without it."));
  made.trace.files[1].closed = false;
  CHECK(contains(story(made.trace, kMessage), "It had not arrived when rank 1's file was read, which is not closed."));
  made.trace.files[1].sealed = true;
  CHECK(contains(story(made.trace, kMessage), "It never arrived: rank 1's recording ends without it."));
  made.trace.files[1].lost = 3;
  CHECK(contains(story(made.trace, kMessage), "Whether rank 1 saw it is not known"));
}

TEST_CASE("story: it describes in plain text what happened, and which rank waited") {
  const HandMade made = pulled();
  const std::string text = story(made.trace, kMessage);
  CAPTURE(text);
  for (const char* part :
       {"0>1 #5: 10000 x MPI_INT, tag 7 from 0 in MPI_COMM_WORLD\n", "calls MPI_Send",
        "to rank 1: long, as it is longer than the short limit",
        "no match, it accepts tag 8, and the message has tag 7; its no-match link leads to the next entry",
        "is taken by the entry \"unexpected long\", the second entry of its walk; its header is kept",
        "accepts at most 10000 x MPI_INT, tag 7 from any source in MPI_COMM_WORLD (request 3)",
        "The message lay there for 7.00 us before its receive was posted.", "Rank 0 sent it in MPI_Send, 21.0 us long",
        "Rank 1 received it in MPI_Recv, 10.0 us long"}) {
    CHECK_MESSAGE(contains(text, part), part);
  }
}

TEST_CASE("story: a program's own entries, one for another rank, and a portal without a list are described") {
  using portals::Kind;
  constexpr std::uint8_t kPortal = 4;
  constexpr auto kNoMatch = static_cast<std::uint8_t>(portals::Passed::no_match);
  HandMade made;
  made.trace.files[1].definitions.push_back({sim::DefinitionKind::portal, 0, kPortal, 0, "desk"});
  made.add(0, sim::TraceKind::kernel_send, kMessage, Kind::put, kPortal, 7);
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, Kind::put, kPortal, 7);
  made.add(1, sim::TraceKind::kernel_pass, kMessage, Kind::put, kPortal, 6).reason = kNoMatch;
  sim::TraceEvent& stranger = made.add(1, sim::TraceKind::kernel_pass, kMessage, Kind::put, kPortal, 7);
  stranger.reason = kNoMatch;
  stranger.b = 1;  // the rank that it accepts
  stranger.detail = 2;
  made.add(1, sim::TraceKind::kernel_match, kMessage, Kind::put, kPortal, 7);
  const std::string text = story(made.trace, kMessage);
  CAPTURE(text);
  CHECK(contains(text, "no match, it accepts bits 0x6, and 0x1 differ"));
  CHECK(contains(text, "passes over entry 2: no match, the bits fit, but it takes rank 1 only"));
  CHECK(contains(text, "is taken by the descriptor of portal 4 (desk)"));
}

TEST_CASE("story: a missing step is reported") {
  const HandMade made = pulled();
  for (std::size_t gone = 0; gone < made.trace.entries.size(); ++gone) {
    Trace without = made.trace;
    const sim::TraceKind kind = without.entries[gone].event.kind;
    without.entries.erase(without.entries.begin() + static_cast<std::ptrdiff_t>(gone));
    const bool is_needed = kind == sim::TraceKind::send_begin || kind == sim::TraceKind::search_hit ||
                           kind == sim::TraceKind::post_receive || kind == sim::TraceKind::kernel_match ||
                           kind == sim::TraceKind::kernel_get_arrived || kind == sim::TraceKind::kernel_reply_sent ||
                           kind == sim::TraceKind::pull_complete;
    CAPTURE(name(kind));
    if (is_needed) CHECK_FALSE(missing(without).empty());
    // If the rank's ring was overwritten, a step that may have been in it is not reported missing.
    without.files[0].lost = without.files[1].lost = 1;
    CHECK(missing(without).empty());
  }
}

TEST_CASE("story: overwritten steps are reported as such, and no message as unreceived") {
  HandMade made = pulled();
  const auto arrived =
      std::find_if(made.trace.entries.begin(), made.trace.entries.end(),
                   [](const Trace::Entry& entry) { return entry.event.kind == sim::TraceKind::search_hit; });
  made.trace.entries.erase(arrived, made.trace.entries.end());
  CHECK(contains(story(made.trace, kMessage), "Nothing in this trace received it."));
  made.trace.files[1].lost = 10;
  CHECK(contains(story(made.trace, kMessage), "Nothing in this trace received it."));
  made.trace.entries.erase(made.trace.entries.begin() + 3, made.trace.entries.end());
  CHECK(contains(story(made.trace, kMessage), "The beginning at rank 1 was overwritten or left out"));
}

TEST_CASE("story: damaged events, with cyclic answers and meaningless numbers, have some story") {
  HandMade made;
  made.add(0, sim::TraceKind::kernel_ack_sent, {0, 1, 1}).detail = 2;
  made.add(1, sim::TraceKind::kernel_ack_sent, {1, 0, 2}).detail = 1;
  for (std::uint16_t kind = 0; kind < sim::kTraceKindCount + 2; ++kind) {
    sim::TraceEvent& event = made.add(0, static_cast<sim::TraceKind>(kind), {0, 1, 3});
    event.reason = event.portal = event.header = 0xee;
    event.saved = static_cast<portals::Saved>(0xee);
    event.a = event.b = 0xeeee'eeee;
    event.detail = event.match_bits = event.bytes = 0xeeee'eeee'eeee'eeee;
  }
  const TraceNames names(made.trace);
  const EventText event_text(made.trace, names);
  for (const Trace::Entry& entry : made.trace.entries) {
    CHECK_FALSE(event_text.of(entry).empty());
    const auto kind = static_cast<std::uint16_t>(entry.event.kind);
    const bool known = kind != 0 && kind < sim::kTraceKindCount;
    CHECK((event_text.of(entry).find("does not know") == std::string::npos) == known);
  }
  const Messages messages(made.trace);
  for (const MessageIdentity& root : {MessageIdentity{0, 1, 1}, MessageIdentity{1, 0, 2}, MessageIdentity{0, 1, 3}}) {
    CHECK_FALSE(story(made.trace, messages.root_of(root)).empty());
  }
  CHECK(story(made.trace, {5, 6, 7}) != "");
}

TEST_CASE("story: a message's communicator has the name that its sender used when it sent it") {
  constexpr std::uint64_t kBits = kTag7 | std::uint64_t{2} << 3U;  // context 2
  const std::uint64_t two = std::uint64_t{2} << 32U;
  HandMade made;
  made.trace.files[1].definitions.push_back({sim::DefinitionKind::communicator, 0, 2, two, "freed"});
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::communicator, 0, 2, two, "freed"});
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::communicator, 500, 2, two, "present"});
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::communicator, 1500, 2, two, "later"});
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kBits);
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kBits);
  sim::TraceEvent& pass = made.add(1, sim::TraceKind::kernel_pass, kMessage, portals::Kind::put, 0, kTag7);
  pass.reason = static_cast<std::uint8_t>(portals::Passed::no_match);
  pass.bytes = 5;
  pass.a = 1U << 16U;
  made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kBits).b = mpi_adi::kOwnerHeap;
  const std::string text = story(made.trace, kMessage);
  CAPTURE(text);
  CHECK(contains(text,
                 "its header arrives by wire 1: a put of 0 bytes for portal 0 (receives), tag 7 from 0 in present"));
  CHECK(contains(text, "it accepts MPI_COMM_WORLD, and the message is of present"));
  CHECK_FALSE(contains(text, "freed"));
  CHECK_FALSE(contains(text, "later"));
  made.trace.entries.erase(made.trace.entries.begin());
  CHECK(contains(story(made.trace, kMessage), "tag 7 from 0 in communicator 2"));
}

}  // namespace margay::command::test
