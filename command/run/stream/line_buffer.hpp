// One stream of one rank, cut into pieces that may be shown: whole lines at once, a partial line (a prompt) after a
// short while without more. Pure; the caller has the clock.
//
// A stream whose bytes so far fill the writer's buffers exactly has no prompt at its end: it was put aside, or waits in
// MPI_Finalize, in the middle of a line that is longer than what was left of its buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace margay::command {

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

}  // namespace margay::command
