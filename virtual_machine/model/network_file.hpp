// The file network.json of a simulated run's trace: the machine's networks, and the loads of their channels over time.
// docs/trace_format.md has its members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "virtual_machine/model/link_loads.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace margay::virtual_machine {

// The file's name in the folder of a trace.
inline constexpr const char* kNetworkFileName = "network.json";

struct NetworkFile {
  struct Net {
    std::string name;
    // As machine files spell it.
    std::string topology;
    // Of mesh and torus: switches along each dimension.
    std::vector<std::uint32_t> shape;
    // Levels of a fat tree, dimensions of the others.
    std::uint32_t dimensions = 0;
    std::uint32_t switches = 0;
    std::uint32_t nodes_per_switch = 0;
  };
  // A link (from switch to switch), an injection port (from node to switch) or an ejection port (from switch to node).
  struct Channel {
    std::uint32_t network = 0;
    ChannelKind kind = ChannelKind::link;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t messages = 0;
    std::uint32_t most_at_once = 0;  // LinkLoads::Load
  };
  // The load of a channel, by its number in `channels`, in a bucket of time.
  struct Load {
    std::uint32_t channel = 0;
    LinkLoads::Bucket bucket;
  };

  std::string machine;
  std::uint32_t nodes = 0;
  // Of the first bucket, on the clock of the trace's events; and of each bucket.
  std::uint64_t begin_ns = 0;
  std::uint64_t bucket_ns = 0;
  std::vector<Net> networks;
  // All links of the networks that are in use, and the ports that had a message. Of a network of more than kLinksMost
  // links, only those that had a message.
  std::vector<Channel> channels;
  // By channel, then by bucket.
  std::vector<Load> loads;

  static constexpr std::uint32_t kLinksMost = 1U << 16;
};

// Requires: the model has recorded to `loads`.
[[nodiscard]] NetworkFile network_file_of(const NetworkModel& model, const LinkLoads& loads);

// The file's text (JSON), and back. Error: a text that format_network_file() does not make, or a number that is out of
// range; `out` is then unspecified.
[[nodiscard]] std::string format_network_file(const NetworkFile& file);
[[nodiscard]] portals::Status parse_network_file(std::string_view text, NetworkFile& out);

}  // namespace margay::virtual_machine
