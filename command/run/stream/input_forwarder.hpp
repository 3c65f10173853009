// The launcher's standard input, forwarded to rank 0 or to the ranks of -s.
// A single rank gets a file or pipe directly. If several ranks read, or if the input is a terminal, the launcher reads
// the input and sends each rank a copy. (Ranks are not in the terminal's foreground group and would be stopped for
// reading it.) The slowest reader sets the pace, so memory is bounded by one read for each reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/stream/poller.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Forwards the input, and owns the pipes. A rank that gets no input reads /dev/null.
class InputForwarder {
 public:
  explicit InputForwarder(Poller& poller) : poller_(poller) {}
  InputForwarder(const InputForwarder&) = delete;
  InputForwarder& operator=(const InputForwarder&) = delete;
  ~InputForwarder();

  // `readers`: the ranks that get the input, each once. Error: no more descriptors.
  [[nodiscard]] portals::Status open(const std::vector<std::uint32_t>& readers);
  // The descriptor that becomes the rank's 0; closed by release().
  [[nodiscard]] int descriptor_for(std::uint32_t rank) const;
  // To be called when all ranks have started. Closes the launcher's copies of the ranks' ends, so that a rank's exit
  // causes EPIPE.
  void release();
  // Standard input is readable (EventKind::input), or a rank's pipe has room (input_pipe).
  void on_event(Event event);
  // Checks again whether the launcher is in the terminal's foreground; the system sends no event for that. To be called
  // from time to time.
  void on_time();
  [[nodiscard]] bool is_waiting_for_foreground() const { return in_background_; }

 private:
  // One rank that gets the input through a pipe.
  struct Reader {
    std::uint32_t rank = 0;
    // The rank's end.
    int end = -1;
    // The launcher's end; -1: the rank reads no more.
    int pipe = -1;
    // Bytes that were read for this rank, but that its pipe has not accepted yet.
    std::string unwritten;
  };

  // Some rank still reads.
  [[nodiscard]] bool forwards() const;
  // Reads more once everything read so far has been written.
  void go_on();
  void read_more();
  void write_to(std::size_t reader);
  // The rank closed its input.
  void drop(Reader& reader);
  void stop();

  Poller& poller_;
  int null_ = -1;
  // The rank that got the launcher's own standard input; -1: none.
  std::int64_t handed_to_ = -1;
  // Standard input is a terminal, which may be read only from its foreground.
  bool terminal_ = false;
  bool in_background_ = false;
  std::vector<Reader> readers_;
};

}  // namespace margay::command
