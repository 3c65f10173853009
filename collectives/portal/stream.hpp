// Streams (paper 001, section 3.2, figure 10): long data from one rank to another, piece after piece, straight into one
// block at a portal of its own, without a match list. Who receives attaches the block and says that it is ready; its
// word names the portal, as a request for an answer would. Who sends waits for the word once, and then sends what it
// has when it has it: no further word is needed, as each piece names its place in the block. The receiver watches the
// block's counters: pieces come in the order in which they were sent.
//
// Each stream has a portal of its own, from a pool, and only while it lasts: calls that overlap do not mix (section 3.3
// offers "separate portals"). When all are in use the block stands in the match list of figure 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

// Streams go in pieces of this: long enough that a piece's α is little beside its β, and short enough that the first
// one is soon at the last rank.
inline constexpr std::size_t kStreamPieceBytes = std::size_t{64} << 10;

// What a text awaits of a stream: `Of` has advance_to(bytes).
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

// From `source`, into `landing`, `bytes` in all. At most one from a source in a phase of a call, and no other message
// from it. Before it goes it has awaited all of them, or an error.
class StreamReceive : public Part {
 public:
  StreamReceive(Collective& collective, int source, const portals::Region& landing, std::uint64_t bytes);
  ~StreamReceive();
  // Until so many bytes are there; or an error: then the call has it, and nothing comes any more.
  [[nodiscard]] StreamPart<StreamReceive> until(std::uint64_t bytes) { return {*this, bytes}; }
  [[nodiscard]] bool advance_to(std::uint64_t bytes);

 private:
  [[nodiscard]] portals::Descriptor& memory();
  void detach();
  void end_waiting();

  int source_;
  std::uint64_t bytes_;
  bool expecting_ = false;
  bool attached_ = true;
  std::optional<portals::SingleBlock> single_;
  std::optional<portals::CombinedBlock> combined_;
  portals::PortalIndex portal_;
  portals::MatchEntry entry_;  // where there was no portal for it
};

// To `destination`, in pieces.
class StreamSend : public Part {
 public:
  StreamSend(Collective& collective, int destination) : Part(collective), wait_(collective, destination) {}
  // Until the destination is ready; or an error, which the call has then.
  [[nodiscard]] StreamPart<StreamSend> opened() { return {*this, 0}; }
  [[nodiscard]] bool advance_to(std::uint64_t bytes);
  // `piece` goes to where the receiver's block has `offset`; it stays the call's until Flush. Nothing after an error,
  // of which the destination is told. Requires: opened.
  void send(const portals::Region& piece, std::uint64_t offset);

 private:
  void refuse();

  ReadyWait wait_;
  portals::PortalIndex portal_ = portals::kNoPortal;
  bool refused_ = false;
};

}  // namespace margay::collectives
