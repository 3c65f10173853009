#include "mpi_adi/rma/window_way.hpp"

namespace margay::mpi_adi {

WayChoice choose_window_way(const WayFacts& facts) {
  // The order matters: the interface and the kind of window decide before the place of the memory.
  if (facts.of_1996) return {WindowWay::message, "the paper's interface goes by its put and get portals only"};
  if (facts.is_dynamic) return {WindowWay::message, "what is attached there is known to the target alone"};
  if (facts.is_own) return {WindowWay::direct, "it is the process's own"};
  if (!facts.is_on_node) return {WindowWay::message, "no memory is shared between nodes"};
  if (facts.is_mapped)
    return {WindowWay::direct, "it is of the heap that the node shares, and mapped by all its members"};
  if (facts.reads_others)
    return {WindowWay::process, "the system copies between processes of the node; accumulates go by messages"};
  return {WindowWay::message, "it is not of the node's heap, and processes may not read each other's memory"};
}

}  // namespace margay::mpi_adi
