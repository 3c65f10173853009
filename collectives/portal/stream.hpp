// Streams (paper 001, section 3.2, figure 10): long data from one rank to another, piece after piece. The data goes
// into one block at a portal of its own, without a match list. The receiver attaches the block and sends a "ready" that
// names the portal. The sender waits for this notice once, and then sends each piece as soon as it has that piece. No
// further notice is needed, because each piece names its offset in the block. The receiver polls the block's counters:
// pieces arrive in the order in which they were sent.
//
// Each stream has a portal from a pool, and only while it lasts, so calls that overlap do not mix (section 3.3 offers
// "separate portals"). When all these portals are in use, the block goes into the match list of figure 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

// Bytes of a piece: enough that the start-up cost α is small beside the transfer time of the bytes, and few enough that
// the first piece reaches the last rank of a chain soon.
inline constexpr std::size_t kStreamPieceBytes = std::size_t{64} << 10;

// The wait until a stream has advanced by a number of bytes. `Of`: StreamReceive or StreamSend; its advance_to(bytes)
// returns whether the wait is over.
template <typename Of>
class StreamPart : public mpi_adi::Awaitable<StreamPart<Of>> {
 public:
  StreamPart(Of& of, std::uint64_t bytes) : of_(of), bytes_(bytes) {}
  [[nodiscard]] bool advance() { return of_.advance_to(bytes_); }
  [[nodiscard]] Flow& flow() const { return of_.flow(); }
  [[nodiscard]] int messages() const { return 1; }

 private:
  Of& of_;
  std::uint64_t bytes_;
};

// The receiving side: receives `bytes` in all from `source` into `landing`. In a phase of a call there is at most one
// stream from a source, and then no other message from that source. The routine awaits all bytes, or an error, before
// it destroys this object.
class StreamReceive : public Part {
 public:
  // `bytes`: of the whole stream; `landing` has at least as many.
  StreamReceive(Collective& collective, int source, const portals::Region& landing, std::uint64_t bytes);
  ~StreamReceive();
  // Waits until `bytes` bytes have arrived, or until the call has failed. After a failure nothing more arrives.
  [[nodiscard]] StreamPart<StreamReceive> until(std::uint64_t bytes) { return {*this, bytes}; }
  [[nodiscard]] bool advance_to(std::uint64_t bytes);

 private:
  // The block: single_ for contiguous memory, else combined_.
  [[nodiscard]] portals::Descriptor& memory();
  // Takes the block from its portal; no piece begins to arrive afterwards.
  void detach();
  // Takes back the mark that a message of the source is awaited.
  void end_waiting();

  int source_;
  std::uint64_t bytes_;
  // A message of the source is marked as awaited (expect_from).
  bool expecting_ = false;
  // The block is at its portal, or in the match list.
  bool attached_ = true;
  std::optional<portals::SingleBlock> single_;
  std::optional<portals::CombinedBlock> combined_;
  portals::PortalIndex portal_;
  // In the match list, if no portal was free.
  portals::MatchEntry entry_;
};

// The sending side. `destination` has a StreamReceive in the same phase.
class StreamSend : public Part {
 public:
  StreamSend(Collective& collective, int destination) : Part(collective), wait_(collective, destination) {}
  // Waits until the destination is ready, or until the call has failed.
  [[nodiscard]] StreamPart<StreamSend> opened() { return {*this, 0}; }
  [[nodiscard]] bool advance_to(std::uint64_t bytes);
  // Sends a piece to `offset` of the receiver's block; the memory stays the call's until Flush. After an error it sends
  // nothing, and notifies the destination once. Requires: opened() awaited.
  void send(const portals::Region& piece, std::uint64_t offset);

 private:
  // Notifies the destination, once, that no further piece will be sent.
  void refuse();

  ReadyWait wait_;
  // The portal that the receiver named; kNoPortal until its "ready" has arrived.
  portals::PortalIndex portal_ = portals::kNoPortal;
  bool refused_ = false;
};

}  // namespace margay::collectives
