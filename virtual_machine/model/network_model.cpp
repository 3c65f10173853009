#include "virtual_machine/model/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::virtual_machine {
namespace {

constexpr int kFractionBits = 32;
__extension__ using Wide = unsigned __int128;

}  // namespace

// The times at which a message's head and its last byte are at the current place.
struct NetworkModel::Passage {
  std::uint64_t pair;
  std::uint64_t bytes;
  std::uint64_t head_ns;
  std::uint64_t tail_ns;
  std::uint64_t blocked_ns = 0;

  void advance(std::uint64_t ns) {
    head_ns += ns;
    tail_ns += ns;
  }
};

// 0 for kUnlimited.
ByteTime::ByteTime(double bytes_per_s)
    : per_byte_(static_cast<std::uint64_t>(std::llround(std::ldexp(1e9 / bytes_per_s, kFractionBits)))) {}

std::uint64_t ByteTime::ns(std::uint64_t bytes) const {
  MARGAY_DEBUG_ASSERT(bytes < kMessageBytesMost);
  constexpr Wide kHalf = Wide{1} << (kFractionBits - 1);
  return static_cast<std::uint64_t>((Wide{bytes} * per_byte_ + kHalf) >> kFractionBits);
}

NetworkModel::Lane::Lane(const Network& network, std::uint32_t nodes)
    : fabric(network, nodes),
      link_time(network.link_bytes_per_s),
      injection_time(network.injection_bytes_per_s),
      ejection_time(network.ejection_bytes_per_s),
      links(fabric.link_count()),
      injections(nodes),
      ejections(nodes) {}

NetworkModel::NetworkModel(Machine machine, std::uint32_t ranks)
    : machine_(std::move(machine)),
      ranks_(ranks),
      nodes_(nodes_for(machine_, ranks)),
      memory_time_(machine_.memory_bytes_per_s) {
  MARGAY_ASSERT(check_ranks(machine_, ranks).ok());
  lanes_.reserve(machine_.networks.size());
  for (const Network& network : machine_.networks) lanes_.emplace_back(network, nodes_);
}

std::uint32_t NetworkModel::node_of(std::uint32_t rank) const {
  MARGAY_DEBUG_ASSERT(rank < ranks_);
  return machine_.placement == Placement::block ? rank / machine_.processors_per_node : rank % nodes_;
}

std::uint32_t NetworkModel::partition_of(std::uint32_t node) const {
  return machine_.nodes_per_partition == 0 ? 0 : node / machine_.nodes_per_partition;
}

std::uint32_t NetworkModel::network_between(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t from_node = node_of(from);
  const std::uint32_t to_node = node_of(to);
  if (from_node == to_node) return kInMemory;
  return network_for(partition_of(from_node) == partition_of(to_node));
}

std::uint32_t NetworkModel::network_for(bool is_inside_partition) const {
  std::uint32_t network = 0;
  // Ends, because one of the networks applies to all nodes (parse_machine()).
  while (machine_.networks[network].applies == Reach::partition && !is_inside_partition) ++network;
  return network;
}

// Nodes with ranks have the lowest numbers, so the first two of them are in one partition if any two are.
bool NetworkModel::is_in_use(std::uint32_t network) const {
  const std::uint32_t occupied =
      machine_.placement == Placement::block ? node_of(ranks_ - 1) + 1 : std::min(ranks_, nodes_);
  const std::uint32_t partition = machine_.nodes_per_partition == 0 ? nodes_ : machine_.nodes_per_partition;
  const bool is_inside = std::min(occupied, partition) >= 2 && network_for(true) == network;
  return is_inside || (occupied > partition && network_for(false) == network);
}

std::uint32_t NetworkModel::hops(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t network = network_between(from, to);
  if (network == kInMemory) return 0;
  std::vector<std::uint32_t> route;
  fabric(network).find_route(node_of(from), node_of(to), route);
  return static_cast<std::uint32_t>(route.size());
}

// The sender copies, so its processor is busy until the end of the copy.
Transfer NetworkModel::copy(std::uint64_t bytes, std::uint64_t at_ns) const {
  const std::uint64_t copied_ns = at_ns + machine_.memory_overhead_ns + memory_time_.ns(bytes);
  return {.sender_free_ns = copied_ns,
          .buffer_free_ns = copied_ns,
          .arrival_ns = copied_ns + machine_.memory_latency_ns,
          .receive_overhead_ns = machine_.memory_overhead_ns};
}

void NetworkModel::cross(Passage& passage, const LinkLoads::Place& place, Channel& channel, std::uint64_t takes_ns) {
  const std::uint64_t start_ns = std::max(passage.head_ns, channel.free_ns);
  channel.free_ns = start_ns + takes_ns;
  channel.busy_ns += takes_ns;
  channel.bytes += passage.bytes;
  if (loads_ != nullptr)
    loads_->record(place, {passage.pair, passage.head_ns, start_ns, channel.free_ns, passage.bytes});
  passage.blocked_ns += start_ns - passage.head_ns;
  passage.head_ns = start_ns;
  passage.tail_ns = std::max(passage.tail_ns, channel.free_ns);
}

std::vector<LinkLoads::Counts> NetworkModel::channel_counts() const {
  std::vector<LinkLoads::Counts> counts;
  for (const Lane& lane : lanes_) counts.push_back({lane.fabric.link_count(), nodes_, nodes_});
  return counts;
}

void NetworkModel::fail_link(std::uint32_t from_switch, std::uint32_t to_switch, std::uint64_t at_ns) {
  const Fabric& fabric = lanes_.front().fabric;
  for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
    const Fabric::Ends ends = fabric.ends_of(link);
    if ((ends.from == from_switch && ends.to == to_switch) || (ends.from == to_switch && ends.to == from_switch))
      failing_.emplace_back(link, at_ns);
  }
}

bool NetworkModel::is_cut(std::uint32_t network, std::uint64_t at_ns) const {
  return network == 0 && std::ranges::any_of(failing_, [&](const auto& failing) {
           return failing.second <= at_ns && std::ranges::find(route_, failing.first) != route_.end();
         });
}

Transfer NetworkModel::transfer_by(std::uint32_t number, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                   std::uint64_t at_ns) {
  if (number == kInMemory) return copy(bytes, at_ns);
  const Network& network = machine_.networks[number];
  Lane& lane = lanes_[number];
  const std::uint32_t from_node = node_of(from);
  const std::uint32_t to_node = node_of(to);
  lane.fabric.find_route(from_node, to_node, route_);
  // The head leaves when the sender's processor has done its part.
  Transfer result{.network = number,
                  .hops = static_cast<std::uint32_t>(route_.size()),
                  .sender_free_ns = at_ns + network.send_overhead_ns,
                  .receive_overhead_ns = network.receive_overhead_ns};
  if (is_cut(number, at_ns)) {
    result.buffer_free_ns = result.sender_free_ns;
    result.arrival_ns = kLost;
    return result;
  }

  Passage passage{.pair = (std::uint64_t{from_node} << 32U) | to_node,
                  .bytes = bytes,
                  .head_ns = result.sender_free_ns,
                  .tail_ns = result.sender_free_ns};
  cross(passage, {number, ChannelKind::injection, from_node}, lane.injections[from_node],
        lane.injection_time.ns(bytes));
  result.buffer_free_ns = passage.tail_ns;
  passage.advance(network.latency_ns);
  const std::uint64_t link_ns = lane.link_time.ns(bytes);
  for (const std::uint32_t link : route_) {
    cross(passage, {number, ChannelKind::link, link}, lane.links[link], link_ns);
    passage.advance(network.hop_ns);
  }
  cross(passage, {number, ChannelKind::ejection, to_node}, lane.ejections[to_node], lane.ejection_time.ns(bytes));
  result.arrival_ns = passage.tail_ns;
  result.blocked_ns = passage.blocked_ns;
  return result;
}

std::uint64_t NetworkModel::idle_time_ns(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const {
  const std::uint32_t number = network_between(from, to);
  if (number == kInMemory) {
    const Transfer copied = copy(bytes, 0);
    return copied.arrival_ns + copied.receive_overhead_ns;
  }
  const Network& network = machine_.networks[number];
  const Lane& lane = lanes_[number];
  const std::uint32_t links = hops(from, to);
  // Without contention the bytes cost only the time of the slowest channel of the route.
  const std::uint64_t link_ns = links == 0 ? 0 : lane.link_time.ns(bytes);
  const std::uint64_t bytes_ns = std::max({lane.injection_time.ns(bytes), link_ns, lane.ejection_time.ns(bytes)});
  return network.send_overhead_ns + network.latency_ns + links * network.hop_ns + bytes_ns + network.poll_ns +
         network.receive_overhead_ns;
}

}  // namespace margay::virtual_machine
