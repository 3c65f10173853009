#include "sim/wire/shm/shm_wire.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/shm/published.hpp"
#include "sim/wire/shm/process_memory.hpp"

namespace margay::sim {
namespace {

using portals::Header;
using portals::ProcessId;
using portals::Region;

// The only processor that this thread may run on, plus 1; 0: several.
std::uint32_t only_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != 1) return 0;
  std::uint32_t processor = 0;
  while (!CPU_ISSET(processor, &allowed)) ++processor;
  return processor + 1;
}

// The most arrivals in a row from one sender, while others may have some too.
constexpr std::uint32_t kTurnArrivals = 16;

// A rank copies a part of its own long body only after this many rounds without progress. Two ranks that exchange
// bodies each read the other's: if they helped at once, they would do each other's work (bodies of 256 KiB in both
// directions: 16 GB/s against 22).
constexpr std::uint32_t kRoundsBeforeHelp = 4;

}  // namespace

ShmWire::ShmWire(std::span<std::byte> segment, std::uint32_t local_rank, std::uint32_t ranks,
                 const std::vector<std::uint32_t>& world_rank_of_local, TransmissionList& finished,
                 portals::GroupId group, LongMethod long_method, const Clock& clock)
    : Wire(WireId::shm),
      status_(ShmLayout::attach(segment, ranks, layout_)),
      local_rank_(local_rank),
      registered_(register_node_barrier()),
      finished_(finished),
      bell_(status_.ok() ? layout_.area(local_rank).bell : no_bell_) {
  // Nothing below may touch an unusable segment.
  if (!status_.ok()) return;
  MARGAY_ASSERT(local_rank < ranks && world_rank_of_local.size() == ranks);
  const ProcessId me{group, world_rank_of_local[local_rank]};
  local_of_world_.assign(std::size_t{*std::ranges::max_element(world_rank_of_local)} + 1, kNotHere);
  RankArea& mine = layout_.area(local_rank);
  mine_ = &mine;
  outbound_.reserve(ranks);
  inbound_.reserve(ranks);
  // answering_ points into it.
  senders_.reserve(ranks);
  is_sender_.resize(ranks);
  process_ended_.resize(ranks);
  for (std::uint32_t other = 0; other < ranks; ++other) {
    const std::uint32_t world = world_rank_of_local[other];
    if (other != local_rank) local_of_world_[world] = other;
    outbound_.emplace_back(layout_.channel(local_rank, other), mine, layout_.area(other), local_rank, registered_,
                           long_method, clock);
    inbound_.emplace_back(layout_.channel(other, local_rank), layout_.area(other), registered_, ProcessId{group, world},
                          me, body_moved_, clock);
  }
  mine.only_processor = only_processor();
  open_for_reading(mine, test_word_, long_method != LongMethod::ring);
  // Last: a peer that sees the number sees everything above.
  publish(mine.pid, static_cast<std::uint32_t>(::getpid()));
  want_push();
}

bool ShmWire::reaches(std::uint32_t peer) const {
  return peer < local_of_world_.size() && local_of_world_[peer] != kNotHere;
}

std::uint32_t ShmWire::local(std::uint32_t peer) const {
  MARGAY_ASSERT(reaches(peer));
  return local_of_world_[peer];
}

bool ShmWire::try_send(std::uint32_t peer, const Header& header, const Region& body) {
  return outbound_[local(peer)].try_send(header, body);
}

void ShmWire::send(std::uint32_t peer, Transmission& transmission) {
  const std::uint32_t to = local(peer);
  ShmOutbound& out = outbound_[to];
  // Every send has an end on the finished list, a failed one too.
  if (out.lost()) {
    transmission.state = Transmission::State::failed;
    finished_.push(transmission);
    return;
  }
  const bool was_idle = out.idle();
  // Behind others: the next push() continues.
  if (!out.queue(transmission)) return;
  out.advance(finished_, false);
  if (was_idle && !out.idle()) busy_.push_back(to);
  want_push();
}

void ShmWire::stop(std::uint32_t peer, Transmission& transmission) {
  // A finished one needs no stop.
  if (transmission.state == Transmission::State::queued) outbound_[local(peer)].stop(transmission);
}

bool ShmWire::replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) {
  return outbound_[local(peer)].replace(transmission, instead);
}

bool ShmWire::push() {
  bool moved = false;
  if (!busy_.empty()) [[unlikely]] {
    // A rank that reads a body itself has better work.
    const bool idle = idle_rounds_ > kRoundsBeforeHelp && !reads_bodies();
    // Each further help then needs another idle_round(), by which the owner reports a round without
    // progress.
    if (idle) idle_rounds_ = kRoundsBeforeHelp;
    for (const std::uint32_t to : busy_) moved |= outbound_[to].advance(finished_, idle);
    std::erase_if(busy_, [this](std::uint32_t to) { return outbound_[to].idle(); });
  }
  if (!held_.empty()) [[unlikely]] {
    for (const std::uint32_t from : held_) inbound_[from].release_held();
    held_.clear();
  }
  if (!ended_.empty()) [[unlikely]]
    moved |= lose_ended();
  want_push();
  return moved;
}

bool ShmWire::reads_bodies() const {
  return std::ranges::any_of(senders_, [](const Sender& sender) { return sender.in->reading(); });
}

bool ShmWire::poll(Arrival& arrival) {
  if (read_published(mine_->opened_count) != opened_seen_) [[unlikely]]
    discover();
  if (senders_.empty()) return false;
  // The last sender probably has more.
  if (in_turn_ < kTurnArrivals && look(senders_[turn_], arrival)) [[likely]] {
    ++in_turn_;
    return true;
  }
  return (senders_.size() > 1 || in_turn_ == kTurnArrivals) && look_at_others(arrival);
}

// Polls the senders after `turn_`, and that one last if it has had its turn, so that no sender starves.
bool ShmWire::look_at_others(Arrival& arrival) {
  const std::size_t count = senders_.size();
  const std::size_t looks = in_turn_ == kTurnArrivals ? count : count - 1;
  in_turn_ = 0;
  std::size_t at = turn_;
  for (std::size_t looked = 0; looked < looks; ++looked) {
    at = at + 1 < count ? at + 1 : 0;
    if (!look(senders_[at], arrival)) continue;
    turn_ = at;
    in_turn_ = 1;
    return true;
  }
  return false;
}

bool ShmWire::look(const Sender& sender, Arrival& arrival) {
  if (!sender.in->look(arrival)) return false;
  answering_ = &sender;
  idle_rounds_ = 0;
  sender.out->heard();
  // The inbound side lost its peer (a malformed frame, an ended process): nothing more is sent to it either.
  if (arrival.kind == Arrival::Kind::lost || arrival.kind == Arrival::Kind::left) [[unlikely]]
    sender.out->fail(finished_);
  return true;
}

void ShmWire::add_sender(std::uint32_t local_rank) {
  if (is_sender_[local_rank]) return;
  is_sender_[local_rank] = true;
  senders_.push_back({&inbound_[local_rank], &outbound_[local_rank], local_rank});
}

// A rank sends here for the first time, or has ended.
void ShmWire::discover() {
  RankArea& mine = layout_.area(local_rank_);
  // Before the flags: a flag that is set afterwards raises the count again.
  opened_seen_ = read_published(mine.opened_count);
  for (std::uint32_t other = 0; other < layout_.ranks(); ++other) {
    if (other != local_rank_ && flag_set(mine.opened[other])) add_sender(other);
    const bool noted = inbound_[other].lost() || std::ranges::find(ended_, other) != ended_.end();
    if (!noted && flag_set(process_ended_[other])) ended_.push_back(other);
  }
  want_push();
}

void ShmWire::hold() {
  answering_->in->hold();
  held_.push_back(answering_->local_rank);
  want_push();
}

void ShmWire::nudge(std::uint32_t peer) {
  outbound_[local(peer)].bell().ring();
}

void ShmWire::nudge_queued() {
  for (const std::uint32_t local_rank : busy_) outbound_[local_rank].bell().ring();
}

void ShmWire::process_ended(std::uint32_t local_rank) {
  RankArea& mine = layout_.area(local_rank_);
  // The flag, then the count that the owner polls, then the bell, because the owner may sleep.
  set_flag(process_ended_[local_rank]);
  count_flag(mine.opened_count);
  BellRinger(mine.bell, registered_).ring();
}

void ShmWire::leave(bool leaves) {
  publish(layout_.area(local_rank_).has_left, leaves ? 1 : 0);
}

// Ends the channels of ended processes from which everything has been taken.
bool ShmWire::lose_ended() {
  return std::erase_if(ended_, [this](std::uint32_t gone) {
           // Messages that it published before its end are delivered first; the next push() tests again.
           if (!inbound_[gone].exhausted()) return false;
           // look() reports the loss, and fails the queued messages.
           inbound_[gone].lose("its process has ended", read_published(layout_.area(gone).has_left) != 0);
           add_sender(gone);
           return true;
         }) != 0;
}

std::uint64_t ShmWire::bodies_read_on() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t local_rank : busy_) sum += outbound_[local_rank].read_on();
  return sum;
}

}  // namespace margay::sim
