// Tests of the critical path, from hand-made traces: those of viewer/test/unit/critical_path.test.js.
#include "command/trace/diff/critical_path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "command/trace/names/names.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using sim::TraceKind;

// A trace of events at given times.
class Timed {
 public:
  explicit Timed(std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      TraceFile& file = made_.trace.files.emplace_back(made_.trace.files.front());
      file.rank = rank;
      file.size = ranks;
      file.names = {"MPI_Send", "MPI_Recv", "MPI_Barrier"};
      file.definitions.front().value = std::uint64_t{ranks} << 32U | rank;
    }
    made_.trace.files.erase(made_.trace.files.begin(), made_.trace.files.begin() + 2);
  }
  sim::TraceEvent& at(std::uint64_t time, std::uint32_t rank, TraceKind kind, MessageIdentity message = {}) {
    sim::TraceEvent& event = made_.add(rank, kind, message, portals::Kind::put, 0, made::kTag7);
    event.time = time;
    return event;
  }
  void call(std::uint32_t rank, std::uint32_t name, std::uint64_t begin, std::uint64_t end) {
    at(begin, rank, TraceKind::mpi_enter).a = name;
    at(end, rank, TraceKind::mpi_leave).a = name;
  }
  void wait(std::uint32_t rank, std::uint64_t begin, std::uint64_t end) {
    at(begin, rank, TraceKind::wait_begin);
    at(end, rank, TraceKind::wait_end);
  }
  // A message and its receive, which has the request `number` of its receiver.
  void message(MessageIdentity identity, std::uint64_t sent, std::uint64_t arrived, std::uint64_t received,
               std::uint32_t number) {
    at(sent, identity.source, TraceKind::kernel_send, identity);
    at(arrived, identity.destination, TraceKind::kernel_arrive, identity);
    sim::TraceEvent& match = at(arrived, identity.destination, TraceKind::kernel_match, identity);
    match.b = mpi_adi::kOwnerReceive;
    at(received, identity.destination, TraceKind::kernel_deposit, identity);
    at(received, identity.destination, TraceKind::receive_complete, identity).a = number;
  }
  // A rank's part of a collective call in memory that the ranks share: call `number` of MPI_COMM_WORLD.
  void part(std::uint32_t rank, std::uint32_t number, std::uint64_t begin, std::uint64_t end) {
    for (const auto& [time, kind] : {std::pair{begin, TraceKind::collective_begin}, {end, TraceKind::collective_end}}) {
      sim::TraceEvent& event = at(time, rank, kind);
      event.match_bits = std::uint64_t{1} << 3U;
      event.a = number;
    }
  }
  CriticalPath path() {
    std::stable_sort(
        made_.trace.entries.begin(), made_.trace.entries.end(),
        [](const Trace::Entry& one, const Trace::Entry& other) { return one.event.time < other.event.time; });
    const TraceNames names(made_.trace);
    const Messages messages(made_.trace);
    const Collectives collectives(made_.trace, names);
    return critical_path({made_.trace, names, messages, collectives}, timeline_of(made_.trace, messages));
  }

 private:
  made::HandMade made_;
};

// "0: 0-500" for work, "0>: 500-520" for a header of rank 0 in flight.
std::vector<std::string> short_form(const CriticalPath& path) {
  std::vector<std::string> lines;
  for (const PathStretch& stretch : path.stretches) {
    lines.push_back(std::to_string(stretch.rank) + (stretch.parts.wire != 0 ? ">: " : ": ") +
                    std::to_string(stretch.from_ns) + "-" + std::to_string(stretch.to_ns));
  }
  return lines;
}
using Lines = std::vector<std::string>;

// Rank 1 waits in a receive from 100 to 530; rank 0 computes until 490 and then sends.
Timed late_sender(std::uint64_t waited_until = 530) {
  Timed made(3);
  made.call(0, 0, 0, 10);
  made.call(0, 0, 490, 600);
  made.call(1, 1, 90, 540);
  made.call(1, 1, 800, 900);
  made.wait(1, 100, waited_until);
  made.message({0, 1, 1}, 500, 520, 525, 1);
  return made;
}

TEST_CASE("critical path: a trace without events has none") {
  Timed made(1);
  const CriticalPath path = made.path();
  CHECK(path.stretches.empty());
  CHECK(path.totals == PathParts{});
  CHECK(path.ranks().empty());
}

TEST_CASE("critical path: that of one rank is its whole run") {
  Timed made(1);
  made.call(0, 0, 100, 200);
  made.call(0, 1, 600, 650);
  const CriticalPath path = made.path();
  CHECK(short_form(path) == Lines{"0: 100-650"});
  CHECK(path.totals == PathParts{.computing = 400, .calls = 150, .waiting = 0, .wire = 0});
  CHECK(path.by_call == std::map<std::string, std::uint64_t>{{"MPI_Send", 100}, {"MPI_Recv", 50}});
}

TEST_CASE("critical path: from a receiver to its late sender, at the time of the send") {
  const CriticalPath path = late_sender().path();
  CHECK(short_form(path) == Lines{"0: 0-500", "0>: 500-520", "1: 520-900"});
  CHECK(path.totals == PathParts{.computing = 480 + 260, .calls = 10 + 10 + 10 + 100, .waiting = 10, .wire = 20});
  CHECK(path.by_rank.at(1) == PathParts{.computing = 260, .calls = 110, .waiting = 10, .wire = 0});
  CHECK(path.by_rank.at(0).wire == 20);
  // With the waits, but only between the ends of the stretches.
  CHECK(path.by_call == std::map<std::string, std::uint64_t>{{"MPI_Send", 20}, {"MPI_Recv", 120}});
  CHECK(path.ranks() == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("critical path: a rank that polls only after its wait still follows the message") {
  CHECK(short_form(late_sender(515).path()) == Lines{"0: 0-500", "0>: 500-520", "1: 520-900"});
}

TEST_CASE("critical path: a message that merely arrived during a wait did not end it") {
  Timed made = late_sender();
  made.message({2, 1, 1}, 510, 524, 850, 2);
  CHECK(short_form(made.path()) == Lines{"0: 0-500", "0>: 500-520", "1: 520-900"});
}

TEST_CASE("critical path: clocks that run backward do not make a circle") {
  Timed made(2);
  made.call(0, 0, 0, 600);
  made.call(1, 1, 90, 900);
  made.wait(1, 100, 530);
  made.message({0, 1, 1}, 560, 520, 565, 1);
  CHECK(short_form(made.path()) == Lines{"1: 90-900"});
}

TEST_CASE("critical path: from a wait that no message ended to the rank that entered the collective call last") {
  Timed made(3);
  made.call(0, 2, 90, 520);
  made.call(1, 2, 190, 515);
  made.call(2, 1, 10, 20);
  made.call(2, 2, 495, 505);
  made.call(0, 1, 890, 900);
  made.wait(0, 100, 515);
  made.wait(1, 200, 510);
  made.part(0, 0, 95, 518);
  made.part(1, 0, 195, 512);
  made.part(2, 0, 500, 503);
  const CriticalPath path = made.path();
  CHECK(short_form(path) == Lines{"2: 10-500", "0: 500-900"});
  CHECK(path.totals.waiting == 15);
}

}  // namespace
}  // namespace margay::command::test
