#include "collectives/select/choice.hpp"

#include "collectives/portal/tree_portal.hpp"

namespace margay::collectives {

namespace {

// In an exchange all ranks combine all data in each round, and a node's leader moves every rank's data itself: up to
// here the fewer rounds and turns count more. It is where the messages change too (a receiver asks for longer ones), so
// that ranks which name different lengths, both short, still meet.
constexpr std::uint64_t kShortBytes = kHandshakeBytes;
// Of two ranks, up to here the root is done with a row by itself before halves have gone both ways.
constexpr std::uint64_t kTwoRanksBytes = std::uint64_t{128} << 10;

}  // namespace

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
      return "tree";
    case Algorithm::exchange:
      return "exchange";
    case Algorithm::nodes:
      return "nodes";
    case Algorithm::direct:
      return "direct";
  }
  return "unknown";
}

namespace {

Choice select_allgather(std::uint64_t bytes, const Facts& facts) {
  if (facts.ranks == 2) return {Algorithm::exchange, "two ranks are done in one round"};
  if (bytes > kShortBytes) return {Algorithm::direct, "the blocks are long: each moves once to each rank"};
  if (facts.nodes == 1 && facts.crowded) {
    return {Algorithm::nodes, "ranks outnumber processors: each is scheduled once, not once for each level of a tree"};
  }
  return {Algorithm::tree, "the blocks are short: few messages, in and out along a tree"};
}

}  // namespace

Choice select(Operation operation, std::uint64_t bytes, const Facts& facts) {
  if (operation == Operation::allgather) return select_allgather(bytes, facts);
  const bool everybody_gets = operation == Operation::barrier || operation == Operation::allreduce;
  if (facts.ranks == 2 && everybody_gets && bytes <= kShortBytes) {
    return {Algorithm::exchange, "two ranks are done in one round"};
  }
  if (facts.crowded && bytes <= kShortBytes) {
    return {Algorithm::nodes, "ranks outnumber processors: each is scheduled once, not once for each level of a tree"};
  }
  const bool halves_pay = operation == Operation::allreduce ||
                          (operation == Operation::reduce && (facts.ranks > 2 || bytes > kTwoRanksBytes));
  if (halves_pay && bytes > kShortBytes && facts.ranks > 1) {
    return {Algorithm::direct, "the data is long: each rank combines its slice, and all do at once"};
  }
  if (facts.crowded) return {Algorithm::tree, "ranks outnumber processors, and the data is long for one leader"};
  const bool levels = facts.nodes > 1 && facts.most_on_node > 1 && facts.most_on_node <= kNodesMembers;
  if (levels && bytes <= kShortBytes) {
    return {Algorithm::nodes, "a message between nodes costs more than all of those inside one"};
  }
  if (everybody_gets && bytes <= kShortBytes) {
    return {Algorithm::exchange, "a processor for each rank: half the rounds of in and out along a tree"};
  }
  return {Algorithm::tree,
          everybody_gets ? "the data is long: each byte moves once up and once down" : "one root: the fewest rounds"};
}

}  // namespace margay::collectives
