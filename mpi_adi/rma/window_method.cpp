#include "mpi_adi/rma/window_method.hpp"

namespace margay::mpi_adi {

MethodChoice choose_window_method(const MethodFacts& facts) {
  // The order matters: interface and kind of the window take precedence over the place of the memory.
  if (facts.of_1996) return {WindowMethod::message, "the interface of 1996 uses its put and get portals only"};
  if (facts.is_dynamic)
    return {WindowMethod::message, "the target attaches memory without notifying the other members"};
  if (facts.is_own) return {WindowMethod::direct, "it is the process's own"};
  if (!facts.is_on_node) return {WindowMethod::message, "no memory is shared between nodes"};
  if (facts.is_mapped)
    return {WindowMethod::direct, "it is in the heap that the node shares, which all its members map"};
  if (facts.reads_others)
    return {WindowMethod::process, "the system copies between processes of the node; accumulates go by messages"};
  return {WindowMethod::message, "it is not in the node's heap, and processes may not read each other's memory"};
}

}  // namespace margay::mpi_adi
