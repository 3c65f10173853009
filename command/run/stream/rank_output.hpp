// The standard output and standard error of all ranks: pipes in, lines out, nothing lost at the end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command/run/stream/line_buffer.hpp"
#include "command/run/stream/output_sink.hpp"
#include "command/run/stream/poller.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

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
