// The standard output and standard error of all ranks: pipes in, whole lines out, nothing lost at the end.
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

// One stream of one rank, cut into pieces that may be printed: whole lines at once, a partial line (a prompt) after a
// short time without more. Pure; the caller has the clock.
//
// If the number of bytes so far is a multiple of the writer's buffer, the partial line is probably not a prompt: the
// buffer was full in the middle of a line, and the writer was preempted or waits in MPI_Finalize. It is then held back
// for longer.

class LineBuffer {
 public:
  // The time that a partial line waits for more bytes before it counts as a prompt.
  static constexpr std::int64_t kPromptAfterNs = 50'000'000;
  // The C library's buffer of a stream to a pipe; other libraries use multiples of it. A prompt that ends at a multiple
  // by chance (one in 4,096) is delayed by kMidLineAfterNs.
  static constexpr std::uint64_t kWriterBufferBytes = 4096;
  static constexpr std::int64_t kMidLineAfterNs = 10'000'000'000;
  // A longer line is printed in pieces, which bounds the memory.
  static constexpr std::size_t kMaxPartialBytes = std::size_t{1} << 16;

  // Appends bytes that were read from the stream at `now_ns`.
  void add(std::string_view bytes, std::int64_t now_ns);
  // Restarts the wait for more, after a time in which the caller did not read.
  void restart(std::int64_t now_ns) { last_ns_ = now_ns; }
  // Removes and returns what may be printed now: everything if the last bytes are old enough, otherwise all whole
  // lines. If there is no whole line, a partial line is returned only if it is longer than kMaxPartialBytes.
  [[nodiscard]] std::string take_ready(std::int64_t now_ns);
  // Removes and returns everything, at the stream's end.
  [[nodiscard]] std::string take_rest();
  // The time from which on take_ready() returns the partial line; -1: nothing is held back.
  [[nodiscard]] std::int64_t deadline_ns() const { return held_.empty() ? -1 : last_ns_ + patience_ns(); }

 private:
  [[nodiscard]] std::int64_t patience_ns() const {
    return added_bytes_ % kWriterBufferBytes == 0 ? kMidLineAfterNs : kPromptAfterNs;
  }

  std::string held_;
  // Since the stream's beginning.
  std::uint64_t added_bytes_ = 0;
  std::int64_t last_ns_ = 0;
};

struct OutputOptions {
  // Prefix of each line; empty: none.
  std::string line_pattern;
  // Patterns of file names; empty: the launcher's own stream.
  std::string output_pattern;
  std::string error_pattern;
  // Ranks of each process, which have its output in common (JobPlan::process_ranks).
  std::uint32_t process_ranks = 1;
};

struct OutputFailure {
  // errno; EPIPE: the reader has closed it. 0: none.
  int error = 0;
  // "the standard output", or the file's name.
  std::string output_name;
};

// Owns the launcher's ends of the pipes, and the files. While a destination's queue is full, the event loop reads no
// rank's pipe.
class RankOutput {
 public:
  RankOutput(Poller& poller, std::uint32_t ranks, const OutputOptions& options);
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  ~RankOutput();

  // Creates the rank's pipes, after those of an earlier process in its place have been drained and closed. The ends
  // become its descriptors 1 and 2; the caller closes them once the rank has started. Error: no more descriptors, or a
  // file that cannot be created.
  [[nodiscard]] portals::Status open(std::uint32_t rank, int& standard_output, int& standard_error);
  // A rank's stream is readable (EventKind::output, error), or a destination has room (sink).
  void on_event(Event event, std::int64_t now_ns);
  // Prints what is in the pipes of a rank that has ended, partial lines included.
  void drain(std::uint32_t rank, std::int64_t now_ns);
  // Prints the partial lines that are due.
  void on_time(std::int64_t now_ns);
  // The next time at which on_time() has something to print; -1: none.
  [[nodiscard]] std::int64_t deadline_ns() const;
  // A line of the launcher's own, on standard error or on standard output.
  void notice(std::string_view line);
  void print(std::string_view line);
  // Prints everything that is left. Waits for a slow reader for `patience_ms` at a time (-1: without limit), then gives
  // up.
  void finish(int patience_ms);
  // Inode numbers of the open pipes, to which some process can still write.
  [[nodiscard]] std::vector<ino_t> pipes() const;
  // The first destination, other than standard error, that could not be written, so that output of ranks is lost;
  // `error` 0: none.
  [[nodiscard]] const OutputFailure& failure() const { return failure_; }

 private:
  struct Stream {
    int descriptor = -1;
    bool watched = false;
    std::size_t sink = 0;
    std::uint32_t rank = 0;
    EventKind kind = EventKind::output;
    LineBuffer buffer;
  };

  [[nodiscard]] portals::Status open_stream(std::uint32_t rank, EventKind kind, const std::string& pattern,
                                            int& write_end);
  [[nodiscard]] portals::Status sink_for(std::uint32_t rank, EventKind kind, const std::string& pattern,
                                         std::size_t& sink);
  // Reads once. False at the stream's end, or if nothing is there.
  bool read_once(Stream& stream, std::int64_t now_ns);
  void close_stream(Stream& stream);
  void show(Stream& stream, std::string_view text);
  // The time at which a partial line counts as a prompt: the whole job has been quiet for a moment, or the line is old.
  // -1: none is held.
  [[nodiscard]] std::int64_t prompt_due_ns(const Stream& stream) const;
  void flush(std::size_t sink);
  void look_for_failure(std::size_t sink);
  // Stops or resumes reading the ranks by the length of the queues.
  void balance();

  Poller& poller_;
  OutputOptions options_;
  // Two for each rank: output, error.
  std::vector<Stream> streams_;
  // 0: standard output, 1: standard error, then files.
  std::vector<std::unique_ptr<OutputSink>> sinks_;
  // The files' names; empty for 0 and 1.
  std::vector<std::string> sink_names_;
  std::vector<bool> sink_is_watched_;
  // The destination of standard error; 0: both are the same file.
  std::size_t error_sink_ = 1;
  OutputFailure failure_;
  bool paused_ = false;
  // The time of the latest read of any stream.
  std::int64_t last_read_ns_ = 0;
};

}  // namespace margay::command
