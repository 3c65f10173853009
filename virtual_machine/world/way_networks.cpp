#include "virtual_machine/world/way_networks.hpp"

#include <algorithm>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::virtual_machine {

WayNetworks::Way::Way(WayTiming& timing, std::size_t way, std::uint32_t ranks, std::uint64_t seed,
                      const sim::VirtualOptions& options)
    : world(timing), number(way), wire(options.wire), found(ranks), network(ranks, seed, options, 0, this) {
  counts.wire = sim::name(wire);
}

void WayNetworks::Way::taken(std::uint32_t by, std::uint32_t from, bool begins) {
  if (!found[by]) ++counts.hits;
  found[by] = true;
  world.taken(number, by, from, begins);
}

std::uint64_t WayNetworks::Way::begin_poll(std::uint32_t rank) {
  const bool follows = found[rank];
  found[rank] = false;
  if (!follows) ++counts.polls;
  return world.begin_poll(number, rank, !follows);
}

WayNetworks::WayNetworks(WayTiming& timing, WayPlan plan, const NetworkModel& model, std::uint64_t seed,
                         sim::VirtualOptions options)
    : plan_(std::move(plan)), model_(model) {
  if (plan_.empty()) {
    ways_.emplace_back(timing, 0, model.ranks(), seed, options);
    return;
  }
  for (const sim::WireId wire : plan_.order()) {
    options.wire = wire;
    Way& made = ways_.emplace_back(timing, ways_.size(), model.ranks(), seed, options);
    // Two ranks of different nodes in one partition have the network of each wire.
    made.poll_ns = model.machine().networks[wire == sim::WireId::tcp ? 1 : 0].poll_ns;
  }
}

std::size_t WayNetworks::way_of(sim::WireId wire) const {
  return static_cast<std::size_t>(std::ranges::find(ways_, wire, &Way::wire) - ways_.begin());
}

std::uint32_t WayNetworks::network(std::size_t way, std::uint32_t from, std::uint32_t to) const {
  if (plan_.empty()) return model_.network_between(from, to);
  const auto found = WayPlan::network(ways_[way].wire, model_, from, to);
  MARGAY_ASSERT(found.has_value());
  return *found;
}

void WayNetworks::attach(std::uint32_t rank, sim::VirtualSettings& settings) {
  if (plan_.empty()) {
    settings.attach = [this, rank](sim::TransmissionList& finished) -> sim::Wire& {
      return ways_.front().network.attach(rank, finished);
    };
    return;
  }
  settings.attach_ways = [this, rank](sim::TransmissionList& finished) {
    std::vector<sim::VirtualWay> made;
    std::vector<bool> has_usual(model_.ranks());
    for (Way& way : ways_) {
      sim::VirtualWay& one = made.emplace_back();
      one.wire = &way.network.attach(rank, finished);
      one.usual.resize(model_.ranks());
      one.further.resize(model_.ranks());
      for (std::uint32_t peer = 0; peer < model_.ranks(); ++peer) {
        if (peer == rank || !WayPlan::network(way.wire, model_, rank, peer)) continue;
        (has_usual[peer] ? one.further : one.usual)[peer] = true;
        has_usual[peer] = true;
      }
    }
    return made;
  };
}

sim::VirtualCounts WayNetworks::counts() const {
  sim::VirtualCounts sum;
  for (const Way& way : ways_) {
    const sim::VirtualCounts& counts = way.network.counts();
    sum.sent += counts.sent;
    sum.delivered += counts.delivered;
    sum.lost += counts.lost;
  }
  return sum;
}

void WayNetworks::lose(std::uint32_t rank, std::string_view reason) {
  for (Way& way : ways_) way.network.lose(rank, reason);
}

void WayNetworks::drop_lost() {
  for (Way& way : ways_) way.network.drop_lost();
}

std::vector<ReportedWay> WayNetworks::report() const {
  std::vector<ReportedWay> all;
  if (plan_.empty()) return all;
  for (const Way& way : ways_) {
    all.push_back(way.counts);
    all.back().messages = way.network.counts().sent;
  }
  return all;
}

}  // namespace margay::virtual_machine
