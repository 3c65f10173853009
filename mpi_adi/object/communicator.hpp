// A communicator: a group and two contexts (paper 001 section 2: 13 bits of context identifier in the match bits).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mpi_adi/object/attribute.hpp"
#include "mpi_adi/object/communicator_hints.hpp"
#include "mpi_adi/object/error_handler.hpp"
#include "mpi_adi/object/group.hpp"

namespace margay::mpi_adi {

inline constexpr unsigned kContextBits = 13;
using ContextId = std::uint16_t;  // < 2^13

// What a layer above keeps with a communicator; it goes with it.
struct CommunicatorExtension {
  CommunicatorExtension() = default;
  CommunicatorExtension(const CommunicatorExtension&) = delete;
  CommunicatorExtension& operator=(const CommunicatorExtension&) = delete;
  virtual ~CommunicatorExtension() = default;
};

// Passive. Reference counted by hand: one for the handle, one for each request that is still under way on it.
struct Communicator {
  int handle = 0;
  ContextId context = 0;             // point-to-point; even
  ContextId collective_context = 1;  // context + 1
  GroupPtr group;
  std::string name;
  std::uint32_t references = 1;
  bool freed = false;                     // the user's handle is gone; requests may still hold it
  std::uint64_t collective_sequence = 0;  // one number per collective call, so that calls back to back do not mix
  std::unique_ptr<CommunicatorExtension> collective_facts;  // null before the first call that wants them
  // What no message needs, behind what messages need.
  ErrorHandlerPtr error_handler;  // null: MPI_ERRORS_ARE_FATAL
  AttributeList attributes;
  CommunicatorHints hints;
  [[nodiscard]] int rank() const { return group->my_rank; }
  [[nodiscard]] int size() const { return group->size(); }
  // Requires: 0 <= rank < size().
  [[nodiscard]] std::uint32_t world_rank(int rank) const { return group->world_ranks[static_cast<std::size_t>(rank)]; }
};

}  // namespace margay::mpi_adi
