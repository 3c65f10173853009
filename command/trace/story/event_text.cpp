#include "command/trace/story/event_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "command/trace/names/text.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/copies.hpp"
#include "command/trace/story/polling_text.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/findings.hpp"

namespace margay::command {

namespace {

using portals::Kind;
using portals::Saved;

// A pass records the type plus one; 0 means unknown.
constexpr std::uint32_t kDescriptorTypes = 4;

// An empty phrase omits the reason: the protocol needs none.
std::string_view choice_text(sim::TraceChoice choice) {
  switch (choice) {
    case sim::TraceChoice::fits_short:
      return "it fits in the short limit";
    case sim::TraceChoice::above_short:
      return "it is longer than the short limit";
    case sim::TraceChoice::mode:
      return "its call asks for it";
    case sim::TraceChoice::option:
      return "an option asks for it";
    case sim::TraceChoice::none:
      break;
  }
  return "";
}

std::string_view saved_text(Saved saved) {
  switch (saved) {
    case Saved::nothing:
      return "nothing is kept of it";
    case Saved::header:
      return "its header is kept, its body is not";
    case Saved::body:
      return "its body is kept";
    case Saved::both:
      return "header and body are kept";
  }
  return "what is kept of it is not known";
}

// Every other failed test follows the no-match link.
std::string_view link_name(portals::Passed passed) {
  if (passed == portals::Passed::no_room) return "no-room";
  return passed == portals::Passed::too_small ? "too-small" : "no-match";
}

// "a single block"; "": not known.
std::string descriptor_text(const sim::TracePass& pass) {
  if (pass.type == 0 || pass.type > kDescriptorTypes) return "";
  const auto type = static_cast<portals::DescriptorType>(pass.type - 1);
  return fmt::format("{} {}", type == portals::DescriptorType::independent_block ? "an" : "a", name(type));
}

// Which resource ran out depends on the type of descriptor.
std::string_view no_room_text(const sim::TracePass& pass) {
  if (pass.type == 1U + static_cast<std::uint32_t>(portals::DescriptorType::independent_block)) {
    return "no room, no buffer is available";
  }
  if (pass.type == 1U + static_cast<std::uint32_t>(portals::DescriptorType::dynamic_block)) {
    return "no room, the heap has no free block that is large enough";
  }
  return pass.type == 0 ? "no room" : "no room, it is full";
}

// The reason why the memory of a kernel_pass's entry did not take a message that meets its criteria.
std::string memory_text(const sim::TraceEvent& event, const sim::TraceEvent* arrival) {
  const bool is_get = event.header == static_cast<std::uint8_t>(Kind::get);
  switch (static_cast<portals::Passed>(event.reason)) {
    case portals::Passed::inactive:
      return "inactive, its criteria are not compared";
    case portals::Passed::no_room:
      return std::string(no_room_text(sim::TracePass::of(event.a)));
    // Without the arrival the message's length is unknown, so the text is the reason's name.
    case portals::Passed::too_small: {
      if (arrival == nullptr) break;
      const std::string room = event.b == sim::kTraceRoomUnknown ? "the next buffer" : fmt::format("{}", event.b);
      return fmt::format("too small, {} not fit in {}", sim::counted(arrival->bytes, "byte does", "bytes do"), room);
    }
    case portals::Passed::wrong_direction:
      return is_get ? "wrong direction, it is written to and not read from"
                    : "wrong direction, it is read from and not written to";
    case portals::Passed::offset_out_of_range:
      if (arrival == nullptr) break;
      return fmt::format("offset out of range, {} is past its end", arrival->detail);
    default:
      break;
  }
  return std::string(reason_text(event));
}

// Whether the text mentions the saved parts. Those of an acknowledgment describe the original put, and of a message
// without a body only the header can be saved.
bool shows_saved(const sim::TraceEvent& event) {
  const bool lacks_body = event.saved == Saved::header && event.bytes == 0;
  return event.saved != Saved::nothing && !lacks_body &&
         event.header != static_cast<std::uint8_t>(Kind::acknowledgment);
}

// The parts that an entry will save, before the body has arrived.
std::string_view match_text(Saved saved) {
  return saved == Saved::both ? "it keeps header and body" : saved_text(saved);
}

std::string ordinal(std::uint32_t number) {
  if (number == 2) return "second";
  if (number == 3) return "third";
  const bool is_teen = number / 10 % 10 == 1;
  const std::uint32_t last = is_teen ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

// The entry's position in the walk of a kernel_match. An index finds the entry without the walk. If the walk was cut
// off, the position is a lower bound.
std::string place_in_walk(const sim::TraceEvent& event) {
  if ((event.reason & sim::kTraceWalkCut) != 0) {
    const bool by_index = (event.reason & sim::kTraceWalkByIndex) != 0;
    return fmt::format(", behind at least {}{}", sim::counted(event.a, "other"), by_index ? ", by the index" : "");
  }
  if ((event.reason & sim::kTraceWalkByIndex) != 0) {
    return fmt::format(", the {} entry of the paper's walk, by the index", ordinal(event.a));
  }
  return event.a > 1 ? fmt::format(", the {} entry of its walk", ordinal(event.a)) : "";
}

std::string rank_phrase(portals::Rank rank) {
  return rank == portals::kAnyRank ? "any rank" : fmt::format("rank {}", rank);
}

// The library's sentence with the event's fields in place of {peer}, {bytes}, {detail}, {a} and {b}. Text in other
// braces stays, because the sentence comes from the file.
// `rank`: the rank that recorded the event, which is the destination in an event about an arrived message.
std::string library_sentence(std::string sentence, const sim::TraceEvent& event, std::uint32_t rank) {
  const portals::Rank peer = event.source == rank ? event.destination : event.source;
  if (sentence.empty()) return fmt::format("has event {} of a communication library", event.reason);
  const std::pair<std::string_view, std::string> fields[] = {{"{peer}", rank_phrase(peer)},
                                                             {"{bytes}", sim::counted(event.bytes, "byte")},
                                                             {"{detail}", std::to_string(event.detail)},
                                                             {"{a}", std::to_string(event.a)},
                                                             {"{b}", std::to_string(event.b)}};
  for (const auto& [name, value] : fields) {
    for (std::size_t at = 0; (at = sentence.find(name, at)) != std::string::npos; at += value.size()) {
      sentence.replace(at, name.size(), value);
    }
  }
  return sentence;
}

// An answer carries the number of the message that it answers in `detail`.
std::string answered_message(const sim::TraceEvent& event) {
  if (event.detail == 0) return "a message";
  return fmt::format("{}>{} #{}", event.destination, event.source, event.detail);
}

// The outcome in a request_complete.
std::string end_of_request(const sim::TraceEvent& event) {
  if (event.reason == sim::kTraceCancelled) return "is cancelled";
  return event.b == 0 ? "is complete" : "ends with " + error_name(event.b);
}

// Thread 0 is the only one of most programs, so it is not named.
std::string thread_text(const sim::TraceEvent& event) {
  return event.detail == 0 ? "" : fmt::format(" (thread {})", event.detail);
}

}  // namespace

// Three digits show differences of a percent without false precision.
std::string duration_text(std::uint64_t ns) {
  // Three significant digits.
  const auto scaled = [](double value, std::string_view unit) {
    return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
  };
  if (ns < 1000) return fmt::format("{} ns", ns);
  const auto value = static_cast<double>(ns);
  if (ns < 1'000'000) return scaled(value / 1e3, "us");
  if (ns < 1'000'000'000) return scaled(value / 1e6, "ms");
  return scaled(value / 1e9, "s");
}

// Collects the times of all ranks' definitions, because the text of a message may depend on another rank's definitions.
EventText::EventText(const Trace& trace, const TraceNames& names, CallSite call_site, const Collectives* collectives)
    : trace_(trace), names_(names), call_site_(std::move(call_site)), collectives_(collectives), senders_(trace) {
  for (const TraceFile& file : trace.files) {
    for (const sim::Definition& each : file.definitions) definition_times_.push_back(each.time);
  }
  // The definitions of one file are in order, but not those of several files.
  std::sort(definition_times_.begin(), definition_times_.end());
}

std::string EventText::call(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  std::string text = call_name(trace_.files[entry.file], event.a);
  if (!call_site_) return text;
  // An mpi_enter has the call's return address in place of match bits.
  const sim::Definition* const module = names_.module(entry.file, event.match_bits);
  if (module == nullptr) return text;
  const std::string site = call_site_(*module, event.match_bits);
  return site.empty() ? text : fmt::format("{} ({})", text, site);
}

std::string EventText::window(const Trace::Entry& entry) const {
  const auto number = static_cast<std::uint32_t>(entry.event.match_bits >> 32U);
  return names_.window(entry.file, number, entry.event.time);
}

std::string EventText::bits(const Trace::Entry& entry, std::uint8_t portal) const {
  const auto [file, time_ns] = senders_.of(entry);
  const std::uint64_t bits = entry.event.match_bits;
  if (collectives_ == nullptr || !names_.is_collective(file, portal)) return names_.bits(file, portal, bits, time_ns);
  const EnvelopeBits is = split_envelope(bits);
  return fmt::format("{} of {}", collectives_->call_text(file, is.context, is.tag, time_ns),
                     names_.communicator_of_calls(file, is.context, time_ns));
}

std::string EventText::communicator(const Trace::Entry& entry) const {
  const auto [file, time_ns] = senders_.of(entry);
  const std::uint32_t context = split_envelope(entry.event.match_bits).context;
  return names_.is_collective(file, entry.event.portal) ? names_.communicator_of_calls(file, context, time_ns)
                                                        : names_.communicator(file, context, time_ns);
}

std::string EventText::envelope(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  // A send_begin has no portal: sends go to the receive portal.
  const std::uint8_t portal = event.kind == sim::TraceKind::send_begin ? 0 : event.portal;
  const std::string call = collectives_ == nullptr ? "" : collectives_->message_text(identity(event));
  return fmt::format("{}{}{}", bits(entry, portal), call.empty() ? "" : ": ", call);
}

std::string EventText::split_bits(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  return names_.split(entry.file, event.kind == sim::TraceKind::send_begin ? mpi_adi::kReceivePortal : event.portal,
                      event.match_bits);
}

// Elements of the call's datatype; bytes for other events and for the library's own messages, which have no datatype.
std::string EventText::elements(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  const bool is_typed = event.kind == sim::TraceKind::send_begin || event.kind == sim::TraceKind::post_receive;
  if (!is_typed || is_setup_of_partitions(event.match_bits)) return sim::counted(event.bytes, "byte");
  return names_.elements(entry.file, event.b, event.bytes, event.time);
}

std::string EventText::message(const Trace::Entry& entry) const {
  const std::string what = elements(entry);
  // A library's own words have meaning only with its name, which the portal's name begins with.
  const std::string portal =
      names_.is_of_library(entry.file, entry.event.portal) ? ", " + names_.portal(entry.file, entry.event.portal) : "";
  return fmt::format("{}, {}{}", what, envelope(entry), portal);
}

// Dispatches by group of kinds; each group has a function of its own.
std::string EventText::of(const Trace::Entry& entry, const sim::TraceEvent* arrival) const {
  switch (entry.event.kind) {
    case sim::TraceKind::kernel_send:
    case sim::TraceKind::kernel_sent:
    case sim::TraceKind::kernel_arrive:
    case sim::TraceKind::kernel_match:
    case sim::TraceKind::kernel_deposit_begin:
    case sim::TraceKind::kernel_deposit:
    case sim::TraceKind::kernel_ack_sent:
    case sim::TraceKind::kernel_ack_arrived:
    case sim::TraceKind::kernel_get_arrived:
    case sim::TraceKind::kernel_reply_sent:
    case sim::TraceKind::kernel_drop:
    case sim::TraceKind::kernel_hold:
    case sim::TraceKind::stop:
    case sim::TraceKind::take_back:
    case sim::TraceKind::given_back:
      return of_kernel(entry);
    case sim::TraceKind::kernel_pass:
      return of_pass(entry, arrival);
    case sim::TraceKind::entry_linked:
    case sim::TraceKind::entry_unlinked:
    case sim::TraceKind::entry_switched:
    case sim::TraceKind::heap_left:
      return of_structure(entry);
    case sim::TraceKind::send_begin:
    case sim::TraceKind::post_receive:
    case sim::TraceKind::search_hit:
    case sim::TraceKind::search_miss:
    case sim::TraceKind::receive_complete:
    case sim::TraceKind::request_complete:
    case sim::TraceKind::pull_begin:
    case sim::TraceKind::pull_complete:
    case sim::TraceKind::synchronous_answer:
    case sim::TraceKind::found:
      return of_request(entry);
    default:
      return of_rank(entry);
  }
}

// Sentences have the message or its receiver's kernel as their subject, which the line's rank column names.
std::string EventText::of_kernel(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  const std::string portal = names_.portal(entry.file, event.portal);
  const std::string bytes = sim::counted(event.bytes, "byte");
  const auto its_bits = [&] { return bits(entry, event.portal); };
  switch (event.kind) {
    case sim::TraceKind::kernel_send:
      if (event.header == static_cast<std::uint8_t>(Kind::get)) {
        return fmt::format("asks by a get on {} for {} of {}", names_.wire(event.wire), bytes, portal);
      }
      return fmt::format("puts its header on {}: a put of {} for {}, {}", names_.wire(event.wire), bytes, portal,
                         its_bits());
    case sim::TraceKind::kernel_sent:
      return "the wire is done with it";
    case sim::TraceKind::kernel_arrive:
      // A reply has the same event kind as a put's arrival, but no match bits.
      if (event.header == static_cast<std::uint8_t>(Kind::reply)) {
        return fmt::format("the reply arrives by {}: {} for {}", names_.wire(event.wire), bytes, portal);
      }
      return fmt::format("its header arrives by {}: a put of {} for {}, {}", names_.wire(event.wire), bytes, portal,
                         its_bits());
    case sim::TraceKind::kernel_match:
      return fmt::format("is taken by {}{}{}",
                         names_.entry(entry.file, event.portal, event.detail, event.b, event.time),
                         place_in_walk(event), shows_saved(event) ? fmt::format("; {}", match_text(event.saved)) : "");
    case sim::TraceKind::kernel_deposit_begin:
      return fmt::format("the body begins to come, to offset {}", event.detail);
    case sim::TraceKind::kernel_deposit:
      if (event.header == static_cast<std::uint8_t>(Kind::acknowledgment)) return "it is there";
      // An answer is a header without a body; a message of which only the header was kept still has a body to fetch.
      if (event.saved == Saved::header) {
        return names_.is_answer(entry.file, event.portal, event.match_bits) ? "it is there" : "its header is kept";
      }
      return fmt::format("all is there: {} at offset {}", bytes, event.detail);
    case sim::TraceKind::kernel_ack_sent:
      return fmt::format("acknowledges {}: {}", answered_message(event), saved_text(event.saved));
    case sim::TraceKind::kernel_ack_arrived:
      return fmt::format("the acknowledgment of {} arrives: {}", answered_message(event), saved_text(event.saved));
    case sim::TraceKind::kernel_get_arrived:
      return fmt::format("the get arrives by {}: {} of {} {} wanted", names_.wire(event.wire), bytes, portal,
                         event.bytes == 1 ? "is" : "are");
    case sim::TraceKind::kernel_reply_sent:
      return fmt::format("replies to {} with {}", answered_message(event), bytes);
    case sim::TraceKind::kernel_drop:
      return fmt::format("is dropped, {}: {} for {}, {}", reason_text(event), bytes, portal, its_bits());
    case sim::TraceKind::kernel_hold:
      return fmt::format("stays on the wire, {}: the kernel retries", reason_text(event));
    case sim::TraceKind::stop:
      return "stops: the receiver takes no more of the body";
    case sim::TraceKind::given_back:
      return "leaves the heap unread";
    case sim::TraceKind::take_back:
      return "is cancelled before its wire had begun with it";
    default:
      return "";
  }
}

std::string EventText::passed_entry(const Trace::Entry& entry) const {
  const sim::TracePass pass = sim::TracePass::of(entry.event.a);
  const std::string text =
      names_.entry(entry.file, entry.event.portal, entry.event.detail, pass.owner, entry.event.time);
  // The type of the library's own entries is of no use to a reader.
  const std::string type = names_.is_envelope(entry.file, mpi_adi::kReceivePortal) ? "" : descriptor_text(pass);
  return type.empty() ? text : fmt::format("{}, {}", text, type);
}

// The memory's state explains a pass if the criteria were met; otherwise the criteria are compared.
std::string EventText::why_passed(const Trace::Entry& entry, const sim::TraceEvent* arrival) const {
  const sim::TraceEvent& event = entry.event;
  const auto why = static_cast<portals::Passed>(event.reason);
  const bool is_heap = (event.a >> 16U & 0xffU) == mpi_adi::kOwnerHeap && names_.is_envelope(entry.file, event.portal);
  // MPI has two heaps of unexpected messages, of which one is active at a time.
  if (is_heap && why == portals::Passed::inactive) return "closed: messages go to the other heap";
  if (why != portals::Passed::no_match) return memory_text(event, arrival);
  // The entry accepts one source, which is not the message's.
  const bool is_from_another = event.b != portals::kAnyRank && event.b != event.source;
  const auto wanted = [&] {
    return names_.wanted(entry.file, event.portal, event.match_bits, event.bytes, event.time);
  };
  if (arrival == nullptr) {
    return fmt::format("no match, it accepts {}{}", wanted(),
                       is_from_another ? fmt::format(", and rank {} only", event.b) : "");
  }
  // The bits fit, so the source decided.
  if (((event.match_bits ^ arrival->match_bits) & ~event.bytes) == 0) {
    return is_from_another ? fmt::format("no match, the bits fit, but it takes rank {} only", event.b)
                           : "no match, the bits fit, but it takes another group of sources only";
  }
  const auto [sender, sent_ns] = senders_.of(entry);
  return "no match, " + names_.mismatch(entry.file, event.portal, event.match_bits, event.bytes, event.time,
                                        {arrival->match_bits, sender, sent_ns}, event.b == portals::kAnyRank);
}

// The entry to which a kernel_pass's link leads: the rank's next event, if that belongs to the same walk. "": the
// recording does not show it.
std::string EventText::linked_entry(const Trace::Entry& entry) const {
  const std::uint32_t step = sim::TracePass::of(entry.event.a).step;
  const Trace::Entry* const end = trace_.entries.data() + trace_.entries.size();
  const Trace::Entry* next = &entry + 1;
  // Entries of other ranks lie between two events of one rank.
  while (next < end && next->file != entry.file) ++next;
  if (next >= end || identity(next->event) != identity(entry.event)) return "";
  const sim::TraceEvent& event = next->event;
  if (event.kind == sim::TraceKind::kernel_pass && sim::TracePass::of(event.a).step == step + 1) {
    return names_.entry(next->file, event.portal, event.detail, sim::TracePass::of(event.a).owner, event.time);
  }
  // `a` counts visited entries from 1, a pass counts its steps from 0, and the match is one entry further.
  if (event.kind == sim::TraceKind::kernel_match && event.a == step + 2) {
    return names_.entry(next->file, event.portal, event.detail, event.b, event.time);
  }
  return "";
}

// "; its no-room link leads to the next entry".
std::string EventText::link_of(const Trace::Entry& entry) const {
  const sim::TraceLink link = sim::TracePass::of(entry.event.a).link;
  if (link == sim::TraceLink::none) return "";
  std::string to = "nowhere that is known";
  if (link == sim::TraceLink::next) to = "the next entry";
  if (link == sim::TraceLink::drop) to = "the end of the walk";
  if (link == sim::TraceLink::entry) to = linked_entry(entry);
  return fmt::format("; its {} link leads to {}", link_name(static_cast<portals::Passed>(entry.event.reason)),
                     to.empty() ? "another entry" : to);
}

// Changes of a program's match lists and heaps.
std::string EventText::of_structure(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  if (event.kind == sim::TraceKind::heap_left) {
    if (event.reason == sim::kTraceHeapDestroyed) return fmt::format("is dropped with heap {}, which ends", event.a);
    return event.reason == sim::kTraceHeapReleased ? fmt::format("is released from heap {}", event.a)
                                                   : fmt::format("is taken off the queue of heap {}", event.a);
  }
  const std::string portal = names_.portal(entry.file, event.portal);
  const bool is_linked = event.kind == sim::TraceKind::entry_linked;
  if ((event.reason & sim::kTraceEntryPortal) != 0) {
    return fmt::format("{} has {} descriptor{}", portal, is_linked ? "a" : "no",
                       is_linked ? " from now on" : " any more");
  }
  const std::string name = names_.entry(entry.file, event.portal, event.detail, 0, event.time);
  const bool is_inactive = (event.reason & sim::kTraceEntryInactive) != 0;
  if (event.kind == sim::TraceKind::entry_switched) {
    return fmt::format("{} of {} is {}", name, portal, is_inactive ? "deactivated" : "activated");
  }
  if (!is_linked) return fmt::format("{} is taken out of {}", name, portal);
  std::string where = "at the end of the list";
  if (event.a != 0) where = "before " + names_.entry(entry.file, event.portal, event.a, 0, event.time);
  if ((event.reason & sim::kTraceEntryAdopted) != 0) where = "outside the list, by adopt()";
  const std::string rank = event.source == portals::kAnyRank ? "" : fmt::format(", from rank {} only", event.source);
  return fmt::format("{} is in {}, {}{}: it accepts {}{}", name, portal, where, is_inactive ? ", inactive" : "",
                     names_.wanted(entry.file, event.portal, event.match_bits, event.bytes, event.time), rank);
}

std::string EventText::of_pass(const Trace::Entry& entry, const sim::TraceEvent* arrival) const {
  return fmt::format("passes over {}: {}{}", passed_entry(entry), why_passed(entry, arrival), link_of(entry));
}

// Sentences on requests have the rank as their subject.
std::string EventText::of_request(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  switch (event.kind) {
    case sim::TraceKind::send_begin: {
      const std::string_view reason = choice_text(static_cast<sim::TraceChoice>(event.reason));
      return fmt::format("sends {} to {}: {}{}{}", message(entry), rank_phrase(event.destination), name(event.protocol),
                         reason.empty() ? "" : ", as ", reason);
    }
    case sim::TraceKind::post_receive:
      return fmt::format("accepts at most {}, {} (request {})", elements(entry),
                         names_.wanted(entry.file, 0, event.match_bits, event.detail, event.time), event.a);
    case sim::TraceKind::found: {
      const auto probe = static_cast<sim::TraceProbe>(event.reason);
      return fmt::format("{} {}{}", sim::takes_out(probe) ? "is taken by" : "is found by", name(probe),
                         sim::takes_out(probe) ? ": no other receive gets it" : ", which leaves it there");
    }
    case sim::TraceKind::search_hit:
      return event.reason != 0 ? "receives it, as a matched probe took it out for this"
                               : "finds it among the unexpected messages";
    case sim::TraceKind::search_miss:
      return "no unexpected message is the one: the receive is posted";
    case sim::TraceKind::receive_complete:
      return fmt::format("the message is in the receive's memory, {}", sim::counted(event.bytes, "byte"));
    case sim::TraceKind::request_complete:
      return is_of_receive(event, trace_.files[entry.file].rank)
                 ? fmt::format("the receive {} (request {})", end_of_request(event), event.a)
                 : "the send " + end_of_request(event);
    case sim::TraceKind::pull_begin:
      return fmt::format("asks the sender for the body, {}", sim::counted(event.bytes, "byte"));
    case sim::TraceKind::pull_complete:
      return "has the body";
    case sim::TraceKind::synchronous_answer:
      return "notifies the sender that a receive took the message";
    default:
      return "";
  }
}

// The call by number and communicator: "collective call 3 of MPI_COMM_WORLD".
std::string EventText::collective_call(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  const std::uint32_t context = split_envelope(event.match_bits).context;
  return fmt::format("{} of {}",
                     collectives_ == nullptr ? collective_call_text(context, event.a)
                                             : collectives_->call_text(entry.file, context, event.a, event.time),
                     names_.communicator_of_calls(entry.file, context, event.time));
}

// The shape is known at the beginning only.
std::string EventText::of_collective(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  const std::string call = collective_call(entry);
  if (event.kind == sim::TraceKind::collective_end) {
    return event.b == 0 ? fmt::format("{} is over", call)
                        : fmt::format("{} is over with {}", call, error_name(event.b));
  }
  const CollectiveShape shape = collective_shape(event);
  return fmt::format("begins {}: {}, {}", call, shape_text(shape), sim::counted(event.bytes, "byte"));
}

// The remaining kinds: calls, waits, the coprocessor, collectives and windows.
std::string EventText::of_rank(const Trace::Entry& entry) const {
  const sim::TraceEvent& event = entry.event;
  const TraceFile& file = trace_.files[entry.file];
  switch (event.kind) {
    case sim::TraceKind::wait_begin:
      return fmt::format("waits in {}{}", call_name(file, event.a), thread_text(event));
    case sim::TraceKind::wait_end:
      return fmt::format("continues in {}{}", call_name(file, event.a), thread_text(event));
    case sim::TraceKind::sleep:
      // 0: without a time limit.
      return event.detail == 0 ? "sleeps" : fmt::format("sleeps, at most {}", duration_text(event.detail));
    case sim::TraceKind::wake:
      return "runs again";
    case sim::TraceKind::coprocessor_begin:
      return "its message coprocessor takes over";
    case sim::TraceKind::coprocessor_end:
      return fmt::format("its message coprocessor rests, after {}", sim::counted(event.a, "message"));
    case sim::TraceKind::poll_interval_changed:
      return polling_text(event);
    case sim::TraceKind::finding:
      return fmt::format("reports the finding {}", finding_id(static_cast<sim::Finding>(event.a)));
    case sim::TraceKind::library_event:
      return library_sentence(names_.library_event(entry.file, event.match_bits, event.reason, event.time), event,
                              file.rank);
    case sim::TraceKind::peer_lost:
      return fmt::format("has lost {}", rank_phrase(event.source));
    case sim::TraceKind::mpi_enter:
      return fmt::format("calls {}{}", call(entry), thread_text(event));
    case sim::TraceKind::mpi_leave:
      if (event.reason != 0) {
        return fmt::format("{} fails by a fatal error: {}{}", call_name(file, event.a), error_name(event.b),
                           thread_text(event));
      }
      return fmt::format("{} returns{}{}", call_name(file, event.a),
                         event.b == 0 ? "" : fmt::format(" {}", error_name(event.b)), thread_text(event));
    case sim::TraceKind::shared_write:
    case sim::TraceKind::shared_read: {
      const std::string call = collective_call(entry), bytes = sim::counted(event.bytes, "byte");
      return event.kind == sim::TraceKind::shared_write
                 ? fmt::format("shows its part of {} to the node, {}", call, bytes)
                 : fmt::format("reads rank {}'s part of {}, {}", event.source, call, bytes);
    }
    case sim::TraceKind::collective_begin:
    case sim::TraceKind::collective_end:
      return of_collective(entry);
    case sim::TraceKind::window_access:
      return fmt::format("{} of {} at offset {} of {}'s {}, {}, epoch {}", name(static_cast<sim::TraceAccess>(event.a)),
                         sim::counted(event.bytes, "byte"), event.detail, rank_phrase(event.destination), window(entry),
                         access_copies(trace_, event), name(static_cast<sim::TraceEpoch>(event.b)));
    case sim::TraceKind::window_sync:
      return fmt::format("{} of {} is done{}", name(static_cast<sim::TraceSync>(event.a)), window(entry),
                         event.destination == portals::kAnyRank ? "" : " with " + rank_phrase(event.destination));
    default:
      return fmt::format("does something that this version does not know (kind {})",
                         static_cast<std::uint16_t>(event.kind));
  }
}

}  // namespace margay::command
