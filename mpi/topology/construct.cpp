// Construction of communicators with a topology (MPI 4.0, 8.5). Ranks are never reordered, because no placement is
// known to be better.
#include "collectives/comm/construct.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

namespace {

// Gives the new communicator its topology, which duplicates share, and which never changes.
template <typename Kind>
int give_with_topology(Call& call, const Made& made, Kind&& topology, MPI_Comm* handle) {
  if (made.communicator != nullptr) {
    made.communicator->topology = std::make_shared<Topology>(Topology{std::forward<Kind>(topology)});
  }
  return give_communicator(call, made, handle);
}

// A communicator of the first `count` members; the others get MPI_COMM_NULL.
Made first_members(Call& call, Communicator& parent, int count) {
  return split(call.rank(), parent, parent.rank() < count ? 0 : MPI_UNDEFINED, parent.rank());
}

std::string element_text(const char* array, std::size_t index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

// Checks a list of neighbors, each a rank of the communicator.
std::vector<int> checked_neighbors(Call& call, const Communicator* communicator, int degree, const int* ranks,
                                   const char* what) {
  const std::span<const int> found = checked_array(call, ranks, degree, what);
  for (std::size_t i = 0; communicator != nullptr && i < found.size(); ++i) {
    const bool member = found[i] >= 0 && found[i] < communicator->size();
    // The name is formatted only for an error.
    if (!member) check_rank(call, found[i], communicator->size(), element_text(what, i).c_str());
  }
  return {found.begin(), found.end()};
}

bool is_weighted(const int* weights) {
  return weights != MPI_UNWEIGHTED;
}

// Checks weights. Empty without weights, and after an error.
std::vector<int> checked_weights(Call& call, int degree, const int* weights, const char* what) {
  if (!is_weighted(weights)) return {};
  if (weights == MPI_WEIGHTS_EMPTY && degree > 0) {
    call.error(MPI_ERR_ARG, std::string(what) + " is MPI_WEIGHTS_EMPTY, with " + std::to_string(degree) + " edges");
  }
  const std::span<const int> found = checked_array(call, weights, degree, what);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] < 0) not_negative(call, found[i], element_text(what, i).c_str());
  }
  return {found.begin(), found.end()};
}

// Checks and collects the edges of a call of MPI_Dist_graph_create.
std::vector<Edge> checked_edges(Call& call, const Communicator* communicator, int n, const int* sources,
                                const int* degrees, const int* destinations, const int* weights) {
  not_negative(call, n, "n");
  const std::vector<int> from = checked_neighbors(call, communicator, n, sources, "sources");
  const std::span<const int> counts = checked_array(call, degrees, n, "degrees");
  std::int64_t total = 0;
  for (const int count : counts) {
    not_negative(call, count, "an entry of degrees");
    total += count;
  }
  // Arrays of the program are indexed by int.
  if (total > INT32_MAX) call.error(MPI_ERR_ARG, "degrees has more than 2,147,483,647 edges in all");
  if (!call.ok()) return {};
  const auto edges = static_cast<int>(total);
  const std::vector<int> to = checked_neighbors(call, communicator, edges, destinations, "destinations");
  const std::vector<int> weight = checked_weights(call, edges, weights, "weights");
  if (!call.ok()) return {};
  std::vector<Edge> found;
  found.reserve(to.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (int k = 0; k < counts[i]; ++k) {
      const std::size_t at = found.size();
      found.push_back({from[i], to[at], weight.empty() ? 0 : weight[at]});
    }
  }
  return found;
}

}  // namespace

extern "C" int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int /*reorder*/,
                                MPI_Comm* comm_cart) {
  Call call(call_name<"MPI_Cart_create">);
  Communicator* const parent = call.intracommunicator(comm_old);
  const std::span<const int> sizes = checked_dims(call, ndims, dims, parent == nullptr ? 0 : parent->size());
  const std::span<const int> wraps = checked_array(call, periods, ndims, "periods");
  call.not_null(comm_cart, "comm_cart");
  if (comm_cart != nullptr) *comm_cart = MPI_COMM_NULL;  // also after an error, as in MPICH: programs test it
  if (!call.ok()) return call.failed();
  CartTopology cart{{sizes.begin(), sizes.end()}, {}};
  for (const int wrap : wraps) cart.periods.push_back(wrap != 0 ? 1 : 0);
  check_call(call, *parent);
  return give_with_topology(call, first_members(call, *parent, grid_size(sizes)), std::move(cart), comm_cart);
}
MARGAY_ALIAS(Cart_create)

extern "C" int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Cart_sub">);
  Communicator* const parent = call.communicator(comm);
  const CartTopology* const cart = cart_of(call, parent);
  const std::span<const int> remain =
      checked_array(call, remain_dims, cart == nullptr ? 0 : cart->ndims(), "remain_dims");
  call.not_null(newcomm, "newcomm");
  if (!call.ok()) return call.failed();
  // The dropped coordinates make the color, the kept ones the key.
  const CartTopology::SubGridRank sub_rank = cart->rank_in_sub_grid(parent->rank(), remain);
  check_call(call, *parent);
  return give_with_topology(call, split(call.rank(), *parent, sub_rank.color, sub_rank.key), cart->sub_grid(remain),
                            newcomm);
}
MARGAY_ALIAS(Cart_sub)

extern "C" int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int /*reorder*/,
                                 MPI_Comm* comm_graph) {
  Call call(call_name<"MPI_Graph_create">);
  Communicator* const parent = call.intracommunicator(comm_old);
  GraphTopology graph = checked_graph(call, nnodes, indx, edges, parent == nullptr ? 0 : parent->size());
  call.not_null(comm_graph, "comm_graph");
  if (!call.ok()) return call.failed();
  check_call(call, *parent);
  return give_with_topology(call, first_members(call, *parent, nnodes), std::move(graph), comm_graph);
}
MARGAY_ALIAS(Graph_create)

extern "C" int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                               const int sourceweights[], int outdegree, const int destinations[],
                                               const int destweights[], MPI_Info info, int /*reorder*/,
                                               MPI_Comm* comm_dist_graph) {
  Call call(call_name<"MPI_Dist_graph_create_adjacent">);
  Communicator* const parent = call.intracommunicator(comm_old);
  not_negative(call, indegree, "indegree");
  not_negative(call, outdegree, "outdegree");
  DistGraphTopology graph;
  graph.sources = checked_neighbors(call, parent, indegree, sources, "sources");
  graph.source_weights = checked_weights(call, indegree, sourceweights, "sourceweights");
  graph.destinations = checked_neighbors(call, parent, outdegree, destinations, "destinations");
  graph.destination_weights = checked_weights(call, outdegree, destweights, "destweights");
  // A graph is weighted as a whole: both lists, or none.
  graph.weighted = is_weighted(sourceweights);
  if (is_weighted(sourceweights) != is_weighted(destweights)) {
    call.error(MPI_ERR_ARG, "one of sourceweights and destweights is MPI_UNWEIGHTED, the other is not");
  }
  check_hints(call, info);
  call.not_null(comm_dist_graph, "comm_dist_graph");
  if (!call.ok()) return call.failed();
  check_call(call, *parent);
  // Each member has named all its own edges, so only the contexts are agreed on.
  return give_with_topology(call, duplicate(call.rank(), *parent), std::move(graph), comm_dist_graph);
}
MARGAY_ALIAS(Dist_graph_create_adjacent)

extern "C" int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                                      const int destinations[], const int weights[], MPI_Info info, int /*reorder*/,
                                      MPI_Comm* comm_dist_graph) {
  Call call(call_name<"MPI_Dist_graph_create">);
  Communicator* const parent = call.intracommunicator(comm_old);
  const std::vector<Edge> edges = checked_edges(call, parent, n, sources, degrees, destinations, weights);
  check_hints(call, info);
  call.not_null(comm_dist_graph, "comm_dist_graph");
  if (!call.ok()) return call.failed();
  DistGraphTopology graph;
  graph.weighted = is_weighted(weights);
  check_call(call, *parent);
  // A member may name edges of any two members: each edge is sent to the ranks at its ends.
  record_error(call, distribute_edges(call.rank(), *parent, edges, graph));
  if (!call.ok()) return call.failed();
  return give_with_topology(call, duplicate(call.rank(), *parent), std::move(graph), comm_dist_graph);
}
MARGAY_ALIAS(Dist_graph_create)
