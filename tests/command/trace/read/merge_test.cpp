#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "command/trace/audit.hpp"
#include "command/trace/read/reader.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/command/sealed_trace.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;
using margay::portals::Status;

namespace {

sim::TraceEvent event_of(sim::TraceKind kind, std::uint64_t sequence) {
  sim::TraceEvent event;
  event.kind = kind;
  event.source = 0;
  event.destination = 1;
  event.sequence = sequence;
  return event;
}

sim::RecorderOptions rank_of(std::uint32_t rank, std::uint32_t size) {
  sim::RecorderOptions options;
  options.rank = rank;
  options.size = size;
  options.capacity_events = 1024;
  return options;
}

std::string refusal(const std::string& folder) {
  Trace trace;
  return read_trace(folder, trace).sentence();
}

template <typename Field>
void overwrite(const std::string& path, std::size_t offset, Field value) {
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(static_cast<std::streamoff>(offset));
  stream.write(reinterpret_cast<const char*>(&value), sizeof value);
  stream.close();
  REQUIRE(stream.good());
  test::seal(path);
}

}  // namespace

TEST_CASE("ranks merge by time, each rank's own events in their order") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder one(clock);
  sim::Recorder two(clock);
  REQUIRE(one.open(folder.path(), rank_of(0, 2)).ok());
  REQUIRE(two.open(folder.path(), rank_of(1, 2)).ok());
  clock.set_ns(10);
  two.record(event_of(sim::TraceKind::post_receive, 0));
  one.record(event_of(sim::TraceKind::send_begin, 0));
  one.record(event_of(sim::TraceKind::kernel_send, 1));
  clock.set_ns(20);
  two.record(event_of(sim::TraceKind::kernel_arrive, 1));
  one.record(event_of(sim::TraceKind::kernel_sent, 1));
  one.close();
  two.close();
  Trace trace;
  const Status status = read_trace(folder.path(), trace);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  REQUIRE(trace.files.size() == 2);
  CHECK(trace.files[1].rank == 1);
  std::vector<sim::TraceKind> kinds;
  for (const Trace::Entry& entry : trace.entries) kinds.push_back(entry.event.kind);
  CHECK(kinds == std::vector<sim::TraceKind>{sim::TraceKind::send_begin, sim::TraceKind::kernel_send,
                                             sim::TraceKind::post_receive, sim::TraceKind::kernel_sent,
                                             sim::TraceKind::kernel_arrive});
}

TEST_CASE("ranks that keep the end of the run lose the events before it, and report that") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  sim::Recorder one(clock);
  sim::Recorder two(clock);
  sim::RecorderOptions keeping = rank_of(0, 2);
  keeping.keep_ns = 100;
  REQUIRE(one.open(folder.path(), keeping).ok());
  REQUIRE(two.open(folder.path(), rank_of(1, 2)).ok());
  for (std::uint64_t at = 0; at < 10; ++at) {
    clock.set_ns(at * 50);
    one.record(event_of(sim::TraceKind::kernel_send, at + 1));
  }
  clock.set_ns(500);
  two.record(event_of(sim::TraceKind::kernel_arrive, 1));
  one.close();
  two.close();
  Trace trace;
  REQUIRE(read_trace(folder.path(), trace).ok());
  REQUIRE_EQ(trace.entries.size(), 3);  // at 400 and 450, and the other rank's
  CHECK_EQ(trace.entries[0].event.time, 400);
  CHECK_EQ(trace.files[0].lost, 8);
  CHECK_EQ(trace.files[1].lost, 0);
}

TEST_CASE("real ranks on one host: events of one between two events of the other are merged between them") {
  const sim::TraceFolder folder;
  const sim::RealClock clock;
  sim::Recorder one(clock);
  sim::Recorder two(clock);
  REQUIRE(one.open(folder.path(), rank_of(0, 2)).ok());
  REQUIRE(two.open(folder.path(), rank_of(1, 2)).ok());
  for (std::uint64_t i = 1; i <= 500; ++i) {
    one.record(event_of(sim::TraceKind::kernel_send, i));
    two.record(event_of(sim::TraceKind::kernel_arrive, i));
  }
  one.close();  // one's anchors end here; two's go on: without a common scale the two would drift apart
  const std::uint64_t begin_ns = clock.now_ns();
  while (clock.now_ns() - begin_ns < 3'000'000) {
  }
  two.close();
  Trace trace;
  REQUIRE(read_trace(folder.path(), trace).ok());
  REQUIRE(trace.entries.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(trace.entries[i].event.sequence == i / 2 + 1);
    CHECK(trace.entries[i].event.kind == (i % 2 == 0 ? sim::TraceKind::kernel_send : sim::TraceKind::kernel_arrive));
  }
}

TEST_CASE("one counter on one host gets one scale, another host a scale of its own") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), rank_of(rank, 3)).ok());
    recorder.record(event_of(sim::TraceKind::wake, 0));
    const std::string path = recorder.path();
    recorder.close();
    overwrite(path, offsetof(sim::TraceHeader, clock), sim::ClockKind::tsc);
    overwrite(path, offsetof(sim::TraceHeader, host), static_cast<std::uint8_t>(rank == 2 ? 9 : 8));
    overwrite(path, sim::kTraceEventsOffset, std::uint64_t{2000});  // the event's ticks
    overwrite(path, offsetof(sim::TraceHeader, anchor_count), std::uint64_t{2});
    const std::uint64_t end = rank == 0 ? 1010 : 5000;  // rank 0 ended early: its scale is short, and wrong
    overwrite(path, offsetof(sim::TraceHeader, anchors), sim::ClockAnchor{1000, 100});
    overwrite(path, offsetof(sim::TraceHeader, anchors) + 2 * sizeof(sim::ClockAnchor),
              sim::ClockAnchor{end, rank == 0 ? 107U : 2100U});
  }
  Trace trace;
  REQUIRE(read_trace(folder.path(), trace).ok());
  for (const Trace::Entry& entry : trace.entries) CHECK(entry.event.time == 600);

  overwrite(folder / "rank_00000.trace", offsetof(sim::TraceHeader, host), std::uint8_t{7});
  REQUIRE(read_trace(folder.path(), trace).ok());
  for (const Trace::Entry& entry : trace.entries) {
    CHECK(entry.event.time == (trace.files[entry.file].rank == 0 ? 800 : 600));
  }
}

TEST_CASE("a rank that was ended before it began to record counts as without a file") {
  const sim::TraceFolder folder;
  sim::VirtualClock clock;
  {
    sim::Recorder one(clock);
    REQUIRE(one.open(folder.path(), rank_of(0, 2)).ok());
    one.record(event_of(sim::TraceKind::send_begin, 0));
  }
  const std::string other = folder.path() + "/rank_00001.trace";
  std::ofstream(other, std::ios::binary) << std::string(sim::kTraceEventsOffset, '\0');
  Trace trace;
  REQUIRE_MESSAGE(read_trace(folder.path(), trace).ok(), read_trace(folder.path(), trace).sentence());
  CHECK(trace.files.size() == 1);
  std::filesystem::remove(folder.path() + "/rank_00000.trace");
  CHECK(refusal(folder.path()).find("ended before they began to record") != std::string::npos);
}

TEST_CASE("a job that is just starting is reported as such, whatever the state of its ranks' files") {
  const sim::TraceFolder folder;
  CHECK(refusal(folder.path()).find("its job is just starting, or none recorded there") != std::string::npos);
  const std::string path = folder / "rank_00001.trace";
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(descriptor >= 0);
  const std::string starting =
      "trace: " + folder.path() + ": its job is starting: no rank has begun to record; try again in a moment";
  for (const off_t bytes :
       {off_t{0}, off_t{100}, off_t{4096}, static_cast<off_t>(sim::kTraceEventsOffset + std::uint64_t{1024} * 64)}) {
    CAPTURE(bytes);
    REQUIRE(ftruncate(descriptor, bytes) == 0);
    CHECK(refusal(folder.path()) == starting);
  }
  // Its header is being written.
  REQUIRE(pwrite(descriptor, &sim::kTraceVersion, sizeof sim::kTraceVersion, offsetof(sim::TraceHeader, version)) ==
          sizeof sim::kTraceVersion);
  CHECK(refusal(folder.path()) == starting);

  // Another rank was faster.
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), rank_of(0, 2)).ok());
  Trace trace;
  REQUIRE_MESSAGE(read_trace(folder.path(), trace).ok(), refusal(folder.path()));
  CHECK(trace.files.size() == 1);
  CHECK(trace.starting == 1);
  const std::vector<std::string> notes = audit(trace).notes;
  CHECK(std::count(notes.begin(), notes.end(), "the job is just starting: 1 of 2 ranks has not begun to record") == 1);
  recorder.close();

  // Once no process writes to it, the file is judged as it is.
  REQUIRE(::close(descriptor) == 0);
  REQUIRE(read_trace(folder.path(), trace).ok());
  CHECK(trace.starting == 0);
  CHECK(trace.blank == 1);
  const auto has_note = [&](std::string_view wanted) {
    const std::vector<std::string> reported = audit(trace).notes;
    return std::count(reported.begin(), reported.end(), wanted) == 1;
  };
  CHECK(has_note("1 of 2 ranks left no file, or a blank one (1)"));
  // Its rank was killed before the file had its size.
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{0}}) {
    std::filesystem::resize_file(path, bytes);
    REQUIRE_MESSAGE(read_trace(folder.path(), trace).ok(), refusal(folder.path()));
    CHECK(trace.files.size() == 1);
    CHECK(trace.blank == 1);
  }
}

TEST_CASE("a file that lost its first page, or more of its beginning, does not count as one that was never begun") {
  const sim::VirtualClock clock;
  const sim::TraceFolder folder;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), rank_of(rank, 2)).ok());
    const std::array<std::string_view, 1> names = {"MPI_Init"};
    recorder.set_call_names(names);
    recorder.define(sim::DefinitionKind::portal, 3, 0, "receives");
    sim::TraceEvent event;
    event.kind = sim::TraceKind::sleep;
    recorder.record(event);
  }
  REQUIRE(refusal(folder.path()).empty());
  const std::string path = folder / "rank_00001.trace";
  for (const std::uint64_t bytes : {sim::kTraceHeaderBytes, sim::kTraceDefinitionsOffset, sim::kTraceEventsOffset}) {
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << std::string(bytes, '\0');
    CAPTURE(bytes);
    CHECK(refusal(folder.path()).find("rank_00001.trace: is damaged: its header is blank") != std::string::npos);
  }
}

TEST_CASE("the name of a file or of a folder is printed on one line") {
  const sim::TraceFolder folder;
  std::ofstream(folder / "rank_\nall is right\t.trace") << "abc";
  const std::string reported = refusal(folder.path());
  CHECK(reported.find("rank_?all is right?.trace: was cut off") != std::string::npos);
  CHECK(refusal(folder / "none\nall is right").find("none?all is right: cannot read the folder") != std::string::npos);
}

TEST_CASE("a file that disappears while its folder is read, as the launcher's trial file does, is no error") {
  const sim::TraceFolder folder;
  const std::string path = folder / "rank_00000.trace";
  std::atomic<bool> over = false;
  std::thread trial([&] {
    while (!over) {
      ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      ::unlink(path.c_str());
    }
  });
  std::size_t gone = 0;
  for (int i = 0; i < 20'000 && gone < 20; ++i) {
    const std::string sentence = refusal(folder.path());
    const bool is_empty =
        sentence.find("ended before they began") != std::string::npos;  // found between two of its steps
    CHECK_MESSAGE((is_empty || sentence.find("starting") != std::string::npos), sentence);
    gone += sentence.find("try again in a moment") != std::string::npos ? 1 : 0;
  }
  over = true;
  trial.join();
}

TEST_CASE("folders with no run, or with two, are rejected") {
  const sim::TraceFolder folder;
  CHECK(refusal(folder / "missing").find("cannot read") != std::string::npos);
  CHECK(refusal(folder.path()).find("no rank_*.trace") != std::string::npos);

  const sim::VirtualClock clock;
  {
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), rank_of(0, 2)).ok());
  }
  CHECK(refusal(folder.path()).empty());
  std::filesystem::copy_file(folder / "rank_00000.trace", folder / "rank_00001.trace");
  CHECK(refusal(folder.path()).find("are both of rank 0") != std::string::npos);
  std::filesystem::remove(folder / "rank_00001.trace");
  {
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), rank_of(1, 3)).ok());
  }
  CHECK(refusal(folder.path()).find("keep one run to a folder") != std::string::npos);
  // The same number of ranks, but of another job, or of an unknown one.
  for (const std::uint64_t job_of_other : {18, 0}) {
    std::filesystem::remove_all(folder.path());
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      sim::Recorder recorder(clock);
      sim::RecorderOptions options = rank_of(rank, 2);
      options.job = rank == 0 ? 17 : job_of_other;
      REQUIRE(recorder.open(folder.path(), options).ok());
    }
    CHECK(refusal(folder.path()).find("are of two runs") != std::string::npos);
  }
}
