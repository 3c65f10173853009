#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <random>

#include "command/trace/audit.hpp"
#include "command/trace/names/text.hpp"
#include "command/trace/read/filter.hpp"
#include "command/trace/read/reader.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/command/sealed_trace.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;
using margay::portals::Status;

namespace {

constexpr std::uint64_t kCapacity = 4;

sim::TraceEvent sent(std::uint64_t sequence) {
  sim::TraceEvent event;
  event.kind = sim::TraceKind::kernel_send;
  event.source = 0;
  event.destination = 1;
  event.sequence = sequence;
  return event;
}

// The bytes of a good file with three events: closed, or as they are while its rank runs.
std::string good_file(const sim::TraceFolder& folder, bool closed = true) {
  const sim::VirtualClock clock(7);
  sim::Recorder recorder(clock);
  sim::RecorderOptions options;
  options.capacity_events = kCapacity;
  options.size = 2;
  REQUIRE(recorder.open(folder / (closed ? "good" : "running"), options).ok());
  recorder.define(sim::DefinitionKind::portal, 3, 0, "receives");
  const std::array<std::string_view, 2> names = {"MPI_Init", "MPI_Send"};
  recorder.set_call_names(names);
  for (std::uint64_t i = 1; i <= 3; ++i) recorder.record(sent(i));
  const std::string path = recorder.path();
  if (closed) recorder.close();
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string store(const sim::TraceFolder& folder, const std::string& bytes) {
  std::string path = folder / "rank_00000.trace";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

// Reads the bytes as a file and, if they are accepted, processes the result as the command does.
// `sealed`: with the right checksum.
Status use(const sim::TraceFolder& folder, const std::string& bytes, TraceFile& file, bool sealed = false) {
  store(folder, bytes);
  if (sealed) test::seal(folder / "rank_00000.trace");
  Status status = read_trace_file(folder / "rank_00000.trace", file);
  Trace trace;
  const Status whole = read_trace(folder.path(), trace);
  CHECK(whole.ok() == status.ok());
  CHECK((status.ok() || status.sentence().find("rank_00000.trace") != std::string::npos));
  for (const std::size_t i : pick(trace, {})) {
    const std::string line = text_line(trace, trace.entries[i], 0, nullptr);
    CHECK(line.size() < 1000);
    CHECK(line.find('\n') == std::string::npos);
  }
  static_cast<void>(audit(trace));
  return status;
}

template <typename Field>
std::string with(std::string bytes, std::size_t offset, Field value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_CASE("a good file is accepted") {
  const sim::TraceFolder folder;
  TraceFile file;
  const std::string bytes = good_file(folder);
  REQUIRE(bytes.size() == sim::kTraceEventsOffset + kCapacity * sim::kTraceEventBytes);
  const Status status = use(folder, bytes, file);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  CHECK(file.events.size() == 3);
  CHECK(file.names.size() == 2);
}

TEST_CASE("a truncated file is rejected with its size") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder);
  std::vector<std::size_t> lengths = {
      0, 1, 7, 8, 199, 200, 4095, 4096, 4097, sim::kTraceEventsOffset - 1, sim::kTraceEventsOffset, bytes.size() - 1};
  for (std::size_t i = 0; i < bytes.size(); i += 997) lengths.push_back(i);
  for (const std::size_t length : lengths) {
    CAPTURE(length);
    TraceFile file;
    const Status status = use(folder, bytes.substr(0, length), file);
    REQUIRE_FALSE(status.ok());
    CHECK(status.sentence().find("was cut off: " + std::to_string(length) + " bytes") != std::string::npos);
  }
}

TEST_CASE("each header field at its edges is rejected or read, without other faults") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder);
  struct Field {
    std::size_t offset;
    std::size_t bytes;
    bool decisive;  // every edge value but its own is rejected
  };
  const Field fields[] = {
      {offsetof(sim::TraceHeader, magic), 8, true},
      {offsetof(sim::TraceHeader, version), 4, true},
      {offsetof(sim::TraceHeader, header_bytes), 4, true},
      {offsetof(sim::TraceHeader, event_bytes), 4, true},
      {offsetof(sim::TraceHeader, clock), 4, false},
      {offsetof(sim::TraceHeader, rank), 4, false},
      {offsetof(sim::TraceHeader, size), 4, false},
      {offsetof(sim::TraceHeader, node), 4, false},
      {offsetof(sim::TraceHeader, process_id), 4, false},
      {offsetof(sim::TraceHeader, names_offset), 8, true},
      {offsetof(sim::TraceHeader, events_offset), 8, true},
      {offsetof(sim::TraceHeader, capacity), 8, false},
      {offsetof(sim::TraceHeader, started_realtime_ns), 8, false},
      {offsetof(sim::TraceHeader, written), 8, false},
      {offsetof(sim::TraceHeader, anchor_count), 8, false},
      {offsetof(sim::TraceHeader, anchors), 8, false},
      {offsetof(sim::TraceHeader, anchors) + 8, 8, false},
      {offsetof(sim::TraceHeader, anchors) + 16, 8, false},
      {offsetof(sim::TraceHeader, anchors) + 24, 8, false},
      {offsetof(sim::TraceHeader, name_count), 4, false},
      {offsetof(sim::TraceHeader, flags), 4, false},
      {offsetof(sim::TraceHeader, definitions_offset), 8, true},
      {offsetof(sim::TraceHeader, definitions_bytes), 8, true},
      {offsetof(sim::TraceHeader, definitions_used), 4, false},
      {offsetof(sim::TraceHeader, keep_ns), 8, false},
      {offsetof(sim::TraceHeader, definitions_lost), 4, false},
  };
  for (const Field& field : fields) {
    const unsigned bits = static_cast<unsigned>(field.bytes * 8);
    const std::uint64_t max = ~std::uint64_t{0} >> (64U - bits);
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{5}, max / 2, max / 2 + 1, max - 1, max}) {
      CAPTURE(field.offset);
      CAPTURE(value);
      TraceFile file;
      const std::string changed = field.bytes == 4 ? with(bytes, field.offset, static_cast<std::uint32_t>(value))
                                                   : with(bytes, field.offset, value);
      const Status status = use(folder, changed, file);
      if (field.decisive) CHECK_FALSE(status.ok());
      CHECK(file.events.size() <= kCapacity);
    }
  }
}

TEST_CASE("damaged fields are named in the message") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder);
  const auto refusal = [&](std::size_t offset, auto value) {
    TraceFile file;
    return use(folder, with(bytes, offset, value), file).sentence();
  };
  const auto names = [](const std::string& sentence, std::string_view what) {
    CHECK_MESSAGE(sentence.find(what) != std::string::npos, sentence);
  };
  names(refusal(0, std::uint32_t{5}), "not a margay trace");
  names(refusal(offsetof(sim::TraceHeader, version), std::uint32_t{1}), "is of version 1; this margay reads version 4");
  names(refusal(offsetof(sim::TraceHeader, event_bytes), std::uint32_t{48}), "event_bytes is 48, not 64");
  names(refusal(offsetof(sim::TraceHeader, clock), std::uint32_t{4}), "clock kind 4");
  names(refusal(offsetof(sim::TraceHeader, rank), std::uint32_t{2}), "rank 2 of 2");
  names(refusal(offsetof(sim::TraceHeader, name_count), std::uint32_t{1025}), "1025 names");
  names(refusal(offsetof(sim::TraceHeader, definitions_used), std::uint32_t{524289}), "524289 bytes of definitions");
  names(refusal(offsetof(sim::TraceHeader, definitions_used), std::uint32_t{8}), "invalid definition at byte 36864");
  names(refusal(offsetof(sim::TraceHeader, capacity), std::uint64_t{0}), "capacity of 0 events");
  names(refusal(offsetof(sim::TraceHeader, capacity), std::uint64_t{3}), "capacity of 3 events");
  names(refusal(offsetof(sim::TraceHeader, capacity), std::uint64_t{8}), "was cut off");
  names(refusal(offsetof(sim::TraceHeader, capacity), std::uint64_t{1} << 58),
        "capacity of");  // times 64 it wraps to 0
}

TEST_CASE("an excessive count is read as a ring that was overwritten many times") {
  const sim::TraceFolder folder;
  std::string bytes = good_file(folder);
  std::memcpy(bytes.data() + sim::kTraceEventsOffset + 3 * sim::kTraceEventBytes,
              bytes.data() + sim::kTraceEventsOffset,
              sim::kTraceEventBytes);  // the fourth slot was never written
  for (const std::uint64_t written : {~std::uint64_t{0}, ~std::uint64_t{0} - 1, std::uint64_t{1} << 63}) {
    TraceFile file;
    const std::string changed = with(bytes, offsetof(sim::TraceHeader, written), written);
    CHECK_FALSE(use(folder, changed, file).ok());
    REQUIRE(use(folder, changed, file, true).ok());
    CHECK(file.written == written);
    CHECK(file.lost + file.events.size() == written);
    CHECK(file.events.size() == kCapacity);
  }
}

TEST_CASE("each flipped bit of a closed file is reported") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder);
  sim::TraceHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  struct Part {
    std::size_t from;
    std::size_t bytes;
  };
  const Part parts[] = {{0, sizeof header},
                        {sim::kTraceNamesOffset, 2 * sim::kTraceNameBytes},
                        {sim::kTraceDefinitionsOffset, header.definitions_used},
                        {sim::kTraceEventsOffset, 3 * sim::kTraceEventBytes}};
  const std::string path = store(folder, bytes);
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, char byte) {
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte).flush();
  };
  for (const Part& part : parts) {
    for (std::size_t bit = 8 * part.from; bit < 8 * (part.from + part.bytes); ++bit) {
      // Except the bit for a closed file: the checksum shows that the file was closed.
      if (bit == 8 * offsetof(sim::TraceHeader, flags)) continue;
      CAPTURE(bit);
      put(bit / 8, static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)));
      TraceFile file;
      REQUIRE_FALSE(read_trace_file(path, file).ok());
      put(bit / 8, bytes[bit / 8]);
    }
  }
  stream.close();
  std::string changed = bytes;
  changed[sim::kTraceEventsOffset + 40] ^= 4;
  TraceFile file;
  CHECK(use(folder, changed, file).sentence().find("its checksum does not match") != std::string::npos);
  REQUIRE(use(folder, with(bytes, offsetof(sim::TraceHeader, flags), std::uint32_t{0}), file).ok());
  CHECK(file.closed);
  CHECK(use(folder, with(bytes, offsetof(sim::TraceHeader, checksum), std::uint64_t{0}), file)
            .sentence()
            .find("no checksum") != std::string::npos);
}

TEST_CASE("in an unclosed file, numbers that no recorder writes are reported with their event") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder, false);
  TraceFile file;
  REQUIRE_MESSAGE(use(folder, bytes, file).ok(), use(folder, bytes, file).sentence());
  REQUIRE(file.events.size() == 3);
  const auto of = [&](std::string base, std::size_t field, auto value) {
    const Status status =
        use(folder, with(std::move(base), sim::kTraceEventsOffset + sim::kTraceEventBytes + field, value), file);
    return status.ok() ? std::string("accepted") : status.sentence();
  };
  const auto of_kind = [&](sim::TraceKind kind, std::size_t field, auto value) {
    return of(with(bytes, sim::kTraceEventsOffset + sim::kTraceEventBytes + offsetof(sim::TraceEvent, kind), kind),
              field, value);
  };
  const auto reported = [](const std::string& sentence, std::string_view what) {
    CHECK_MESSAGE(sentence.find("is damaged: event 1: " + std::string(what)) != std::string::npos, sentence);
  };
  reported(of(bytes, offsetof(sim::TraceEvent, kind), std::uint16_t{0}), "its kind is 0");
  reported(of(bytes, offsetof(sim::TraceEvent, kind), sim::kTraceKindCount),
           "its kind is " + std::to_string(sim::kTraceKindCount));
  reported(of(bytes, offsetof(sim::TraceEvent, wire), static_cast<std::uint8_t>(sim::kWireCount)),
           "its wire is " + std::to_string(sim::kWireCount));
  reported(of(bytes, offsetof(sim::TraceEvent, protocol), std::uint8_t{9}), "its protocol is 9");
  reported(of(bytes, offsetof(sim::TraceEvent, header), std::uint8_t{4}), "its header is of kind 4");
  reported(of(bytes, offsetof(sim::TraceEvent, reason), std::uint8_t{12}), "its reason is 12");
  reported(of(bytes, offsetof(sim::TraceEvent, saved), std::uint8_t{4}), "its saved is 4");
  reported(of(bytes, offsetof(sim::TraceEvent, source), std::uint32_t{2}), "its source is 2 of 2 ranks");
  reported(of(bytes, offsetof(sim::TraceEvent, source), ~std::uint32_t{0}), "its source is 4294967295");
  reported(of(bytes, offsetof(sim::TraceEvent, destination), std::uint32_t{2}), "its destination is 2 of 2 ranks");
  reported(of(bytes, offsetof(sim::TraceEvent, time), std::uint64_t{6}), "its time is 6, before the recording began");
  reported(of(bytes, offsetof(sim::TraceEvent, time), std::uint64_t{1} << 31), "its time is 2147483648, after");
  reported(of_kind(sim::TraceKind::send_begin, offsetof(sim::TraceEvent, reason), std::uint8_t{5}), "its reason is 5");
  reported(of_kind(sim::TraceKind::kernel_pass, offsetof(sim::TraceEvent, reason), std::uint8_t{7}), "its reason is 7");
  reported(of_kind(sim::TraceKind::kernel_pass, offsetof(sim::TraceEvent, a), std::uint32_t{4} << 24),
           "its link is 4, of 4");
  reported(of_kind(sim::TraceKind::kernel_pass, offsetof(sim::TraceEvent, a), std::uint32_t{5} << 28),
           "its descriptor is 5, of 5");
  reported(of_kind(sim::TraceKind::kernel_match, offsetof(sim::TraceEvent, reason), std::uint8_t{4}),
           "its reason is 4");
  reported(of_kind(sim::TraceKind::kernel_match, offsetof(sim::TraceEvent, reason), std::uint8_t{0x50}),
           "its reason is 80");
  reported(of_kind(sim::TraceKind::entry_linked, offsetof(sim::TraceEvent, reason), std::uint8_t{8}),
           "its reason is 8");
  reported(of_kind(sim::TraceKind::entry_linked, offsetof(sim::TraceEvent, b), std::uint32_t{5} << 28U),
           "its descriptor is 5");
  reported(of_kind(sim::TraceKind::heap_left, offsetof(sim::TraceEvent, reason), std::uint8_t{3}), "its reason is 3");
  reported(of_kind(sim::TraceKind::kernel_deposit, offsetof(sim::TraceEvent, reason), std::uint8_t{0x8c}),
           "its reason is 140");
  CHECK(of_kind(sim::TraceKind::kernel_deposit, offsetof(sim::TraceEvent, reason), std::uint8_t{0x8b}) == "accepted");
  reported(of_kind(sim::TraceKind::given_back, offsetof(sim::TraceEvent, reason), std::uint8_t{4}), "its reason is 4");
  reported(of_kind(sim::TraceKind::window_access, offsetof(sim::TraceEvent, a), std::uint32_t{6}),
           "its access is 6, of 6");
  reported(of_kind(sim::TraceKind::window_access, offsetof(sim::TraceEvent, b), std::uint32_t{6}),
           "its epoch is 6, of 6");
  reported(of_kind(sim::TraceKind::window_sync, offsetof(sim::TraceEvent, a), std::uint32_t{14}),
           "its synchronisation is 14");
  reported(of_kind(sim::TraceKind::collective_begin, offsetof(sim::TraceEvent, b), std::uint32_t{14}),
           "its operation is 14");
  reported(of_kind(sim::TraceKind::collective_begin, offsetof(sim::TraceEvent, b), std::uint32_t{8} << 8),
           "its algorithm is 8");
  reported(of_kind(sim::TraceKind::shared_read, offsetof(sim::TraceEvent, b), std::uint32_t{14}),
           "its operation is 14");
  reported(of_kind(sim::TraceKind::mpi_enter, offsetof(sim::TraceEvent, a), std::uint32_t{2}), "its call is 2 of 2");
  reported(of_kind(sim::TraceKind::mpi_enter, offsetof(sim::TraceEvent, detail), std::uint64_t{1} << 32),
           "its thread is 4294967296");
  CHECK(of_kind(sim::TraceKind::kernel_drop, offsetof(sim::TraceEvent, destination), std::uint32_t{9}) == "accepted");
  CHECK(of(bytes, offsetof(sim::TraceEvent, time), std::uint64_t{1} << 20) ==
        "accepted");  // counters may differ a little

  const std::string late =
      with(bytes, sim::kTraceEventsOffset + offsetof(sim::TraceEvent, time), std::uint64_t{1} << 24);
  reported(of(with(late, sim::kTraceEventsOffset + sim::kTraceEventBytes + offsetof(sim::TraceEvent, kind),
                   sim::TraceKind::kernel_match),
              offsetof(sim::TraceEvent, time), std::uint64_t{7}),
           "its time is 7, and an earlier event's 16777216");
  const auto definition = [&](std::size_t field, auto value) {
    return use(folder, with(bytes, sim::kTraceDefinitionsOffset + field, value), file).sentence();
  };
  CHECK(definition(offsetof(sim::DefinitionHead, kind), sim::kDefinitionKindCount)
            .find("definition 0 has kind " + std::to_string(sim::kDefinitionKindCount)) != std::string::npos);
  CHECK(definition(offsetof(sim::DefinitionHead, time), std::uint64_t{6}).find("and tick 6") != std::string::npos);
}

TEST_CASE("events with random contents are printed and counted") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder);
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    std::string changed = bytes;
    for (std::size_t i = sim::kTraceEventsOffset; i < changed.size(); ++i) {
      changed[i] = static_cast<char>(round == 0 ? 0xff : random());
    }
    for (std::size_t i = 0; i < kCapacity; ++i) {  // half of the rounds with valid kinds
      const auto kind = static_cast<std::uint16_t>(random() % (sim::kTraceKindCount + 1));
      if (round % 2 == 1)
        changed = with(std::move(changed), sim::kTraceEventsOffset + i * sim::kTraceEventBytes + 8, kind);
    }
    TraceFile file;
    CHECK_FALSE(use(folder, changed, file).ok());
    // Expect: accepted, unless a piece of the ring begins with an invalid kind.
    const Status status = use(folder, changed, file, true);
    CHECK_MESSAGE((status.ok() || status.sentence().find("is of no kind") != std::string::npos), status.sentence());
  }
}

TEST_CASE("random bytes in the header are rejected or read") {
  const sim::TraceFolder folder;
  const std::string bytes = good_file(folder);
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    std::string changed = bytes;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) changed[random() % sizeof(sim::TraceHeader)] = static_cast<char>(random());
    TraceFile file;
    static_cast<void>(use(folder, changed, file));
    static_cast<void>(use(folder, changed, file, true));
  }
}

TEST_CASE("names that would confuse a terminal, or have no end, are sanitized") {
  const sim::TraceFolder folder;
  std::string bytes = good_file(folder);
  for (std::size_t i = 0; i < sim::kTraceNameBytes; ++i) bytes[sim::kTraceNamesOffset + i] = '\x1b';
  TraceFile file;
  REQUIRE(use(folder, bytes, file, true).ok());
  CHECK(call_name(file, 0) == std::string(32, '?'));
  CHECK(call_name(file, 1) == "MPI_Send");
}

TEST_CASE("a file that is not a trace is rejected at once") {
  const sim::TraceFolder folder;
  TraceFile file;
  const auto refusal = [&](const std::string& name) { return read_trace_file(folder / name, file).sentence(); };
  CHECK(refusal("nothing").find("No such file") != std::string::npos);
  REQUIRE(mkdir((folder / "folder").c_str(), 0700) == 0);
  CHECK(refusal("folder").find("not a regular file") != std::string::npos);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(refusal("pipe").find("not a regular file") != std::string::npos);  // and open() did not wait for a writer
  static_cast<void>(good_file(folder));
  REQUIRE(symlink("good/rank_00000.trace", (folder / "link").c_str()) == 0);
  CHECK(refusal("link").find("is a symbolic link") != std::string::npos);
}
