// Reads trace files. Nothing in a file is trusted: every number is checked before it is used, a damaged file is a
// sentence. A file may be read while its rank still writes to it, and after its rank was killed at any instant.
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
  std::uint32_t size = 0;
  std::uint32_t node = 0;
  std::uint32_t process_id = 0;
  sim::ClockKind clock = sim::ClockKind::monotonic;
  bool walks = false;
  bool closed = false;  // by its rank; false: that still runs, or ended without closing
  bool sealed = false;  // by its rank, or by the launcher of one that had died: a checksum fits all this
  sim::TraceEnd end = sim::TraceEnd::none;  // how the rank ended; none: well, or it is not known
  std::uint32_t end_value = 0;              // the signal, or the exit status
  std::uint64_t written = 0;                // events ever recorded
  std::uint64_t lost = 0;                   // of these, overwritten: written == lost + events.size()
  std::uint64_t keep_ns = 0;                // of the run's end; 0: all
  std::uint64_t job = 0;                    // of all files of a run; 0: not known
  std::uint64_t left_out = 0;               // of the lost ones, those that read_trace() left out for that
  std::uint64_t started_realtime_ns = 0;
  std::array<std::uint8_t, 16> host{};
  sim::ClockAnchor first_anchor;
  sim::ClockAnchor last_anchor;
  std::uint64_t definitions_lost = 0;  // no room was left for them
  std::vector<std::string> names;
  std::vector<sim::Definition> definitions;  // oldest first; their times as the events'
  std::vector<sim::TraceEvent> events;       // oldest first
};

// Reads one file; the events' times stay ticks. Follows no symbolic link. Errors name the file, the field and its
// value.
[[nodiscard]] portals::Status read_trace_file(const std::string& path, TraceFile& file);

// Whether the rank of a file that was read has gone on since, as in another session.
[[nodiscard]] bool has_gone_on(const TraceFile& file);

// How far the rank of a file has come: it began to record; it is about to, the job being in its first moments; it was
// ended before it did, or the file is all zeros; there is no file, which may have been one by which the launcher tried
// the folder.
enum class TraceBeginning : std::uint8_t { begun, starting, never, gone };
[[nodiscard]] TraceBeginning beginning_of(const std::string& path);

// Of so many events that a ring of `capacity` was given, those that are not there. Of a file that is not closed one
// more than were overwritten: the next may be half so.
[[nodiscard]] std::uint64_t lost_events(std::uint64_t written, std::uint64_t capacity, bool closed);

// What a file's header tells.
struct TraceCounts {
  std::uint64_t written = 0;           // events ever recorded
  std::uint64_t lost = 0;              // of these, overwritten: the first ones
  std::uint64_t capacity = 0;          // of the ring
  std::uint64_t keep_ns = 0;           // of the run's end; 0: all
  std::uint64_t held_ns = 0;           // from the ring's oldest event to its newest
  std::uint64_t definitions_lost = 0;  // no room was left for them
  std::uint64_t job = 0;               // of all files of a run; 0: not known
};
// Reads no more than the header and two events. Errors: read_trace_file's.
[[nodiscard]] portals::Status read_trace_counts(const std::string& path, TraceCounts& counts);

// All of a run.
struct Trace {
  struct Entry {
    sim::TraceEvent event;   // time in nanoseconds
    std::uint32_t file = 0;  // index in `files`: the rank that recorded it is files[file].rank
  };
  std::uint32_t starting = 0;    // ranks that have no file here, as they are about to begin it
  std::uint32_t blank = 0;       // files that were left before their ranks began to record, or that are all zeros
  std::vector<TraceFile> files;  // by rank; their events have been moved to `entries`
  std::vector<Entry> entries;    // by time; a rank's own events in their order
};

// Reads every rank_*.trace in `folder` and merges them by time. Files of one host are put on one scale. Errors: a
// folder that cannot be read or holds no trace (a job that is just starting is told as such), a file that
// read_trace_file refuses, two files of one rank or of different runs.
[[nodiscard]] portals::Status read_trace(const std::string& folder, Trace& trace);

// "MPI_Send" by the file's table of names, else "call 17".
[[nodiscard]] std::string call_name(const TraceFile& file, std::uint32_t call);

}  // namespace margay::command
