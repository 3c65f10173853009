// A communicator: one group, or two, and two contexts (paper 001, section 2: 13 bits of context identifier in the match
// bits).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mpi_adi/object/attribute.hpp"
#include "mpi_adi/object/error_handler.hpp"
#include "mpi_adi/object/group.hpp"
#include "mpi_adi/object/info.hpp"

namespace margay::mpi_adi {

// The hints that a communicator accepts from an info object (MPI 4.0, 7.4.4): promises of the program. margay stores
// and returns them; it uses none to go faster.

class CommunicatorHints {
 public:
  // Takes the known hints whose value is "true" or "false"; ignores all others.
  void set_from(const Info& info);
  // Writes all known hints.
  void write(Info& info) const;

 private:
  std::uint8_t promised_ = 0;  // one bit for each hint
};

// The width of a context identifier in the match bits, and its type.
inline constexpr unsigned kContextBits = 13;
using ContextId = std::uint16_t;  // < 2^13

struct Topology;

// The context of a communicator whose members have not agreed on one yet (MPI_Comm_idup): it must not be given back.
inline constexpr ContextId kNoContext = 0xffff;

// The result of an agreement on the contexts of a new communicator (object/context_agreement). `context`: the first of
// a pair that is free on all members; -1: no pair is.
struct AgreedContext {
  int context = -1;
  std::uint64_t generation = 0;
};

// A reason for which the contexts of a deleted communicator may not be used again yet.
struct ContextHold {
  ContextHold() = default;
  ContextHold(const ContextHold&) = delete;
  ContextHold& operator=(const ContextHold&) = delete;
  virtual ~ContextHold() = default;
  // Whether it has ended. Polled by ContextPool::reclaim().
  [[nodiscard]] virtual bool over() const = 0;
};

// The part of a communicator that a higher layer owns; deleted with it.
struct CommunicatorExtension {
  // Called when the communicator is deleted. nullptr: its contexts may be used again at once.
  [[nodiscard]] virtual std::unique_ptr<ContextHold> end() { return nullptr; }
  CommunicatorExtension() = default;
  CommunicatorExtension(const CommunicatorExtension&) = delete;
  CommunicatorExtension& operator=(const CommunicatorExtension&) = delete;
  virtual ~CommunicatorExtension() = default;
};

// Passive. Reference counted by hand: one for the program's handle, one for each request under way on it. The fields
// that each message reads come first.
struct Communicator {
  // The program's handle names it; messages carry the contexts instead.
  int handle = 0;                    // MPI_Comm; that of a window for a window's communicator; 0: none
  ContextId context = 0;             // of point-to-point messages; even
  ContextId collective_context = 1;  // of collective calls: context + 1
  // The same number on all members, and different from those of earlier communicators with these contexts: it separates
  // late messages of an earlier one from this one's. 0: a communicator that exists from MPI's start.
  std::uint64_t generation = 0;
  GroupPtr group;                // this process's group; set by set_groups()
  GroupPtr remote;               // an intercommunicator's other group; otherwise nullptr
  const Group* peers = nullptr;  // the group that ranks in calls refer to: `remote`, or else `group`
  // For an intercommunicator, both groups as one, in the same order on all members, with `collective_context`. It
  // carries agreements of all members; it has no handle, and its contexts belong to this communicator.
  std::unique_ptr<Communicator> both;
  std::shared_ptr<const Topology> topology;  // nullptr: none
  std::string name;
  // When it reaches 0 and the handle is freed, MpiRank deletes the object.
  std::uint32_t references = 1;
  bool freed = false;     // the program's handle is freed; requests may still refer to it
  bool in_trace = false;  // its name was recorded in the trace (device/trace_definitions)
  // A collective call on it failed here, and messages of that call may arrive at any time, whatever their generation.
  // Its contexts are therefore never used again: a single member's refusal decides for all (ContextAgreement).
  bool contexts_spent = false;
  // Numbers of its collective calls, so that consecutive calls do not mix, and of its distributed graphs.
  std::uint64_t collective_sequence = 0;
  std::uint64_t distributed_graphs = 0;
  // For persistent collective calls (collectives/portal/notices): the channel that the next one tries; the number of
  // agreements on free channels; a bit for each channel of the latest agreement, set if the channel is free. An empty
  // list means that all are free.
  std::uint64_t next_channel = 0;
  std::uint64_t channel_agreements = 0;
  std::vector<std::uint64_t> free_channels;
  std::unique_ptr<CommunicatorExtension> collective_facts;  // nullptr before the first call that needs them
  // Fields that no message needs.
  // The communicator by whose name this one is reported; nullptr: its own. For a `both`, its intercommunicator; for the
  // library's world, the program's.
  Communicator* named_as = nullptr;
  ErrorHandlerPtr error_handler;  // nullptr: MPI_ERRORS_ARE_FATAL
  AttributeList attributes;
  CommunicatorHints hints;

  // Sets the groups; once. `other`: the remote group of an intercommunicator.
  void set_groups(GroupPtr mine, GroupPtr other = nullptr) {
    group = std::move(mine);
    remote = std::move(other);
    peers = remote != nullptr ? remote.get() : group.get();
  }
  // Whether it is an intercommunicator, whose calls name ranks of the other group.
  [[nodiscard]] bool is_inter() const { return remote != nullptr; }
  // This process's rank and the number of processes, both in its own group.
  [[nodiscard]] int rank() const { return group->my_rank; }
  [[nodiscard]] int size() const { return group->size(); }
  // The number of ranks that a call may name.
  [[nodiscard]] int peer_count() const { return peers->size(); }
  // The world rank of a rank in a call. Requires: 0 <= rank < peer_count().
  [[nodiscard]] std::uint32_t world_rank(int rank) const { return peers->world_ranks[static_cast<std::size_t>(rank)]; }
  // The communicator of all members, of both groups.
  [[nodiscard]] Communicator& everybody() { return both != nullptr ? *both : *this; }
};

// A communicator's name in traces, charts, checks, and reports of stalls and leaks.

// The name, such as "MPI_COMM_WORLD"; without one "communicator 6 (4 ranks)", "intercommunicator 6 (2 and 3 ranks)", by
// the context, as the readers of traces do (command/trace/names/names). Of two groups the first in everybody() comes
// first, so all members give the same name.
[[nodiscard]] std::string communicator_text(const Communicator& communicator);
// The same if only the context is known: "communicator 6".
[[nodiscard]] std::string communicator_text(ContextId context);

}  // namespace margay::mpi_adi
