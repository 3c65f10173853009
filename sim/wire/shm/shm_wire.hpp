// The wire between the ranks of one node: a channel of shared memory for every ordered pair.
//
// Sleeping: a process about to sleep does
//   wire.bell().begin_sleep();  if (nothing moved in one more push() and poll()) wire.bell().sleep(timeout);
//   end_sleep();
// A process that publishes something for the sleeper, or returns credit to it, tests the sleeper's flag and rings its
// bell.
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
  // `segment`: the node's segment, zero at first, with one of the sizes of shm_segment_sizes(ranks); mapped while the
  // wire lives. `local_rank`: this rank's index on the node. `world_rank_of_local[i]`: the world rank of local rank i.
  // `group`: the group in every header's process identifiers. `clock`: measures the transfer of bodies. Finished
  // transmissions go to `finished`, which outlives the wire. If status() is a failure, no other function may be called.
  ShmWire(std::span<std::byte> segment, std::uint32_t local_rank, std::uint32_t ranks,
          const std::vector<std::uint32_t>& world_rank_of_local, TransmissionList& finished, portals::GroupId group = 0,
          LongMethod long_method = LongMethod::ring, const Clock& clock = real_clock());

  // Continues the channels of the processes that had this rank's place before, which have ended in order; their
  // channels are at rest. `received`: by local rank, the messages that these processes have answered. Requires: called
  // before all other functions but status().
  void resume(const std::vector<std::uint64_t>& received);
  // A failure if the segment cannot be used, with the reason.
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
  // Ignored while ranks share processors, because a rank that helped and lost its processor in the middle of a chunk
  // would delay the receiver.
  void idle_round() override {
    if (!shared_processor_) ++idle_rounds_;
  }
  // The sender's help with the body is expected, unless the sender still has to read bodies of this rank.
  void accept(const portals::Region& landing, void* cookie) override {
    answering_->in->accept(landing, cookie, !answering_->out->offers());
  }
  void refuse() override { answering_->in->refuse(); }
  [[nodiscard]] BodyReport body_report() const override { return answering_->in->body_report(); }
  [[nodiscard]] bool idle() const override { return busy_.empty(); }
  void nudge(std::uint32_t peer) override;
  void nudge_queued() override;
  [[nodiscard]] std::uint64_t bodies_read_on() const override;

  // This rank's bell, for the thread that waits. One thread at a time may sleep on it. Other threads make a BellOwner
  // of bell_data() and use wait_rung().
  [[nodiscard]] BellOwner& bell() { return bell_; }
  [[nodiscard]] BellData& bell_data() { return layout_.area(local_rank_).bell; }
  // Reports that ranks share processors. From then on, written cache lines are not moved towards another processor,
  // because the receiver may run next on this one.
  void keep_lines() {
    shared_processor_ = true;
    for (ShmOutbound& out : outbound_) out.keep_lines();
  }
  // Whether `peer` (a world rank) is another rank of this node.
  [[nodiscard]] bool reaches(std::uint32_t peer) const;
  // Reports that the process of `local_rank` has ended. Once everything that the rank published has been taken,
  // messages queued for it fail, and poll() returns `cut` for an incomplete body, and then `lost`, or `left` if the
  // rank had sent its goodbye (leave()). Any thread.
  void process_ended(std::uint32_t local_rank);
  // true: sends this rank's goodbye: all of its traffic is complete, and its process may exit. After that, only ranks
  // that still expect a message from it see an error. false: withdraws the goodbye.
  void leave(bool leaves);
  // The method of long bodies to `peer`, with the reason of the choice. Before the first long body, its made() is
  // false.
  [[nodiscard]] const LongChoice& long_choice(std::uint32_t peer) const { return outbound_[local(peer)].long_choice(); }
  // The segment, for collective calls and the job's waits.
  [[nodiscard]] const ShmLayout& layout() const { return layout_; }
  // The result of register_node_barrier(): whether membarrier works. If not, every send costs an atomic instruction.
  [[nodiscard]] bool has_memory_barrier() const { return registered_; }

 private:
  // The element of local_of_world_ for a rank of another node.
  static constexpr std::uint32_t kNotHere = 0xffff'ffff;

  // A rank that has sent to this rank, and is therefore polled. Contains pointers to the two channels, so that a poll
  // need not compute them.
  struct Sender {
    ShmInbound* in = nullptr;
    ShmOutbound* out = nullptr;
    std::uint32_t local_rank = 0;
  };

  // Sets the hint needs_push(): true if something is queued or held, or a process has ended.
  void update_needs_push() { needs_push_ = !busy_.empty() || !held_.empty() || !ended_.empty(); }

  // The local rank of `peer`, a world rank. Requires: reaches(peer).
  [[nodiscard]] std::uint32_t local(std::uint32_t peer) const;
  // Finds new senders and ended processes, after opened_count has grown.
  [[gnu::noinline]] void discover();
  void add_sender(std::uint32_t local_rank);
  // Polls one sender. Returns whether it filled in `arrival`.
  bool look(const Sender& sender, Arrival& arrival);
  [[gnu::noinline]] bool look_at_other_senders(Arrival& arrival);
  // Ends the channels of ended processes whose messages have all been taken. Returns whether there were any.
  bool close_ended_channels();
  // Whether a body is being read out of another rank's memory.
  [[nodiscard]] bool reads_bodies() const;

  // Constant after construction.
  ShmLayout layout_;  // before status_, whose initializer fills layout_
  portals::Status status_;
  std::uint32_t local_rank_;
  const RankArea* mine_ = nullptr;
  bool registered_;
  std::vector<std::uint32_t> local_of_world_;
  TransmissionList& finished_;
  // The word by which peers prove that they can read this process's memory, unless it is process_test_word().
  std::uint64_t test_word_ = 0;
  // Data of bell_ if status_ is a failure.
  BellData no_bell_;
  BellOwner bell_;
  // By local rank: a flag that process_ended() sets, in its thread, once.
  std::vector<std::uint8_t> process_ended_;
  // Used under the process lock.
  std::vector<ShmOutbound> outbound_;  // by local rank
  std::vector<ShmInbound> inbound_;
  // Local ranks for which something is queued or on offer.
  std::vector<std::uint32_t> busy_;
  // Its capacity suffices for all ranks, so elements never move.
  std::vector<Sender> senders_;
  // By local rank: whether it is in senders_.
  std::vector<bool> is_sender_;
  // Local ranks whose next message is held until the next push().
  std::vector<std::uint32_t> held_;
  // Local ranks whose process has ended, and whose channel has not been ended yet.
  std::vector<std::uint32_t> ended_;
  // The last value that discover() read from opened_count of this rank's area.
  std::uint32_t opened_seen_ = 0;
  // Index in senders_ of the sender that is polled first.
  std::size_t turn_ = 0;
  // The number of consecutive arrivals from that sender.
  std::uint32_t in_turn_ = 0;
  // The sender of the last arrival.
  const Sender* answering_ = nullptr;
  // The calls of idle_round() since the last arrival; limited in push().
  std::uint32_t idle_rounds_ = 0;
  // See keep_lines().
  bool shared_processor_ = false;
};

}  // namespace margay::sim
