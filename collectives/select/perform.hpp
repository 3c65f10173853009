// The execution of collective calls: the choice of how a call is done, by the facts of its communicator (select/facts),
// and its routine. perform() runs a blocking call; select/call_task a nonblocking one.
#pragma once

#include <cstdint>

#include "collectives/algorithm/registry.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/select/facts.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

// The plan of a call: its algorithm, and the content of its notices. Equal on all members but for `own`.
struct Plan {
  // The chosen algorithm; the same number is in `shape`, for notices.
  Algorithm algorithm = Algorithm::tree;
  // The description of the call in its notices: members whose shapes differ made different calls.
  Shape shape;
  // For the trace only.
  OwnPart own = {};
};
// The shape of a call, which its notices carry. `bytes`: of one rank's data, or of one block. A rank fits 16 bits, as
// in match bits.
[[nodiscard]] inline Shape shape_of(Operation operation, Algorithm algorithm, int root, std::uint64_t bytes) {
  return {.operation = operation_number(operation),
          .algorithm = static_cast<std::uint8_t>(algorithm),
          .root = static_cast<std::uint16_t>(root),
          .bytes = bytes};
}

// The shape of a call that constructs an object (a communicator, a window), and uses the tree whatever its length.
[[nodiscard]] inline Shape by_tree(Operation operation, int root, std::uint64_t bytes) {
  return shape_of(operation, Algorithm::tree, root, bytes);
}

// Whether a call is a reduction whose operation does not commute, so that only algorithms that keep the order of ranks
// may do it.
template <typename Call>
[[nodiscard]] bool keeps_order(const Call& call) {
  // Resolved at compile time: calls without a reduction pay nothing.
  if constexpr (requires { call.reduction; }) return !call.reduction.combine.commutative();
  return false;
}
// The choice for one call: a lookup in the communicator's choices, by operation and length.
template <typename Call>
[[nodiscard]] Algorithm choose_for_call(const Call& call, const StandingFacts& standing) {
  if constexpr (requires { call.reduction; }) {
    // The reduction as a whole, because its order and the length of its elements restrict the choice.
    return standing.choose(call.operation(), call.reduction);
  } else {
    return standing.choose(call.operation(), call.bytes());
  }
}
// The plan of a call of the registry (algorithm/registry): chooses its algorithm.
template <typename Call>
[[nodiscard]] Plan plan_of(const Call& call, const StandingFacts& standing) {
  const Algorithm algorithm = choose_for_call(call, standing);
  // Calls without a root name the rank that does its work.
  int root = kTop;
  if constexpr (requires { call.root; }) root = call.root;
  return {algorithm, shape_of(call.operation(), algorithm, root, call.bytes())};
}
// This rank's part of the call, as a routine. `call` is a view that the routine copies; `standing` outlives it.
// Requires: `algorithm` is the plan's, so that all members run the same one.
template <typename Call>
[[nodiscard]] Steps routine_of(const Call& call, Collective& collective, const StandingFacts& standing,
                               Algorithm algorithm) {
  // The first of the algorithm's rows that can do this call.
  const Row<Call>& row = row_of<Call>(algorithm, {call.operation(), call.bytes(), standing.facts});
  // The plan lives on this frame only: the routine copies it when it begins.
  if (algorithm == Algorithm::hybrid) [[unlikely]] {
    const HybridPlan plan = standing.hybrid_plan(call.operation(), call.bytes(), keeps_order(call));
    return row.run(collective, {standing.groups, standing.team, &plan}, call);
  }
  return row.run(collective, {standing.groups, standing.team}, call);
}
// The same two for a class that has its own plan() and routine(), such as a call between two groups
// (select/between_groups).
template <typename Call>
requires requires(const Call& call, const StandingFacts& standing) {
  call.plan(standing);
}
[[nodiscard]] Plan plan_of(const Call& call, const StandingFacts& standing) {
  return call.plan(standing);
}
template <typename Call>
requires requires(const Call& call, const StandingFacts& standing) {
  call.plan(standing);
}
[[nodiscard]] Steps routine_of(const Call& call, Collective& collective, const StandingFacts& standing,
                               Algorithm algorithm) {
  return call.routine(collective, standing, algorithm);
}

// Runs a blocking call to its end. Collective over the communicator; under the process lock, which waits release in
// between. Returns the call's error class (Collective::error_class()). Takes the next number on the communicator, also
// if it fails.
template <typename What>
[[nodiscard]] int perform(TreePortal& portal, mpi_adi::Communicator& communicator, const What& what) {
  // The facts of blocking calls, which may use shared memory.
  const StandingFacts& standing = facts_of(portal.host(), communicator).of_blocking();
  const Plan plan = plan_of(what, standing);
  int error_class = MPI_SUCCESS;
  // The call's number, by which members publish that they are done with it.
  std::uint64_t number = 0;
  {
    // Its construction takes the call's number.
    Collective collective(portal, communicator, plan.shape, plan.own);
    number = communicator.collective_sequence;
    // After a loss this member takes part in no further shared-memory call of the communicator.
    if (plan.algorithm == Algorithm::shared && standing.team->has_left_for_loss()) [[unlikely]] {
      error_class = MPIX_ERR_PROC_FAILED;
    } else {
      // Waits in place: the routine never suspends, and its frames come from the rank's pool.
      run(routine_of(what, collective, standing, plan.algorithm));
      error_class = collective.error_class();
    }
  }
  // Published after the call's destruction, which ends it: members that wait for this one's progress may continue from
  // here. This is so even if the call used messages, because members in shared memory compare numbers of calls.
  if (standing.team != nullptr) {
    standing.team->publish_done(number, error_class == MPIX_ERR_PROC_FAILED);
  }
  return error_class;
}

}  // namespace margay::collectives
