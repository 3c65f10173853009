// A recorder of trace events into a ring: a memory-mapped file that survives a crash of its rank, or plain memory for
// tests.
//   if (recorder.on()) recorder.record(trace_event(TraceKind::kernel_send, header, sequence));
// Disabled, this costs one predictable branch. One writer: the rank's owner, or a holder of its process lock; never a
// forked child.
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

// 4 MiB a rank.
inline constexpr std::uint64_t kDefaultTraceEvents = std::uint64_t{1} << 16;
// Recorded steps of a walk by default: more would fill the ring, and cost time for each entry.
inline constexpr std::uint32_t kDefaultWalkSteps = 16;
inline constexpr std::uint32_t kAllWalkSteps = ~std::uint32_t{0};
// Entries of a walk that are counted when not all are recorded: each costs the arrival of a message a few ns.
inline constexpr std::uint32_t kWalkEntriesCounted = 256;

// The parameters of open().
struct RecorderOptions {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t node = 0;
  // Rounded up to a power of two.
  std::uint64_t capacity_events = kDefaultTraceEvents;
  // Readers show only this time before the run's end; 0: all.
  std::uint64_t keep_ns = 0;
  // Equal for all ranks of a run, because files of two runs are not read together; 0: unknown.
  std::uint64_t job = 0;
  // Number of first entries that a walk passes over which are recorded too.
  std::uint32_t walk_steps = 0;
};

// The size of the file of open() with these options.
[[nodiscard]] std::uint64_t trace_file_bytes(const RecorderOptions& options);

// One rank's recorder. Not thread-safe: see above.
class Recorder {
 public:
  // Disabled at first. `clock` outlives the recorder.
  explicit Recorder(const Clock& clock);
  // Closes it.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Starts to record into `folder`/rank_NNNNN.trace. The folder is made (mode 0700) unless it exists; its parent must
  // exist. The file (0600) must not exist. It is allocated in full, so a full file system is a failure here and never a
  // SIGBUS later. Other failures: a limit on file sizes below that size, a symbolic link in the last two components, a
  // folder of another user, a capacity of 0 or above kMaxTraceEvents, a recorder that is already open.
  [[nodiscard]] portals::Status open(const std::string& folder, const RecorderOptions& options);
  // Starts to record into memory. Fails as open() does, where that applies.
  [[nodiscard]] portals::Status open_memory(const RecorderOptions& options = {});
  // Sets the names of the calls in mpi_enter's `a`, by index; at most kMaxTraceNames, cut to 31 characters each. Names
  // that were set before do not change.
  void set_call_names(std::span<const std::string_view> names);
  // Defines the name of a number from now on, or from `since` on (a stamp(); an event may carry the time at which its
  // step began). Text beyond kMaxDefinitionText bytes is cut. No effect when not open or suspended; without room it is
  // counted as lost.
  void define(DefinitionKind kind, std::uint64_t number, std::uint64_t value, std::string_view text,
              std::uint64_t since = 0);
  // Writes the file's checksum (some ms for a full ring of usual size), marks it as complete, unmaps it and disables
  // the recorder. No effect when not open; in a forked child it only unmaps.
  void close();
  // The same without unmapping; reopen() undoes it.
  void suspend();
  void reopen();

  // Whether events are recorded: the test before each record().
  [[nodiscard]] bool on() const { return on_; }
  // The number of entries passed over that are recorded of each walk; 0: none, also while disabled.
  [[nodiscard]] std::uint32_t walk_steps() const { return walk_steps_; }
  // Whether steps of messages are observed: on(), or a check of a layer above, which shares the branches, so that
  // neither costs anything while both are disabled.
  [[nodiscard]] bool observing() const { return observing_; }
  // Makes observing() true, with or without a trace.
  void watch() { observing_wanted_ = observing_ = true; }
  // Disables and enables the recorder without closing. Resuming one that is not open has no effect.
  void pause() {
    on_ = false;
    walk_steps_ = 0;
    observing_ = observing_wanted_;
  }
  void resume();

  // Records an event with the present time, over the oldest one. 12 ns. Requires: on().
  void record(const TraceEvent& event) { record(event, stamp()); }
  // The same for a step that began at `stamp`, because its consequences may have been recorded elsewhere since.
  void record(const TraceEvent& event, std::uint64_t stamp);
  // The present time in ticks, for a later record().
  [[nodiscard]] std::uint64_t stamp() const { return now_ticks(); }

  // The events in the ring, oldest first, times in nanoseconds. Requires: open() or open_memory() succeeded.
  [[nodiscard]] std::vector<TraceEvent> events() const;
  // Events since opened, overwritten ones included.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  // The definitions, times in nanoseconds. Requires: as events().
  [[nodiscard]] std::vector<Definition> definitions() const;
  // Discards the events, so that a test sees only later ones. Requires: open.
  void clear();
  // Empty in memory.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void start(TraceHeader* header, std::uint64_t mapped_bytes, const RecorderOptions& options);
  // Writes the checksum, then the flag of a closed file.
  void seal();
  // False in a forked child, which must not seal its parent's file.
  [[nodiscard]] bool is_own() const;
  // Stores a new anchor, and doubles the distance to the next one, up to a bound.
  void refresh_anchor(std::uint64_t now_ticks);
  [[nodiscard]] std::uint64_t now_ticks() const { return counter_ ? read_tsc() : clock_.ticks(); }

  // Read at every event.
  bool on_ = false;
  std::uint32_t walk_steps_ = 0;
  bool observing_ = false;
  bool observing_wanted_ = false;
  // The clock's ticks are the processor's counter, which needs no virtual call.
  bool counter_ = false;
  std::uint64_t mask_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t next_anchor_ticks_ = 0;
  // mask_ + 1 events, behind the header; nullptr: not open.
  TraceEvent* ring_ = nullptr;
  // The mapping's first page.
  TraceHeader* header_ = nullptr;
  // Set when opened.
  const Clock& clock_;
  std::uint64_t anchor_distance_ticks_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  std::uint32_t walk_steps_wanted_ = 0;
  bool suspended_ = false;
  std::string path_;
};

}  // namespace margay::sim
