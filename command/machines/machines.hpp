// The command `margay machines`: the machines that `margay simulate` imitates, as a list and one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "virtual_machine/model/machine.hpp"

namespace CLI {
class App;
}

namespace margay::command {

// A way of messages on a machine: a network, or the memory of a node.
struct Transport {
  std::string name;
  // The topology, or "memory".
  std::string kind;
  // Of an empty message from program to program, one way, without hops.
  std::uint64_t latency_ns;
  // Of one long message.
  double bytes_per_s;
};

// The machine's networks, in their order, and memory if a node has several processors.
[[nodiscard]] std::vector<Transport> transports_of(const virtual_machine::Machine& machine);

// The lines of `margay machines`: one for each transport of each machine.
[[nodiscard]] std::vector<std::string> list_machines(const std::vector<virtual_machine::Machine>& machines);

// The lines of `margay machines NAME`: all that the file says, and what follows for a world of `ranks` ranks. Requires:
// they fit onto the machine.
[[nodiscard]] std::vector<std::string> describe_machine(const virtual_machine::Machine& machine, std::uint32_t ranks);

// The ranks of a world that fills the machine; 1024 of one that has more, or grows with them.
[[nodiscard]] std::uint32_t usual_ranks(const virtual_machine::Machine& machine);

// Adds `margay machines` to the command line.
void add_machines_command(CLI::App& app);

}  // namespace margay::command
