// Standard input for rank 0. A file or pipe is handed over as it is; a terminal is read by the launcher, because the
// ranks are not in the terminal's foreground group and would be stopped for reading it.
#pragma once

#include <string>

#include "portals/base/status.hpp"
#include "sim/launch/poller.hpp"

namespace margay::sim {

class InputForwarder {
 public:
  explicit InputForwarder(Poller& poller) : poller_(poller) {}
  InputForwarder(const InputForwarder&) = delete;
  InputForwarder& operator=(const InputForwarder&) = delete;
  ~InputForwarder();

  // What rank 0 and the other ranks get as descriptor 0; the caller closes neither, release() does.
  [[nodiscard]] portals::Status open(int& for_rank_0, int& for_others);
  // The ranks have started: their ends are closed here.
  void release();
  void on_event(Event event);
  // Looks again whether the launcher stands in the terminal's foreground. Call now and then.
  void on_time();
  [[nodiscard]] bool is_waiting_for_foreground() const { return in_background_; }

 private:
  void read_terminal();
  void write_pipe();
  void stop();

  Poller& poller_;
  int null_ = -1;
  int rank_end_ = -1;
  int pipe_ = -1;  // the launcher's end towards rank 0; -1: nothing to forward
  bool in_background_ = false;
  std::string unwritten_;
};

}  // namespace margay::sim
