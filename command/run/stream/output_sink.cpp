#include "command/run/stream/output_sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "command/run/options/tokens.hpp"

namespace margay::command {

// An unknown letter was rejected by the parser and is skipped here.
std::string fill_pattern(const std::string& pattern, std::uint32_t rank, std::uint32_t process_ranks) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      text += pattern[i];
      continue;
    }
    const char letter = pattern[++i];
    if (letter == 'r') text += std::to_string(rank);
    if (letter == 'r' && process_ranks > 1) text += "-" + std::to_string(rank + process_ranks - 1);
    if (letter == 'h') text += host_name();
    if (letter == 'g' || letter == 'p') text += '0';
    if (letter == 't') text += std::to_string(::time(nullptr));
    if (letter == '%') text += '%';
  }
  return text;
}

// The prefix begins each line, so it is omitted where a stream continues its own partial line.
void OutputSink::add(std::uint32_t rank, std::string_view text) {
  if (has_failed()) return;
  if (open_line_of_ != kNobody && open_line_of_ != std::int64_t{rank}) {
    // Another rank's line, or a notice, must not continue this one.
    queue_ += '\n';
    open_line_of_ = kNobody;
  }
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
    if (open_line_of_ == kNobody && !prefix_.empty()) queue_ += fill_pattern(prefix_, rank, process_ranks_);
    queue_.append(text.substr(0, length));
    open_line_of_ = newline == std::string_view::npos ? std::int64_t{rank} : kNobody;
    text.remove_prefix(length);
  }
}

void OutputSink::add_notice(std::string_view line) {
  if (has_failed()) return;
  if (open_line_of_ != kNobody) queue_ += '\n';
  open_line_of_ = kNobody;
  queue_.append(line).append("\n");
}

// A pipe that reports POLLOUT accepts PIPE_BUF bytes without blocking; a regular file never blocks. The descriptor
// itself stays in blocking mode, since other processes share it.
bool OutputSink::write_some() {
  pollfd ready{descriptor_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return false;
  const ssize_t count = ::write(descriptor_, queue_.data() + written_, std::min<std::size_t>(queued_bytes(), PIPE_BUF));
  if (count > 0) {
    written_ += static_cast<std::size_t>(count);
    discard_written();
    return true;
  }
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  write_error_ = count < 0 ? errno : EIO;
  queue_.clear();
  written_ = 0;
  return false;
}

// Moves the remainder to the front only from time to time; moving a long queue for each piece would cost quadratic
// time.
void OutputSink::discard_written() {
  if (written_ < queue_.size() && written_ < kFullBytes / 4) return;
  queue_.erase(0, written_);
  written_ = 0;
}

bool OutputSink::flush() {
  while (!empty() && write_some()) {
  }
  return !has_failed();
}

void OutputSink::flush_all(int timeout_ms) {
  while (flush() && !empty()) {
    pollfd ready{descriptor_, POLLOUT, 0};
    if (::poll(&ready, 1, timeout_ms) == 0) return;
  }
}

}  // namespace margay::command
