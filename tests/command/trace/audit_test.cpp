#include <doctest/doctest.h>

#include "command/trace/audit.hpp"
#include "command/trace/read/filter.hpp"
#include "portals/base/verdict.hpp"

using namespace margay;
using namespace margay::command;
using margay::portals::DropReason;

namespace {

// A run of two ranks that ended well and recorded every event, to which tests add events.
class Run {
 public:
  Run() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      TraceFile& file = trace.files.emplace_back();
      file.rank = rank;
      file.size = 2;
      file.closed = true;
    }
  }
  // An event of a call or a wait.
  Run& call(std::uint64_t thread, sim::TraceKind kind, std::uint32_t call) {
    sim::TraceEvent& event = add(0, kind);
    event.detail = thread;
    event.a = call;
    return *this;
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
  // A put that is deposited.
  Run& delivered(MessageIdentity message) {
    add(message.source, sim::TraceKind::kernel_send, message);
    add(message.destination, sim::TraceKind::kernel_arrive, message);
    add(message.destination, sim::TraceKind::kernel_deposit, message);
    return *this;
  }
  Trace trace;
};

constexpr MessageIdentity kFirst{0, 1, 1};
constexpr MessageIdentity kSecond{0, 1, 2};

void expect_violation(const Run& run, std::string_view what) {
  const Audit result = audit(run.trace);
  REQUIRE(result.violation_count >= 1);
  bool found = false;
  std::string all;
  for (const std::string& sentence : result.violations) {
    found = found || sentence.find(what) != std::string::npos;
    all += sentence + "\n";
  }
  CHECK_MESSAGE(found, all);
}

void expect_right(const Run& run) {
  const Audit result = audit(run.trace);
  CHECK_MESSAGE(result.violations.empty(), (result.violations.empty() ? "" : result.violations.front()));
}

bool has_note(const Audit& result, std::string_view what) {
  for (const std::string& note : result.notes) {
    if (note.find(what) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the accounts of a correct run are right") {
  Run run;
  run.add(0, sim::TraceKind::mpi_enter);
  run.delivered(kFirst).delivered({1, 0, 1});
  run.add(0, sim::TraceKind::kernel_send, kSecond);  // dropped
  run.add(1, sim::TraceKind::kernel_arrive, kSecond);
  run.add(1, sim::TraceKind::kernel_drop, kSecond).reason = static_cast<std::uint8_t>(DropReason::no_match);
  run.add(1, sim::TraceKind::kernel_ack_sent, {1, 0, 2}).detail = 1;
  run.add(0, sim::TraceKind::kernel_ack_arrived, {1, 0, 2});
  run.add(0, sim::TraceKind::kernel_send, {0, 1, 3});  // a get, and its reply
  run.add(1, sim::TraceKind::kernel_get_arrived, {0, 1, 3});
  run.add(1, sim::TraceKind::kernel_reply_sent, {1, 0, 3}).detail = 3;
  run.add(0, sim::TraceKind::kernel_arrive, {1, 0, 3});
  run.add(0, sim::TraceKind::kernel_deposit, {1, 0, 3});
  run.add(0, sim::TraceKind::wait_begin);
  run.add(0, sim::TraceKind::wait_end);
  run.add(0, sim::TraceKind::mpi_leave);
  const Audit result = audit(run.trace);
  CHECK_MESSAGE(result.violations.empty(), (result.violations.empty() ? "" : result.violations.front()));
  CHECK(result.notes.empty());
  const Audit::Pair& there = result.pairs.at({0, 1});
  CHECK(there.sent == 3);
  CHECK(there.delivered == 2);
  CHECK(there.dropped == 1);
  CHECK(there.on_the_way == 0);
  CHECK(result.pairs.at({1, 0}).sent == 2);  // acknowledgments are not counted
  CHECK(result.drops.at(static_cast<std::uint8_t>(DropReason::no_match)) == 1);
}

TEST_CASE("a message may arrive before its sender recorded it") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, {0, 1, 1});
  for (const std::uint64_t sequence : {1U, 2U}) {
    run.add(1, sim::TraceKind::kernel_arrive, {0, 1, sequence});
    run.add(1, sim::TraceKind::kernel_deposit, {0, 1, sequence});
  }
  expect_violation(run, "message 0>1 #2 arrived and was never sent");
  SUBCASE("is the last one of a sender that was killed") {
    run.trace.files[0].closed = false;
    run.trace.files[0].sealed = true;
    expect_right(run);
    CHECK(has_note(audit(run.trace), "0>1 #2 arrived, and rank 0 ended before it recorded sending it"));
    run.add(1, sim::TraceKind::kernel_arrive, {0, 1, 3});
    run.add(1, sim::TraceKind::kernel_deposit, {0, 1, 3});
    expect_violation(run, "message 0>1 #3 arrived and was never sent");
  }
}

TEST_CASE("a message that never arrived") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, kFirst);
  expect_violation(run, "message 0>1 #1 never arrived");
  CHECK(audit(run.trace).pairs.at({0, 1}).on_the_way == 1);

  SUBCASE("is no fault while its receiver may still run") {
    run.trace.files[1].closed = false;
    expect_right(run);
    CHECK(has_note(audit(run.trace), "rank 1: did not close its trace: it still runs"));
    CHECK(has_note(audit(run.trace), "1 message was still on the way"));
  }
  SUBCASE("may have been overwritten") {
    run.trace.files[1].lost = 1;
    expect_right(run);
    run.trace.files[1].written = 70000;
    const Audit result = audit(run.trace);
    CHECK(has_note(result,
                   "events were overwritten, so what they recorded cannot be checked; record into a larger ring "
                   "(--trace-events 131072)"));
    CHECK(result.pairs.at({0, 1}).on_the_way == 0);
    CHECK(result.pairs.at({0, 1}).unknown == 1);
    CHECK_FALSE(has_note(result, "still on the way"));
  }
  SUBCASE("may be in a file that is not there") {
    run.trace.files.pop_back();
    expect_right(run);
    CHECK(has_note(audit(run.trace), "1 of 2 ranks left no file"));
  }
  SUBCASE("is no fault of a rank that was killed after it had closed its file, as between two sessions") {
    run.trace.files[1].end = sim::TraceEnd::signal;
    run.trace.files[1].end_value = 9;
    expect_right(run);
    CHECK(has_note(audit(run.trace), "rank 1: closed its trace, and was killed later by signal 9 (SIGKILL)"));
  }
  SUBCASE("is a fault of one that ended by itself") {
    run.trace.files[1].end = sim::TraceEnd::exit_status;
    run.trace.files[1].end_value = 3;
    expect_violation(run, "never arrived");
    CHECK(has_note(audit(run.trace), "rank 1: closed its trace, and ended with exit status 3"));
  }
  SUBCASE("is the fault of a lost peer") {
    run.add(0, sim::TraceKind::peer_lost, {1, 0, 0});
    expect_right(run);
  }
}

TEST_CASE("a message that no rank sent") {
  Run run;
  run.add(1, sim::TraceKind::kernel_arrive, kFirst);
  run.add(1, sim::TraceKind::kernel_deposit, kFirst);
  expect_violation(run, "message 0>1 #1 arrived and was never sent");
  run.trace.files[0].lost = 5;
  expect_right(run);
}

TEST_CASE("a message that arrived after its sender's file was read") {
  Run run;
  run.delivered(kFirst);
  for (const std::uint64_t number : {2U, 3U, 4U}) {
    run.add(1, sim::TraceKind::kernel_arrive, {0, 1, number});
    run.add(1, sim::TraceKind::kernel_deposit, {0, 1, number});
  }
  run.trace.files[0].closed = false;
  SUBCASE("its sender runs: the file as read so far continues") {
    expect_right(run);
    CHECK(
        has_note(audit(run.trace),
                 "3 messages arrived before their sendings were in the file of their sender, which was not closed when "
                 "it was read"));
    CHECK_FALSE(has_note(audit(run.trace), "ended before it recorded"));
  }
  SUBCASE("its sender was killed, and its launcher closed the file: one message may be missing") {
    run.trace.files[0].sealed = true;
    run.trace.files[0].end = sim::TraceEnd::signal;
    run.trace.files[0].end_value = 9;
    expect_violation(run, "message 0>1 #3 arrived and was never sent");
    CHECK(has_note(audit(run.trace), "message 0>1 #2 arrived, and rank 0 ended before it recorded sending it"));
  }
  SUBCASE("a message that is missing before the last recorded one was never sent") {
    run.add(0, sim::TraceKind::kernel_send, {0, 1, 4});
    expect_violation(run, "message 0>1 #3 arrived and was never sent");
  }
}

TEST_CASE("a message that arrived and vanished") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, kFirst);
  run.add(1, sim::TraceKind::kernel_arrive, kFirst);
  expect_violation(run, "arrived and was neither delivered nor dropped");
}

TEST_CASE("a get without a reply") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, kFirst);
  run.add(1, sim::TraceKind::kernel_get_arrived, kFirst);
  expect_violation(run, "neither delivered nor dropped");
}

TEST_CASE("an event that occurs twice is a violation") {
  Run run;
  SUBCASE("sent") {
    run.delivered(kFirst).add(0, sim::TraceKind::kernel_send, kFirst);
    expect_violation(run, "was sent twice");
  }
  SUBCASE("arrived") {
    run.delivered(kFirst).add(1, sim::TraceKind::kernel_arrive, kFirst);
    expect_violation(run, "arrived twice");
  }
  SUBCASE("delivered and dropped") {
    run.delivered(kFirst).add(1, sim::TraceKind::kernel_drop, kFirst);
    expect_violation(run, "was delivered 1 and dropped 1 time");
  }
}

TEST_CASE("a held message arrives once and is settled later") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, kFirst);
  run.add(1, sim::TraceKind::kernel_arrive, kFirst);
  run.add(1, sim::TraceKind::kernel_hold, kFirst);
  expect_violation(run, "message 0>1 #1");
  run.add(1, sim::TraceKind::kernel_deposit, kFirst);
  expect_right(run);
  run.add(1, sim::TraceKind::kernel_arrive, kFirst);
  expect_violation(run, "arrived twice");
}

TEST_CASE("a message settled without an arrival is a violation") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, kFirst);
  run.add(1, sim::TraceKind::kernel_deposit, kFirst);
  expect_violation(run, "was settled and never arrived");
}

TEST_CASE("a lost acknowledgment is a violation") {
  Run run;
  run.delivered(kFirst).add(1, sim::TraceKind::kernel_ack_sent, {1, 0, 1}).detail = 1;
  expect_violation(run, "message 1>0 #1 never arrived");
}

TEST_CASE("messages of a pair arrive in order") {
  Run run;
  run.add(0, sim::TraceKind::kernel_send, kFirst);
  run.add(0, sim::TraceKind::kernel_send, kSecond);
  for (const MessageIdentity& message : {kSecond, kFirst}) {
    run.add(1, sim::TraceKind::kernel_arrive, message);
    run.add(1, sim::TraceKind::kernel_deposit, message);
  }
  expect_violation(run, "message 0>1 #1 arrived after #2");
}

TEST_CASE("the lengths at both ends are equal") {
  Run run;
  run.delivered(kFirst);
  run.trace.entries[1].event.bytes = 8;
  expect_violation(run, "was sent with 0 bytes and arrived with 8");
}

TEST_CASE("a rank that records another rank's event is a violation") {
  Run run;
  run.add(1, sim::TraceKind::kernel_send, {0, 1, 0});
  expect_violation(run, "rank 1 recorded that rank 0 sent something");
  Run other;
  other.add(0, sim::TraceKind::kernel_arrive, {0, 1, 0});
  expect_violation(other, "rank 0 recorded that something arrived at rank 1");
}

TEST_CASE("calls and waits end only after they began, and nested calls in the opposite order") {
  Run run;
  run.trace.files[0].names = {"MPI_Init", "MPI_Send"};
  SUBCASE("left without entering") {
    run.add(0, sim::TraceKind::mpi_leave).a = 1;
    expect_violation(run, "rank 0 left MPI_Send without entering it");
    run.trace.files[0].lost = 1;
    expect_right(run);
  }
  SUBCASE("left another") {
    run.add(0, sim::TraceKind::mpi_enter).a = 0;
    run.add(0, sim::TraceKind::mpi_leave).a = 1;
    expect_violation(run, "rank 0 left MPI_Send while in MPI_Init");
  }
  SUBCASE("nested calls are fine; a rank that died in one is noted") {
    run.add(0, sim::TraceKind::mpi_enter).a = 0;
    run.add(0, sim::TraceKind::mpi_enter).a = 1;
    run.add(0, sim::TraceKind::mpi_leave).a = 1;
    run.trace.files[0].closed = false;
    expect_right(run);
    CHECK(has_note(audit(run.trace), "rank 0: was last seen in MPI_Init; did not close its trace"));
  }
  SUBCASE("a wait that never began") {
    run.add(0, sim::TraceKind::wait_end);
    expect_violation(run, "wait_end without wait_begin");
  }
  SUBCASE("a coprocessor that never began") {
    run.add(0, sim::TraceKind::coprocessor_end);
    expect_violation(run, "coprocessor_end without coprocessor_begin");
  }
}

TEST_CASE("each rank that the launcher killed has one note: its call, its wait, and the killer") {
  Run run;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    TraceFile& file = run.trace.files[rank];
    file.names = {"MPI_Recv"};
    file.closed = false;
    file.sealed = true;
    file.end = sim::TraceEnd::stopped;
    file.end_value = sim::stop_value(15, sim::TraceStop::deadlock);
    run.add(rank, sim::TraceKind::mpi_enter).a = 0;
    run.add(rank, sim::TraceKind::wait_begin).a = 0;
  }
  const Audit result = audit(run.trace);
  CHECK(result.violation_count == 0);
  REQUIRE(result.notes.size() == 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    CHECK(result.notes[rank] ==
          "rank " + std::to_string(rank) +
              ": was last seen in MPI_Recv, waiting; was killed by signal 15 (SIGTERM), which margay "
              "run sent as it ended the job (--deadlock abort); unfinished messages are expected");
  }
}

TEST_CASE("calls and waits of two threads interleave; those of one thread nest") {
  using enum sim::TraceKind;
  Run run;
  run.trace.files[0].names = {"MPI_Recv", "MPI_Ssend"};
  SUBCASE("either thread ends what it began, in any order") {
    run.call(0, mpi_enter, 0).call(0, wait_begin, 0).call(1, mpi_enter, 1).call(1, wait_begin, 1);
    run.call(0, wait_end, 0).call(0, mpi_leave, 0).call(1, wait_end, 1).call(1, mpi_leave, 1);
    expect_right(run);
    CHECK(audit(run.trace).notes.empty());
  }
  SUBCASE("a thread of the same number on another rank is another") {
    run.call(1, mpi_enter, 0);
    run.add(1, mpi_leave).detail = 1;
    expect_violation(run, "thread 1 of rank 1 left call 0 without entering it");
  }
  SUBCASE("a thread leaves what another entered") {
    run.call(0, mpi_enter, 0).call(1, mpi_leave, 0);
    expect_violation(run, "thread 1 of rank 0 left MPI_Recv without entering it");
  }
  SUBCASE("a thread ends a wait that another began") {
    run.call(0, wait_begin, 0).call(2, wait_end, 0);
    expect_violation(run, "thread 2 of rank 0 recorded wait_end without wait_begin");
  }
  SUBCASE("one thread leaves its outer call first") {
    run.call(1, mpi_enter, 0).call(1, mpi_enter, 1).call(1, mpi_leave, 0).call(1, mpi_leave, 1);
    expect_violation(run, "thread 1 of rank 0 left MPI_Recv while in MPI_Ssend");
  }
  SUBCASE("one thread leaves a call before its wait ends") {
    run.call(0, mpi_enter, 0).call(0, wait_begin, 0).call(0, mpi_leave, 0).call(0, wait_end, 0);
    expect_violation(run, "rank 0 left MPI_Recv while it waited in it");
  }
  SUBCASE("one thread ends a wait in another call") {
    run.call(1, mpi_enter, 0).call(1, wait_begin, 0).call(1, wait_end, 1).call(1, mpi_leave, 0);
    expect_violation(run, "thread 1 of rank 0 ended in MPI_Ssend a wait that began in MPI_Recv");
  }
  SUBCASE("a thread that never returned is noted") {
    run.call(0, mpi_enter, 0).call(0, mpi_leave, 0).call(3, mpi_enter, 1).call(3, wait_begin, 1);
    run.trace.files[0].closed = false;
    expect_right(run);
    CHECK(has_note(audit(run.trace), "rank 0: thread 3 was last seen in MPI_Ssend, waiting; "));
  }
  SUBCASE("the many threads of a damaged file are not noted one by one") {
    for (std::uint64_t thread = 0; thread < 10'000; ++thread) run.call(thread, mpi_enter, 0);
    CHECK(audit(run.trace).notes.size() == 1);
    CHECK(has_note(audit(run.trace), "9950 more threads were in a call to the end"));
    CHECK(has_note(audit(run.trace), "9950 more threads were in a call to the end"));
  }
}

TEST_CASE("a large number of violations is counted and truncated") {
  Run run;
  for (std::uint64_t i = 1; i <= 200; ++i) run.add(0, sim::TraceKind::kernel_send, {0, 1, i});
  const Audit result = audit(run.trace);
  CHECK(result.violation_count == 200);
  CHECK(result.violations.size() == kMaxAuditSentences);
}
