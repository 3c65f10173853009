// A communicator: a group, or two, and two contexts (paper 001 section 2: 13 bits of context identifier in the match
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

// The hints that a communicator takes from an info object (MPI 4.0, 7.4.4): promises of the program. margay keeps and
// tells them; nothing is faster for them.

class CommunicatorHints {
 public:
  // Takes those that it knows, with "true" or "false" as their value; ignores the rest.
  void set_from(const Info& info);
  // Writes all that it knows.
  void tell(Info& info) const;

 private:
  std::uint8_t promised_ = 0;  // a bit for each
};

inline constexpr unsigned kContextBits = 13;
using ContextId = std::uint16_t;  // < 2^13

struct Topology;

// Of a communicator whose members have not yet agreed on its contexts (MPI_Comm_idup): not to be given back.
inline constexpr ContextId kNoContext = 0xffff;

// What the members of a communicator that is made agree on (object/context_agreement). `context`: the first of a pair
// that is free on all of them; -1: all pairs are used up.
struct AgreedContext {
  int context = -1;
  std::uint64_t generation = 0;
};

// What keeps the contexts of a communicator that is gone from being used again.
struct ContextHold {
  ContextHold() = default;
  ContextHold(const ContextHold&) = delete;
  ContextHold& operator=(const ContextHold&) = delete;
  virtual ~ContextHold() = default;
  [[nodiscard]] virtual bool over() const = 0;
};

// What a layer above keeps with a communicator; it goes with it.
struct CommunicatorExtension {
  // The communicator goes. nullptr: its contexts may be used again at once.
  [[nodiscard]] virtual std::unique_ptr<ContextHold> end() { return nullptr; }
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
  // The same on all members, and of no other communicator that has had these contexts: messages that come late for one
  // of those are told from its own by it. 0 of those that MPI begins with.
  std::uint64_t generation = 0;
  GroupPtr group;                // this process's; set_groups()
  GroupPtr remote;               // an intercommunicator's other group; else null
  const Group* peers = nullptr;  // whom the ranks in calls name: `remote`, or else `group`
  // Of an intercommunicator: both groups as one, in the same order on all members, over `collective_context`. Serves
  // agreements of all members; has no handle, and its contexts are not its own.
  std::unique_ptr<Communicator> both;
  std::shared_ptr<const Topology> topology;  // null: none
  std::string name;
  std::uint32_t references = 1;
  bool freed = false;     // the user's handle is gone; requests may still hold it
  bool in_trace = false;  // its name was told to the trace (device/trace_definitions)
  // A collective call on it failed here: what others sent for that may come at any time, and says nothing of the
  // generation. Its contexts are never used again: one member's word is enough for all (ContextAgreement).
  bool contexts_spent = false;
  // One number per collective call, so that calls back to back do not mix; distributed graphs made.
  std::uint64_t collective_sequence = 0;
  std::uint64_t distributed_graphs = 0;
  // Of persistent collective calls (collectives/portal/notices): the channel that the next one tries, how often members
  // agreed on free channels, and which of the latest are free, a bit each; empty: all.
  std::uint64_t next_channel = 0;
  std::uint64_t channel_agreements = 0;
  std::vector<std::uint64_t> free_channels;
  std::unique_ptr<CommunicatorExtension> collective_facts;  // null before the first call that wants them
  // What no message needs, behind what messages need.
  // By whose name it goes; null: its own. Of a `both` whose it is, of the library's world the program's.
  Communicator* named_as = nullptr;
  ErrorHandlerPtr error_handler;  // null: MPI_ERRORS_ARE_FATAL
  AttributeList attributes;
  CommunicatorHints hints;

  // `other`: the remote group of an intercommunicator.
  void set_groups(GroupPtr mine, GroupPtr other = nullptr) {
    group = std::move(mine);
    remote = std::move(other);
    peers = remote != nullptr ? remote.get() : group.get();
  }
  [[nodiscard]] bool is_inter() const { return remote != nullptr; }
  [[nodiscard]] int rank() const { return group->my_rank; }
  [[nodiscard]] int size() const { return group->size(); }
  // How many ranks a call may name.
  [[nodiscard]] int peer_count() const { return peers->size(); }
  // Of a rank that a call names. Requires: 0 <= rank < peer_count().
  [[nodiscard]] std::uint32_t world_rank(int rank) const { return peers->world_ranks[static_cast<std::size_t>(rank)]; }
  // For what concerns all members, of both groups.
  [[nodiscard]] Communicator& everybody() { return both != nullptr ? *both : *this; }
};

// A communicator's name in stories, charts, checks, and reports of stalls and leaks.

// "MPI_COMM_WORLD"; of one without a name "communicator 6 (4 ranks)", "intercommunicator 6 (2 and 3 ranks)": by its
// context, as a trace's reader tells it (command/trace/names/names). Of two groups first the one that is first in
// everybody(), so that all members say the same.
[[nodiscard]] std::string communicator_word(const Communicator& communicator);
// The same of one of which no more than its context is known: "communicator 6".
[[nodiscard]] std::string communicator_word(ContextId context);

}  // namespace margay::mpi_adi
