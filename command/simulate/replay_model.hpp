// The replay of a recorded run on a machine: each rank is a list of actions, executed in virtual time without the
// program. Pure.
//
// The rank with the earliest time acts first, so the network model gets messages in the order of their times. Costs are
// those of virtual_machine/world: a message takes the sender's overhead once, and the poll and the receiver's overhead
// when its receiver awaits it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/status.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace margay::command {

// A header on a wire, with the bytes of the body behind it.
struct ReplayMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;
};

enum class ReplayStep : std::uint8_t {
  compute,  // value: nanoseconds of the recorded run
  send,     // value: index in ReplayPlan::messages
  await,    // value: the same; the rank continues when the whole message has arrived
  event,    // value: number of an event whose time is of interest; takes no time
  begin,    // value: index in ReplayPlan::tasks; the task runs from now on, beside the rank
  end,      // value: the same; the rank continues when the task has ended
};

struct ReplayAction {
  ReplayStep step = ReplayStep::compute;
  std::uint64_t value = 0;

  friend bool operator==(const ReplayAction&, const ReplayAction&) = default;
};

struct ReplayPlan {
  std::vector<ReplayMessage> messages = {};
  // By rank. A message is sent once, and awaited at most once, by the ranks that it names.
  std::vector<std::vector<ReplayAction>> ranks = {};
  // Work of the library beside its rank, which makes progress while the rank waits for something else: sends and
  // awaits. A rank begins a task once, and then ends it. An await of a task without which no rank could continue is
  // left out.
  std::vector<std::vector<ReplayAction>> tasks = {};
  // Events have numbers below this one.
  std::size_t events = 0;
};

// A rank's time, all in nanoseconds. end_ns is the sum of the others.
struct ReplayedRank {
  std::uint64_t end_ns = 0;
  std::uint64_t compute_ns = 0;
  std::uint64_t send_ns = 0;     // the sender's overhead
  std::uint64_t receive_ns = 0;  // polls and the receiver's overhead
  std::uint64_t wait_ns = 0;     // for messages
};

struct ReplayResult {
  std::vector<ReplayedRank> ranks;
  // Times of the events, since the start of all ranks; 0 for a number without an event.
  std::vector<std::uint64_t> event_ns;
  // Of all messages that were sent.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t elapsed_ns() const;
};

// Executes the plan on the machine of `model`, which is fresh and has as many ranks. `cpu_scale`: time of a computation
// as a multiple of the recorded one. Error: ranks wait for one another in a circle, without a task; the message names
// one of them.
[[nodiscard]] portals::Status replay(const ReplayPlan& plan, double cpu_scale, virtual_machine::NetworkModel& model,
                                     ReplayResult& out);

}  // namespace margay::command
