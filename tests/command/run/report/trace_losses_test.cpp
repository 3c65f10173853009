#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "command/run/report/trace_losses.hpp"
#include "command/trace/read/reader.hpp"
#include "sim/trace/folder.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// Records an event each second.
void run(sim::VirtualClock& clock, sim::Recorder& recorder, int events) {
  for (int i = 0; i < events; ++i) {
    sim::TraceEvent event;
    event.kind = sim::TraceKind::sleep;
    recorder.record(event);
    clock.advance_ns(kSecondNs);
  }
}

constexpr std::uint64_t kJobOfRun = 17;

sim::RecorderOptions ring_of(std::uint64_t capacity, std::uint64_t keep_ns = 0) {
  sim::RecorderOptions options;
  options.capacity_events = capacity;
  options.keep_ns = keep_ns;
  options.job = kJobOfRun;
  return options;
}

}  // namespace

TEST_CASE("losses: the report at the run's end equals a reader's result, for a closed file and for a killed rank's") {
  for (const bool closed : {true, false}) {
    CAPTURE(closed);
    const sim::TraceFolder folder;
    sim::VirtualClock clock;
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), ring_of(16)).ok());
    const std::string path = recorder.path();
    run(clock, recorder, 414);
    if (closed) recorder.close();
    TraceFile file;
    REQUIRE(read_trace_file(path, file).ok());
    CHECK(file.lost == (closed ? 398 : 399));
    const std::vector<std::string> reported = trace_losses({path}, kJobOfRun);
    REQUIRE(reported.size() == 2);
    CHECK(reported[0] ==
          "trace: rank 0: the first " + std::to_string(file.lost) + " of its 414 events were overwritten");
    CHECK(reported[1].find("--trace-events 512 keeps them all") != std::string::npos);
  }
}

TEST_CASE("losses: a ring that has just become full is no loss unless its rank was killed") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), ring_of(16)).ok());
  const std::string path = recorder.path();
  run(clock, recorder, 16);
  CHECK(trace_losses({path}, kJobOfRun).size() == 2);
  recorder.close();
  CHECK(trace_losses({path}, kJobOfRun).empty());
}

TEST_CASE("losses: a file of another run does not count") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), ring_of(16)).ok());
  run(clock, recorder, 40);
  CHECK(trace_losses({recorder.path()}, kJobOfRun).size() == 2);
  CHECK(trace_losses({recorder.path(), ""}, kJobOfRun + 1).empty());
}

TEST_CASE("losses: a ring too small for the requested end reports how much of it it has") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), ring_of(16, 60 * kSecondNs)).ok());
  const std::string path = recorder.path();
  run(clock, recorder, 1000);
  recorder.close();
  const std::vector<std::string> reported = trace_losses({path}, kJobOfRun);
  REQUIRE(reported.size() == 2);
  CHECK(reported[0] == "trace: rank 0: of the last 60 s only 15 s are there; 984 of its 1000 events were overwritten");
  CHECK_MESSAGE(reported[1].find("--trace-events 64 keeps so much") != std::string::npos, reported[1]);
}

TEST_CASE("losses: a ring that contains the requested end lost nothing") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), ring_of(16, 15 * kSecondNs)).ok());
  const std::string path = recorder.path();
  run(clock, recorder, 1000);
  recorder.close();
  CHECK(trace_losses({path}, kJobOfRun).empty());
}

TEST_CASE("losses: names without room are counted") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), ring_of(16)).ok());
  const std::string path = recorder.path();
  const std::string text(sim::kMaxDefinitionText - 32, 'x');
  for (std::uint64_t i = 0; i < sim::kTraceDefinitionsBytes / sim::kMaxDefinitionText; ++i) {
    recorder.define(sim::DefinitionKind::communicator, 2 * i, 0, text);
  }
  CHECK(trace_losses({path, "no such file"}, kJobOfRun).empty());
  for (std::uint64_t i = 0; i < 3; ++i) recorder.define(sim::DefinitionKind::communicator, 2 * i, 0, text);
  const std::vector<std::string> reported = trace_losses({path}, kJobOfRun);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].starts_with("trace: rank 0: there was no room for 3 more names"));
}
