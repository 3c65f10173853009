// The wires of a simulated run (`margay simulate --set way=shm,tcp`), in order of preference: "shm" stands for memory
// inside a node and the machine's first network between nodes, "tcp" for its second network. A pair of ranks has each
// wire of the plan that reaches it; the first of them is its usual way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/wire_kind.hpp"
#include "virtual_machine/model/machine.hpp"
#include "virtual_machine/model/network_model.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::virtual_machine {

// The library's option that names the wires, without the prefix of its variable.
inline constexpr const char* kWayOption = "way";

class WayPlan {
 public:
  // `list`: wires, separated by commas; an empty one gives an empty plan. Error: an unknown wire or one that is named
  // twice, a wire for which the machine has no network, or two ranks that no wire of the list joins.
  [[nodiscard]] static portals::Status make(std::string_view list, const Machine& machine, std::uint32_t ranks,
                                            WayPlan& out);

  // An empty plan: all messages take the wire `virtual`, by the network that the machine prefers.
  [[nodiscard]] bool empty() const { return order_.empty(); }
  // The wires, in order of preference; each once.
  [[nodiscard]] const std::vector<sim::WireId>& order() const { return order_; }
  // The network that a wire uses between two ranks, or kInMemory; nothing: the wire does not join them.
  [[nodiscard]] static std::optional<std::uint32_t> network(sim::WireId wire, const NetworkModel& model,
                                                            std::uint32_t from, std::uint32_t to);

 private:
  std::vector<sim::WireId> order_;
};

// The list that the last of the changes gives; empty: none does.
[[nodiscard]] std::string way_list(const std::vector<Change>& changes);

}  // namespace margay::virtual_machine
