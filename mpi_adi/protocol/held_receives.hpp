// Receives from MPI_ANY_SOURCE whose messages an explorer of schedules chooses. A held receive is posted, but its entry
// accepts no message; messages for it arrive in the heap. Once no rank can continue, the explorer reads choices(), and
// chooses one of the sources; the receive then takes that source's message out of the heap.
// 1. A receive that could take a message of a held one posted earlier is held, too, until the earlier one has its
//    message. So receives get messages in the order in which they were posted (MPI 4.0, 3.5).
// 2. A ready message does not wait: the first held receive that fits takes it when it arrives, because no heap accepts
//    ready messages.
// 3. A probe from MPI_ANY_SOURCE finds nothing until its source is chosen. A later receive with the same arguments
//    takes the message that the probe found.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/wildcard_watch.hpp"

namespace margay::mpi_adi {

// The held receives of one device, which owns it. Under the process lock; choices() and choose() are called while the
// rank is suspended in a wait or a poll.
class HeldReceives final : public ReceiveHold, private Listener {
 public:
  // `holds`: otherwise receives match as usual, and `watch` only follows. `watch` outlives the device.
  HeldReceives(DeviceParts& parts, WildcardWatch& watch, bool holds);

  // --- ReceiveHold ---
  [[nodiscard]] bool hold(ReceiveRequest& request, const CheckedReceive& receive) override;
  [[nodiscard]] portals::ArrivedMessage* probe(const portals::Criteria& criteria, bool takes_out) override;
  void sent(const portals::Header& header) override;
  void completed(const ReceiveRequest& request) override;

  // The wildcards that may take a message now.
  [[nodiscard]] std::vector<WildcardChoice> choices() const;
  // The wildcard takes the message of `source` in the rank's next round of progress. Requires: one of choices().
  void choose(std::uint32_t number, int source);

 private:
  // A round of progress: performs the choice.
  void notify() override;

  struct Held {
    ReceiveRequest* request = nullptr;
    portals::Criteria criteria;
    std::uint32_t number = 0;  // 0: its source is given, and it waits for an earlier one
  };
  struct Probe {
    portals::Criteria criteria;
    std::uint32_t number = 0;
    int source = MPI_ANY_SOURCE;  // the chosen one
  };

  // Drops receives that have got a ready message, or were cancelled. `reused`: the same request, posted again.
  void drop_ended(const ReceiveRequest* reused = nullptr);
  // Whether one of the first `until` held receives could take a message that `criteria` accept.
  [[nodiscard]] bool is_behind(const portals::Criteria& criteria, std::size_t until) const;
  // Puts the receive's entry into the list, for ready messages only.
  void list_held(ReceiveRequest& request);
  void unlist(ReceiveRequest& request);
  // Gives their messages, or usual entries, to the receives that no longer wait for an earlier one.
  void release_followers();
  [[nodiscard]] std::vector<int> sources(const portals::Criteria& criteria) const;

  DeviceParts& parts_;
  WildcardWatch& watch_;
  const bool holds_;
  // In the order of their posting.
  std::vector<Held> held_;
  std::optional<Probe> probe_;
  // The criteria of the latest probe that found a message, with the message's source.
  std::optional<Probe> probed_;
  std::uint32_t numbers_ = 0;
  // The choice, until the next round; number 0: none.
  std::uint32_t chosen_ = 0;
  int chosen_source_ = 0;
  // Wildcards that are not held, or no longer, until they are complete.
  std::unordered_map<const ReceiveRequest*, std::uint32_t> followed_;
};

}  // namespace margay::mpi_adi
