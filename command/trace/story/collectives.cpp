#include "command/trace/story/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace margay::command {

// The layout of `b`: operation, algorithm, root, lowest bits first (docs/trace_format.md, collective_begin).
CollectiveShape collective_shape(const sim::TraceEvent& begin) {
  return {collectives::numbered_operation(begin.b & 0xffU), static_cast<collectives::Algorithm>(begin.b >> 8U & 0xffU),
          begin.b >> 16U, static_cast<sim::TraceRoot>(begin.reason)};
}

namespace {

// The root as the program named it: on an intercommunicator it may be a rank of the other group, or a constant.
std::string root_text(const CollectiveShape& shape) {
  switch (shape.named) {
    case sim::TraceRoot::member:
      return fmt::format("root {}", shape.root);
    case sim::TraceRoot::remote:
      return fmt::format("root rank {} of the remote group", shape.root);
    case sim::TraceRoot::here:
      return "root MPI_ROOT";
    case sim::TraceRoot::another:
      return "root MPI_PROC_NULL";
    case sim::TraceRoot::of_both:
      return fmt::format("root {} of both groups as one", shape.root);
  }
  return "a root that is not known";
}

}  // namespace

std::string shape_text(const CollectiveShape& shape) {
  using collectives::Operation;
  if (!shape.operation) return "an agreement on a context";
  // Other operations record a root of 0, which would mislead.
  const bool has_root = shape.operation == Operation::bcast || shape.operation == Operation::reduce ||
                        shape.operation == Operation::gather || shape.operation == Operation::scatter;
  return fmt::format("{} by {}{}", name(*shape.operation), name(shape.algorithm),
                     has_root ? fmt::format(", {}", root_text(shape)) : "");
}

namespace {

// The full number of the start with lowest bits `low`, which follows start `before` of the same channel. A start that
// is not the next one means that another communicator now has the context; its starts count from 0 again.
std::uint64_t later_start(std::uint64_t before, std::uint32_t low) {
  constexpr std::uint64_t kStarts = std::uint64_t{1} << kCollectiveStartBits;
  return (before + 1) % kStarts == low ? before + 1 : low;
}

}  // namespace

Collectives::Collectives(const Trace& trace, const TraceNames& names) : trace_(trace) {
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    // One pass suffices: a rank's entries are in its own order, so a call's begin precedes its sends and its end.
    switch (trace.entries[i].event.kind) {
      case sim::TraceKind::collective_begin:
        begin(i);
        break;
      case sim::TraceKind::collective_end:
        end(i);
        break;
      case sim::TraceKind::kernel_send:
        add_send(i, names);
        break;
      default:
        break;
    }
  }
}

void Collectives::begin(std::size_t at) {
  const auto& [event, file] = trace_.entries[at];
  CollectivePart part;
  part.file = file;
  part.context = split_envelope(event.match_bits).context;
  part.number = event.a;
  part.begin = at;
  if (const PersistentNumber number(part.number); number.is_persistent && !is_agreement(part.context)) {
    // All starts share the channel but not the number, so only this list can give the upper bits of the start.
    std::vector<std::size_t>& earlier = starts_[{file, part.context, number.channel}];
    part.start = number.start;
    if (!earlier.empty()) part.start = later_start(parts_[earlier.back()].start, number.start);
    earlier.push_back(parts_.size());
  }
  // Overwrites an earlier call that had the same number.
  latest_[{file, part.context, part.number}] = parts_.size();
  parts_.push_back(std::move(part));
}

void Collectives::end(std::size_t at) {
  const auto& [event, file] = trace_.entries[at];
  const auto found = latest_.find({file, split_envelope(event.match_bits).context, event.a});
  // The beginning may have been overwritten in the ring.
  if (found != latest_.end()) parts_[found->second].end = at;
}

// The order of sending is the only numbering that a call's messages have.
void Collectives::add_send(std::size_t at, const TraceNames& names) {
  const auto& [event, file] = trace_.entries[at];
  // Ready messages are not steps of the algorithm; they have a portal of their own.
  if (event.sequence == 0 || !names.is_collective_data(file, event.portal)) return;
  const EnvelopeBits bits = split_envelope(event.match_bits);
  const auto found = latest_.find({file, bits.context, bits.tag});
  if (found == latest_.end()) return;
  CollectivePart& part = parts_[found->second];
  part.sends.push_back(at);
  steps_[identity(event)] = {found->second, static_cast<std::uint32_t>(part.sends.size())};
}

const CollectiveStep* Collectives::step_of(const MessageIdentity& message) const {
  const auto found = steps_.find(message);
  return found == steps_.end() ? nullptr : &found->second;
}

// Agreements and plain calls need no search.
std::string Collectives::call_text(std::uint32_t file, std::uint32_t context, std::uint32_t number,
                                   std::uint64_t time_ns) const {
  const PersistentNumber persistent(number);
  const auto found = starts_.find({file, context, persistent.channel});
  const bool is_started = persistent.is_persistent && !is_agreement(context);
  if (!is_started || found == starts_.end()) return collective_call_text(context, number);
  // The latest start before the event: lowest bits repeat every 2048 starts.
  const auto later = std::upper_bound(
      found->second.begin(), found->second.end(), time_ns,
      [&](std::uint64_t time, std::size_t part) { return time < trace_.entries[parts_[part].begin].event.time; });
  for (auto part = later; part != found->second.begin();) {
    if (parts_[*--part].number == number) return persistent_call_text(persistent.channel, parts_[*part].start);
  }
  return collective_call_text(context, number);
}

// Counts the messages of the sender's part, not those of the whole call.
std::string Collectives::message_text(const MessageIdentity& message) const {
  const CollectiveStep* const step = step_of(message);
  if (step == nullptr) return "";
  const CollectivePart& part = parts_[step->part];
  return fmt::format("{}, message {} of {} that rank {} sends in it",
                     shape_text(collective_shape(trace_.entries[part.begin].event)), step->step, part.sends.size(),
                     message.source);
}

}  // namespace margay::command
