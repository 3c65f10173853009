#include "sim/wire/shm/shm_wire.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/shm/published.hpp"
#include "sim/wire/shm/own_process.hpp"
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

// The most consecutive arrivals from one sender while other senders may have some too.
constexpr std::uint32_t kTurnArrivals = 16;

// A sender helps the receiver with a long body only after this many rounds without progress. When two ranks exchange
// bodies, each reads the other's body. If they helped at once, they would do each other's work (bodies of 256 KiB in
// both directions: 16 GB/s with help at once, 22 GB/s without).
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
  // An unusable segment must not be touched.
  if (!status_.ok()) return;
  MARGAY_ASSERT(local_rank < ranks && world_rank_of_local.size() == ranks);
  const ProcessId me{group, world_rank_of_local[local_rank]};
  local_of_world_.assign(std::size_t{*std::ranges::max_element(world_rank_of_local)} + 1, kNotHere);
  RankArea& mine = layout_.area(local_rank);
  mine_ = &mine;
  outbound_.reserve(ranks);
  inbound_.reserve(ranks);
  // Reserved, because answering_ points to an element.
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
  // `cma` requests the system calls also between threads.
  open_for_reading(mine, long_method == LongMethod::automatic ? process_test_word() : test_word_,
                   long_method != LongMethod::ring);
  // The pid is published last, so a peer that sees it sees everything that was written above.
  publish(mine.pid, static_cast<std::uint32_t>(::getpid()));
  update_needs_push();
}

// Channels that were never used are not touched, because a page that is read takes memory.
void ShmWire::resume(const std::vector<std::uint64_t>& received) {
  for (std::uint32_t other = 0; other < layout_.ranks(); ++other) {
    if (other == local_rank_) continue;
    if (mine_->opened[other] != 0) inbound_[other].resume(received[other]);
    if (layout_.area(other).opened[local_rank_] != 0) outbound_[other].resume();
  }
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
  // Each send puts its transmission on the list of finished ones, even if it fails.
  if (out.lost()) {
    transmission.state = Transmission::State::failed;
    finished_.push(transmission);
    return;
  }
  const bool was_idle = out.idle();
  // false: it is queued behind others, and the next push() continues.
  if (!out.queue(transmission)) return;
  out.advance(finished_, false);
  if (was_idle && !out.idle()) busy_.push_back(to);
  update_needs_push();
}

void ShmWire::stop(std::uint32_t peer, Transmission& transmission) {
  // A finished transmission needs no stop.
  if (transmission.state == Transmission::State::queued) outbound_[local(peer)].stop(transmission);
}

bool ShmWire::replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) {
  return outbound_[local(peer)].replace(transmission, instead);
}

bool ShmWire::push() {
  bool moved = false;
  if (!busy_.empty()) [[unlikely]] {
    // A rank that reads a body itself does not help, because its own reading is more urgent.
    const bool idle = idle_rounds_ > kRoundsBeforeHelp && !reads_bodies();
    // So each further help requires another idle_round().
    if (idle) idle_rounds_ = kRoundsBeforeHelp;
    for (const std::uint32_t to : busy_) moved |= outbound_[to].advance(finished_, idle);
    std::erase_if(busy_, [this](std::uint32_t to) { return outbound_[to].idle(); });
  }
  if (!held_.empty()) [[unlikely]] {
    for (const std::uint32_t from : held_) inbound_[from].release_held();
    held_.clear();
  }
  if (!ended_.empty()) [[unlikely]]
    moved |= close_ended_channels();
  update_needs_push();
  return moved;
}

bool ShmWire::reads_bodies() const {
  return std::ranges::any_of(senders_, [](const Sender& sender) { return sender.in->reading(); });
}

bool ShmWire::poll(Arrival& arrival) {
  if (read_published(mine_->opened_count) != opened_seen_) [[unlikely]]
    discover();
  if (senders_.empty()) return false;
  // The sender of the last arrival probably has more, so it is polled first.
  if (in_turn_ < kTurnArrivals && look(senders_[turn_], arrival)) [[likely]] {
    ++in_turn_;
    return true;
  }
  return (senders_.size() > 1 || in_turn_ == kTurnArrivals) && look_at_other_senders(arrival);
}

// Polls the senders after turn_ in turn, so that no sender starves. If the sender at turn_ has had its full turn,
// polls it last.
bool ShmWire::look_at_other_senders(Arrival& arrival) {
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
  sender.out->record_arrival();
  // The inbound side lost the peer (a malformed frame, an ended process), so nothing more is sent to the peer either.
  if (arrival.kind == Arrival::Kind::lost || arrival.kind == Arrival::Kind::left) [[unlikely]]
    sender.out->fail(finished_);
  return true;
}

void ShmWire::add_sender(std::uint32_t local_rank) {
  if (is_sender_[local_rank]) return;
  is_sender_[local_rank] = true;
  senders_.push_back({&inbound_[local_rank], &outbound_[local_rank], local_rank});
}

// Called after a rank has sent here for the first time, or has ended.
void ShmWire::discover() {
  RankArea& mine = layout_.area(local_rank_);
  // The count is read before the flags, because a flag that is set later raises the count again.
  opened_seen_ = read_published(mine.opened_count);
  for (std::uint32_t other = 0; other < layout_.ranks(); ++other) {
    if (other != local_rank_ && flag_set(mine.opened[other])) add_sender(other);
    const bool noted = inbound_[other].lost() || std::ranges::find(ended_, other) != ended_.end();
    if (!noted && flag_set(process_ended_[other])) ended_.push_back(other);
  }
  update_needs_push();
}

void ShmWire::hold() {
  answering_->in->hold();
  held_.push_back(answering_->local_rank);
  update_needs_push();
}

void ShmWire::nudge(std::uint32_t peer) {
  outbound_[local(peer)].bell().ring();
}

void ShmWire::nudge_queued() {
  for (const std::uint32_t local_rank : busy_) outbound_[local_rank].bell().ring();
}

void ShmWire::process_ended(std::uint32_t local_rank) {
  RankArea& mine = layout_.area(local_rank_);
  // First the flag, then the count that the owner polls, then the bell, because the owner may be asleep.
  set_flag(process_ended_[local_rank]);
  count_flag(mine.opened_count);
  BellRinger(mine.bell, registered_).ring();
}

void ShmWire::leave(bool leaves) {
  publish(layout_.area(local_rank_).has_left, leaves ? 1 : 0);
}

// The channel of an ended process ends only when everything that it published has been taken.
bool ShmWire::close_ended_channels() {
  return std::erase_if(ended_, [this](std::uint32_t gone) {
           // Messages that the process published before its end are delivered first. The next push() tests again.
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
