// The collective calls of a trace, split into one part for each rank that made the call.
// A message names its call by communicator and number; the call's own events name the operation and the algorithm.
// Built in one pass over the trace; read-only afterwards.
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

// A collective call's operation, algorithm and root, decoded from its collective_begin.
struct CollectiveShape {
  // Empty: the event begins an agreement on a context, not an operation of the program.
  std::optional<collectives::Operation> operation;
  // Meaningless without an operation.
  collectives::Algorithm algorithm = collectives::Algorithm::tree;
  // The root's rank as the call gave it; `named` decides in which group.
  std::uint32_t root = 0;
  // The form in which the call named its root: a member's rank, or a rank of the remote group.
  sim::TraceRoot named = sim::TraceRoot::member;
};
// Requires: `begin` is a collective_begin.
[[nodiscard]] CollectiveShape collective_shape(const sim::TraceEvent& begin);
// Formats the shape: "allreduce by exchange", "bcast by tree, root 2", "reduce by tree, root rank 0 of the remote
// group", "an agreement on a context". The root appears only for operations that have one.
[[nodiscard]] std::string shape_text(const CollectiveShape& shape);

// One rank's part of one collective call.
// Indices are of trace.entries; kNone: the event is not in the trace, because it was overwritten or not yet recorded.
struct CollectivePart {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::uint32_t file = 0;
  // Context of the communicator's collective messages.
  std::uint32_t context = 0;
  // The call's number on that communicator, as recorded.
  std::uint32_t number = 0;
  // Number of the start of a persistent call, from 0. The recorded number has only its lowest bits; the upper bits are
  // counted here, from the first recorded start. If earlier starts were overwritten, the upper bits are too small.
  std::uint64_t start = 0;
  // The part's collective_begin and collective_end.
  std::size_t begin = kNone;
  std::size_t end = kNone;
  // The kernel_send of each data message of the call, in the order of sending; ready notices are not included.
  std::vector<std::size_t> sends;
};

// A message's place in its call.
struct CollectiveStep {
  // Index in parts() of the sender's part.
  std::size_t part = 0;
  // Counted from 1 in the order in which the sender sent.
  std::uint32_t step = 0;
};

// Index of all collective calls in a trace, by call and by message. Lookups are a hash or map access; call_text() also
// searches the starts of a persistent call.
class Collectives {
 public:
  // `trace` must outlive the index. `names` is used during construction only.
  Collectives(const Trace& trace, const TraceNames& names);

  // All parts, ordered by the time of their beginning.
  [[nodiscard]] const std::vector<CollectivePart>& parts() const { return parts_; }
  // The place of `message`, the identity of a kernel_send or a kernel_arrive. nullptr: the message belongs to no
  // collective call in the trace. Valid as long as the index.
  [[nodiscard]] const CollectiveStep* step_of(const MessageIdentity& message) const;
  // "allreduce by exchange, message 2 of 3 that rank 3 sends in it"; "" for a message that belongs to no known call.
  [[nodiscard]] std::string message_text(const MessageIdentity& message) const;
  // Like collective_call_text(), for an event of `file` at `time_ns` that names call `number` on the communicator of
  // `context`. Adds the full start number of a persistent call where the index has it.
  [[nodiscard]] std::string call_text(std::uint32_t file, std::uint32_t context, std::uint32_t number,
                                      std::uint64_t time_ns) const;

 private:
  using Call = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // file, context, number
  void begin(std::size_t at);
  void end(std::size_t at);
  void add_send(std::size_t at, const TraceNames& names);

  const Trace& trace_;
  std::vector<CollectivePart> parts_;
  // The latest part with that context and number: both are used again after the communicator is freed.
  std::map<Call, std::size_t> latest_;
  // Parts of persistent calls, sorted by time. All starts of a call have the same key, in which the call's channel
  // replaces the number.
  std::map<Call, std::vector<std::size_t>> starts_;
  std::unordered_map<MessageIdentity, CollectiveStep, MessageHash> steps_;
};

}  // namespace margay::command
