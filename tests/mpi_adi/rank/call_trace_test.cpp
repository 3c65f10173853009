// Tests of calls and waits in a trace: each event has its thread and that thread's call, also while other threads are
// in calls.
#include "mpi_adi/rank/call_trace.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "sim/base/clock.hpp"

namespace margay::mpi_adi {
namespace {

using sim::TraceKind;

struct Seen {
  TraceKind kind;
  std::uint64_t thread;
  std::uint32_t call;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// A recorder in memory, and a call trace that the test's thread made.
struct Traced {
  Traced() { REQUIRE(recorder.open_memory().ok()); }
  void enter(std::string_view name) { calls.enter(recorder, name, nullptr); }
  void leave(std::string_view name) { calls.leave(recorder, name, 0); }
  void wait(TraceKind kind) { calls.wait(recorder, kind); }
  // Runs `step` in a thread of its own, to its end: steps follow each other, as under the process lock.
  template <typename Step>
  static void elsewhere(Step step) {
    std::thread(step).join();
  }
  [[nodiscard]] std::vector<Seen> seen() const {
    std::vector<Seen> result;
    for (const sim::TraceEvent& event : recorder.events()) result.push_back({event.kind, event.detail, event.a});
    return result;
  }
  sim::RealClock clock;
  sim::Recorder recorder{clock};
  CallTrace calls;
};

constexpr std::string_view kReceive = "MPI_Recv";
constexpr std::string_view kSend = "MPI_Ssend";

}  // namespace

TEST_CASE("in a call trace of one thread the thread has number 0, and waits belong to the innermost call") {
  Traced traced;
  traced.enter(kReceive);
  traced.enter(kSend);
  traced.wait(TraceKind::wait_begin);
  traced.wait(TraceKind::wait_end);
  traced.leave(kSend);
  traced.wait(TraceKind::wait_begin);
  traced.wait(TraceKind::wait_end);
  traced.leave(kReceive);
  CHECK(traced.seen() == std::vector<Seen>{{TraceKind::mpi_enter, 0, 0},
                                           {TraceKind::mpi_enter, 0, 1},
                                           {TraceKind::wait_begin, 0, 1},
                                           {TraceKind::wait_end, 0, 1},
                                           {TraceKind::mpi_leave, 0, 1},
                                           {TraceKind::wait_begin, 0, 0},
                                           {TraceKind::wait_end, 0, 0},
                                           {TraceKind::mpi_leave, 0, 0}});
}

TEST_CASE("in a call trace of two threads a wait belongs to its own thread's call") {
  Traced traced;
  Traced::elsewhere([&] {
    traced.enter(kReceive);
    traced.wait(TraceKind::wait_begin);
    std::thread::id other;
    Traced::elsewhere([&] {
      other = std::this_thread::get_id();
      traced.enter(kSend);
      traced.leave(kSend);
    });
    CHECK(other != std::this_thread::get_id());
    traced.wait(TraceKind::wait_end);
    traced.leave(kReceive);
  });
  traced.enter(kSend);
  // The test's thread has number 0 although it called last.
  CHECK(traced.seen() == std::vector<Seen>{{TraceKind::mpi_enter, 1, 0},
                                           {TraceKind::wait_begin, 1, 0},
                                           {TraceKind::mpi_enter, 2, 1},
                                           {TraceKind::mpi_leave, 2, 1},
                                           {TraceKind::wait_end, 1, 0},
                                           {TraceKind::mpi_leave, 1, 0},
                                           {TraceKind::mpi_enter, 0, 1}});
}

}  // namespace margay::mpi_adi
