// The sending side of one channel of the shared memory wire: cells for headers and small bodies, the byte ring for the
// rest. How bodies travel: shm_body.hpp. One message after the other: the next cell is published when the body before
// it is all in the ring, or is cut.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/shm/bell.hpp"
#include "sim/shm/byte_ring.hpp"
#include "sim/shm/cell_ring.hpp"
#include "sim/wire/frame.hpp"
#include "sim/wire/shm_body.hpp"
#include "sim/wire/shm_layout.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

class ShmOutbound {
 public:
  // `peer` is the receiver's area; `my_local_rank` the index of our flag there.
  ShmOutbound(ChannelData& channel, RankArea& peer, std::uint32_t my_local_rank, bool registered);

  // See Wire. false: queue it.
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body);
  // Queues behind the earlier ones; advance() carries it.
  void queue(Transmission& transmission);
  // Carries queued transmissions as far as there is room; finished ones go to `finished`. Returns whether anything
  // moved.
  bool advance(TransmissionList& finished);
  void stop(Transmission& transmission) { transmission.stop_asked = true; }
  // The peer is lost: everything queued fails, and everything later.
  void fail(TransmissionList& finished);

  [[nodiscard]] bool idle() const { return queue_.empty(); }
  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] BellRinger& bell() { return bell_; }

 private:
  void publish(std::uint64_t first_word);
  void put_body(portals::RegionCursor& body, std::size_t count);
  bool begin(Transmission& transmission);
  bool stream(Transmission& transmission);
  bool cut(Transmission& transmission);
  void finish(Transmission::State state, TransmissionList& finished);

  CellProducer cells_;
  ByteProducer bytes_;
  BellRinger bell_;
  RankArea* peer_;
  std::uint32_t my_local_rank_;
  bool opened_ = false;   // our flag in the peer's area is set
  bool begun_ = false;    // the first queued transmission's cell is published
  bool carried_ = false;  // and its body is all in the ring, or cut
  bool lost_ = false;
  TransmissionList queue_;
};

}  // namespace margay::sim
