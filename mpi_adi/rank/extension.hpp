// The part of a rank that a higher layer owns: its portals and its pools (the collectives'). Destroyed before the
// device.
#pragma once

namespace margay::sim {
struct WireCounts;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct Communicator;

// Made by the function that MpiRank::start_on() is given, before the first message can arrive.
struct RankExtension {
  RankExtension() = default;
  RankExtension(const RankExtension&) = delete;
  RankExtension& operator=(const RankExtension&) = delete;
  virtual ~RankExtension() = default;
  // Messages and bytes that it sent. Published at MPI's end.
  [[nodiscard]] virtual const sim::WireCounts& sent() const = 0;
  // Parts, and their bytes, that other ranks read in memory instead of receiving them.
  [[nodiscard]] virtual const sim::WireCounts& shown() const = 0;
  // Discards the messages that arrived for a communicator whose contexts are about to be freed.
  virtual void forget_messages(const Communicator& communicator) = 0;
};

}  // namespace margay::mpi_adi
