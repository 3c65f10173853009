#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "command/trace/read/reader.hpp"
#include "sim/trace/folder.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;
using margay::portals::Header;
using margay::portals::Kind;
using margay::portals::Saved;
using margay::portals::Status;

namespace {

sim::TraceEvent numbered(std::uint64_t number) {
  sim::TraceEvent event;
  event.kind = sim::TraceKind::kernel_send;
  event.wire = 1;
  event.protocol = sim::TraceProtocol::long_send;
  event.source = 2;
  event.destination = 3;
  event.header = 0;
  event.portal = 7;
  event.reason = 4;
  event.saved = Saved::both;
  event.sequence = number;
  event.match_bits = 0xfedc'ba98'7654'3210 + number;
  event.bytes = 1000 + number;
  event.detail = 2000 + number;
  event.a = 11;
  event.b = 12;
  return event;
}

mode_t mode_of(const std::string& path) {
  struct stat about {};
  REQUIRE(stat(path.c_str(), &about) == 0);
  return about.st_mode & 07777U;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

sim::RecorderOptions small(std::uint64_t capacity) {
  sim::RecorderOptions options;
  options.capacity_events = capacity;
  options.size = 4;  // numbered() names two of them
  return options;
}

}  // namespace

TEST_CASE("a recorder is off until opened, and again once closed") {
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  CHECK_FALSE(recorder.on());
  CHECK(recorder.walk_steps() == 0);
  recorder.resume();
  CHECK_FALSE(recorder.on());
  sim::RecorderOptions options;
  options.walk_steps = sim::kAllWalkSteps;
  REQUIRE(recorder.open_memory(options).ok());
  CHECK(recorder.on());
  CHECK(recorder.walk_steps() == sim::kAllWalkSteps);
  recorder.pause();
  CHECK_FALSE(recorder.on());
  CHECK(recorder.walk_steps() == 0);
  recorder.resume();
  CHECK(recorder.walk_steps() == sim::kAllWalkSteps);
  CHECK_FALSE(recorder.open_memory().ok());
  recorder.close();
  CHECK_FALSE(recorder.on());
  recorder.close();
  CHECK(recorder.open_memory().ok());
}

TEST_CASE("in memory: every field is read back, with the time of the clock, oldest first") {
  sim::VirtualClock clock(100);
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open_memory(small(8)).ok());
  CHECK(recorder.path().empty());
  recorder.record(numbered(1));
  clock.advance_ns(25);
  recorder.record(numbered(2));
  const std::vector<sim::TraceEvent> events = recorder.events();
  REQUIRE(events.size() == 2);
  sim::TraceEvent expected = numbered(1);
  expected.time = 100;
  CHECK(events[0] == expected);
  expected = numbered(2);
  expected.time = 125;
  CHECK(events[1] == expected);
  recorder.clear();
  CHECK(recorder.events().empty());
  CHECK(recorder.written() == 0);
}

TEST_CASE("a full ring keeps the newest") {
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open_memory(small(5)).ok());  // rounded up to 8
  for (std::uint64_t i = 1; i <= 20; ++i) recorder.record(numbered(i));
  const std::vector<sim::TraceEvent> events = recorder.events();
  REQUIRE(events.size() == 8);
  CHECK(events.front().sequence == 13);
  CHECK(events.back().sequence == 20);
  CHECK(recorder.written() == 20);
}

TEST_CASE("the real clock's events lie between the times around them") {
  const sim::RealClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open_memory().ok());
  const std::uint64_t before_ns = clock.now_ns();
  for (int i = 0; i < 1000; ++i) recorder.record(numbered(1));
  const std::uint64_t after_ns = clock.now_ns();
  std::uint64_t last_ns = 0;
  for (const sim::TraceEvent& event : recorder.events()) {
    REQUIRE(event.time >= last_ns);
    last_ns = event.time;
    CHECK(event.time + 5'000 >= before_ns);
    CHECK(event.time <= after_ns + 5'000);
  }
}

TEST_CASE("to a file: it is private, has its full size, and is read back whole") {
  const sim::TraceFolder folder;
  const sim::RealClock clock;
  sim::Recorder recorder(clock);
  sim::RecorderOptions options = small(16);
  options.rank = 3;
  options.size = 4;
  options.node = 1;
  const std::string run = folder / "run";
  REQUIRE(recorder.open(run + "//", options).ok());  // slashes at the end do not belong to the name
  CHECK(recorder.path() == run + "/rank_00003.trace");
  CHECK(mode_of(run) == 0700);
  CHECK(mode_of(recorder.path()) == 0600);
  const std::array<std::string_view, 2> names = {"MPI_Send", "a name that is longer than thirty-one characters"};
  recorder.set_call_names(names);
  for (std::uint64_t i = 1; i <= 10; ++i) recorder.record(numbered(i));
  const std::string path = recorder.path();
  recorder.close();

  TraceFile file;
  const Status status = read_trace_file(path, file);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  CHECK(file.rank == 3);
  CHECK(file.size == 4);
  CHECK(file.node == 1);
  CHECK(file.process_id == static_cast<std::uint32_t>(getpid()));
  CHECK(file.closed);
  CHECK_FALSE(file.walks);
  CHECK(file.written == 10);
  CHECK(file.lost == 0);
  CHECK(file.host == sim::host_identity());
  CHECK(call_name(file, 0) == "MPI_Send");
  CHECK(call_name(file, 1) == "a name that is longer than thir");
  CHECK(call_name(file, 2) == "call 2");
  REQUIRE(file.events.size() == 10);
  for (std::uint64_t i = 0; i < 10; ++i) {
    sim::TraceEvent expected = numbered(i + 1);
    expected.time = file.events[i].time;
    CHECK(file.events[i] == expected);
  }
}

TEST_CASE("equal recordings in virtual time leave equal files, without process, time and host") {
  const sim::TraceFolder folder;
  std::array<std::string, 2> contents;
  for (std::size_t run = 0; run < contents.size(); ++run) {
    sim::VirtualClock clock;
    sim::Recorder recorder(clock);
    sim::RecorderOptions options = small(16);
    REQUIRE(recorder.open(folder / fmt::format("run_{}", run), options).ok());
    for (std::uint64_t i = 1; i <= 40; ++i) {
      clock.advance_ns(100);
      recorder.record(numbered(i));
    }
    const std::string path = recorder.path();
    recorder.close();
    contents[run] = bytes_of(path);
    TraceFile file;
    REQUIRE(read_trace_file(path, file).ok());
    CHECK(file.process_id == 1);
    CHECK(file.started_realtime_ns == 0);
    CHECK(file.host == decltype(file.host){});
  }
  CHECK(contents[0] == contents[1]);
}

TEST_CASE("lost events are counted for a ring that is just full, has one event more, or was overwritten many times") {
  for (const std::uint64_t count : {7U, 8U, 9U, 15U, 16U, 17U, 1000U}) {
    CAPTURE(count);
    const sim::TraceFolder folder;
    const sim::VirtualClock clock;
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), small(8)).ok());
    for (std::uint64_t i = 1; i <= count; ++i) recorder.record(numbered(i));
    recorder.close();
    TraceFile file;
    REQUIRE(read_trace_file(folder / "rank_00000.trace", file).ok());
    CHECK(file.written == count);
    CHECK(file.lost == (count > 8 ? count - 8 : 0));
    REQUIRE(file.events.size() == std::min<std::uint64_t>(count, 8));
    CHECK(file.events.back().sequence == count);
    CHECK(file.events.front().sequence == file.lost + 1);
  }
}

TEST_CASE("a recording in progress is readable; its oldest record may be half overwritten and is not shown") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), small(8)).ok());
  for (std::uint64_t i = 1; i <= 20; ++i) recorder.record(numbered(i));
  TraceFile file;
  REQUIRE(read_trace_file(recorder.path(), file).ok());
  CHECK_FALSE(file.closed);
  CHECK(file.lost == 13);
  REQUIRE(file.events.size() == 7);
  CHECK(file.events.front().sequence == 14);
}

TEST_CASE("after SIGKILL in the middle of recording, every counted event is whole") {
  const sim::TraceFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const sim::RealClock clock;
    sim::Recorder recorder(clock);
    if (!recorder.open(folder.path(), small(64)).ok()) _exit(1);
    for (std::uint64_t i = 1;; ++i) recorder.record(numbered(i));
  }
  REQUIRE(child > 0);
  const std::string path = folder / "rank_00000.trace";
  TraceFile file;
  for (int i = 0; i < 60'000 && (!read_trace_file(path, file).ok() || file.written < 100'000); ++i) usleep(1000);
  kill(child, SIGKILL);
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  REQUIRE(WIFSIGNALED(how));

  REQUIRE(read_trace_file(path, file).ok());
  CHECK_FALSE(file.closed);
  CHECK(file.written >= 100'000);
  REQUIRE(file.events.size() == 63);
  for (std::size_t i = 0; i < file.events.size(); ++i) {
    sim::TraceEvent expected = numbered(file.lost + i + 1);
    expected.time = file.events[i].time;
    CHECK(file.events[i] == expected);
    if (i > 0) CHECK(file.events[i].time >= file.events[i - 1].time);
  }
}

TEST_CASE("open() rejects invalid options, and leaves nothing behind") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  const auto refused = [&](const std::string& place, const sim::RecorderOptions& options, std::string_view why) {
    const Status status = recorder.open(place, options);
    REQUIRE_FALSE(status.ok());
    CHECK_MESSAGE(status.sentence().find(why) != std::string::npos, status.sentence());
    CHECK_FALSE(recorder.on());
  };
  refused(folder.path(), small(0), "a capacity of 0 events");
  refused(folder.path(), small(sim::kMaxTraceEvents + 1), "choose 1 to");
  refused(folder / "no/such", small(8), "No such file");

  std::ofstream(folder / "file") << "x";
  refused(folder / "file", small(8), "symbolic link, or not a folder");

  REQUIRE(mkdir((folder / "real").c_str(), 0700) == 0);
  REQUIRE(symlink("real", (folder / "link").c_str()) == 0);
  refused(folder / "link", small(8), "symbolic link, or not a folder");
  refused(folder / "link/", small(8), "symbolic link, or not a folder");

  REQUIRE(symlink("../file", (folder / "real/rank_00000.trace").c_str()) == 0);
  refused(folder / "real", small(8), "is there already");
  CHECK(std::filesystem::file_size(folder / "file") == 1);

  REQUIRE(mkdir((folder / "open").c_str(), 0700) == 0);
  REQUIRE(chmod((folder / "open").c_str(), 0777) == 0);
  refused(folder / "open", small(8), "others may write");
  CHECK(std::filesystem::is_empty(folder / "open"));
}

TEST_CASE("a limit on file sizes is an error that names it, not a signal") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const std::uint64_t needed = sim::trace_file_bytes(small(8));
  rlimit low = before;
  low.rlim_cur = needed - 1;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  const Status refused = recorder.open(folder / "new", small(8));
  low.rlim_cur = needed;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  const Status taken = recorder.open(folder / "enough", small(8));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE_FALSE(refused.ok());
  CHECK_MESSAGE(refused.sentence().find("(ulimit -f) is " + std::to_string(needed - 1) + " bytes") != std::string::npos,
                refused.sentence());
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  CHECK(taken.ok());
}

TEST_CASE("a second run into the same folder does not overwrite the first") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  sim::Recorder first(clock);
  REQUIRE(first.open(folder.path(), small(8)).ok());
  first.record(numbered(1));
  first.close();
  sim::Recorder second(clock);
  const Status status = second.open(folder.path(), small(8));
  REQUIRE_FALSE(status.ok());
  CHECK(status.sentence().find("name a new folder") != std::string::npos);
  TraceFile file;
  REQUIRE(read_trace_file(folder / "rank_00000.trace", file).ok());
  CHECK(file.written == 1);
}

TEST_CASE("an event takes the fields of a header") {
  Header header;
  header.kind = Kind::put;
  header.portal = 5;
  header.source = {1, 7};
  header.destination = {1, 9};
  header.match_bits = 0x1234;
  header.length = 800;
  sim::TraceEvent event = sim::trace_event(sim::TraceKind::kernel_arrive, header, 42);
  CHECK(event.source == 7);
  CHECK(event.destination == 9);
  CHECK(event.sequence == 42);
  CHECK(event.portal == 5);
  CHECK(event.match_bits == 0x1234);
  CHECK(event.bytes == 800);

  header.kind = Kind::get;
  header.length = 0;
  header.return_length = 64;
  CHECK(sim::trace_event(sim::TraceKind::kernel_send, header, 1).bytes == 64);

  header.kind = Kind::acknowledgment;
  header.user_data[0] = std::byte{3};
  event = sim::trace_answer(sim::TraceKind::kernel_ack_sent, header, 6, 42);
  CHECK(event.sequence == 6);
  CHECK(event.detail == 42);
  CHECK(event.saved == Saved::both);
  CHECK(event.bytes == 64);
}

TEST_CASE("every kind has a distinct name and is found by it") {
  for (std::uint16_t i = 1; i < sim::kTraceKindCount; ++i) {
    const auto kind = static_cast<sim::TraceKind>(i);
    CHECK_FALSE(name(kind).empty());
    CHECK(sim::trace_kind(name(kind)) == kind);
  }
  CHECK_FALSE(sim::trace_kind("none").has_value());
  CHECK_FALSE(sim::trace_kind("").has_value());
  CHECK(name(static_cast<sim::TraceKind>(sim::kTraceKindCount)) == "unknown");
  CHECK(name(static_cast<sim::TraceProtocol>(255)) == "unknown");
  CHECK(name(static_cast<sim::TraceChoice>(255)) == "unknown");
}

TEST_CASE("definitions remain when the ring overwrites events, and the last ones without room are counted") {
  const sim::TraceFolder folder;
  sim::RealClock clock;
  sim::Recorder recorder(clock);
  recorder.define(sim::DefinitionKind::portal, 1, 2, "before it is open: no effect");
  REQUIRE(recorder.open(folder / "t", small(4)).ok());
  recorder.define(sim::DefinitionKind::communicator, 12, std::uint64_t{5} << 32U,
                  "row\x1b"
                  "[0m");
  for (std::uint64_t i = 0; i < 100; ++i) recorder.record(numbered(i));
  recorder.define(sim::DefinitionKind::communicator, 12, 0, "");
  REQUIRE(recorder.definitions().size() == 2);
  CHECK(recorder.definitions()[0].time <= recorder.events().front().time);
  const std::string longest(sim::kMaxDefinitionText + 10, 'x');
  const std::size_t fit =
      (sim::kTraceDefinitionsBytes - std::size_t{2} * 40) / (sizeof(sim::DefinitionHead) + sim::kMaxDefinitionText);
  for (std::size_t i = 0; i < fit + 3; ++i) recorder.define(sim::DefinitionKind::datatype, i, 8, longest);
  recorder.close();
  TraceFile file;
  REQUIRE(read_trace_file((folder / "t") + "/" + sim::trace_file_name(0), file).ok());
  REQUIRE(file.definitions.size() == 2 + fit);
  CHECK(file.definitions_lost == 3);
  CHECK(file.definitions[0].kind == sim::DefinitionKind::communicator);
  CHECK(file.definitions[0].number == 12);
  CHECK((file.definitions[0].value >> 32U) == 5);
  CHECK(file.definitions[0].text == "row?[0m");
  CHECK(file.definitions[1].text.empty());
  CHECK(file.definitions.back().text == longest.substr(0, sim::kMaxDefinitionText));
}

TEST_CASE("names of calls are defined one by one; defined ones stay") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), small(8)).ok());
  recorder.set_call_names(std::array<std::string_view, 1>{"MPI_Init"});
  recorder.set_call_names(std::array<std::string_view, 2>{"not looked at again", "MPI_Send"});
  TraceFile file;
  REQUIRE(read_trace_file(recorder.path(), file).ok());
  CHECK(file.names == std::vector<std::string>{"MPI_Init", "MPI_Send"});
}

TEST_CASE("a forked child of the program leaves the trace to its parent") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  TraceFile file;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), small(8)).ok());
  const std::string path = recorder.path();
  recorder.record(numbered(1));
  const pid_t child = fork();
  if (child == 0) {
    recorder.suspend();
    recorder.close();
    _exit(0);
  }
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  REQUIRE((WIFEXITED(how) && WEXITSTATUS(how) == 0));
  REQUIRE(read_trace_file(path, file).ok());
  CHECK_FALSE(file.closed);
  recorder.record(numbered(2));
  recorder.close();
  REQUIRE(read_trace_file(path, file).ok());
  CHECK(file.closed);
  CHECK(file.events.size() == 2);
}

TEST_CASE("records of a forked child of the program are discarded, before its parent closes the trace and after") {
  for (const bool closed_before : {false, true}) {
    CAPTURE(closed_before);
    const sim::TraceFolder folder;
    const sim::VirtualClock clock;
    sim::Recorder recorder(clock);
    REQUIRE(recorder.open(folder.path(), small(8)).ok());
    const std::string path = recorder.path();
    recorder.record(numbered(1));
    std::array<int, 2> go{};
    REQUIRE(pipe(go.data()) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      char byte = 0;
      if (read(go[0], &byte, 1) != 1) _exit(1);
      const std::array<std::string_view, 2> names = {"MPI_Init", "MPI_Send"};
      recorder.set_call_names(names);
      recorder.define(sim::DefinitionKind::portal, 3, 0, "receives");
      for (std::uint64_t i = 0; i < 20; ++i) recorder.record(numbered(100 + i));
      recorder.suspend();
      recorder.reopen();
      recorder.record(numbered(99));
      recorder.close();
      _exit(0);
    }
    if (closed_before) recorder.close();
    REQUIRE(write(go[1], "g", 1) == 1);
    int how = 0;
    REQUIRE(waitpid(child, &how, 0) == child);
    CHECK((WIFEXITED(how) && WEXITSTATUS(how) == 0));
    ::close(go[0]);
    ::close(go[1]);
    recorder.close();
    TraceFile file;
    const Status status = read_trace_file(path, file);
    REQUIRE_MESSAGE(status.ok(), status.sentence());
    CHECK(file.closed);
    CHECK(file.names.empty());
    CHECK(file.definitions.empty());
    REQUIRE(file.events.size() == 1);
    CHECK(file.events[0].sequence == 1);
  }
}

TEST_CASE("a trace that is closed and resumed while it is read never appears damaged") {
  const sim::TraceFolder folder;
  const sim::RealClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), small(256)).ok());
  const std::string path = recorder.path();
  std::atomic<bool> enough = false;
  std::thread writer([&] {
    for (std::uint64_t number = 1; !enough; ++number) {
      recorder.record(numbered(number));
      if (number % 8 != 0) continue;
      recorder.suspend();
      if (number % 64 == 0) usleep(100);  // sometimes long enough to be read
      recorder.reopen();
    }
  });
  for (int i = 0; i < 2000; ++i) {
    TraceFile file;
    const Status status = read_trace_file(path, file);
    CHECK_MESSAGE(status.ok(), status.sentence());
    for (std::size_t at = 0; at < file.events.size(); ++at) REQUIRE(file.events[at].sequence == file.lost + at + 1);
  }
  enough = true;
  writer.join();
}

TEST_CASE("a closed trace that was resumed since it was read has new events") {
  const sim::TraceFolder folder;
  const sim::VirtualClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), small(8)).ok());
  recorder.record(numbered(1));
  recorder.suspend();
  TraceFile file;
  REQUIRE(read_trace_file(recorder.path(), file).ok());
  CHECK(file.closed);
  CHECK_FALSE(has_new_events(file));
  recorder.reopen();
  CHECK(has_new_events(file));
  recorder.record(numbered(2));
  recorder.suspend();
  CHECK(has_new_events(file));  // closed again, with more in it
}

TEST_CASE("a suspended trace is complete, and continues when it is resumed") {
  sim::TraceFolder folder;
  const margay::sim::RealClock clock;
  sim::Recorder recorder(clock);
  REQUIRE(recorder.open(folder.path(), small(64)).ok());
  const std::string path = recorder.path();
  recorder.record(numbered(1));
  recorder.reopen();  // nothing to resume
  CHECK(recorder.on());
  recorder.suspend();
  recorder.define(sim::DefinitionKind::portal, 1, 0, "too late");
  CHECK(!recorder.on());
  TraceFile file;
  REQUIRE(read_trace_file(path, file).ok());
  CHECK(file.closed);
  CHECK(file.events.size() == 1);
  recorder.reopen();
  REQUIRE(recorder.on());
  recorder.record(numbered(2));
  REQUIRE(read_trace_file(path, file).ok());
  CHECK(!file.closed);
  recorder.close();
  REQUIRE(read_trace_file(path, file).ok());
  CHECK(file.closed);
  CHECK(file.events.size() == 2);
}
