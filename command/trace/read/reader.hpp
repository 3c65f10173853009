// The reader of trace files, one file or all of a run.
// No byte of a file is trusted: every number is checked before use, and damage is reported as an error. A file may be
// read while its rank still writes it, and after its rank was killed at any instant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/trace/definition.hpp"
#include "sim/trace/event.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

// One rank's recording.
struct TraceFile {
  std::string path;
  std::uint32_t rank = 0;
  // Ranks of the run, in all files alike after read_trace(), and the bound of their numbers, as places.
  std::uint32_t size = 0;
  std::uint32_t places = 0;
  std::uint32_t node = 0;
  std::uint32_t process_id = 0;
  sim::ClockKind clock = sim::ClockKind::monotonic;
  // Entries that walks passed over were recorded (kernel_pass).
  bool walks = false;
  // The rank has closed its file. False: it still runs, or ended without doing so.
  bool closed = false;
  // A checksum covers the contents. The rank writes it when it closes the file, or the launcher for a dead rank.
  bool sealed = false;
  // The rank's end, as the launcher recorded it. none: normal, or not known.
  sim::TraceEnd end = sim::TraceEnd::none;
  // The signal or the exit status.
  std::uint32_t end_value = 0;
  // Events ever recorded; written == lost + events.size() until read_trace() moves the events.
  std::uint64_t written = 0;
  // Events that are no longer there: overwritten in the ring, or removed by read_trace() (`left_out` counts these).
  std::uint64_t lost = 0;
  // Length of the run's end that was to be recorded (--trace-last); 0: the whole run.
  std::uint64_t keep_ns = 0;
  // Number that all files of a run share; 0: not known.
  std::uint64_t job = 0;
  // Number of events in the file that read_trace() removed because of keep_ns; `lost` includes them.
  std::uint64_t left_out = 0;
  // The time at which the recording began, in nanoseconds since 1970; 0: not known.
  std::uint64_t started_realtime_ns = 0;
  // The host's identity: the ticks in files with the same identity come from one counter.
  std::array<std::uint8_t, 16> host{};
  // Pairs of ticks and nanoseconds at the recording's beginning and end.
  sim::ClockAnchor first_anchor;
  sim::ClockAnchor last_anchor;
  // Definitions that found no room in the file's table.
  std::uint64_t definitions_lost = 0;
  // Names of MPI calls; events refer to them by index.
  std::vector<std::string> names;
  // Oldest first. Their times have the unit of the events' times.
  std::vector<sim::Definition> definitions;
  // Oldest first.
  std::vector<sim::TraceEvent> events;
};

// Reads one file; the events' times remain ticks. Does not follow symbolic links. Errors name the file, the field and
// its value. Reads the file up to three times if the rank changes it meanwhile.
[[nodiscard]] portals::Status read_trace_file(const std::string& path, TraceFile& file);

// Whether the rank has recorded more since the file was read, for example because it began another MPI session.
[[nodiscard]] bool has_new_events(const TraceFile& file);

// The state of a rank's file:
//   begun     the rank records or has recorded
//   starting  a process is about to record: the job is in its first moments
//   never     the rank ended before it recorded, or the file is all zeros
//   gone      there is no file; it may have been the launcher's test of the folder
enum class TraceBeginning : std::uint8_t { begun, starting, never, gone };
[[nodiscard]] TraceBeginning beginning_of(const std::string& path);

// Number of events that are not in a ring of `capacity` after `written` events. In a full ring of a file that is not
// closed it is one more than were overwritten, because the next event may be half written.
[[nodiscard]] std::uint64_t lost_events(std::uint64_t written, std::uint64_t capacity, bool closed);

// The amounts in a file's header.
struct TraceCounts {
  // Events ever recorded.
  std::uint64_t written = 0;
  // The number of these that were overwritten, the oldest ones.
  std::uint64_t lost = 0;
  // Events that fit in the ring.
  std::uint64_t capacity = 0;
  // As in TraceFile.
  std::uint64_t keep_ns = 0;
  // Time from the ring's oldest event to its newest.
  std::uint64_t held_ns = 0;
  // Definitions that found no room.
  std::uint64_t definitions_lost = 0;
  // Number that all files of a run share; 0: not known.
  std::uint64_t job = 0;
};
// Reads the header and two events only, so it is cheap for files of any size. Errors: read_trace_file's.
[[nodiscard]] portals::Status read_trace_counts(const std::string& path, TraceCounts& counts);

// A whole run: all ranks' events on one time scale.
struct Trace {
  struct Entry {
    // Its time is in nanoseconds.
    sim::TraceEvent event;
    // Index in `files`; the recording rank is files[file].rank.
    std::uint32_t file = 0;
  };
  // Ranks that are about to begin their file and are not in `files`.
  std::uint32_t starting = 0;
  // Files whose ranks ended before they recorded, or that are all zeros.
  std::uint32_t blank = 0;
  // Sorted by rank. Their events were moved to `entries`.
  std::vector<TraceFile> files;
  // Sorted by time; events of one rank keep the order in which it recorded them.
  std::vector<Entry> entries;
};

// Reads every rank_*.trace in `folder`, in parallel, and merges them by time. Files of one host use one time scale.
// Errors: a folder that cannot be read or contains no trace (with a note if the job may just be starting), a file that
// read_trace_file() rejects, two files of one rank or of different runs.
[[nodiscard]] portals::Status read_trace(const std::string& folder, Trace& trace);

// The call's name by the file's table, "MPI_Send"; if the table lacks it, "call 17".
[[nodiscard]] std::string call_name(const TraceFile& file, std::uint32_t call);

}  // namespace margay::command
