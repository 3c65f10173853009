// Standard input for rank 0, or for those that -s names. One rank gets a file or pipe as it is. For several, and from a
// terminal, whose foreground group the ranks are not in (they would be stopped for reading it), the launcher reads and
// hands each a copy; the slowest of them sets the pace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/stream/poller.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

class InputForwarder {
 public:
  explicit InputForwarder(Poller& poller) : poller_(poller) {}
  InputForwarder(const InputForwarder&) = delete;
  InputForwarder& operator=(const InputForwarder&) = delete;
  ~InputForwarder();

  // `readers`: the ranks that get it, each once.
  [[nodiscard]] portals::Status open(const std::vector<std::uint32_t>& readers);
  // What a rank gets as descriptor 0; release() closes it.
  [[nodiscard]] int descriptor_for(std::uint32_t rank) const;
  // The ranks have started: their ends are closed here.
  void release();
  void on_event(Event event);
  // Looks again whether the launcher stands in the terminal's foreground. Call now and then.
  void on_time();
  [[nodiscard]] bool is_waiting_for_foreground() const { return in_background_; }

 private:
  struct Reader {
    std::uint32_t rank = 0;
    int end = -1;   // the rank's
    int pipe = -1;  // the launcher's; -1: it reads no more
    std::string unwritten;
  };

  [[nodiscard]] bool forwards() const;
  // More is read once all that was has been written.
  void go_on();
  void read_more();
  void write_to(std::size_t reader);
  void drop(Reader& reader);
  void stop();

  Poller& poller_;
  int null_ = -1;
  std::int64_t handed_to_ = -1;  // the rank that got the launcher's own standard input
  bool terminal_ = false;
  bool in_background_ = false;
  std::vector<Reader> readers_;
};

}  // namespace margay::command
