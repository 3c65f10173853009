// Tests of the cost formulas against traces of the algorithms: messages, bytes, and the longest chain of dependent
// messages.
#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/hybrid_plans.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

constexpr std::size_t kElement = sizeof(std::uint64_t);

struct Counted {
  Load inside, between;
  double depth = 0;
};

// Whether a message is part of the formula. Notices other than `ready` are not, because a member sends them only if
// others are late.
bool is_of_formula(const sim::TraceEvent& event) {
  if (event.portal != mpi_adi::kCollectiveReadyPortal) return true;
  const auto word = static_cast<NoticeKind>(event.match_bits & mpi_adi::kTypeMask);
  return word == NoticeKind::ready || word == NoticeKind::ready_next_phase;
}

// Counts the messages of all ranks in their traces. A message's depth is one more than the greatest depth that its
// sender had received.
Counted count(CollectiveWorld& world, const std::vector<std::uint32_t>& nodes) {
  std::vector<sim::TraceEvent> events;
  for (int rank = 0; rank < world.size(); ++rank) {
    for (const sim::TraceEvent& event : world.recorder(rank).events()) {
      const bool moves = event.kind == sim::TraceKind::kernel_send || event.kind == sim::TraceKind::kernel_arrive;
      if (moves && is_of_formula(event)) events.push_back(event);
    }
  }
  std::ranges::stable_sort(events, {}, [](const sim::TraceEvent& event) { return event.time; });
  Counted counted;
  std::vector<double> depth_at(nodes.size(), 0);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, double> depth_of;
  for (const sim::TraceEvent& event : events) {
    double& depth = depth_of[{event.source, event.destination, event.sequence}];
    if (event.kind == sim::TraceKind::kernel_arrive) {
      depth_at[event.destination] = std::max(depth_at[event.destination], depth);
      continue;
    }
    depth = depth_at[event.source] + 1;
    counted.depth = std::max(counted.depth, depth);
    Load& load = nodes[event.source] == nodes[event.destination] ? counted.inside : counted.between;
    ++load.messages;
    load.bytes += static_cast<double>(event.bytes);
  }
  return counted;
}

// One call's memory: rows of elements.
struct Rows {
  std::vector<std::uint64_t> mine, all;
  Rows(std::size_t elements, std::size_t ranks) : mine(elements, 1), all(elements * ranks, 1) {}
  [[nodiscard]] portals::Region region() { return {reinterpret_cast<std::byte*>(mine.data()), mine.size() * kElement}; }
  [[nodiscard]] std::byte* everybodys() { return reinterpret_cast<std::byte*>(all.data()); }
  [[nodiscard]] Reduction reduction() {
    return {region().single().base, mine.size(), kElement, predefined_combine(MPI_SUM, MPI_UINT64_T)};
  }
};

Steps alltoall_text(Collective& collective, Rows& rows, std::uint64_t block) {
  std::vector<PeerMessage> out, in;
  for (int rank = 0; rank < collective.size(); ++rank) {
    if (rank == collective.rank()) continue;
    const portals::Region to(rows.everybodys() + static_cast<std::uint64_t>(rank) * block, block);
    out.push_back({rank, rows.region()});
    in.push_back({rank, to});
  }
  co_await exchange_directly(collective, out, in);
}

// `elements`: the length of a row, or of a block for an operation with blocks.
void perform_one(CollectiveWorld& world, int rank, Operation operation, std::size_t elements) {
  TreePortal& portal = world.portal(rank);
  mpi_adi::Communicator& all = world.communicator(rank);
  const auto size = static_cast<std::size_t>(world.size());
  Rows rows(elements, size);
  const std::uint64_t bytes = elements * kElement;
  const std::vector<std::uint64_t> blocks(size, bytes / size);
  const auto performed = [&](const auto& what) { CHECK(perform(portal, all, what) == MPI_SUCCESS); };
  switch (operation) {
    case Operation::barrier:
      return performed(BarrierCall{});
    case Operation::bcast:
      return performed(BcastCall{0, rows.region()});
    case Operation::reduce:
      return performed(ReduceCall{0, rows.reduction()});
    case Operation::allreduce:
      return performed(AllreduceCall{rows.reduction()});
    case Operation::gather:
      return performed(GatherCall{0, rows.region(), bytes, rows.everybodys()});
    case Operation::scatter:
      return performed(ScatterCall{0, rows.region(), bytes, portals::Region(rows.everybodys(), size * bytes)});
    case Operation::allgather:
      return performed(AllgatherCall{rows.region(), bytes, rows.everybodys()});
    case Operation::reduce_scatter:
      return performed(ReduceScatterCall{rows.reduction(), blocks});
    case Operation::scan:
      return performed(ScanCall{ScanKind::inclusive, rows.reduction()});
    case Operation::exscan:
      return performed(ScanCall{ScanKind::exclusive, rows.reduction()});
    default: {
      Collective collective(portal, all);
      run(alltoall_text(collective, rows, bytes));
    }
  }
}

struct Case {
  Operation operation;
  Algorithm algorithm;
  std::size_t elements;
  std::vector<std::uint32_t> nodes;
  std::optional<HybridPlan> plan = {};
};

// Messages take no time to send and all the same time to arrive, and wires are never full.
Counted run_case(const Case& of) {
  CollectiveWorld::Options options{.ranks = static_cast<int>(of.nodes.size()), .nodes = of.nodes, .trace = true};
  options.asked = std::string(name(of.operation)) + "=" + std::string(name(of.algorithm));
  if (of.plan) options.asked += ":" + format_plan(*of.plan);
  options.network = {.segment_bytes = std::uint64_t{1} << 30,
                     .window_bytes = std::uint64_t{1} << 40,
                     .window_messages = 1U << 20,
                     .full_probability = 0,
                     .stall_probability = 0};
  CollectiveWorld world(options);
  CHECK(world.run_in_rounds([&](int rank) { perform_one(world, rank, of.operation, of.elements); }));
  return count(world, of.nodes);
}

bool is_rooted_block(const Case& of) {
  return of.algorithm == Algorithm::tree && (of.operation == Operation::gather || of.operation == Operation::scatter ||
                                             of.operation == Operation::allgather);
}

// Each dimension lies within nodes, or between them.
bool lies_along_nodes(const HybridPlan& plan, const Facts& facts) {
  if (!facts.even || !facts.by_node) return false;
  int reach = 1;
  for (const HybridPlan::Dimension& dimension : plan.dimensions) {
    if (reach < facts.most_on_node && facts.most_on_node % (reach * dimension.length) != 0) return false;
    reach *= dimension.length;
  }
  return true;
}

void hold(const Case& of) {
  const Facts facts = facts_of_nodes(of.nodes);
  const std::uint64_t bytes = of.operation == Operation::barrier ? 0 : of.elements * kElement;
  if (!of.plan && (!does(of.algorithm, of.operation) || !can(of.algorithm, of.operation, bytes, facts))) return;
  const Cost cost =
      of.plan ? cost_of_plan(*of.plan, of.operation, bytes, facts) : cost_of(of.algorithm, of.operation, bytes, facts);
  const Counted counted = run_case(of);
  CAPTURE(name(of.operation));
  CAPTURE(name(of.algorithm));
  CAPTURE(bytes);
  CAPTURE(of.nodes);
  CHECK(cost.all.messages() == doctest::Approx(counted.inside.messages + counted.between.messages));
  CAPTURE(of.plan ? format_plan(*of.plan) : "");
  CHECK(cost.all.bytes() == doctest::Approx(counted.inside.bytes + counted.between.bytes));
  if (of.plan && !lies_along_nodes(*of.plan, facts)) return;
  CHECK(cost.all.between.bytes == doctest::Approx(counted.between.bytes));
  // For a tree whose edges are requested in part, only the number of requested ones is known.
  const bool parts = is_rooted_block(of) && facts.nodes > 1 && facts.nodes < facts.ranks;
  if (!parts || bytes == kElement) CHECK(cost.all.between.messages == doctest::Approx(counted.between.messages));
  // With uneven nodes the last leader may lead no other rank.
  if (of.algorithm != Algorithm::nodes || facts.even) CHECK(cost.path.depth() == counted.depth);
}

std::vector<std::vector<std::uint32_t>> placements(std::size_t ranks) {
  std::vector<std::uint32_t> one(ranks, 0), each(ranks), halves(ranks), dealt(ranks), uneven(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    each[rank] = static_cast<std::uint32_t>(rank);
    halves[rank] = rank < (ranks + 1) / 2 ? 0 : 1;
    dealt[rank] = static_cast<std::uint32_t>(rank % 3);
    uneven[rank] = static_cast<std::uint32_t>(rank * rank % 7);
  }
  return {one, each, halves, dealt, uneven};
}

constexpr Algorithm kAll[] = {Algorithm::tree,   Algorithm::exchange, Algorithm::nodes, Algorithm::direct,
                              Algorithm::bucket, Algorithm::hybrid,   Algorithm::chain};

void hold_all(std::size_t ranks, const std::vector<std::size_t>& elements_each) {
  for (const std::vector<std::uint32_t>& nodes : placements(ranks)) {
    for (std::size_t operation = 0; operation <= static_cast<std::size_t>(Operation::exscan); ++operation) {
      for (const Algorithm algorithm : kAll) {
        const auto of = static_cast<Operation>(operation);
        const bool fixed = of == Operation::gather || of == Operation::scatter;
        if (algorithm == Algorithm::hybrid || (of == Operation::scatter && algorithm != Algorithm::tree)) continue;
        for (const std::size_t each : elements_each) {
          if (of == Operation::barrier && each != elements_each.front()) continue;
          const bool of_blocks = fixed || of == Operation::allgather || of == Operation::alltoall;
          // Rows are divided into slices of equal length.
          hold({of, algorithm, of_blocks ? each : each * ranks, nodes});
        }
      }
    }
  }
}

}  // namespace

// Only counted: a sanitizer finds nothing here that it does not find in the algorithms' own tests.
TEST_CASE("messages, bytes and depth of each algorithm equal its formula's" * doctest::skip(testing::kSanitized)) {
  for (std::size_t ranks = 2; ranks <= 9; ++ranks) hold_all(ranks, {1, 1000});
  for (const std::size_t ranks : {12U, 16U, 17U}) hold_all(ranks, {1000});
}

TEST_CASE("likewise if blocks are requested, and streams have several pieces") {
  for (const std::size_t ranks : {2U, 3U, 5U, 8U}) hold_all(ranks, {2100, 8200});
}

TEST_CASE("likewise for hybrids, with every plan" * doctest::skip(testing::kSanitized)) {
  for (const int ranks : {4, 6, 8, 12}) {
    const auto plans = plans_of(ranks, {Method::brief, Method::slices, Method::bucket});
    const std::size_t stride = ranks > 8 ? 17 : (ranks > 6 ? 5 : 1);  // some of many plans, of all kinds
    for (const int nodes : {1, 2, ranks}) {
      std::vector<std::uint32_t> placed;
      placed.reserve(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) placed.push_back(static_cast<std::uint32_t>(rank * nodes / ranks));
      for (std::size_t at = 0; at < plans.size(); at += stride) {
        for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce,
                                          Operation::allgather, Operation::reduce_scatter}) {
          for (const std::size_t each : {std::size_t{3}, std::size_t{2100}}) {
            const bool of_blocks = operation == Operation::allgather;
            const auto all = static_cast<std::size_t>(ranks);
            hold({operation, Algorithm::hybrid, of_blocks ? each : each * all, placed, plans[at]});
          }
        }
      }
    }
  }
}

}  // namespace margay::collectives
