#include "virtual_machine/program/output.hpp"

#include <cerrno>

#include "virtual_machine/program/real.hpp"

namespace margay::virtual_machine {
namespace {

// A longer partial line is written in parts: a program may write data without line ends.
constexpr std::size_t kPartialLineBytes = std::size_t{64} * 1024;
constexpr std::int64_t kNone = -1;

constinit Real<ssize_t(int, const void*, std::size_t)> real_write("write");
constinit bool are_lines_labelled = true;
// The rank whose partial line was the last text of the stream.
constinit std::array<std::int64_t, 2> open_line_of = {kNone, kNone};

}  // namespace

ssize_t write_to_process(int descriptor, const void* data, std::size_t bytes) {
  return real_write(descriptor, data, bytes);
}

void write_all_to_process(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write_to_process(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void label_lines(bool on) {
  are_lines_labelled = on;
}

RankOutput::RankOutput(std::uint32_t rank) : rank_(rank), label_("[" + std::to_string(rank) + "] ") {}

void RankOutput::add(int descriptor, std::string_view text) {
  std::string& partial = partial_line(descriptor);
  const std::size_t newline = text.rfind('\n');
  const std::size_t whole = newline == std::string_view::npos ? 0 : newline + 1;
  if (whole > 0) {
    // One write for all whole lines, so that the output of other processes does not separate them.
    partial.append(text.substr(0, whole));
    write(descriptor, partial);
    partial.clear();
  }
  partial.append(text.substr(whole));
  if (partial.size() < kPartialLineBytes) return;
  write(descriptor, partial);
  partial.clear();
}

void RankOutput::write_partial_lines() {
  for (const int descriptor : {1, 2}) {
    std::string& partial = partial_line(descriptor);
    if (!partial.empty()) write(descriptor, partial);
    partial.clear();
  }
}

void RankOutput::write(int descriptor, std::string_view text) const {
  std::int64_t& open_line = open_line_of[static_cast<std::size_t>(descriptor - 1)];
  std::string labelled;
  // Ends another rank's partial line.
  if (open_line != kNone && open_line != std::int64_t{rank_}) labelled = "\n";
  bool begins_line = open_line != std::int64_t{rank_};
  while (!text.empty()) {
    if (begins_line && are_lines_labelled) labelled += label_;
    const std::size_t newline = text.find('\n');
    begins_line = newline != std::string_view::npos;
    const std::size_t length = begins_line ? newline + 1 : text.size();
    labelled.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  open_line = begins_line ? kNone : std::int64_t{rank_};
  write_all_to_process(descriptor, labelled);
}

}  // namespace margay::virtual_machine
