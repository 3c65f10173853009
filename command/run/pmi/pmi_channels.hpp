// The PMI connections of all ranks: socket pairs, lines cut out of bytes, answers written back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command/run/pmi/pmi_server.hpp"
#include "command/run/stream/poller.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

class PmiChannels {
 public:
  // Called for the line that did more than be answered: an abort, or an error. It is a rank's last one.
  using Report = std::function<void(std::uint32_t rank, const PmiOutcome& outcome)>;

  PmiChannels(Poller& poller, PmiServer& server, std::uint32_t ranks, Report report);
  PmiChannels(const PmiChannels&) = delete;
  PmiChannels& operator=(const PmiChannels&) = delete;
  ~PmiChannels();

  // `rank_end` goes to the rank; the caller closes it once the rank has started.
  [[nodiscard]] portals::Status open(std::uint32_t rank, int& rank_end);
  // Reads once and answers that, so that a rank that writes without end keeps the launcher from nothing else. false:
  // nothing is there.
  bool on_readable(std::uint32_t rank);
  // What a rank that has gone left behind.
  void drain(std::uint32_t rank);

 private:
  struct Channel {
    int descriptor = -1;
    std::string unread;
  };

  void take_lines(std::uint32_t rank);
  void answer(const PmiReply& reply);
  void close_channel(Channel& channel);

  Poller& poller_;
  PmiServer& server_;
  Report report_;
  std::vector<Channel> channels_;
};

}  // namespace margay::command
