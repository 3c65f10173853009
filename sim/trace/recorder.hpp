// A recorder of trace events into a ring: a memory-mapped file that survives a crash of its rank, or plain memory for
// tests.
//   if (recorder.on()) recorder.record(trace_event(TraceKind::kernel_send, header, sequence));
// While the recorder is disabled, this costs one predictable branch. There is one writer: the rank's owner, or the
// thread that has locked its process lock. A forked child never writes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/trace/event.hpp"
#include "sim/trace/format.hpp"

namespace margay::sim {

// The default capacity of the ring: 4 MiB for each rank.
inline constexpr std::uint64_t kDefaultTraceEvents = std::uint64_t{1} << 16;
// The number of recorded steps of a walk by default. More would fill the ring, and each costs time.
inline constexpr std::uint32_t kDefaultWalkSteps = 16;
inline constexpr std::uint32_t kAllWalkSteps = ~std::uint32_t{0};
// The most entries of a walk that are counted if not all are recorded, because each counted entry delays the message's
// arrival by a few ns.
inline constexpr std::uint32_t kWalkEntriesCounted = 256;

// The parameters of open().
struct RecorderOptions {
  std::uint32_t rank = 0;
  // Ranks of the job so far, this one included; the numbers that ranks can have: processes that start later have them
  // from `size` on.
  std::uint32_t size = 1;
  std::uint32_t places = 1;
  std::uint32_t node = 0;
  // Rounded up to a power of two.
  std::uint64_t capacity_events = kDefaultTraceEvents;
  // Readers show only the events of this time before the run's end; 0: all events.
  std::uint64_t keep_ns = 0;
  // The run's identity, equal for all its ranks, because files of two runs must not be read together; 0: unknown.
  std::uint64_t job = 0;
  // The most entries that are recorded of each walk: the first ones that the walk passes over. 0: walks are not
  // recorded.
  std::uint32_t walk_steps = 0;
};

// The size of the file that open() makes with these options.
[[nodiscard]] std::uint64_t trace_file_bytes(const RecorderOptions& options);

// One rank's recorder. Not thread-safe; it has one writer (see above).
class Recorder {
 public:
  // Makes a recorder that is not open. `clock` outlives it.
  explicit Recorder(const Clock& clock);
  // Calls close().
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Starts to record into `folder`/rank_NNNNN.trace. Creates the folder (mode 0700) unless it exists; its parent must
  // exist. The file (mode 0600) must not exist. It is allocated in full, so a full file system is a failure here and
  // never a SIGBUS later. Other failures: a limit on file sizes below the file's size, a symbolic link in the path's
  // last two components, a folder that belongs to another user or to which others may write, a capacity of 0 or above
  // kMaxTraceEvents, a recorder that is already open.
  [[nodiscard]] portals::Status open(const std::string& folder, const RecorderOptions& options);
  // Starts to record into memory. Fails if there is too little memory, if the capacity is invalid, or if the recorder
  // is already open.
  [[nodiscard]] portals::Status open_memory(const RecorderOptions& options = {});
  // Sets the names of the calls, by the index that mpi_enter has in `a`: at most kMaxTraceNames names, each cut to 31
  // characters. Names that were set before do not change.
  void set_call_names(std::span<const std::string_view> names);
  // Defines the name of a number, from now on or from `since` on (a stamp(), because an event may have the time at
  // which its step began). Text beyond kMaxDefinitionText bytes is cut. No effect if the recorder is not open, or is
  // suspended. If there is no room for the definition, counts it as lost.
  void define(DefinitionKind kind, std::uint64_t number, std::uint64_t value, std::string_view text,
              std::uint64_t since = 0);
  // Writes the file's checksum (some ms for a full ring of usual size), marks the file as complete, gives the disk
  // space of its unused parts back, unmaps it and disables the recorder. No effect if the recorder is not open. In a
  // forked child it only unmaps the pages.
  void close();
  // suspend() does the same without unmapping; reopen() undoes suspend().
  void suspend();
  void reopen();

  // Whether events are recorded. To be tested before each record().
  [[nodiscard]] bool on() const { return on_; }
  // The present limit of RecorderOptions::walk_steps; 0 while the recorder is disabled.
  [[nodiscard]] std::uint32_t walk_steps() const { return walk_steps_; }
  // Whether steps of messages are observed: by the trace, or by a check of a layer above. Both share one branch, so
  // that neither costs more while both are disabled.
  [[nodiscard]] bool observing() const { return observing_; }
  // Makes observing() true from now on, with or without a trace.
  void start_observing() { observing_wanted_ = observing_ = true; }
  // pause() disables the recorder without closing it, and resume() enables it again. resume() does not enable a
  // recorder that is not open.
  void pause() {
    on_ = false;
    walk_steps_ = 0;
    observing_ = observing_wanted_;
  }
  void resume();

  // Records an event with the present time; in a full ring it replaces the oldest event. Costs 12 ns. Requires: on().
  void record(const TraceEvent& event) { record(event, stamp()); }
  // The same with the time `stamp`, for a step that began then. Other ranks may have recorded consequences of the step
  // since.
  void record(const TraceEvent& event, std::uint64_t stamp);
  // The clock of the recorded times.
  [[nodiscard]] const Clock& clock() const { return clock_; }
  // The present time in ticks, for a later record().
  [[nodiscard]] std::uint64_t stamp() const { return now_ticks(); }

  // The events in the ring, oldest first, times in nanoseconds. Requires: open() or open_memory() succeeded.
  [[nodiscard]] std::vector<TraceEvent> events() const;
  // The number of events since the recorder was opened, including overwritten ones.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  // The definitions, times in nanoseconds. Requires: open() or open_memory() succeeded.
  [[nodiscard]] std::vector<Definition> definitions() const;
  // Discards the events, so that a test sees only later ones. Requires: open() or open_memory() succeeded.
  void clear();
  // The path of the file; empty if the recorder records into memory or is not open.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void start(TraceHeader* header, std::uint64_t mapped_bytes, const RecorderOptions& options);
  // Writes the checksum, then the flag of a closed file.
  void seal();
  // Gives back the blocks of the file that have neither definitions nor events; they remain zeros.
  void release_unused();
  // Whether this process opened the recorder; false in a forked child, which must not seal its parent's file.
  [[nodiscard]] bool is_own() const;
  // Stores a new anchor, and doubles the distance between anchors, up to kMostAnchorDistance.
  void refresh_anchor(std::uint64_t now_ticks);
  [[nodiscard]] std::uint64_t now_ticks() const { return counter_ ? read_tsc() : clock_.ticks(); }

  // The members from here to header_ are used at every event.
  bool on_ = false;
  std::uint32_t walk_steps_ = 0;
  bool observing_ = false;
  bool observing_wanted_ = false;
  // The clock's ticks are the processor's counter, which is read without a virtual call.
  bool counter_ = false;
  std::uint64_t mask_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t next_anchor_ticks_ = 0;
  // mask_ + 1 events, after the header; nullptr: not open.
  TraceEvent* ring_ = nullptr;
  // The mapping's first page.
  TraceHeader* header_ = nullptr;
  // The members from here on are rarely used, except clock_, which is read at every event if `counter_` is false.
  const Clock& clock_;
  std::uint64_t anchor_distance_ticks_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  std::uint32_t walk_steps_wanted_ = 0;
  bool suspended_ = false;
  std::string path_;
};

}  // namespace margay::sim
