#include "command/trace/read/reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "command/trace/read/event_check.hpp"
#include "command/trace/read/source.hpp"
#include "sim/base/limits.hpp"
#include "sim/trace/checksum.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/tick_scale.hpp"

namespace margay::command {

using portals::Status;

namespace {

// Whether the file is sealed: by the rank's checksum, or by the launcher's.
bool has_checksum(const sim::TraceHeader& header) {
  return header.checksum != 0 || header.launcher_checksum != 0;
}

void take_header(const sim::TraceHeader& header, TraceFile& file) {
  file.rank = header.rank;
  file.size = header.size;
  file.places = std::max(header.size, std::min(header.flags >> sim::kTracePlacesShift, sim::kRanksMax));
  file.node = header.node;
  file.process_id = header.process_id;
  file.clock = header.clock;
  file.walks = (header.flags & sim::kTraceFlagWalks) != 0;
  file.closed = header.checksum != 0;
  file.sealed = has_checksum(header);
  // The rank's end is valid only under the launcher's checksum, which the launcher writes after it.
  if (header.launcher_checksum != 0) {
    file.end = header.end;
    file.end_value = header.end_value;
  }
  file.keep_ns = header.keep_ns;
  file.job = header.job;
  file.started_realtime_ns = header.started_realtime_ns;
  file.host = header.host;
  file.first_anchor = header.anchors[0];
  file.last_anchor = header.anchors[header.anchor_count == 0 ? 0 : sim::anchor_slot(header.anchor_count - 1)];
}

template <typename Value>
std::span<const std::byte> bytes_of(const std::vector<Value>& values) {
  return std::as_bytes(std::span<const Value>(values));
}

// Names are cleaned here once, so all later output is safe for a terminal.
Status read_names(const TraceSource& source, const sim::TraceHeader& header, sim::TraceChecksum& checksum,
                  TraceFile& file) {
  std::vector<char> table(header.name_count * sim::kTraceNameBytes);
  if (Status status = source.read(table.data(), table.size(), sim::kTraceNamesOffset); !status.ok()) return status;
  checksum.add(bytes_of(table));
  for (std::uint32_t i = 0; i < header.name_count; ++i) {
    // A name may fill its slot without a terminating zero.
    const char* begin = table.data() + i * sim::kTraceNameBytes;
    file.names.push_back(sim::printable({begin, strnlen(begin, sim::kTraceNameBytes)}));
  }
  return {};
}

Status read_definitions(const TraceSource& source, const sim::TraceHeader& header, sim::TraceChecksum& checksum,
                        TraceFile& file) {
  std::vector<std::byte> room(header.definitions_used);
  if (Status status = source.read(room.data(), room.size(), sim::kTraceDefinitionsOffset); !status.ok()) return status;
  checksum.add(room);
  const std::size_t good = sim::parse_definitions(room, file.definitions);
  if (good != room.size()) {
    return source.error(fmt::format("is damaged: invalid definition at byte {}", sim::kTraceDefinitionsOffset + good));
  }
  for (std::size_t i = 0; i < file.definitions.size() && !file.closed; ++i) {
    // Under the rank's checksum the definitions are as it wrote them; without one a definition may be half written.
    const auto kind = static_cast<std::uint16_t>(file.definitions[i].kind);
    if (kind == 0 || kind >= sim::kDefinitionKindCount || file.definitions[i].time < header.anchors[0].ticks) {
      return source.error(fmt::format("is damaged: definition {} has kind {} and tick {}, and no recorder writes that",
                                      i, kind, file.definitions[i].time));
    }
  }
  file.definitions_lost = header.definitions_lost;
  return {};
}

// Reads events [from, until) piece by piece, because a damaged count may claim gigabytes: memory grows only with the
// events that were read. A piece ends at the ring's end at the latest.
Status read_ring(const TraceSource& source, std::uint64_t capacity, std::uint64_t from, std::uint64_t until,
                 sim::TraceChecksum& checksum, std::vector<sim::TraceEvent>& events) {
  // 256 KiB.
  constexpr std::uint64_t kPiece = 4096;
  std::vector<sim::TraceEvent> piece;
  for (std::uint64_t number = from; number < until; number += piece.size()) {
    const std::uint64_t slot = number & (capacity - 1);
    piece.resize(std::min({kPiece, until - number, capacity - slot}));
    Status status = source.read(piece.data(), piece.size() * sim::kTraceEventBytes,
                                sim::kTraceEventsOffset + slot * sim::kTraceEventBytes);
    if (!status.ok()) return status;
    checksum.add(bytes_of(piece));
    // No recorder writes this kind. A sparse file with a damaged count fails here, after its first piece.
    if (piece.front().kind == sim::TraceKind::none) {
      return source.error(fmt::format("is damaged: event {} is of no kind", number));
    }
    events.insert(events.end(), piece.begin(), piece.end());
  }
  return {};
}

Status check_events(const TraceSource& source, const sim::TraceHeader& header, const TraceFile& file) {
  EventCheck check(header);
  std::uint64_t number = file.lost;
  for (const sim::TraceEvent& event : file.events) {
    const std::string fault = check.fault_of(event, number);
    if (!fault.empty()) return source.error(fmt::format("is damaged: event {}: {}", number, fault));
    ++number;
  }
  return {};
}

// Reads the ring from its oldest event to its newest. The rank may record meanwhile, or may have been killed in the
// middle of an event, so every slot that it may have touched since `written` was read counts as lost.
Status read_events(const TraceSource& source, const sim::TraceHeader& header, sim::TraceChecksum& checksum,
                   TraceFile& file) {
  const std::uint64_t capacity = header.capacity;
  const std::uint64_t until = header.written;
  // The launcher's checksum excludes the slot that the rank may have begun to overwrite, so this slot is not read
  // either.
  const std::uint64_t oldest = lost_events(until, capacity, file.closed || !file.sealed);
  if (Status status = read_ring(source, capacity, oldest, until, checksum, file.events); !status.ok()) return status;
  // `written` is read again after the events; events that the rank overwrote during the read are discarded.
  std::uint64_t now_written = 0;
  const std::uint64_t offset = offsetof(sim::TraceHeader, written);
  if (Status status = source.read(&now_written, sizeof now_written, offset); !status.ok()) return status;
  const std::uint64_t from = std::min(lost_events(std::max(now_written, until), capacity, file.closed), until);
  file.written = until;
  file.lost = from;
  file.events.erase(file.events.begin(), file.events.begin() + static_cast<std::ptrdiff_t>(from - oldest));
  if (!file.sealed) return check_events(source, header, file);
  if (checksum.value() == (file.closed ? header.checksum : header.launcher_checksum)) {
    // The launcher's checksum covers whatever the rank left. The rank may have died while it wrote an event, so the
    // events are checked in addition.
    return file.closed ? Status() : check_events(source, header, file);
  }
  return source.error(
      "is damaged: its checksum does not match its contents; copy it anew from where it was recorded, or record the "
      "run "
      "again");
}

// Reads in the order of the file, which is also the order of the checksum.
Status read_all(const TraceSource& source, const sim::TraceHeader& header, TraceFile& file) {
  take_header(header, file);
  sim::TraceChecksum checksum(header, file.closed ? sim::TraceCloser::rank : sim::TraceCloser::launcher);
  if (Status status = read_names(source, header, checksum, file); !status.ok()) return status;
  if (Status status = read_definitions(source, header, checksum, file); !status.ok()) return status;
  return read_events(source, header, checksum, file);
}

}  // namespace

// The event after the newest may be half written over the oldest.
std::uint64_t lost_events(std::uint64_t written, std::uint64_t capacity, bool closed) {
  const std::uint64_t in_doubt = closed ? 0 : 1;
  return written >= capacity ? written - capacity + in_doubt : 0;
}

// The launcher calls this for every rank at a job's end, so it must not read the ring.
Status read_trace_counts(const std::string& path, TraceCounts& counts) {
  const TraceSource source(path);
  sim::TraceHeader header;
  if (Status status = source.read_header(header); !status.ok()) return status;
  TraceFile file;
  take_header(header, file);
  counts = {header.written,
            lost_events(header.written, header.capacity, file.closed),
            header.capacity,
            header.keep_ns,
            0,
            header.definitions_lost,
            header.job};
  // Without events there is no span.
  if (counts.lost >= counts.written) return {};
  // One anchor pair per file gives a scale that is exact enough for a span.
  const auto time_of = [&](std::uint64_t number, std::uint64_t& ns) {
    sim::TraceEvent event;
    const std::uint64_t slot = number & (header.capacity - 1);
    Status status = source.read(&event, sizeof event, sim::kTraceEventsOffset + slot * sim::kTraceEventBytes);
    ns = sim::TickScale(file.clock, file.first_anchor, file.last_anchor).to_ns(event.time);
    return status;
  };
  std::uint64_t oldest_ns = 0, newest_ns = 0;
  if (Status status = time_of(counts.lost, oldest_ns); !status.ok()) return status;
  if (Status status = time_of(counts.written - 1, newest_ns); !status.ok()) return status;
  counts.held_ns = newest_ns > oldest_ns ? newest_ns - oldest_ns : 0;
  return {};
}

namespace {
// Whether any byte behind the header is set. A recorder completes the header by its magic before it writes any of these
// bytes, so then the file was begun, and its header was damaged later.
bool has_more_than_header(const TraceSource& source, std::uint64_t bytes) {
  const std::uint64_t end = std::min(bytes, sim::kTraceEventsOffset + sim::kTraceEventBytes);
  if (end <= sim::kTraceHeaderBytes) return false;
  std::vector<std::byte> rest(end - sim::kTraceHeaderBytes);
  if (!source.read(rest.data(), rest.size(), sim::kTraceHeaderBytes).ok()) return true;
  return std::any_of(rest.begin(), rest.end(), [](std::byte byte) { return byte != std::byte{0}; });
}
}  // namespace

// A file that cannot be examined counts as begun, so that reading it reports the error.
TraceBeginning beginning_of(const std::string& path) {
  const TraceSource source(path);
  if (source.descriptor() < 0) return errno == ENOENT ? TraceBeginning::gone : TraceBeginning::begun;
  // A file that is not begun may have some of the fields that a recorder sets before the magic, and no others.
  sim::TraceHeader header{};
  std::uint64_t bytes = 0;
  if (!source.measure(bytes).ok() || !source.read(&header, std::min(bytes, std::uint64_t{sizeof header}), 0).ok()) {
    return TraceBeginning::begun;
  }
  const bool is_blank = header.magic == 0 && header.written == 0 && header.name_count == 0 &&
                        header.definitions_used == 0 && !has_checksum(header);
  if (!is_blank) return TraceBeginning::begun;
  // Without a writer no rank will ever begin it.
  if (source.may_be_written()) return TraceBeginning::starting;
  return has_more_than_header(source, bytes) ? TraceBeginning::begun : TraceBeginning::never;
}

namespace {
bool is_same_state(const sim::TraceHeader& one, const sim::TraceHeader& other) {
  return one.checksum == other.checksum && one.launcher_checksum == other.launcher_checksum &&
         one.written == other.written;
}
}  // namespace

Status read_trace_file(const std::string& path, TraceFile& file) {
  const TraceSource source(path);
  // The rank may go on during the read: overtake the reader, close the file, or reopen it in another session. A
  // mismatch that comes from such a change is not damage, so the file is read again.
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    file = TraceFile();
    file.path = path;
    sim::TraceHeader header;
    if (Status status = source.read_header(header); !status.ok()) return status;
    // The last try accepts the file as one that is still being written, without a checksum.
    if (i == kTries) header.checksum = header.launcher_checksum = 0;
    Status status = read_all(source, header, file);
    sim::TraceHeader now;
    if (status.ok() || i == kTries || !source.read(&now, sizeof now, 0).ok()) return status;
    // The file did not change, so the error is damage.
    if (is_same_state(now, header)) return status;
  }
}

bool has_new_events(const TraceFile& file) {
  const TraceSource source(file.path);
  sim::TraceHeader header{};
  if (source.descriptor() < 0 || !source.read(&header, sizeof header, 0).ok()) return false;
  // A rank that reopens its file removes the checksum first.
  return header.written != file.written || (file.closed && header.checksum == 0);
}

std::string call_name(const TraceFile& file, std::uint32_t call) {
  if (call < file.names.size() && !file.names[call].empty()) return file.names[call];
  return fmt::format("call {}", call);
}

}  // namespace margay::command
