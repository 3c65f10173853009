#include "collectives/comm/construct.hpp"

#include <algorithm>
#include <exception>
#include <map>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/comm/agree.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/op/operation.hpp"
#include "mpi_adi/rank/wait.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::Context;
using mpi_adi::MpiRank;
using mpi_adi::Request;

namespace {

using Edges = std::vector<Edge>;

std::int64_t bytes_of(const Edges& edges) {
  return static_cast<std::int64_t>(edges.size() * sizeof(Edge));
}

// Counts the members that send edges to this member, by a sum of all members' vectors of flags. Without this number a
// member could not detect that the last message has arrived.
int count_senders(MpiRank& rank, Communicator& parent, const std::map<int, Edges>& outgoing, int& senders) {
  std::vector<int> counts(static_cast<std::size_t>(parent.size()), 0);
  for (const auto& [target, edges] : outgoing) counts[static_cast<std::size_t>(target)] = 1;
  auto* const bytes = reinterpret_cast<std::byte*>(counts.data());
  int error_class = MPI_SUCCESS;
  {
    Collective collective(rank, parent, by_tree(Operation::reduce, 0, counts.size() * sizeof(int)));
    run(reduce_tree(collective, 0, {bytes, counts.size(), sizeof(int), predefined_combine(MPI_SUM, MPI_INT)}));
    error_class = collective.error_class();
  }
  Collective collective(rank, parent, by_tree(Operation::bcast, 0, counts.size() * sizeof(int)));
  run(bcast_tree(collective, 0, portals::Region(bytes, counts.size() * sizeof(int))));
  senders = counts[static_cast<std::size_t>(parent.rank())];
  return error_class != MPI_SUCCESS ? error_class : collective.error_class();
}

int finish(MpiRank& rank, Request& request) {
  wait_until(
      rank, [&request] { return request.complete; }, 1);
  const int error_class = request.error_class;
  rank.device().free(request);
  return error_class;
}

// Receives one member's edges, in any order of arrival.
int receive_edges(MpiRank& rank, Communicator& parent, int tag, std::map<int, Edges>& incoming) {
  mpi_adi::Device& device = rank.device();
  mpi_adi::Envelope envelope;
  bool lost = false;
  wait_until(rank, [&] {
    if (device.probe(MPI_ANY_SOURCE, tag, parent, envelope, Context::collective)) return true;
    return lost = device.is_source_lost(MPI_ANY_SOURCE, parent);
  });
  if (lost) return MPIX_ERR_PROC_FAILED;
  // A second message of one member, or one whose length is not a multiple of an edge, comes from a member that made
  // another call.
  const auto [entry, is_first] = incoming.try_emplace(envelope.source);
  if (!is_first || envelope.bytes % sizeof(Edge) != 0) return MPI_ERR_TOPOLOGY;
  Edges& edges = entry->second;
  try {
    edges.resize(envelope.bytes / sizeof(Edge));
  } catch (const std::exception&) {
    return MPI_ERR_NO_MEM;  // the length comes from a wire
  }
  const int error_class =
      finish(rank, *device.start_receive({edges.data(), bytes_of(edges), rank.handles().datatype(MPI_BYTE),
                                          envelope.source, tag, &parent, Context::collective}));
  if (error_class != MPI_SUCCESS) return error_class;
  return can_be_edges(edges, parent.rank(), parent.size()) ? MPI_SUCCESS : MPI_ERR_TOPOLOGY;
}

void add(mpi_adi::DistGraphTopology& mine, const Edges& edges, int me) {
  for (const Edge& edge : edges) {
    if (edge.destination == me) {
      mine.sources.push_back(edge.source);
      if (mine.weighted) mine.source_weights.push_back(edge.weight);
    }
    if (edge.source == me) {
      mine.destinations.push_back(edge.destination);
      if (mine.weighted) mine.destination_weights.push_back(edge.weight);
    }
  }
}

}  // namespace

bool can_be_edges(std::span<const Edge> edges, int me, int size) {
  const auto is_rank = [size](int rank) { return rank >= 0 && rank < size; };
  return std::ranges::all_of(edges, [&](const Edge& edge) {
    return is_rank(edge.source) && is_rank(edge.destination) && (edge.source == me || edge.destination == me);
  });
}

int distribute_edges(MpiRank& rank, Communicator& parent, const Edges& edges, mpi_adi::DistGraphTopology& mine) {
  std::map<int, Edges> outgoing, incoming;
  for (const Edge& edge : edges) {
    outgoing[edge.source].push_back(edge);
    // Both ends get the edge; a loop at one rank is sent once.
    if (edge.destination != edge.source) outgoing[edge.destination].push_back(edge);
  }
  // Counted, so that messages of two graphs made one after the other do not mix.
  const int tag = internal_tag(Agreement::graph_edges, parent.distributed_graphs++);
  int senders = 0;
  int error_class = count_senders(rank, parent, outgoing, senders);
  if (error_class != MPI_SUCCESS) return error_class;
  std::vector<Request*> sends;
  // All sends are started before any receive, so no two members wait for each other.
  sends.reserve(outgoing.size());
  for (const auto& [target, theirs] : outgoing) {
    sends.push_back(
        rank.device().start_send({mpi_adi::SendMode::standard, theirs.data(), bytes_of(theirs),
                                  rank.handles().datatype(MPI_BYTE), target, tag, &parent, Context::collective}));
  }
  for (int i = 0; i < senders && error_class == MPI_SUCCESS; ++i) {
    error_class = receive_edges(rank, parent, tag, incoming);
  }
  // Also after an error: the sends refer to memory of this function.
  for (Request* send : sends) {
    if (const int failed = finish(rank, *send); failed != MPI_SUCCESS) error_class = failed;
  }
  // In the order of ranks, so the result does not depend on the order of arrival.
  for (const auto& [source, theirs] : incoming) add(mine, theirs, parent.rank());
  return error_class;
}

}  // namespace margay::collectives
