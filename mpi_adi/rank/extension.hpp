// The part of a rank that a higher layer defines: the portals and pools of collective calls. Destroyed before the
// device.
#pragma once

namespace margay::sim {
struct WireCounts;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct Communicator;

// The interface through which MpiRank publishes the counts of collective calls and frees their messages, because
// MpiRank may not include headers of `collectives`. MpiRank owns the object. The function that is passed to
// MpiRank::start_on() makes it, before the first message can arrive. Under the process lock.
struct RankExtension {
  RankExtension() = default;
  RankExtension(const RankExtension&) = delete;
  RankExtension& operator=(const RankExtension&) = delete;
  virtual ~RankExtension() = default;
  // Messages and bytes that collective calls have sent since the rank was made. Published when the rank becomes
  // dormant.
  [[nodiscard]] virtual const sim::WireCounts& sent() const = 0;
  // Counts of the data that this rank has shown to others in shared memory instead of sending it: pieces, and their
  // bytes.
  [[nodiscard]] virtual const sim::WireCounts& shown() const = 0;
  // Discards the messages that arrived for a communicator whose contexts are about to be freed.
  virtual void discard_messages(const Communicator& communicator) = 0;
};

}  // namespace margay::mpi_adi
