// What a layer above keeps with a rank: its portals, its pools. It goes before the device does.
#pragma once

namespace margay::sim {
struct WireCounts;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct Communicator;

struct RankExtension {
  RankExtension() = default;
  RankExtension(const RankExtension&) = delete;
  RankExtension& operator=(const RankExtension&) = delete;
  virtual ~RankExtension() = default;
  // Messages and bytes that it sent.
  [[nodiscard]] virtual const sim::WireCounts& sent() const = 0;
  // Parts, and their bytes, that it showed others in memory instead.
  [[nodiscard]] virtual const sim::WireCounts& shown() const = 0;
  // A communicator's contexts are about to be given back: nothing that came for it is wanted any more.
  virtual void forget_messages(const Communicator& communicator) = 0;
};

}  // namespace margay::mpi_adi
