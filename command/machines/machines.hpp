// The command `margay machines`: lists the machines that `margay simulate` imitates, or describes one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "virtual_machine/model/machine.hpp"

namespace CLI {
class App;
}

namespace margay::command {

// A transport of messages between ranks of a machine: a network, or the memory of a node.
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

// The lines of `margay machines NAME`: the machine's fields, and the times of messages between `ranks` ranks. Requires:
// that many ranks fit onto the machine.
[[nodiscard]] std::vector<std::string> describe_machine(const virtual_machine::Machine& machine, std::uint32_t ranks);

// The number of ranks that fill the machine, at most 1024; 1024 for a machine that grows with its ranks.
[[nodiscard]] std::uint32_t usual_ranks(const virtual_machine::Machine& machine);

// Adds `margay machines` to the command line.
void add_machines_command(CLI::App& app);

}  // namespace margay::command
