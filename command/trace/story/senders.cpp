#include "command/trace/story/senders.hpp"

#include <set>

#include "command/trace/names/names.hpp"

namespace margay::command {

namespace {

// Only communicators are compared: contexts are reused, and communicators renamed.
bool defines_twice(const TraceFile& file) {
  std::set<std::uint64_t> seen;
  for (const sim::Definition& each : file.definitions) {
    if (each.kind == sim::DefinitionKind::communicator && !seen.insert(each.number).second) return true;
  }
  return false;
}

}  // namespace

Senders::Senders(const Trace& trace) {
  for (std::uint32_t file = 0; file < trace.files.size(); ++file) {
    file_of_.emplace(trace.files[file].rank, file);
    redefines_.push_back(defines_twice(trace.files[file]));
    redefine_ = redefine_ || redefines_.back();
  }
  for (const auto& [event, file] : trace.entries) {
    // The first of the two events counts: send_begin, if it has the message's number already, is closer to the call.
    const bool sends = event.kind == sim::TraceKind::kernel_send || event.kind == sim::TraceKind::send_begin;
    // Files that define each number once need no times of sending, which saves a map of all messages.
    if (redefines_[file] && sends && event.sequence != 0) sent_ns_.try_emplace(identity(event), event.time);
  }
}

// Without a redefinition any time gives the same names, so the event's own time suffices.
Senders::Moment Senders::of(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  const auto source = event.sequence == 0 ? file_of_.end() : file_of_.find(event.source);
  if (source == file_of_.end()) return {entry.file, event.time};
  const std::uint32_t file = source->second;
  if (!redefines_[file]) return {file, event.time};
  const auto sent = sent_ns_.find(identity(event));
  return {file, sent == sent_ns_.end() ? kUnknownTime : sent->second};
}

}  // namespace margay::command
