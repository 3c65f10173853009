// A destination of output: the launcher's standard output, its standard error, or a file of a pattern. Joins the
// streams of many ranks; a line never contains text of two ranks.
//
// A pipe or terminal never blocks the launcher: pieces wait in a queue and are written when poll reports room, so a
// slow reader does not keep the launcher from monitoring its ranks. When the queue is long, `is_full` makes the caller
// read less from the ranks, which is backpressure on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace margay::command {

// Patterns for file names and line prefixes, as in Hydra.

// Replaces %r: rank (with several ranks in the process, the first and the last, "4-7"), %h: host, %g: process group and
// %p: proxy (both 0, because there is one host), %t: seconds since 1970, %%: a %. The command line has checked the
// letters.
[[nodiscard]] std::string fill_pattern(const std::string& pattern, std::uint32_t rank, std::uint32_t process_ranks = 1);

// The queue and the line state of one destination.
class OutputSink {
 public:
  // The queue length at which the ranks are no longer read.
  static constexpr std::size_t kFullBytes = std::size_t{1} << 20;

  // `descriptor` remains the caller's. Each line of a process begins with `prefix`, a pattern. A process has
  // `process_ranks` ranks; the functions below take the number of the first one.
  OutputSink(int descriptor, std::string prefix, std::uint32_t process_ranks = 1)
      : descriptor_(descriptor), prefix_(std::move(prefix)), process_ranks_(process_ranks) {}

  // Queues text of a rank's stream: whole lines, or a partial line that the stream continues later.
  void add(std::uint32_t rank, std::string_view text);
  // Queues a line of the launcher's own, on a fresh line and without prefix.
  void add_notice(std::string_view line);
  // Writes as much as possible without blocking. False after a write error, such as a reader that has closed its end;
  // the queue is then discarded.
  [[nodiscard]] bool flush();
  // Writes everything and waits at most `timeout_ms` for room each time (-1: without limit).
  void flush_all(int timeout_ms);

  // Whether nothing is queued; whether the queue is so long that ranks are no longer read; whether a write has failed,
  // for any reason (write_error()), so that later text is discarded.
  [[nodiscard]] bool empty() const { return queued_bytes() == 0; }
  [[nodiscard]] bool is_full() const { return queued_bytes() >= kFullBytes; }
  [[nodiscard]] bool has_failed() const { return write_error_ != 0; }
  // The errno after which nothing can be written; EPIPE: the reader has closed it. 0: none.
  [[nodiscard]] int write_error() const { return write_error_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  static constexpr std::int64_t kNobody = -1;

  [[nodiscard]] bool write_some();
  void discard_written();
  [[nodiscard]] std::size_t queued_bytes() const { return queue_.size() - written_; }

  int descriptor_;
  std::string prefix_;
  std::uint32_t process_ranks_;
  int write_error_ = 0;
  // The rank whose partial line was queued last.
  std::int64_t open_line_of_ = kNobody;
  std::string queue_;
  // Bytes at the queue's front that are written already.
  std::size_t written_ = 0;
};

}  // namespace margay::command
