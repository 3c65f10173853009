// The choice of the method of access to a member's memory, and its reason. Pure; used by windows and by `margay info`.
#pragma once

#include <string_view>

#include "mpi_adi/rma/window.hpp"

namespace margay::mpi_adi {

// The facts that decide it.
struct MethodFacts {
  bool of_1996 = false;       // of paper 001's interface, which uses messages only
  bool is_dynamic = false;    // memory that the target attaches later, without notifying other members
  bool is_own = false;        // this process's window memory
  bool is_on_node = false;    // the member is on this node
  bool is_mapped = false;     // its memory is in the node's shared heap and mapped here
  bool reads_others = false;  // the node's ranks may read and write each other's memory
};

// The method, and the reason for a reader.
struct MethodChoice {
  WindowMethod method = WindowMethod::message;
  std::string_view reason;
};

// The facts are tested in the order of the fields. The first one that applies decides; of is_on_node, its absence.
// Messages, which always work, are the fallback. The reason is a literal.
[[nodiscard]] MethodChoice choose_window_method(const MethodFacts& facts);

}  // namespace margay::mpi_adi
