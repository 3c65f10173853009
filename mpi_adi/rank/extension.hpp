// The part of a rank that a higher layer owns: its portals and its pools (the collectives'). Destroyed before the
// device.
#pragma once

namespace margay::sim {
struct WireCounts;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct Communicator;

// The interface by which MpiRank, which may not include the collectives' headers, publishes their counts and frees
// their messages. MpiRank owns it. Made by the function that MpiRank::start_on() takes, before the first message can
// arrive. Under the process lock.
struct RankExtension {
  RankExtension() = default;
  RankExtension(const RankExtension&) = delete;
  RankExtension& operator=(const RankExtension&) = delete;
  virtual ~RankExtension() = default;
  // Messages and bytes that it sent, since the rank was made. Published when the rank becomes dormant.
  [[nodiscard]] virtual const sim::WireCounts& sent() const = 0;
  // Parts, and their bytes, that other ranks read in memory instead of receiving them.
  [[nodiscard]] virtual const sim::WireCounts& shown() const = 0;
  // Discards the messages that arrived for a communicator whose contexts are about to be freed.
  virtual void forget_messages(const Communicator& communicator) = 0;
};

}  // namespace margay::mpi_adi
