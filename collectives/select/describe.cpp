#include "collectives/select/describe.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/choose.hpp"
#include "sim/base/processors.hpp"

namespace margay::collectives {

namespace {

constexpr std::array kOperations = {Operation::barrier,        Operation::allreduce, Operation::bcast,
                                    Operation::reduce,         Operation::allgather, Operation::alltoall,
                                    Operation::reduce_scatter, Operation::scan};
constexpr std::array<std::string_view, kOperations.size()> kNames = {
    "barrier", "allreduce", "broadcast", "reduction", "allgather", "alltoall", "reduce-scatter", "scans"};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

// Adds a line for each algorithm that some operation uses with these facts.
void add_choices(std::vector<std::string>& lines, const Facts& facts, std::uint64_t bytes, const std::string& length) {
  std::array<std::string, kAlgorithmCount> operations;
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (kOperations[i] == Operation::barrier && bytes > kHandshakeBytes) continue;
    std::string& of_this = operations[static_cast<std::size_t>(choose(kOperations[i], bytes, facts))];
    of_this += (of_this.empty() ? "" : ", ") + std::string(kNames[i]);
  }
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    if (operations[at].empty()) continue;
    lines.push_back("    " + padded(length, 15) + padded(std::string(name(static_cast<Algorithm>(at))), 10) +
                    operations[at]);
  }
}

void add_case(std::vector<std::string>& lines, const std::string& title, const Facts& facts) {
  lines.push_back("  " + title);
  add_choices(lines, facts, 0, "up to " + std::to_string(kHandshakeBytes / 1024) + " KiB");
  add_choices(lines, facts, 64 << 10, "64 KiB");
  add_choices(lines, facts, 1 << 20, "1 MiB");
}

// Facts of `ranks` ranks, evenly on `nodes` nodes.
Facts even_facts(int ranks, int nodes, bool crowded) {
  std::vector<std::uint32_t> of_rank(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    of_rank[rank] = static_cast<std::uint32_t>(rank) / static_cast<std::uint32_t>(ranks / nodes);
  }
  Facts facts = facts_of_nodes(of_rank);
  facts.crowded = crowded;
  facts.processors = sim::processor_share().processors;
  return facts;
}

}  // namespace

std::vector<std::string> describe_choices(unsigned ranks, bool crowded) {
  constexpr int kMany = 8;
  const int job = static_cast<int>(ranks);
  std::vector<std::string> lines{
      "collectives: the cheapest algorithm by bytes, ranks, nodes and processors, with the usual rates (margay "
      "calibrate)"};
  // Nonblocking calls have no shared memory.
  const Facts nonblocking = even_facts(job, 1, crowded);
  Facts blocking = nonblocking;
  blocking.shared = job > 1;
  blocking.strips = blocking.shared;
  add_case(lines,
           "this job: " + std::to_string(job) + " ranks, one node" + (crowded ? ", more ranks than processors" : ""),
           blocking);
  add_case(lines, "the same, for nonblocking calls, or on one of many communicators", nonblocking);
  add_case(lines, "two ranks, a processor for each", even_facts(2, 1, false));
  add_case(lines, "a processor for each rank, one node", even_facts(kMany, 1, false));
  add_case(lines, "a processor for each rank, one rank on each node", even_facts(kMany, kMany, false));
  add_case(lines, "a processor for each rank, 2 nodes of 8", even_facts(2 * kMany, 2, false));
  add_case(lines, "more ranks than processors", even_facts(kMany, 1, true));
  lines.push_back("    above " + std::to_string(kHandshakeBytes / 1024) +
                  " KiB a body is sent after its receiver's ready notice, so that it is copied once");
  return lines;
}

}  // namespace margay::collectives
