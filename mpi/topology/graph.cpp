// Graph and distributed graph topologies: inquiries (MPI 4.0, 8.5.3 to 8.5.8).
#include <algorithm>

#include "mpi/call/binding.hpp"
#include "mpi/communicator/arguments.hpp"

using namespace margay::mpi;

namespace {

// Checks the program's array `out`, which gets as many entries of `all` as it has room for.
void check_array(Call& call, std::span<const int> all, int room, const int* out, const char* room_name,
                 const char* out_name) {
  not_negative(call, room, room_name);
  if (call.ok() && !all.empty() && room != 0) call.not_null(out, out_name);
}
void give(std::span<const int> all, int room, int* out) {
  std::copy_n(all.begin(), std::min(all.size(), static_cast<std::size_t>(room)), out);
}

// Copies as many neighbors as there is room for, with their weights if the program asks for them.
void give_neighbors(const std::vector<int>& neighbors, const std::vector<int>& neighbor_weights, int room, int* out,
                    int* out_weights) {
  const std::size_t count = std::min(neighbors.size(), static_cast<std::size_t>(room));
  std::copy_n(neighbors.begin(), count, out);
  // An unweighted graph leaves the program's weights unchanged.
  if (neighbor_weights.empty() || out_weights == MPI_UNWEIGHTED) return;
  std::copy_n(neighbor_weights.begin(), count, out_weights);
}

}  // namespace

extern "C" int PMPI_Topo_test(MPI_Comm comm, int* status) {
  Call call(call_name<"MPI_Topo_test">);
  const Communicator* const communicator = call.communicator(comm);
  call.not_null(status, "status");
  if (!call.ok()) return call.failed();
  constexpr int kKinds[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};  // in the order of Topology::is
  const Topology* const topology = communicator->topology.get();
  *status = topology == nullptr ? MPI_UNDEFINED : kKinds[topology->is.index()];
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Topo_test)

extern "C" int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  Call call(call_name<"MPI_Graphdims_get">);
  const GraphTopology* const graph = graph_of(call, call.communicator(comm));
  call.not_null(nnodes, "nnodes");
  call.not_null(nedges, "nedges");
  if (!call.ok()) return call.failed();
  *nnodes = static_cast<int>(graph->index.size());
  *nedges = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Graphdims_get)

extern "C" int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
  Call call(call_name<"MPI_Graph_get">);
  const GraphTopology* const graph = graph_of(call, call.communicator(comm));
  if (call.ok()) {
    check_array(call, graph->index, maxindex, indx, "maxindex", "index");
    check_array(call, graph->edges, maxedges, edges, "maxedges", "edges");
  }
  if (!call.ok()) return call.failed();
  give(graph->index, maxindex, indx);
  give(graph->edges, maxedges, edges);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Graph_get)

extern "C" int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  Call call(call_name<"MPI_Graph_neighbors_count">);
  const GraphTopology* const graph = graph_of(call, call.communicator(comm));
  if (graph != nullptr) check_rank(call, rank, static_cast<int>(graph->index.size()));
  call.not_null(nneighbors, "nneighbors");
  if (call.ok()) *nneighbors = static_cast<int>(graph->neighbors(rank).size());
  return call.done();
}
MARGAY_ALIAS(Graph_neighbors_count)

extern "C" int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  Call call(call_name<"MPI_Graph_neighbors">);
  const GraphTopology* const graph = graph_of(call, call.communicator(comm));
  if (graph != nullptr) check_rank(call, rank, static_cast<int>(graph->index.size()));
  if (!call.ok()) return call.failed();
  // Before the check of the array, which may be null for a node without neighbors.
  const std::span<const int> found = graph->neighbors(rank);
  check_array(call, found, maxneighbors, neighbors, "maxneighbors", "neighbors");
  if (!call.ok()) return call.failed();
  give(found, maxneighbors, neighbors);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Graph_neighbors)

// Ranks are not reordered: the graph takes them in order.
extern "C" int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  Call call(call_name<"MPI_Graph_map">);
  const Communicator* const communicator = call.intracommunicator(comm);
  // The graph is checked as if it were made, but not used.
  static_cast<void>(checked_graph(call, nnodes, indx, edges, communicator == nullptr ? 0 : communicator->size()));
  call.not_null(newrank, "newrank");
  if (call.ok()) *newrank = communicator->rank() < nnodes ? communicator->rank() : MPI_UNDEFINED;
  return call.done();
}
MARGAY_ALIAS(Graph_map)

extern "C" int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  Call call(call_name<"MPI_Dist_graph_neighbors_count">);
  const DistGraphTopology* const graph = dist_graph_of(call, call.communicator(comm));
  call.not_null(indegree, "indegree");
  call.not_null(outdegree, "outdegree");
  call.not_null(weighted, "weighted");
  if (!call.ok()) return call.failed();
  // An edge that occurs several times counts as often.
  *indegree = static_cast<int>(graph->sources.size());
  *outdegree = static_cast<int>(graph->destinations.size());
  *weighted = graph->weighted ? 1 : 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Dist_graph_neighbors_count)

extern "C" int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                                         int maxoutdegree, int destinations[], int destweights[]) {
  Call call(call_name<"MPI_Dist_graph_neighbors">);
  const DistGraphTopology* const graph = dist_graph_of(call, call.communicator(comm));
  not_negative(call, maxindegree, "maxindegree");
  not_negative(call, maxoutdegree, "maxoutdegree");
  if (maxindegree > 0) call.not_null(sources, "sources");
  if (maxoutdegree > 0) call.not_null(destinations, "destinations");
  // Weights are significant only in a weighted graph.
  if (graph != nullptr && graph->weighted) {
    if (maxindegree > 0) call.not_null(sourceweights, "sourceweights");
    if (maxoutdegree > 0) call.not_null(destweights, "destweights");
  }
  if (!call.ok()) return call.failed();
  give_neighbors(graph->sources, graph->source_weights, maxindegree, sources, sourceweights);
  give_neighbors(graph->destinations, graph->destination_weights, maxoutdegree, destinations, destweights);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Dist_graph_neighbors)
