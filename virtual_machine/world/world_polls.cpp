// Polls that take time (world.hpp): of a machine whose ranks have several wires, each with the poll cost of its network.
//
// A rank that waits makes one round of polls after another. Most of them find nothing, so they are not carried out: the
// rank is suspended until the first event that a round could find, and its clock advances by whole rounds. The events
// are an arrival by a wire that each round polls, and the next poll of another wire, which the kernel plans
// (sim/kernel/poll_schedule).
#include <algorithm>

#include "sim/kernel/kernel.hpp"
#include "virtual_machine/world/world.hpp"

namespace margay::virtual_machine {

namespace {

// A round's time without polls that take time, so that a wait ends.
constexpr std::uint64_t kRoundLeastNs = 100;

}  // namespace

// The poll finds what has arrived at its begin, so the rank must know of all arrivals by that time.
std::uint64_t World::begin_timed_poll(VirtualRank& rank, std::size_t way, bool is_new) {
  const std::uint64_t now_ns = compute(rank);
  remove_arrivals(rank, way, now_ns);
  if (is_new) rank.local_ns_ += networks_.poll_ns(way);
  begin_computation();
  return now_ns;
}

std::uint64_t World::idle_round_ns(const VirtualRank& rank) const {
  std::uint64_t sum_ns = 0;
  for (std::size_t way = 0; way < networks_.size(); ++way)
    if (rank.kernel_.polling().polls_in_each_round(networks_.wire(way))) sum_ns += networks_.poll_ns(way);
  return std::max(sum_ns, kRoundLeastNs);
}

void World::expect_arrival(VirtualRank& rank, std::size_t way, std::uint64_t at_ns) {
  // A wire that is switched off has no poll that could find the message.
  const sim::WireId wire = networks_.wire(way);
  if (rank.kernel_.polling().polls_in_each_round(wire) || rank.kernel_.polling().has_thread(wire))
    schedule_.add(rank.rank_, std::max(rank.local_ns_, at_ns));
  else if (rank.poll_due_ns_ != kNever)
    schedule_.add(rank.rank_, rank.poll_due_ns_);
}

void World::wait_by_polls(VirtualRank& rank) {
  const std::uint64_t begin_ns = rank.local_ns_;
  const std::uint64_t round_ns = idle_round_ns(rank);
  const std::uint64_t rounds_most = rank.kernel_.polling().rounds_to_poll();
  const bool is_planned = rounds_most < (kNever - begin_ns) / round_ns;
  rank.poll_due_ns_ = is_planned ? begin_ns + rounds_most * round_ns : kNever;
  rank.waits_ = true;
  for (std::size_t way = 0; way < networks_.size(); ++way)
    if (!rank.arrivals_ns_[way].empty()) expect_arrival(rank, way, rank.arrivals_ns_[way].top());
  // The library counts rounds, and a message for which a rank has no room stays on its wire.
  retries_.add(rank.rank_, std::min(rank.poll_due_ns_, begin_ns + rank.retry_ns_));
  rank.retry_ns_ = std::min(2 * rank.retry_ns_, kRetryMaxNs);
  suspend(rank);
  retries_.remove(rank.rank_);
  schedule_.remove(rank.rank_);
  rank.waits_ = false;
  // The event is found by the first round that begins at its time or later.
  const std::uint64_t rounds = std::min((rank.local_ns_ - begin_ns + round_ns - 1) / round_ns, rounds_most);
  rank.local_ns_ = begin_ns + rounds * round_ns;
  rank.kernel_.skip_rounds(rounds);
  for (std::size_t way = 0; way < networks_.size(); ++way)
    if (rank.kernel_.polling().polls_in_each_round(networks_.wire(way))) networks_.count_polls(way, rounds);
  begin_computation();
}

}  // namespace margay::virtual_machine
