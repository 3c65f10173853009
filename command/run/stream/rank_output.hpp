// The standard output and standard error of all ranks: pipes in, lines out, nothing lost at the end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/stream/output_sink.hpp"
#include "command/run/stream/poller.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// One stream of one rank, cut into pieces that may be shown: whole lines at once, a partial line (a prompt) after a
// short while without more. Pure; the caller has the clock.
//
// A stream whose bytes so far fill the writer's buffers exactly has no prompt at its end: it was put aside, or waits in
// MPI_Finalize, in the middle of a line that is longer than what was left of its buffer.

class LineBuffer {
 public:
  static constexpr std::int64_t kPromptAfterNs = 50'000'000;
  // The C library's buffer of a stream to a pipe; others use multiples of it. One prompt of 4,096 ends there by chance
  // and is held back for this long.
  static constexpr std::uint64_t kWriterBufferBytes = 4096;
  static constexpr std::int64_t kMidLineAfterNs = 10'000'000'000;
  // A line longer than this is shown in pieces.
  static constexpr std::size_t kMaxPartialBytes = std::size_t{1} << 16;

  void add(std::string_view bytes, std::int64_t now_ns);
  // Counts the wait for more anew, after a while in which the caller did not look for more.
  void restart(std::int64_t now_ns) { last_ns_ = now_ns; }
  // What may be shown now: everything up to the last newline, and what follows it too when it is old or long enough.
  [[nodiscard]] std::string take_ready(std::int64_t now_ns);
  // All there is, at the stream's end.
  [[nodiscard]] std::string take_rest();
  // When take_ready will have something, or -1: nothing is held back.
  [[nodiscard]] std::int64_t deadline_ns() const { return held_.empty() ? -1 : last_ns_ + patience_ns(); }

 private:
  [[nodiscard]] std::int64_t patience_ns() const {
    return added_bytes_ % kWriterBufferBytes == 0 ? kMidLineAfterNs : kPromptAfterNs;
  }

  std::string held_;
  std::uint64_t added_bytes_ = 0;  // since the stream's beginning
  std::int64_t last_ns_ = 0;
};

struct OutputOptions {
  std::string line_pattern;    // at the beginning of each line; empty: nothing
  std::string output_pattern;  // file name; empty: the launcher's own. Patterns: pattern.hpp
  std::string error_pattern;
};

struct OutputFailure {
  int error = 0;      // errno; EPIPE: its reader has gone. 0: all is well
  std::string place;  // "the standard output", or the file of a pattern
};

class RankOutput {
 public:
  RankOutput(Poller& poller, std::uint32_t ranks, const OutputOptions& options);
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  ~RankOutput();

  // The ends that become the rank's descriptors 1 and 2; the caller closes them once the rank has started.
  [[nodiscard]] portals::Status open(std::uint32_t rank, int& standard_output, int& standard_error);
  // A stream of a rank (EventKind::kOutput, kError) has something, or a sink (kSink) has room.
  void on_event(Event event, std::int64_t now_ns);
  // Takes what is now in the pipes of a rank that has gone, partial lines too.
  void drain(std::uint32_t rank, std::int64_t now_ns);
  // Shows prompts that are due.
  void on_time(std::int64_t now_ns);
  [[nodiscard]] std::int64_t deadline_ns() const;
  // A line of the launcher's own, on standard error or (at the end) standard output.
  void notice(std::string_view line);
  void print(std::string_view line);
  // All that is left. Waits for a slow reader `patience_ms` at a time (-1: as long as it takes), then gives up.
  void finish(int patience_ms);
  // Inode numbers of the pipes that some process can still write to.
  [[nodiscard]] std::vector<ino_t> pipes() const;
  // The first output that takes no more, so that something of the ranks is lost.
  [[nodiscard]] const OutputFailure& failure() const { return failure_; }

 private:
  struct Stream {
    int descriptor = -1;
    bool watched = false;
    std::size_t sink = 0;
    std::uint32_t rank = 0;
    EventKind kind = EventKind::kOutput;
    LineBuffer buffer;
  };

  [[nodiscard]] portals::Status open_stream(std::uint32_t rank, EventKind kind, const std::string& pattern,
                                            int& write_end);
  [[nodiscard]] portals::Status sink_for(std::uint32_t rank, EventKind kind, const std::string& pattern,
                                         std::size_t& sink);
  // False at the end of the stream, or when nothing is there.
  bool read_once(Stream& stream, std::int64_t now_ns);
  void close_stream(Stream& stream);
  void show(Stream& stream, std::string_view text);
  // When a partial line is taken for a prompt: the job has been quiet for a moment, or it has waited long. -1: none is
  // held.
  [[nodiscard]] std::int64_t prompt_due_ns(const Stream& stream) const;
  void flush(std::size_t sink);
  void look_for_failure(std::size_t sink);
  void balance();

  Poller& poller_;
  OutputOptions options_;
  std::vector<Stream> streams_;                     // two for each rank: output, error
  std::vector<std::unique_ptr<OutputSink>> sinks_;  // 0: standard output, 1: standard error, then files
  std::vector<std::string> sink_names_;             // files' names; empty for 0 and 1
  std::vector<bool> sink_is_watched_;
  std::size_t error_sink_ = 1;  // of the standard error; 0: it is the standard output's file
  OutputFailure failure_;
  bool paused_ = false;
  std::int64_t last_read_ns_ = 0;  // of any stream
};

}  // namespace margay::command
