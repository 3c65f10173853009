// The collective calls of a trace, each rank's part of them: a message names its call by communicator and number, the
// call's own events tell what it does, and by which algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/cost/facts.hpp"
#include "command/trace/names/names.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// What a collective_begin tells of its call.
struct CollectiveShape {
  std::optional<collectives::Operation> operation;                  // nothing: its members agree on a context
  collectives::Algorithm algorithm = collectives::Algorithm::tree;  // of no meaning where there is no operation
  std::uint32_t root = 0;
  sim::TraceRoot named = sim::TraceRoot::member;  // what `root` is
};
[[nodiscard]] CollectiveShape collective_shape(const sim::TraceEvent& begin);
// "allreduce by exchange", "bcast by tree, root 2", "reduce by tree, root rank 0 of the remote group", "an agreement on
// a context".
[[nodiscard]] std::string words_of(const CollectiveShape& shape);

// One rank's part of one call. Indices are of trace.entries; kNone: not in the trace.
struct CollectivePart {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::uint32_t file = 0;
  std::uint32_t context = 0;  // of the communicator's collective messages
  std::uint32_t number = 0;   // of the call on it, as the trace has it
  // Of a persistent call, which of its starts, from 0. Its number has the lowest bits of it alone; the others are
  // counted from where the recording begins.
  std::uint64_t start = 0;
  std::size_t begin = kNone;
  std::size_t end = kNone;
  std::vector<std::size_t> sends;  // the kernel_sends of its messages, in their order; no ready messages
};

// Which message of the call a message is.
struct CollectiveStep {
  std::size_t part = 0;    // index of its sender's part
  std::uint32_t step = 0;  // from 1, by the order in which its sender sent
};

class Collectives {
 public:
  // Both outlive it.
  Collectives(const Trace& trace, const TraceNames& names);

  // By the time of their beginning.
  [[nodiscard]] const std::vector<CollectivePart>& parts() const { return parts_; }
  // Of a kernel_send or a kernel_arrive, the message's; nullptr: of no collective call that is in the trace.
  [[nodiscard]] const CollectiveStep* step_of(const MessageIdentity& message) const;
  // "allreduce by exchange, message 2 of 3 that rank 3 sends in it"; "" of a message of no call.
  [[nodiscard]] std::string words(const MessageIdentity& message) const;
  // As collective_call_words(), of an event of `file` at `time_ns` that names `number` on `context`'s communicator.
  [[nodiscard]] std::string call_words(std::uint32_t file, std::uint32_t context, std::uint32_t number,
                                       std::uint64_t time_ns) const;

 private:
  using Call = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // file, context, number
  void begin(std::size_t at);
  void end(std::size_t at);
  void add_send(std::size_t at, const TraceNames& names);

  const Trace& trace_;
  std::vector<CollectivePart> parts_;
  std::map<Call, std::size_t> latest_;               // a context, and with it a number, may be used again
  std::map<Call, std::vector<std::size_t>> starts_;  // parts of persistent calls, by time; the number is the channel
  std::unordered_map<MessageIdentity, CollectiveStep, MessageHash> steps_;
};

}  // namespace margay::command
