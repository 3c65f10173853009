// Records trace events into a ring: a memory-mapped file that outlives a crash of its rank, or plain memory for tests.
//   if (recorder.on()) recorder.record(trace_event(TraceKind::kernel_send, header, sequence));
// Off, that is one predictable branch. One writer: the rank's owner, or a holder of its process lock; no forked child.
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

inline constexpr std::uint64_t kDefaultTraceEvents = std::uint64_t{1} << 16;  // 4 MiB a rank
// Walks beside a trace's other events: long ones would fill the ring, and cost time with each entry.
inline constexpr std::uint32_t kDefaultWalkSteps = 16;
inline constexpr std::uint32_t kAllWalkSteps = ~std::uint32_t{0};
// How far a walk's entries are counted when not all of them are recorded: each costs the arrival of a message a few ns.
inline constexpr std::uint32_t kWalkEntriesCounted = 256;

struct RecorderOptions {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t node = 0;
  std::uint64_t capacity_events = kDefaultTraceEvents;  // rounded up to a power of two
  std::uint64_t keep_ns = 0;                            // readers show this long before the run's end only; 0: all
  std::uint64_t job = 0;         // the same for all ranks of a run: files of two are not read together; 0: not known
  std::uint32_t walk_steps = 0;  // also record so many of the entries that a walk passes over, the first ones
};

// What open() with these options takes on disk.
[[nodiscard]] std::uint64_t trace_file_bytes(const RecorderOptions& options);

class Recorder {
 public:
  // Off. `clock` outlives the recorder.
  explicit Recorder(const Clock& clock);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Begins to record into `folder`/rank_NNNNN.trace. The folder is made (mode 0700) when it is not there; its parent
  // must be. The file (0600) must not be there yet. Its room is allocated in full, so a full file system is an error
  // here and never a SIGBUS later. Errors also: a limit on file sizes below that room, a symbolic link in the last two
  // places, a folder of another user, a capacity of 0 or above kMaxTraceEvents, a recorder that is already open.
  [[nodiscard]] portals::Status open(const std::string& folder, const RecorderOptions& options);
  // Begins to record into memory. Same errors as far as they apply.
  [[nodiscard]] portals::Status open_memory(const RecorderOptions& options = {});
  // Names for the calls that mpi_enter's `a` tells, by index; at most kMaxTraceNames, cut to 31 characters each. Those
  // that were told before stay as they are.
  void set_call_names(std::span<const std::string_view> names);
  // What a number of the events is called, from now on, or from `since` on (a stamp(); an event may bear the time at
  // which its step began). Text beyond kMaxDefinitionText bytes is cut. No effect when not open or suspended; where
  // there is no room left it is counted as lost.
  void define(DefinitionKind kind, std::uint64_t number, std::uint64_t value, std::string_view text,
              std::uint64_t since = 0);
  // Gives the file its checksum (some ms for a full ring of usual size), marks it as complete and unmaps it. Off
  // afterwards. No effect when not open; in a process that the one which opened it has forked it only unmaps.
  void close();
  // The same but for the mapping, until reopen() takes it back.
  void suspend();
  void reopen();

  [[nodiscard]] bool on() const { return on_; }
  // Of each walk, how many entries that it passed over are recorded; 0: none, and while off.
  [[nodiscard]] std::uint32_t walk_steps() const { return walk_steps_; }
  // Whether anybody looks at a message's steps: on(), or a check of a layer above, which asks at the same branches, so
  // that neither costs anything while both are off.
  [[nodiscard]] bool watched() const { return watched_; }
  // From now on watched() holds, with or without a trace.
  void watch() { watch_wanted_ = watched_ = true; }
  // Stops and goes on without closing. Resuming a recorder that is not open has no effect.
  void pause() {
    on_ = false;
    walk_steps_ = 0;
    watched_ = watch_wanted_;
  }
  void resume();

  // Stamps the event with the time and writes it over the oldest. Requires: on().
  void record(const TraceEvent& event) { record(event, stamp()); }
  // The same for a step that began at `stamp`: what it set off may have been recorded elsewhere since.
  void record(const TraceEvent& event, std::uint64_t stamp);
  [[nodiscard]] std::uint64_t stamp() const { return now_ticks(); }

  // What the ring holds, oldest first, times in nanoseconds. Requires: open or open_memory succeeded.
  [[nodiscard]] std::vector<TraceEvent> events() const;
  [[nodiscard]] std::uint64_t written() const { return written_; }  // since opened, those overwritten included
  // What was defined, times in nanoseconds. Requires: as events().
  [[nodiscard]] std::vector<Definition> definitions() const;
  // Forgets the events, so that a test looks at what comes next only. Requires: open.
  void clear();
  [[nodiscard]] const std::string& path() const { return path_; }  // empty in memory

 private:
  void start(TraceHeader* header, std::uint64_t mapped_bytes, const RecorderOptions& options);
  void seal();
  [[nodiscard]] bool is_own() const;
  void refresh_anchor(std::uint64_t now_ticks);
  [[nodiscard]] std::uint64_t now_ticks() const { return counter_ ? read_tsc() : clock_.ticks(); }

  // Read on every event.
  bool on_ = false;
  std::uint32_t walk_steps_ = 0;
  bool watched_ = false;
  bool watch_wanted_ = false;
  bool counter_ = false;  // the clock's ticks are the processor's counter: no virtual call
  std::uint64_t mask_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t next_anchor_ticks_ = 0;
  TraceEvent* ring_ = nullptr;
  TraceHeader* header_ = nullptr;  // the mapping's first page
  // Set when opened.
  const Clock& clock_;
  std::uint64_t anchor_distance_ticks_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  std::uint32_t walk_steps_wanted_ = 0;
  bool suspended_ = false;
  std::string path_;
};

}  // namespace margay::sim
