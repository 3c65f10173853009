#include "sim/launch/output_sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace margay::sim {

void OutputSink::add(std::uint32_t rank, std::string_view text) {
  if (reader_gone_) return;
  if (open_line_of_ != kNobody && open_line_of_ != std::int64_t{rank}) {
    queue_ += '\n';
    open_line_of_ = kNobody;
  }
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
    if (label_ && open_line_of_ == kNobody) queue_ += "[" + std::to_string(rank) + "] ";
    queue_.append(text.substr(0, length));
    open_line_of_ = newline == std::string_view::npos ? std::int64_t{rank} : kNobody;
    text.remove_prefix(length);
  }
}

void OutputSink::add_notice(std::string_view line) {
  if (reader_gone_) return;
  if (open_line_of_ != kNobody) queue_ += '\n';
  open_line_of_ = kNobody;
  queue_.append(line).append("\n");
}

// A pipe with POLLOUT takes PIPE_BUF bytes without blocking; a regular file always does.
bool OutputSink::write_some() {
  pollfd ready{descriptor_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return false;
  const ssize_t count = ::write(descriptor_, queue_.data(), std::min<std::size_t>(queue_.size(), PIPE_BUF));
  if (count > 0) {
    queue_.erase(0, static_cast<std::size_t>(count));
    return true;
  }
  if (count < 0 && (errno == EINTR)) return true;
  if (count < 0 && errno == EAGAIN) return false;
  reader_gone_ = true;
  queue_.clear();
  return false;
}

bool OutputSink::flush() {
  while (!queue_.empty() && write_some()) {
  }
  return !reader_gone_;
}

void OutputSink::flush_all(int timeout_ms) {
  while (flush() && !queue_.empty()) {
    pollfd ready{descriptor_, POLLOUT, 0};
    if (::poll(&ready, 1, timeout_ms) == 0) return;
  }
}

}  // namespace margay::sim
