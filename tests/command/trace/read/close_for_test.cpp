#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "command/trace/audit.hpp"
#include "command/trace/names/end_words.hpp"
#include "command/trace/read/close_for.hpp"
#include "command/trace/read/reader.hpp"
#include "sim/trace/folder.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;
using margay::portals::Status;

namespace {

constexpr std::uint64_t kRingEvents = 8;
constexpr std::uint64_t kJob = 0x1234'5678'9abc'def0;

void record_some(sim::Recorder& recorder, int events) {
  recorder.define(sim::DefinitionKind::portal, 3, 0, "receives");
  const std::array<std::string_view, 2> names = {"MPI_Init", "MPI_Send"};
  recorder.set_call_names(names);
  for (int i = 1; i <= events; ++i) {
    sim::TraceEvent event;
    event.kind = sim::TraceKind::kernel_send;
    event.source = 0;
    event.destination = 1;
    event.sequence = static_cast<std::uint64_t>(i);
    event.bytes = 100;
    recorder.record(event);
  }
}

Status open_in(sim::Recorder& recorder, const sim::TraceFolder& folder) {
  sim::RecorderOptions options;
  options.capacity_events = kRingEvents;
  options.size = 2;
  options.job = kJob;
  return recorder.open(folder.path(), options);
}

// The file of a rank that kills itself, as it was left.
std::string killed_ranks_file(const sim::TraceFolder& folder, int events) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    sim::Recorder recorder(sim::real_clock());
    if (!open_in(recorder, folder).ok()) _exit(1);
    record_some(recorder, events);
    static_cast<void>(kill(getpid(), SIGKILL));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  return folder / sim::trace_file_name(0);
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The end of the process that wrote the file.
ProcessEnd end_of(const std::string& path, sim::TraceEnd end, std::uint32_t value) {
  sim::TraceHeader header{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  return {header.process_id, end, value};
}

// The reader's result as text, or "refused".
std::string reading(const std::string& path) {
  TraceFile file;
  if (Status status = read_trace_file(path, file); !status.ok()) return "refused";
  std::ostringstream text;
  text << file.rank << ' ' << file.size << ' ' << file.node << ' ' << file.process_id << ' ' << file.closed
       << file.sealed << file.walks << ' ' << static_cast<std::uint32_t>(file.end) << ' ' << file.end_value << ' '
       << file.written << ' ' << file.lost << ' ' << file.keep_ns << ' ' << file.job << ' ' << file.started_realtime_ns
       << ' ' << file.last_anchor.ticks << ' ' << file.last_anchor.time_ns << ' ' << file.definitions_lost << '\n';
  for (const std::string& name : file.names) text << name << '\n';
  for (const sim::Definition& one : file.definitions) text << one.time << ' ' << one.number << ' ' << one.text << '\n';
  for (const sim::TraceEvent& event : file.events) text.write(reinterpret_cast<const char*>(&event), sizeof event);
  return text.str();
}

}  // namespace

TEST_CASE("a killed rank's file that its launcher closed has the same events, the rank's end, and a checksum") {
  for (const int events : {0, 3, 8, 9, 30}) {
    CAPTURE(events);
    const sim::TraceFolder folder;
    const std::string path = killed_ranks_file(folder, events);
    TraceFile before;
    REQUIRE(read_trace_file(path, before).ok());
    CHECK_FALSE(before.sealed);
    CHECK(unsealed_text({before}).find("not closed: the file of rank 0 (") == 0);
    const Status status = close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, SIGKILL));
    REQUIRE_MESSAGE(status.ok(), status.sentence());
    TraceFile after;
    const Status read = read_trace_file(path, after);
    REQUIRE_MESSAGE(read.ok(), read.sentence());
    CHECK(after.sealed);
    CHECK_FALSE(after.closed);  // by its rank
    CHECK(after.lost == before.lost);
    CHECK(after.events.size() == before.events.size());
    CHECK(end_text(after) == "was killed by signal 9 (SIGKILL)");
    CHECK(unsealed_text({after}).empty());
    Trace trace;
    REQUIRE(read_trace(folder.path(), trace).ok());
    const Audit result = audit(trace);
    CHECK(result.violations.empty());
    REQUIRE_FALSE(result.notes.empty());
    bool reported = false;
    for (const std::string& note : result.notes)
      reported = reported || note.find("rank 0: was killed by signal 9") == 0;
    CHECK(reported);
  }
}

TEST_CASE("each flipped bit of a file that was closed for its rank is reported or changes nothing") {
  for (const int events : {5, 29}) {
    const sim::TraceFolder folder;
    const std::string path = killed_ranks_file(folder, events);
    REQUIRE(close_trace_for(path, kJob, end_of(path, sim::TraceEnd::exit_status, 3)).ok());
    const std::string bytes = bytes_of_file(path);
    const std::string right = reading(path);
    REQUIRE(right != "refused");
    sim::TraceHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](std::size_t at, char byte) {
      stream.seekp(static_cast<std::streamoff>(at));
      stream.put(byte).flush();
    };
    const std::pair<std::size_t, std::size_t> parts[] = {
        {0, sizeof header + 16},
        {sim::kTraceNamesOffset, 3 * sim::kTraceNameBytes},
        {sim::kTraceDefinitionsOffset, header.definitions_used + 8},
        {sim::kTraceEventsOffset, kRingEvents * sim::kTraceEventBytes}};
    std::uint64_t reported = 0;
    for (const auto& [from, length] : parts) {
      for (std::size_t bit = 8 * from; bit < 8 * (from + length); ++bit) {
        put(bit / 8, static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)));
        const std::string now = reading(path);
        CAPTURE(bit);
        REQUIRE((now == "refused" || now == right));
        reported += now == "refused" ? 1 : 0;
        put(bit / 8, bytes[bit / 8]);
      }
    }
    // All recorded events, and the header; a full ring has one slot in doubt.
    const std::uint64_t kept = events > 8 ? kRingEvents - 1 : 5;
    CHECK(reported ==
          8 * (sizeof header + 2 * sim::kTraceNameBytes + header.definitions_used + kept * sim::kTraceEventBytes));
  }
}

TEST_CASE("a launcher that is killed while it closes a file leaves an unclosed one") {
  const sim::TraceFolder folder;
  const std::string path = killed_ranks_file(folder, 5);
  const std::string before = bytes_of_file(path);
  const std::string open = reading(path);
  REQUIRE(close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, SIGSEGV)).ok());
  const std::string after = bytes_of_file(path);
  std::string half = after;
  std::memset(half.data() + offsetof(sim::TraceHeader, launcher_checksum), 0,
              sizeof(sim::TraceHeader::launcher_checksum));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << half;
  CHECK(reading(path) == open);
  // No other fields were changed.
  std::memset(half.data() + offsetof(sim::TraceHeader, end), 0,
              sizeof(sim::TraceHeader::end) + sizeof(sim::TraceHeader::end_value));
  CHECK((half == before));
  // A second attempt closes it.
  REQUIRE(close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, SIGSEGV)).ok());
  CHECK((bytes_of_file(path) == after));
}

TEST_CASE("the end is not known of a file that a process other than the launcher's child wrote") {
  const sim::TraceFolder folder;
  const std::string path = killed_ranks_file(folder, 5);
  REQUIRE(close_trace_for(path, kJob, {1, sim::TraceEnd::exit_status, 0}).ok());
  TraceFile file;
  REQUIRE(read_trace_file(path, file).ok());
  CHECK(file.sealed);
  CHECK_FALSE(file.closed);
  CHECK(file.end == sim::TraceEnd::none);
  CHECK(end_text(file) == "ended in a way that its launcher did not see, and did not close its trace");
}

TEST_CASE("the end of a rank killed after it had closed its file is recorded, and the checksum covers each bit") {
  const sim::TraceFolder folder;
  {
    sim::Recorder recorder(sim::real_clock());
    REQUIRE(open_in(recorder, folder).ok());
    record_some(recorder, 30);
  }
  const std::string path = folder / sim::trace_file_name(0);
  const std::string closed = bytes_of_file(path);
  TraceFile before;
  REQUIRE(read_trace_file(path, before).ok());
  REQUIRE(close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, SIGSEGV)).ok());
  TraceFile after;
  const Status read = read_trace_file(path, after);
  REQUIRE_MESSAGE(read.ok(), read.sentence());
  CHECK(after.closed);
  CHECK(after.events.size() == before.events.size());
  CHECK(end_text(before).empty());
  CHECK(end_text(after) == "closed its trace, and was killed later by signal 11 (SIGSEGV)");
  // No other fields were changed, and a second attempt changes nothing.
  const std::string noted = bytes_of_file(path);
  const std::size_t place = offsetof(sim::TraceHeader, launcher_checksum);
  CHECK((closed.substr(0, place) == noted.substr(0, place)));
  CHECK((closed.substr(sizeof(sim::TraceHeader)) == noted.substr(sizeof(sim::TraceHeader))));
  REQUIRE(close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, SIGKILL)).ok());
  CHECK((bytes_of_file(path) == noted));
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  for (std::size_t bit = 0; bit < 8 * sizeof(sim::TraceHeader); ++bit) {
    stream.seekp(static_cast<std::streamoff>(bit / 8));
    stream.put(static_cast<char>(noted[bit / 8] ^ (1 << bit % 8))).flush();
    CAPTURE(bit);
    REQUIRE(reading(path) == "refused");
    stream.seekp(static_cast<std::streamoff>(bit / 8));
    stream.put(noted[bit / 8]).flush();
  }
}

TEST_CASE("a file that needs no closing is not changed: a missing one, one not begun, one closed, one of another run") {
  const sim::TraceFolder folder;
  CHECK(close_trace_for(folder / "none", kJob, end_of(folder / "none", sim::TraceEnd::signal, 9)).ok());
  const std::string empty = folder / "empty";
  std::ofstream(empty, std::ios::binary) << std::string(sim::kTraceEventsOffset, '\0');
  CHECK(close_trace_for(empty, kJob, end_of(empty, sim::TraceEnd::signal, 9)).ok());
  CHECK((bytes_of_file(empty) == std::string(sim::kTraceEventsOffset, '\0')));
  {
    sim::Recorder recorder(sim::real_clock());
    REQUIRE(open_in(recorder, folder).ok());
    record_some(recorder, 3);
  }
  const std::string path = folder / sim::trace_file_name(0);
  const std::string closed = bytes_of_file(path);
  CHECK(close_trace_for(path, kJob, end_of(path, sim::TraceEnd::exit_status, 0)).ok());
  CHECK((bytes_of_file(path) == closed));
  CHECK(close_trace_for(path, kJob, {1, sim::TraceEnd::signal, 9}).ok());  // a wrapper's end, not the rank's
  CHECK((bytes_of_file(path) == closed));
  const sim::TraceFolder other;
  const std::string killed = killed_ranks_file(other, 3);
  const std::string left = bytes_of_file(killed);
  CHECK(close_trace_for(killed, kJob + 1, end_of(killed, sim::TraceEnd::signal, 9)).ok());
  CHECK((bytes_of_file(killed) == left));
}

TEST_CASE("a damaged file is not closed") {
  const sim::TraceFolder folder;
  const std::string path = killed_ranks_file(folder, 3);
  std::string bytes = bytes_of_file(path);
  bytes[offsetof(sim::TraceHeader, event_bytes)] ^= 1;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  const Status status = close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, 9));
  CHECK(status.sentence().find("event_bytes is 65") != std::string::npos);
  CHECK((bytes_of_file(path) == bytes));
}

TEST_CASE("a file that a process may still write to is not closed") {
  const sim::TraceFolder folder;
  sim::Recorder recorder(sim::real_clock());
  REQUIRE(open_in(recorder, folder).ok());
  record_some(recorder, 3);
  const std::string path = recorder.path();
  const Status status = close_trace_for(path, kJob, end_of(path, sim::TraceEnd::signal, 9));
  REQUIRE_FALSE(status.ok());  // on a file system with leases, as those of Linux
  CHECK(status.sentence().find("stays unclosed") != std::string::npos);
  TraceFile file;
  REQUIRE(read_trace_file(path, file).ok());
  CHECK_FALSE(file.sealed);
  recorder.close();
  REQUIRE(read_trace_file(path, file).ok());
  CHECK(file.closed);
}

TEST_CASE("the ends of ranks are described in text, and unclosed files in one sentence") {
  std::vector<TraceFile> files(12);
  for (std::uint32_t i = 0; i < files.size(); ++i) files[i].rank = i;
  CHECK(end_text(files[0]).empty());
  files[0].end = sim::TraceEnd::exit_status;
  files[0].end_value = 3;
  CHECK(end_text(files[0]) == "ended with exit status 3 and did not close its trace");
  files[0].end = sim::TraceEnd::signal;
  files[0].end_value = 99;
  CHECK(end_text(files[0]) == "was killed by signal 99");
  files[0].closed = true;
  CHECK(end_text(files[0]) == "closed its trace, and was killed later by signal 99");
  files[0].end = sim::TraceEnd::exit_status;
  CHECK(end_text(files[0]) == "closed its trace, and ended with exit status 99");
  files[0].closed = false;
  files[0].sealed = true;
  files[1].closed = true;
  CHECK(unsealed_text(files).find("the files of ranks 2, 3, 4, 5, 6, 7, 8, 9 and 2 more (") != std::string::npos);
}
