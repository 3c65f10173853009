#include "mpi_adi/rma/window_method.hpp"

namespace margay::mpi_adi {

MethodChoice choose_window_method(const MethodFacts& facts) {
  // The order matters: interface and kind of the window take precedence over the place of the memory.
  if (facts.of_1996) return {WindowMethod::message, "the paper's interface goes by its put and get portals only"};
  if (facts.is_dynamic) return {WindowMethod::message, "what is attached there is known to the target alone"};
  if (facts.is_own) return {WindowMethod::direct, "it is the process's own"};
  if (!facts.is_on_node) return {WindowMethod::message, "no memory is shared between nodes"};
  if (facts.is_mapped)
    return {WindowMethod::direct, "it is of the heap that the node shares, and mapped by all its members"};
  if (facts.reads_others)
    return {WindowMethod::process, "the system copies between processes of the node; accumulates go by messages"};
  return {WindowMethod::message, "it is not of the node's heap, and processes may not read each other's memory"};
}

}  // namespace margay::mpi_adi
