// The PMI connections of all ranks: one socket pair each, with lines cut out of the received bytes and replies written
// back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command/run/pmi/pmi_server.hpp"
#include "command/run/stream/poller.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Owns the launcher's ends of the sockets. Serves the launcher's only thread; no call blocks.
class PmiChannels {
 public:
  // Called for a line that is an abort or a protocol error, at most once for each rank: the rank's channel is closed
  // before the call.
  using Report = std::function<void(std::uint32_t rank, const PmiOutcome& outcome)>;
  // Called for a line that orders processes to be started or ended; returns the answer, without its newline. May call
  // open() for other ranks.
  using Order = std::function<std::string(std::uint32_t rank, const PmiOutcome& outcome)>;

  // Both references must outlive the channels.
  PmiChannels(Poller& poller, PmiServer& server, std::uint32_t ranks, Report report, Order order = {});
  PmiChannels(const PmiChannels&) = delete;
  PmiChannels& operator=(const PmiChannels&) = delete;
  ~PmiChannels();

  // Creates the rank's connection, and closes that of an earlier process in its place. `rank_end` is for the rank; the
  // caller closes it once the rank has started. Error: no more descriptors.
  [[nodiscard]] portals::Status open(std::uint32_t rank, int& rank_end);
  // Reads once, at most 4 KiB, and answers the complete lines. Because of this bound a rank that writes without end
  // does not starve the other events. False: there was nothing to read, or the connection is closed.
  bool on_readable(std::uint32_t rank);
  // Reads the bytes that an ended rank left in its socket. The number of reads is bounded, because a child of the rank
  // may still write.
  void drain(std::uint32_t rank);

 private:
  struct Channel {
    // -1: closed.
    int descriptor = -1;
    // The beginning of an incomplete line, at most sim::kMaxPmiLineBytes.
    std::string unread;
  };

  // Passes complete lines to the server.
  void take_lines(std::uint32_t rank);
  void answer(const PmiReply& reply);
  void close_channel(Channel& channel);

  Poller& poller_;
  PmiServer& server_;
  Report report_;
  Order order_;
  std::vector<Channel> channels_;
};

}  // namespace margay::command
