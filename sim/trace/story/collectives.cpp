#include "sim/trace/story/collectives.hpp"

#include <fmt/format.h>

namespace margay::sim {

CollectiveShape collective_shape(const TraceEvent& begin) {
  return {static_cast<TraceOperation>(begin.b & 0xffU), static_cast<TraceAlgorithm>(begin.b >> 8U & 0xffU),
          begin.b >> 16U};
}

std::string words_of(const CollectiveShape& shape) {
  if (shape.operation == TraceOperation::none) return "an agreement on a context";
  const bool has_root = shape.operation == TraceOperation::bcast || shape.operation == TraceOperation::reduce ||
                        shape.operation == TraceOperation::gather || shape.operation == TraceOperation::scatter;
  return fmt::format("{} by {}{}", name(shape.operation), name(shape.algorithm),
                     has_root ? fmt::format(", root {}", shape.root) : "");
}

Collectives::Collectives(const Trace& trace, const TraceNames& names) : trace_(trace) {
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    switch (trace.entries[i].event.kind) {
      case TraceKind::collective_begin:
        begin(i);
        break;
      case TraceKind::collective_end:
        end(i);
        break;
      case TraceKind::kernel_send:
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
  latest_[{file, part.context, part.number}] = parts_.size();
  parts_.push_back(std::move(part));
}

void Collectives::end(std::size_t at) {
  const auto& [event, file] = trace_.entries[at];
  const auto found = latest_.find({file, split_envelope(event.match_bits).context, event.a});
  if (found != latest_.end()) parts_[found->second].end = at;
}

void Collectives::add_send(std::size_t at, const TraceNames& names) {
  const auto& [event, file] = trace_.entries[at];
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

std::string Collectives::words(const MessageIdentity& message) const {
  const CollectiveStep* const step = step_of(message);
  if (step == nullptr) return "";
  const CollectivePart& part = parts_[step->part];
  return fmt::format("{}, message {} of {} that rank {} sends in it",
                     words_of(collective_shape(trace_.entries[part.begin].event)), step->step, part.sends.size(),
                     message.source);
}

}  // namespace margay::sim
