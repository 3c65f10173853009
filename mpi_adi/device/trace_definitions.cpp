#include "mpi_adi/device/trace_definitions.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::mpi_adi {

namespace {

// The word for a derived type's constructor, by what the program called.
std::string_view constructor(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return "copy";
    case MPI_COMBINER_CONTIGUOUS:
      return "contiguous";
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return "vector";
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return "indexed";
    case MPI_COMBINER_STRUCT:
      return "struct";
    case MPI_COMBINER_SUBARRAY:
      return "subarray";
    case MPI_COMBINER_DARRAY:
      return "distributed array";
    case MPI_COMBINER_RESIZED:
      return "resized type";
    default:
      return "type";
  }
}

// A type without a name, as "(vector of 24 bytes)".
std::string description(const Datatype& type) {
  const int combiner = type.definition != nullptr ? type.definition->origin.combiner : MPI_COMBINER_NAMED;
  return "(" + std::string(constructor(combiner)) + " of " + std::to_string(type.size) + " bytes)";
}

// The name that the program gave to a type takes precedence over the description.
std::string word_of(const Datatype& type) {
  return type.name.empty() ? description(type) : type.name;
}

}  // namespace

void define_portals_in_trace(sim::Recorder& recorder, std::uint64_t heap_bytes) {
  // The bits for portals whose messages serve the library itself, and for portals of collective calls. The readers of a
  // trace choose messages by these bits (sim/trace/definition.hpp).
  constexpr std::uint64_t kInternal = sim::kInternalPortal;
  constexpr std::uint64_t kCollective = sim::kInternalPortal | sim::kCollectivePortal;
  const auto portal = [&](portals::PortalIndex number, std::string_view text, std::uint64_t whose = 0) {
    recorder.define(sim::DefinitionKind::portal, number, whose, text);
  };
  portal(kReceivePortal, "receives");
  portal(kAcknowledgmentPortal, "acknowledgments");
  portal(kReadPortal, "bodies to be pulled");
  portal(kCollectiveTreePortal, "collective trees", kCollective);
  portal(kCollectiveReadyPortal, "collective ready messages", kCollective | sim::kCollectiveWordsPortal);
  for (std::uint32_t stream = 0; stream < kCollectiveStreams; ++stream) {
    portal(collective_stream(stream), "collective streams", kCollective);
  }
  portal(kPutPortal, "puts");
  portal(kGetPortal, "gets");
  portal(kCancelPortal, "cancels", kInternal);
  portal(kCallCheckPortal, "checks of collective calls", kInternal);
  portal(kWindowPortal, "windows");
  const auto owner = [&](OwnerKind kind, std::string_view text, std::uint64_t bytes = 0) {
    recorder.define(sim::DefinitionKind::owner, kind, bytes, text);
  };
  owner(kOwnerReceive, "a posted receive");
  owner(kOwnerHeap, "the heap of unexpected messages", heap_bytes);
  owner(kOwnerAcknowledgment, "a send that waits for its acknowledgment");
  owner(kOwnerRead, "a send whose body may be pulled");
  owner(kOwnerCancel, "questions about cancelled sends");
  owner(kOwnerListener, "an observer of collective calls, window accesses or libraries");
  owner(kOwnerTask, "a collective call");
  owner(kOwnerOthers, "memory of a collective call or a window");
  owner(kOwnerNone, "memory of a communication library");
}

void define_in_trace(sim::Recorder& recorder, Communicator& communicator, std::uint64_t since) {
  // The messages of this communicator carry the contexts of `named_as`, so the definition names that communicator.
  if (communicator.named_as != nullptr) return define_in_trace(recorder, *communicator.named_as, since);
  // Once for each communicator: the flag is set before the definition is recorded.
  if (std::exchange(communicator.in_trace, true)) return;
  const auto size = static_cast<std::uint64_t>(communicator.all_members().size());
  recorder.define(sim::DefinitionKind::communicator, communicator.context,
                  size << 32U | static_cast<std::uint32_t>(communicator.rank()),
                  communicator.is_inter() ? communicator_text(communicator) : communicator.name, since);
  // A sum of numbers identifies the set of members without a list that would grow with the job.
  std::uint64_t members = 0;
  for (const Group* group : {communicator.group.get(), communicator.remote.get()}) {
    if (group == nullptr) continue;
    for (const std::uint32_t rank : group->world_ranks) members += sim::member_number(rank);
  }
  recorder.define(sim::DefinitionKind::members, communicator.context, members, "", since);
}

void define_in_trace(sim::Recorder& recorder, const PartitionsDefinition& what) {
  const std::string element = std::to_string(what.count) + " x " + word_of(what.type);
  recorder.define(sim::DefinitionKind::partitions, partitions_number(what.first, what.sends),
                  static_cast<std::uint64_t>(what.partitions) << 32U | static_cast<std::uint32_t>(what.tag), element);
}

std::uint32_t define_in_trace(sim::Recorder& recorder, Datatype& type, std::uint64_t since) {
  // The library's own types have no handle; events show them as 0.
  if (type.handle != 0 && !std::exchange(type.in_trace, true)) {
    recorder.define(sim::DefinitionKind::datatype, static_cast<std::uint32_t>(type.handle), type.size, word_of(type),
                    since);
  }
  return static_cast<std::uint32_t>(type.handle);
}

}  // namespace margay::mpi_adi
