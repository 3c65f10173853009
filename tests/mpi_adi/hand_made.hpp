// A device, rank 0, against a bare kernel, rank 1, whose part the test plays: it reads incoming headers and sends
// headers of its own.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "portals/memory/block.hpp"
#include "portals/memory/independent_block.hpp"
#include "tests/mpi_adi/device_world.hpp"

namespace margay::mpi_adi {

inline constexpr std::size_t kShortBytes = 64;
inline constexpr std::size_t kLongBytes = 20'000;

// The messages to one portal of the bare kernel.
class Sink {
 public:
  Sink() {
    memory_.resize(rows_.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      memory_[row].resize(kLongBytes);
      rows_[row].memory = portals::Region(memory_[row].data(), memory_[row].size());
    }
  }
  [[nodiscard]] portals::IndependentBlock& block() { return block_; }
  [[nodiscard]] std::size_t size() const { return block_.messages(); }
  [[nodiscard]] const portals::Header& header(std::size_t number) const { return rows_[number].header; }
  [[nodiscard]] std::vector<std::byte> body(std::size_t number) const {
    const auto bytes = static_cast<std::ptrdiff_t>(rows_[number].bytes);
    return {memory_[number].begin(), memory_[number].begin() + bytes};
  }

 private:
  std::array<portals::IndependentBuffer, 8> rows_;
  std::vector<std::vector<std::byte>> memory_;
  portals::IndependentBlock block_{rows_, portals::Progression::linear};
};

class HandMade {
 public:
  explicit HandMade(DeviceOptions device = {}, std::uint64_t seed = 1, const sim::VirtualOptions& network = {})
      : world_(options(device, seed), network) {
    REQUIRE(table().attach(kReceivePortal, received.block(), {}).ok());
    REQUIRE(table().attach(kAcknowledgmentPortal, acknowledged.block(), {}).ok());
  }

  // Rank 0's device and the objects that its calls need.
  [[nodiscard]] Device& device() { return world_.device(0); }
  [[nodiscard]] Communicator& comm() { return world_.world(0); }
  [[nodiscard]] Datatype& bytes() { return world_.bytes(); }
  [[nodiscard]] VirtualWorld& world() { return world_; }
  [[nodiscard]] portals::PortalTable& table() { return world_.kernel(1).table(); }
  void settle() { world_.settle(); }

  [[nodiscard]] Request& send(SendMode mode, const std::vector<std::byte>& data, int tag = 7) {
    return *device().start_send({mode, data.data(), static_cast<std::int64_t>(data.size()), &bytes(), 1, tag, &comm()});
  }
  [[nodiscard]] Request& receive(std::vector<std::byte>& data, int source = 1, int tag = 7) {
    return *device().start_receive(
        {data.data(), static_cast<std::int64_t>(data.size()), &bytes(), source, tag, &comm()});
  }

  // A header from rank 1 to rank 0.
  [[nodiscard]] static portals::Header header(portals::Kind kind, portals::PortalIndex portal,
                                              portals::MatchBits bits) {
    portals::Header made;
    made.kind = kind;
    made.portal = portal;
    made.match_bits = bits;
    made.destination = {0, 0};
    return made;
  }
  // An MPI message from rank 1, with tag 7.
  [[nodiscard]] static portals::Header message(std::size_t bytes, const Note& note, portals::MatchBits type = 0,
                                               int tag = 7) {
    portals::Header made = header(portals::Kind::put, kReceivePortal, envelope_bits(tag, 1, 0, type));
    made.length = bytes;
    write_note(made.user_data, note);
    return made;
  }
  // Sends a message from rank 1. The caller keeps `body` until the next settle() has returned.
  void inject(const portals::Header& header, const std::vector<std::byte>& body = {}) {
    auto& transmission = *sent_.emplace_back(std::make_unique<sim::Transmission>());
    transmission.header = header;
    transmission.body = portals::Region(const_cast<std::byte*>(body.data()), body.size());
    transmission.owner_tag_kind = kOwnerOthers;
    world_.kernel(1).send(transmission);
  }
  void acknowledge(portals::MatchBits bits, portals::Saved saved) {
    portals::Header made = header(portals::Kind::acknowledgment, kAcknowledgmentPortal, bits);
    made.user_data[0] = static_cast<std::byte>(saved);
    inject(made);
  }
  // Makes rank 1's read portal reply from `data`.
  void offer(std::vector<std::byte>& data) {
    offered_ = std::make_unique<portals::SingleBlock>(portals::Buffer{data.data(), data.size()});
    portals::Options options;
    options.save = portals::Save::body;
    options.direction = portals::Direction::read_only;
    options.offset_by = portals::OffsetBy::sender;
    REQUIRE(table().attach(kReadPortal, *offered_, options).ok());
  }
  [[nodiscard]] std::uint64_t reads() const { return offered_->messages(); }
  [[nodiscard]] std::uint64_t read_bytes() const { return offered_->bytes(); }

  // The messages to rank 1. Before the world, which refers to them.
  Sink received;
  Sink acknowledged;

 private:
  static WorldOptions options(const DeviceOptions& device, std::uint64_t seed) {
    WorldOptions options;
    options.seed = seed;
    options.device = device;
    options.devices = 1;
    return options;
  }

  std::unique_ptr<portals::SingleBlock> offered_;
  std::vector<std::unique_ptr<sim::Transmission>> sent_;
  VirtualWorld world_;
};

}  // namespace margay::mpi_adi
