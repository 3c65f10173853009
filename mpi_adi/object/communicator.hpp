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
// and returns them, but does not use them for optimizations.

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

// A condition during which the contexts of a deleted communicator may not be used again.
struct ContextHold {
  ContextHold() = default;
  ContextHold(const ContextHold&) = delete;
  ContextHold& operator=(const ContextHold&) = delete;
  virtual ~ContextHold() = default;
  // Whether the hold has ended. Polled by ContextPool::reclaim().
  [[nodiscard]] virtual bool over() const = 0;
};

// The part of a communicator that a higher layer defines; deleted with the communicator.
struct CommunicatorExtension {
  // Called when the communicator is deleted. Returns a hold on its contexts; nullptr: they may be used again at once.
  [[nodiscard]] virtual std::unique_ptr<ContextHold> end() { return nullptr; }
  CommunicatorExtension() = default;
  CommunicatorExtension(const CommunicatorExtension&) = delete;
  CommunicatorExtension& operator=(const CommunicatorExtension&) = delete;
  virtual ~CommunicatorExtension() = default;
};

// A communicator, as data. References are counted by hand: one for the program's handle, and one for each user that may
// outlive the handle (requests under way, persistent requests, matched messages, collective calls, attribute
// callbacks). The fields that each message reads come first.
struct Communicator {
  // The program's handle names it; messages carry the contexts instead.
  int handle = 0;                    // MPI_Comm; that of a window for a window's communicator; 0: none
  ContextId context = 0;             // of point-to-point messages; even
  ContextId collective_context = 1;  // of collective calls: context + 1
  // A number that is equal on all members, and differs from the numbers of earlier communicators with these contexts.
  // It distinguishes late notices of collective calls on an earlier communicator from those of this one
  // (collectives/portal/notices); other messages do not carry it. 0: a communicator that exists from MPI's start.
  std::uint64_t generation = 0;
  GroupPtr group;                // this process's group; set by set_groups()
  GroupPtr remote;               // an intercommunicator's other group; otherwise nullptr
  const Group* peers = nullptr;  // the group to which ranks in calls refer: `remote`, or else `group`
  // For an intercommunicator: a communicator of both groups, in the same order on all members, with the contexts of
  // this one. It carries agreements of all members. It has no handle.
  std::unique_ptr<Communicator> both;
  std::shared_ptr<const Topology> topology;  // nullptr: none
  std::string name;
  // When it reaches 0 and the handle is freed, MpiRank deletes the object.
  std::uint32_t references = 1;
  bool freed = false;     // the program's handle is freed; requests may still refer to it
  bool in_trace = false;  // its name was recorded in the trace (device/trace_definitions)
  // A collective call on it failed here. Messages of that call may arrive at any time, and do not carry the generation.
  // So its contexts are never used again. It suffices that one member does not offer them (ContextAgreement).
  bool contexts_spent = false;
  // The number of the next collective call, which distinguishes consecutive calls, and of the next distributed graph.
  std::uint64_t collective_sequence = 0;
  std::uint64_t distributed_graphs = 0;
  // For persistent collective calls (collectives/portal/notices): the channel that the next call tries; the number of
  // agreements on free channels; the result of the latest agreement, with a bit for each channel, set if the channel is
  // free. Empty: all channels are free.
  std::uint64_t next_channel = 0;
  std::uint64_t channel_agreements = 0;
  std::vector<std::uint64_t> free_channels;
  std::unique_ptr<CommunicatorExtension> collective_facts;  // nullptr before the first call that needs them
  // Fields that no message needs.
  // The communicator under whose name this one is reported; nullptr: under its own. For a `both` it is the
  // intercommunicator; for the library's world, MPI_COMM_WORLD.
  Communicator* named_as = nullptr;
  ErrorHandlerPtr error_handler;  // nullptr: MPI_ERRORS_ARE_FATAL
  AttributeList attributes;
  CommunicatorHints hints;

  // Sets the groups. Called once. `other`: the remote group of an intercommunicator.
  void set_groups(GroupPtr mine, GroupPtr other = nullptr) {
    group = std::move(mine);
    remote = std::move(other);
    peers = remote != nullptr ? remote.get() : group.get();
  }
  // Whether it is an intercommunicator, whose calls name ranks of the other group.
  [[nodiscard]] bool is_inter() const { return remote != nullptr; }
  // This process's rank in its own group, and the size of that group.
  [[nodiscard]] int rank() const { return group->my_rank; }
  [[nodiscard]] int size() const { return group->size(); }
  // The number of ranks that a call may name.
  [[nodiscard]] int peer_count() const { return peers->size(); }
  // The world rank of a rank in a call. Requires: 0 <= rank < peer_count().
  [[nodiscard]] std::uint32_t world_rank(int rank) const { return peers->world_ranks[static_cast<std::size_t>(rank)]; }
  // The communicator of all members, of both groups.
  [[nodiscard]] Communicator& all_members() { return both != nullptr ? *both : *this; }
};

// A communicator's name in traces, charts, checks, and reports of stalls and leaks.

// The name, such as "MPI_COMM_WORLD". For a communicator without a name, the context and the sizes, such as
// "communicator 6 (4 ranks)" or "intercommunicator 6 (2 and 3 ranks)", as in the output of `margay trace`
// (command/trace/names/names). The size of the group that is first in all_members() comes first, so all members give
// the same name.
[[nodiscard]] std::string communicator_text(const Communicator& communicator);
// The same if only the context is known: "communicator 6".
[[nodiscard]] std::string communicator_text(ContextId context);

}  // namespace margay::mpi_adi
