#include "command/trace/read/filter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace margay::command {

using portals::Status;

namespace {

bool parse_number(std::string_view& text, std::uint64_t limit, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > limit) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(mark.size());
  return true;
}

// The mark before the sequence: ":" after "0:1", " #" or "#" after "0>1".
bool take_before_sequence(std::string_view& text, bool as_printed) {
  return as_printed ? take(text, " #") || take(text, "#") : take(text, ":");
}

// "17", or with another than the usual way "tcp.17".
bool take_number(std::string_view& text, std::uint64_t& number) {
  sim::WayCode way = sim::kUsualWay;
  for (std::size_t wire = 0; wire < sim::kWireCount; ++wire) {
    const std::string mark = std::string(sim::kWireKinds[wire].name) + ".";
    if (!take(text, mark)) continue;
    way = sim::way_by(static_cast<sim::WireId>(wire));
    break;
  }
  std::uint64_t position = 0;
  if (!parse_number(text, sim::position_of(~std::uint64_t{0}), position)) return false;
  number = position == 0 ? 0 : sim::message_number(way, position);
  return true;
}

bool answers(const sim::TraceEvent& event) {
  return event.kind == sim::TraceKind::kernel_ack_sent || event.kind == sim::TraceKind::kernel_ack_arrived ||
         event.kind == sim::TraceKind::kernel_reply_sent;
}

// The message and its answers, which name it in `detail`.
std::set<MessageIdentity> family(const Trace& trace, const MessageIdentity& message) {
  std::set<MessageIdentity> result{message};
  for (const Trace::Entry& entry : trace.entries) {
    const sim::TraceEvent& event = entry.event;
    if (!answers(event) || event.sequence == 0) continue;
    if (MessageIdentity{event.destination, event.source, event.detail} == message) result.insert(identity(event));
  }
  return result;
}

// The send_begin without a sequence that led to the kernel_send at `sent`: the latest one before it by the same rank,
// with the same destination and match bits. Returns trace.entries.size() if there is none.
std::size_t send_begin_of(const Trace& trace, std::size_t sent) {
  const Trace::Entry& send = trace.entries[sent];
  for (std::size_t i = sent; i-- > 0;) {
    const Trace::Entry& entry = trace.entries[i];
    if (entry.file != send.file || entry.event.destination != send.event.destination) continue;
    if (entry.event.match_bits != send.event.match_bits) continue;
    if (entry.event.kind == sim::TraceKind::send_begin) return entry.event.sequence == 0 ? i : trace.entries.size();
    // Any earlier beginning belongs to this other message.
    if (entry.event.kind == sim::TraceKind::kernel_send) break;
  }
  return trace.entries.size();
}

// "0, 1, 4": at most 16 ranks and the last one.
std::string list_of(const std::set<std::uint32_t>& ranks) {
  constexpr std::size_t kMostShown = 16;
  std::string text;
  std::size_t shown = 0;
  for (const std::uint32_t rank : ranks) {
    if (++shown > kMostShown) return fmt::format("{}, ... {}", text, *ranks.rbegin());
    text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
  }
  return text;
}

// A bit for each entry, so that pick() tests it without a search.
std::vector<bool> of_message(const Trace& trace, const MessageIdentity& message) {
  const std::set<MessageIdentity> wanted = family(trace, message);
  // One more element, for send_begin_of()'s "none".
  std::vector<bool> result(trace.entries.size() + 1, false);
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    const sim::TraceEvent& event = trace.entries[i].event;
    if (event.sequence == 0 || !wanted.contains(identity(event))) continue;
    result[i] = true;
    if (event.kind == sim::TraceKind::kernel_send) result[send_begin_of(trace, i)] = true;
  }
  return result;
}

template <typename Value>
bool has(const std::vector<Value>& values, const Value& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

// Accepts both notations, so that a message can be copied from any output.
Status parse_message(std::string_view text, MessageIdentity& message) {
  // The largest 32-bit number, which is excluded, stands for any rank.
  constexpr std::uint64_t kRankLimit = 0xffff'fffe;
  std::string_view rest = text;
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t sequence = 0;
  const bool as_printed = text.find('>') != std::string_view::npos;
  const bool good = parse_number(rest, kRankLimit, source) && take(rest, as_printed ? ">" : ":") &&
                    parse_number(rest, kRankLimit, destination) && take_before_sequence(rest, as_printed) &&
                    take_number(rest, sequence) && rest.empty() && sequence != 0;
  if (!good) {
    return Status::error(fmt::format(
        "\"{}\" is not a message; write SOURCE:DESTINATION:SEQUENCE with the sequence from 1, as in 0:1:17, or "
        "as it is printed, '0>1 #17' (in quotes: a shell's > makes a file)",
        text));
  }
  message = {static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(destination), sequence};
  return {};
}

// A rank without a file would select nothing, like a rank without events.
Status check_ranks(const Trace& trace, const std::vector<std::uint32_t>& ranks) {
  std::set<std::uint32_t> known;
  for (const TraceFile& file : trace.files) known.insert(file.rank);
  for (const std::uint32_t rank : ranks) {
    if (known.contains(rank)) continue;
    return Status::error(fmt::format("rank {} has no file in this trace; there {} {}", rank,
                                     known.size() == 1 ? "is rank" : "are ranks", list_of(known)));
  }
  return {};
}

// `head` ends the pass early; `tail` needs all of it.
std::vector<std::size_t> pick(const Trace& trace, const TraceFilter& filter) {
  std::vector<bool> about;
  if (filter.message) about = of_message(trace, *filter.message);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    const Trace::Entry& entry = trace.entries[i];
    if (filter.message && !about[i]) continue;
    if (!has(filter.ranks, trace.files[entry.file].rank) || !has(filter.kinds, entry.event.kind)) continue;
    if (!filter.not_kinds.empty() && has(filter.not_kinds, entry.event.kind)) continue;
    if (!has(filter.portals, entry.event.portal)) continue;
    if (filter.from_ns && entry.event.time < *filter.from_ns) continue;
    if (filter.to_ns && entry.event.time > *filter.to_ns) continue;
    if (filter.keep && !filter.keep(i)) continue;
    if (filter.head != 0 && result.size() == filter.head) break;
    result.push_back(i);
  }
  if (filter.tail != 0 && result.size() > filter.tail) {
    result.erase(result.begin(), result.end() - static_cast<std::ptrdiff_t>(filter.tail));
  }
  return result;
}

}  // namespace margay::command
