// The wire between the ranks of one node: a channel of shared memory for every ordered pair.
//
// Sleeping: a process about to sleep does
//   wire.bell().begin_sleep();  if (nothing moved in one more push() and poll()) wire.bell().sleep(timeout);
//   end_sleep();
// Whoever publishes for it, or returns credit to it, looks at its flag and rings.
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

class ShmWire final : public Wire {
 public:
  // `segment`: shm_segment_bytes(ranks) zero bytes shared by the node's ranks, mapped while the wire lives.
  // `local_rank`: this rank's index among them; `world_rank_of_local[i]`: the world rank of the i-th; `group`: goes
  // into every header; `clock`: bodies are measured by it. Finished transmissions go to `finished`, which outlives the
  // wire. Use nothing but status() when that is an error.
  ShmWire(std::span<std::byte> segment, std::uint32_t local_rank, std::uint32_t ranks,
          const std::vector<std::uint32_t>& world_rank_of_local, TransmissionList& finished, portals::GroupId group = 0,
          LongMethod long_method = LongMethod::ring, const Clock& clock = real_clock());

  // Why the segment cannot be used; ok otherwise.
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
  // With a processor of its own: one that is taken away in the middle of a chunk would keep the receiver waiting.
  void idle_round() override {
    if (!shared_processor_) ++idle_rounds_;
  }
  // Who has bodies of ours to read will hardly carry a part of its own.
  void accept(const portals::Region& landing, void* cookie) override {
    answering_->in->accept(landing, cookie, !answering_->out->offers());
  }
  void refuse() override { answering_->in->refuse(); }
  [[nodiscard]] BodyTold body_came() const override { return answering_->in->body_came(); }
  [[nodiscard]] bool idle() const override { return busy_.empty(); }
  void nudge(std::uint32_t peer) override;
  void nudge_queued() override;
  [[nodiscard]] std::uint64_t bodies_read_on() const override;

  // This rank's bell, for the thread that waits. One thread at a time may sleep on it; others make a BellOwner of
  // bell_data() and wait_rung().
  [[nodiscard]] BellOwner& bell() { return bell_; }
  [[nodiscard]] BellData& bell_data() { return layout_.area(local_rank_).bell; }
  // The receiver may run next on this very processor: what was written stays in its cache, and is fetched for no other.
  void keep_lines() {
    shared_processor_ = true;
    for (ShmOutbound& out : outbound_) out.keep_lines();
  }
  // Whether `peer` (a world rank) is on this node and not this rank.
  [[nodiscard]] bool reaches(std::uint32_t peer) const;
  // The process of this local rank is gone: once what it published has been taken, what is queued for it fails, and
  // poll() gives cut for the body that was coming, then lost; left, if it had left. Any thread.
  void process_ended(std::uint32_t local_rank);
  // This rank's messages are out and in: its process may end, and is missed by those alone who need a message of it.
  // Taken back with false.
  void leave(bool leaves);
  // How long bodies go to `peer`, and why; an empty reason before the first one.
  [[nodiscard]] const LongChoice& long_choice(std::uint32_t peer) const { return outbound_[local(peer)].long_choice(); }
  // False: membarrier is refused, every send pays an atomic instruction.
  [[nodiscard]] const ShmLayout& layout() const { return layout_; }
  [[nodiscard]] bool barrier_registered() const { return registered_; }

 private:
  static constexpr std::uint32_t kNotHere = 0xffff'ffff;

  // A rank that has sent here: one worth a look. Its two channels, so that a look needs not compute where they are.
  struct Sender {
    ShmInbound* in = nullptr;
    ShmOutbound* out = nullptr;
    std::uint32_t local_rank = 0;
  };

  // Something is queued or held.
  void want_push() { wants_push_ = !busy_.empty() || !held_.empty() || !ended_.empty(); }

  [[nodiscard]] std::uint32_t local(std::uint32_t peer) const;
  [[gnu::noinline]] void discover();
  void add_sender(std::uint32_t local_rank);
  bool look(const Sender& sender, Arrival& arrival);
  [[gnu::noinline]] bool look_at_others(Arrival& arrival);
  bool lose_ended();
  // Whether a body is on its way here out of another rank's memory.
  [[nodiscard]] bool reads_bodies() const;

  // Constant after construction.
  ShmLayout layout_;  // before status_, whose initializer fills it
  portals::Status status_;
  std::uint32_t local_rank_;
  const RankArea* mine_ = nullptr;
  bool registered_;
  std::vector<std::uint32_t> local_of_world_;
  TransmissionList& finished_;
  std::uint64_t test_word_ = 0;  // peers try to read it before they read bodies; see open_for_reading
  BellData no_bell_;             // stands in when status_ is an error
  BellOwner bell_;
  // process_ended() said so. Set by its thread once.
  std::vector<std::uint8_t> process_ended_;
  // Owner's.
  std::vector<ShmOutbound> outbound_;  // by local rank
  std::vector<ShmInbound> inbound_;
  std::vector<std::uint32_t> busy_;  // local ranks with something queued
  std::vector<Sender> senders_;      // never more than there are ranks: stays where it is
  std::vector<bool> is_sender_;
  std::vector<std::uint32_t> held_;
  std::vector<std::uint32_t> ended_;   // local ranks whose process is gone, not lost yet
  std::uint32_t opened_seen_ = 0;      // of our area's opened_count
  std::size_t turn_ = 0;               // index in senders_ of the one to look at first
  std::uint32_t in_turn_ = 0;          // arrivals that it has given in a row
  const Sender* answering_ = nullptr;  // of the last arrival
  std::uint32_t idle_rounds_ = 0;      // of the waiting owner since the last arrival, while something was queued
  bool shared_processor_ = false;      // see keep_lines()
};

}  // namespace margay::sim
