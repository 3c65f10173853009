// Which way leads to the memory of a window's member, and why. Pure: who makes windows and `margay info` ask the same.
#pragma once

#include <string_view>

#include "mpi_adi/rma/window.hpp"

namespace margay::mpi_adi {

struct WayFacts {
  bool of_1996 = false;       // of the interface that knows nothing but messages
  bool is_dynamic = false;    // memory that is attached later, and told to nobody
  bool is_own = false;        // this process's window memory
  bool is_on_node = false;    // the member is on this node
  bool is_mapped = false;     // its memory is of the heap that the node shares, and is mapped here
  bool reads_others = false;  // the node's ranks may read and write each other's memory
};

struct WayChoice {
  WindowWay way = WindowWay::message;
  std::string_view reason;
};

[[nodiscard]] WayChoice choose_window_way(const WayFacts& facts);

}  // namespace margay::mpi_adi
