#include "command/run/stream/line_buffer.hpp"

#include <utility>

namespace margay::command {

void LineBuffer::add(std::string_view bytes, std::int64_t now_ns) {
  held_.append(bytes);
  added_bytes_ += bytes.size();
  last_ns_ = now_ns;
}

std::string LineBuffer::take_ready(std::int64_t now_ns) {
  if (held_.empty()) return {};
  if (now_ns >= deadline_ns()) return take_rest();
  const std::size_t newline = held_.rfind('\n');
  if (newline == std::string::npos) return held_.size() > kMaxPartialBytes ? take_rest() : std::string();
  std::string ready = held_.substr(0, newline + 1);
  held_.erase(0, newline + 1);
  return ready;
}

std::string LineBuffer::take_rest() {
  return std::exchange(held_, std::string());
}

}  // namespace margay::command
