// The wire between the ranks of one node: a channel of shared memory for every ordered pair.
//
// Sleeping: a process about to sleep does
//   wire.bell().begin_sleep();  if (nothing moved in one more push() and poll()) wire.bell().sleep(timeout);
//   end_sleep();
// A process that publishes for it, or returns credit to it, tests its flag and rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/shm/bell.hpp"
#include "sim/wire/shm/shm_inbound.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/shm/shm_outbound.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// One rank's side of all its channels. Owns no shared memory. Used under the process lock, except process_ended().
class ShmWire final : public Wire {
 public:
  // `segment`: shm_segment_bytes(ranks) zero bytes that the node's ranks share, mapped while the wire lives.
  // `local_rank`: this rank's index among them; `world_rank_of_local[i]`: the world rank of the i-th; `group`: goes
  // into every header; `clock`: times bodies. Finished transmissions go to `finished`, which outlives the wire. When
  // status() is a failure, no other function may be called.
  ShmWire(std::span<std::byte> segment, std::uint32_t local_rank, std::uint32_t ranks,
          const std::vector<std::uint32_t>& world_rank_of_local, TransmissionList& finished, portals::GroupId group = 0,
          LongMethod long_method = LongMethod::ring, const Clock& clock = real_clock());

  // The reason why the segment cannot be used; ok otherwise.
  [[nodiscard]] const portals::Status& status() const { return status_; }

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override;
  void send(std::uint32_t peer, Transmission& transmission) override;
  void stop(std::uint32_t peer, Transmission& transmission) override;
  [[nodiscard]] bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) override;
  bool push() override;
  [[nodiscard]] bool poll(Arrival& arrival) override;
  void consume() override { answering_->in->consume(); }
  void hold() override;
  void owner_away(bool away) override {
    for (ShmOutbound& out : outbound_) out.owner_away(away);
  }
  // Counts only for a rank with a processor of its own: a rank that lost its processor in the middle of a chunk would
  // keep the receiver waiting.
  void idle_round() override {
    if (!shared_processor_) ++idle_rounds_;
  }
  // A peer that is still reading our bodies is unlikely to help with its own.
  void accept(const portals::Region& landing, void* cookie) override {
    answering_->in->accept(landing, cookie, !answering_->out->offers());
  }
  void refuse() override { answering_->in->refuse(); }
  [[nodiscard]] BodyReport body_report() const override { return answering_->in->body_report(); }
  [[nodiscard]] bool idle() const override { return busy_.empty(); }
  void nudge(std::uint32_t peer) override;
  void nudge_queued() override;
  [[nodiscard]] std::uint64_t bodies_read_on() const override;

  // This rank's bell, for the thread that waits. One thread at a time may sleep on it; others make a BellOwner of
  // bell_data() and use wait_rung().
  [[nodiscard]] BellOwner& bell() { return bell_; }
  [[nodiscard]] BellData& bell_data() { return layout_.area(local_rank_).bell; }
  // Reports that ranks share processors: the receiver may run next on this one, so written lines stay in its cache, and
  // are prefetched for no other.
  void keep_lines() {
    shared_processor_ = true;
    for (ShmOutbound& out : outbound_) out.keep_lines();
  }
  // Whether `peer` (a world rank) is on this node and not this rank.
  [[nodiscard]] bool reaches(std::uint32_t peer) const;
  // Reports that the process of this local rank has ended. Once everything that it published has been taken, messages
  // queued for it fail, and poll() returns cut for an incomplete body, then lost; or left, if it had left. Any thread.
  void process_ended(std::uint32_t local_rank);
  // All of this rank's traffic is complete. Its process may exit; only ranks that still expect a message from it see an
  // error. Undone with false.
  void leave(bool leaves);
  // The method of long bodies to `peer`, with its reason; empty before the first one.
  [[nodiscard]] const LongChoice& long_choice(std::uint32_t peer) const { return outbound_[local(peer)].long_choice(); }
  // The segment, for collective calls and the job's waits.
  [[nodiscard]] const ShmLayout& layout() const { return layout_; }
  // Whether membarrier works. If not, every send costs an atomic instruction.
  [[nodiscard]] bool barrier_registered() const { return registered_; }

 private:
  // The element of local_of_world_ for a rank of another node.
  static constexpr std::uint32_t kNotHere = 0xffff'ffff;

  // A rank that has sent here, so that it is polled. Pointers to its two channels, so that a poll need not compute
  // them.
  struct Sender {
    ShmInbound* in = nullptr;
    ShmOutbound* out = nullptr;
    std::uint32_t local_rank = 0;
  };

  // push() has work: something is queued or held, or a process has ended.
  void want_push() { wants_push_ = !busy_.empty() || !held_.empty() || !ended_.empty(); }

  // The local rank of a world rank. Requires: reaches(peer).
  [[nodiscard]] std::uint32_t local(std::uint32_t peer) const;
  // Finds new senders and ended processes, after opened_count has grown.
  [[gnu::noinline]] void discover();
  void add_sender(std::uint32_t local_rank);
  // Polls one sender; true: `arrival` is filled in.
  bool look(const Sender& sender, Arrival& arrival);
  [[gnu::noinline]] bool look_at_others(Arrival& arrival);
  // Reports the loss of ended processes whose channels are drained.
  bool lose_ended();
  // Whether a body is being read out of another rank's memory.
  [[nodiscard]] bool reads_bodies() const;

  // Constant after construction.
  ShmLayout layout_;  // before status_, whose initializer fills it
  portals::Status status_;
  std::uint32_t local_rank_;
  const RankArea* mine_ = nullptr;
  bool registered_;
  std::vector<std::uint32_t> local_of_world_;
  TransmissionList& finished_;
  // Peers try to read it before they read bodies; see open_for_reading.
  std::uint64_t test_word_ = 0;
  // Used when status_ is a failure.
  BellData no_bell_;
  BellOwner bell_;
  // Set by process_ended() in its thread, once each.
  std::vector<std::uint8_t> process_ended_;
  // Used under the process lock.
  std::vector<ShmOutbound> outbound_;  // by local rank
  std::vector<ShmInbound> inbound_;
  // Local ranks with something queued.
  std::vector<std::uint32_t> busy_;
  // Reserved for all ranks, so elements never move.
  std::vector<Sender> senders_;
  // By local rank: whether it is in senders_.
  std::vector<bool> is_sender_;
  // Local ranks with a held message, until the next push().
  std::vector<std::uint32_t> held_;
  // Local ranks whose process has ended and is not yet reported lost.
  std::vector<std::uint32_t> ended_;
  // Last value seen of our area's opened_count.
  std::uint32_t opened_seen_ = 0;
  // Index in senders_ of the one that is polled first.
  std::size_t turn_ = 0;
  // Arrivals that it has given in a row.
  std::uint32_t in_turn_ = 0;
  // The sender of the last arrival.
  const Sender* answering_ = nullptr;
  // Rounds of the waiting owner since the last arrival, while something was queued.
  std::uint32_t idle_rounds_ = 0;
  // See keep_lines().
  bool shared_processor_ = false;
};

}  // namespace margay::sim
