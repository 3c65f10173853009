#include <doctest/doctest.h>

#include "command/trace/read/filter.hpp"

using namespace margay;
using namespace margay::command;

namespace {

// A hand-made trace: each event is a microsecond later than the one before, recorded by the named rank.
class Story {
 public:
  explicit Story(std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      TraceFile& file = trace.files.emplace_back();
      file.rank = rank;
      file.size = ranks;
    }
  }
  sim::TraceEvent& add(std::uint32_t rank, sim::TraceKind kind, MessageIdentity message = {0, 0, 0}) {
    sim::TraceEvent event;
    event.time = 1000 * (trace.entries.size() + 1);
    event.kind = kind;
    event.source = message.source;
    event.destination = message.destination;
    event.sequence = message.sequence;
    trace.entries.push_back({event, rank});
    return trace.entries.back().event;
  }
  Trace trace;
};

// One put 0>1 #4, acknowledged by 1>0 #9, among other things.
Story acknowledged_put() {
  Story story(2);
  story.add(0, sim::TraceKind::mpi_enter);
  story.add(0, sim::TraceKind::send_begin, {0, 1, 0}).match_bits = 5;
  story.add(0, sim::TraceKind::kernel_send, {0, 1, 3}).match_bits = 5;
  story.add(0, sim::TraceKind::send_begin, {0, 1, 0}).match_bits = 5;
  story.add(0, sim::TraceKind::send_begin, {0, 1, 0}).match_bits = 6;
  story.add(0, sim::TraceKind::kernel_send, {0, 1, 4}).match_bits = 5;
  story.add(1, sim::TraceKind::kernel_arrive, {0, 1, 3});
  story.add(1, sim::TraceKind::kernel_arrive, {0, 1, 4});
  story.add(1, sim::TraceKind::kernel_ack_sent, {1, 0, 9}).detail = 4;
  story.add(1, sim::TraceKind::kernel_ack_sent, {1, 0, 10}).detail = 3;
  story.add(0, sim::TraceKind::kernel_ack_arrived, {1, 0, 9});
  story.add(0, sim::TraceKind::mpi_leave);
  return story;
}

std::vector<std::size_t> picked(const Story& story, const TraceFilter& filter) {
  return pick(story.trace, filter);
}
using Indices = std::vector<std::size_t>;

}  // namespace

TEST_CASE("without conditions all events are picked") {
  CHECK(picked(acknowledged_put(), {}).size() == 12);
  CHECK(picked(Story(0), {}).empty());
}

TEST_CASE("events are picked by rank, by kind, or by both") {
  const Story story = acknowledged_put();
  TraceFilter filter;
  filter.ranks = {1};
  CHECK(picked(story, filter) == Indices{6, 7, 8, 9});
  filter.kinds = {sim::TraceKind::kernel_arrive, sim::TraceKind::mpi_enter};
  CHECK(picked(story, filter) == Indices{6, 7});
  filter.ranks = {};
  CHECK(picked(story, filter) == Indices{0, 6, 7});
}

TEST_CASE("events are picked by excluded kinds, and by portal") {
  Story story = acknowledged_put();
  TraceFilter filter;
  filter.not_kinds = {sim::TraceKind::send_begin, sim::TraceKind::kernel_ack_sent, sim::TraceKind::kernel_ack_arrived};
  CHECK(picked(story, filter) == Indices{0, 2, 5, 6, 7, 11});
  filter.kinds = {sim::TraceKind::kernel_send, sim::TraceKind::send_begin};
  CHECK(picked(story, filter) == Indices{2, 5});
  for (Trace::Entry& entry : story.trace.entries) entry.event.portal = margay::portals::kNoPortal;
  story.trace.entries[2].event.portal = 3;
  story.trace.entries[7].event.portal = 3;
  story.trace.entries[8].event.portal = 4;
  filter = {};
  filter.portals = {3};
  CHECK(picked(story, filter) == Indices{2, 7});
  filter.not_kinds = {sim::TraceKind::kernel_send};
  CHECK(picked(story, filter) == Indices{7});
}

TEST_CASE("events are picked by time, with both ends included") {
  const Story story = acknowledged_put();
  TraceFilter filter;
  filter.from_ns = 3000;
  filter.to_ns = 5000;
  CHECK(picked(story, filter) == Indices{2, 3, 4});
  filter.to_ns = 2999;
  CHECK(picked(story, filter).empty());
}

TEST_CASE("the first, the last, and the last of the first events are picked") {
  const Story story = acknowledged_put();
  TraceFilter filter;
  filter.head = 5;
  CHECK(picked(story, filter) == Indices{0, 1, 2, 3, 4});
  filter.tail = 2;
  CHECK(picked(story, filter) == Indices{3, 4});
  filter.head = 0;
  CHECK(picked(story, filter) == Indices{10, 11});
  filter.tail = 100;
  CHECK(picked(story, filter).size() == 12);
}

TEST_CASE("a message is picked with the choice that began it and the answer that ended it, without its neighbours'") {
  const Story story = acknowledged_put();
  TraceFilter filter;
  filter.message = MessageIdentity{0, 1, 4};
  CHECK(picked(story, filter) == Indices{3, 5, 7, 8, 10});
  filter.message = MessageIdentity{0, 1, 3};
  CHECK(picked(story, filter) == Indices{1, 2, 6, 9});
  filter.message = MessageIdentity{1, 0, 9};  // the acknowledgment alone
  CHECK(picked(story, filter) == Indices{8, 10});
  filter.message = MessageIdentity{0, 1, 5};
  CHECK(picked(story, filter).empty());
}

TEST_CASE("a send_begin that contains its sequence belongs to its own message only") {
  Story story(2);
  story.add(0, sim::TraceKind::send_begin, {0, 1, 1});
  story.add(0, sim::TraceKind::kernel_send, {0, 1, 2});
  TraceFilter filter;
  filter.message = MessageIdentity{0, 1, 2};
  CHECK(picked(story, filter) == Indices{1});
}

TEST_CASE("a message is written SOURCE:DESTINATION:SEQUENCE or as stories print it, and in no other form") {
  MessageIdentity message;
  REQUIRE(parse_message("0:1:17", message).ok());
  CHECK(message == MessageIdentity{0, 1, 17});
  REQUIRE(parse_message("4294967294:0:281474976710655", message).ok());
  CHECK(message == MessageIdentity{0xffff'fffe, 0, (std::uint64_t{1} << 48) - 1});
  REQUIRE(parse_message("0:1:tcp.17", message).ok());
  CHECK(message == MessageIdentity{0, 1, sim::message_number(sim::way_by(sim::WireId::tcp), 17)});
  REQUIRE(parse_message("0>1 #tcp.17", message).ok());
  CHECK(message == MessageIdentity{0, 1, sim::message_number(sim::way_by(sim::WireId::tcp), 17)});
  for (const char* reported : {"7>0 #5", "7>0#5"}) {
    CAPTURE(reported);
    message = {};
    REQUIRE(parse_message(reported, message).ok());
    CHECK(message == MessageIdentity{7, 0, 5});
  }
  for (const char* bad : {"",
                          "0:1:281474976710656",
                          "0:1:tcp.0",
                          "0:1:carrier.1",
                          "0:1:tcp.shm.1",
                          ":",
                          "0",
                          "0:1",
                          "0:1:",
                          "0:1:0",
                          "0:1:2:3",
                          "0:1:2 ",
                          " 0:1:2",
                          "-1:0:1",
                          "a:b:c",
                          "0:1:+2",
                          "4294967295:0:1",
                          "0:4294967296:1",
                          "0:1:18446744073709551616",
                          "0,1,2",
                          "7>0:5",
                          "7:0 #5",
                          "7>0",
                          "7>0 #0",
                          "7>0 5",
                          "7>0  #5",
                          "7 > 0 #5",
                          "7>0 #5 "}) {
    CAPTURE(bad);
    const auto status = parse_message(bad, message);
    REQUIRE_FALSE(status.ok());
    CHECK(status.sentence().find("SOURCE:DESTINATION:SEQUENCE") != std::string::npos);
  }
}

TEST_CASE("a rank that recorded nothing here is rejected, with a list of those that did") {
  const Trace trace = Story(3).trace;
  CHECK(check_ranks(trace, {}).ok());
  CHECK(check_ranks(trace, {2, 0}).ok());
  CHECK(check_ranks(trace, {1, 3}).sentence() == "rank 3 has no file in this trace; there are ranks 0, 1, 2");
  CHECK(check_ranks(Story(1).trace, {9}).sentence() == "rank 9 has no file in this trace; there is rank 0");
  const std::string many = check_ranks(Story(100).trace, {100}).sentence();
  CHECK_MESSAGE(many.find("14, 15, ... 99") != std::string::npos, many);
}
