// One place where output goes: the launcher's standard output, its standard error, or a file of a pattern. Joins the
// streams of many ranks so that no line of one is broken by another's.
//
// A pipe or terminal is never blocked on: pieces wait in a queue and leave when poll says there is room, so that a slow
// reader does not keep the launcher from watching its ranks. When the queue is long, `is_full` asks the caller to read
// less from the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace margay::command {

// Patterns of file names and of what stands before each line, as Hydra has them.

// %r: rank, %h: host, %g: process group and %p: proxy (one host has one of each: 0), %t: seconds since 1970, %%: a %.
// The letters are the command line's to check.
[[nodiscard]] std::string fill_pattern(const std::string& pattern, std::uint32_t rank);

class OutputSink {
 public:
  static constexpr std::size_t kFullBytes = std::size_t{1} << 20;

  // `descriptor` stays the caller's. Each line of a rank begins with `prefix`, filled in (pattern.hpp).
  OutputSink(int descriptor, std::string prefix) : descriptor_(descriptor), prefix_(std::move(prefix)) {}

  // Adds text of a rank's stream: whole lines, or a partial line that the same stream goes on with later.
  void add(std::uint32_t rank, std::string_view text);
  // Adds a line of the launcher's own; begins on a fresh line.
  void add_notice(std::string_view line);
  // Writes what goes without blocking. False once the reader has gone (the queue is dropped then).
  [[nodiscard]] bool flush();
  // Writes all, waiting at most `timeout_ms` for room each time (-1: without limit).
  void flush_all(int timeout_ms);

  [[nodiscard]] bool empty() const { return queued_bytes() == 0; }
  [[nodiscard]] bool is_full() const { return queued_bytes() >= kFullBytes; }
  [[nodiscard]] bool reader_gone() const { return reader_gone_; }
  // Why nothing can be written any more (errno); EPIPE when the reader has gone. 0: all is well.
  [[nodiscard]] int write_error() const { return write_error_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  static constexpr std::int64_t kNobody = -1;

  [[nodiscard]] bool write_some();
  void forget_written();
  [[nodiscard]] std::size_t queued_bytes() const { return queue_.size() - written_; }

  int descriptor_;
  std::string prefix_;
  bool reader_gone_ = false;
  int write_error_ = 0;
  std::int64_t open_line_of_ = kNobody;  // whose partial line the cursor stands in
  std::string queue_;
  std::size_t written_ = 0;  // bytes at the queue's front that have left
};

}  // namespace margay::command
