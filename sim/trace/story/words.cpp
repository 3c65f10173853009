#include "sim/trace/story/words.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "portals/verdict.hpp"
#include "sim/trace/error_names.hpp"
#include "sim/trace/story/collectives.hpp"
#include "sim/trace/text.hpp"

namespace margay::sim {

namespace {

using portals::Kind;
using portals::Saved;

std::string_view choice_words(TraceChoice choice) {
  switch (choice) {
    case TraceChoice::fits_short:
      return "it fits in the short limit";
    case TraceChoice::above_short:
      return "it is longer than the short limit";
    case TraceChoice::mode:
      return "its call asks for it";
    case TraceChoice::option:
      return "an option asks for it";
    case TraceChoice::none:
      break;
  }
  return "";
}

std::string_view saved_words(Saved saved) {
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

std::string_view link_words(TraceLink link) {
  switch (link) {
    case TraceLink::next:
      return "the next entry";
    case TraceLink::entry:
      return "another entry";
    case TraceLink::drop:
      return "the end of the walk";
  }
  return "nowhere that is known";
}

// What is kept of an acknowledgment is no question; what it says was kept would be taken for the answer.
bool tells_saved(const TraceEvent& event) {
  return event.saved != Saved::nothing && event.header != static_cast<std::uint8_t>(Kind::acknowledgment);
}

std::string rank_words(portals::Rank rank) {
  return rank == portals::kAnyRank ? "any rank" : fmt::format("rank {}", rank);
}

std::string answered(const TraceEvent& event) {
  if (event.detail == 0) return "a message";
  return fmt::format("{}>{} #{}", event.destination, event.source, event.detail);
}

std::string thread_words(const TraceEvent& event) {
  return event.detail == 0 ? "" : fmt::format(" (thread {})", event.detail);
}

}  // namespace

std::string duration_text(std::uint64_t ns) {
  const auto scaled = [](double value, std::string_view unit) {
    return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
  };
  if (ns < 1000) return fmt::format("{} ns", ns);
  const auto value = static_cast<double>(ns);
  if (ns < 1'000'000) return scaled(value / 1e3, "us");
  if (ns < 1'000'000'000) return scaled(value / 1e6, "ms");
  return scaled(value / 1e9, "s");
}

EventWords::EventWords(const Trace& trace, const TraceNames& names, CallSite call_site, const Collectives* collectives)
    : trace_(trace), names_(names), call_site_(std::move(call_site)), collectives_(collectives) {}

std::string EventWords::call(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  std::string text = call_name(trace_.files[entry.file], event.a);
  if (!call_site_) return text;
  const Definition* const module = names_.module(entry.file, event.match_bits);
  if (module == nullptr) return text;
  const std::string site = call_site_(*module, event.match_bits);
  return site.empty() ? text : fmt::format("{} ({})", text, site);
}

std::uint32_t EventWords::definer_of(const Trace::Entry& entry) const {
  if (entry.event.sequence == 0) return entry.file;
  for (std::uint32_t file = 0; file < trace_.files.size(); ++file) {
    if (trace_.files[file].rank == entry.event.source) return file;
  }
  return entry.file;
}

std::string EventWords::envelope(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  const std::uint8_t portal = event.kind == TraceKind::send_begin ? 0 : event.portal;
  const std::string call = collectives_ == nullptr ? "" : collectives_->words(identity(event));
  return fmt::format("{}{}{}", names_.bits(definer_of(entry), portal, event.match_bits, event.time),
                     call.empty() ? "" : ": ", call);
}

std::string EventWords::message(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  const std::string what = event.kind == TraceKind::send_begin
                               ? names_.elements(entry.file, event.b, event.bytes, event.time)
                               : fmt::format("{} bytes", event.bytes);
  return fmt::format("{}, {}", what, envelope(entry));
}

std::string EventWords::of(const Trace::Entry& entry, std::optional<std::uint64_t> message_bits) const {
  switch (entry.event.kind) {
    case TraceKind::kernel_send:
    case TraceKind::kernel_sent:
    case TraceKind::kernel_arrive:
    case TraceKind::kernel_match:
    case TraceKind::kernel_deposit_begin:
    case TraceKind::kernel_deposit:
    case TraceKind::kernel_ack_sent:
    case TraceKind::kernel_ack_arrived:
    case TraceKind::kernel_get_arrived:
    case TraceKind::kernel_reply_sent:
    case TraceKind::kernel_drop:
    case TraceKind::kernel_hold:
    case TraceKind::stop:
    case TraceKind::take_back:
    case TraceKind::given_back:
      return of_kernel(entry);
    case TraceKind::kernel_pass:
      return of_pass(entry, message_bits);
    case TraceKind::send_begin:
    case TraceKind::post_receive:
    case TraceKind::search_hit:
    case TraceKind::search_miss:
    case TraceKind::receive_complete:
    case TraceKind::request_complete:
    case TraceKind::pull_begin:
    case TraceKind::pull_complete:
    case TraceKind::synchronous_answer:
      return of_request(entry);
    default:
      return of_rank(entry);
  }
}

std::string EventWords::of_kernel(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  const std::string portal = names_.portal(entry.file, event.portal);
  const auto bits = [&] { return names_.bits(definer_of(entry), event.portal, event.match_bits, event.time); };
  switch (event.kind) {
    case TraceKind::kernel_send:
      if (event.header == static_cast<std::uint8_t>(Kind::get)) {
        return fmt::format("asks by a get on {} for {} bytes of {}", names_.wire(event.wire), event.bytes, portal);
      }
      return fmt::format("puts its header on {}: a put of {} bytes for {}, {}", names_.wire(event.wire), event.bytes,
                         portal, bits());
    case TraceKind::kernel_sent:
      return "the wire is done with it";
    case TraceKind::kernel_arrive:
      if (event.header == static_cast<std::uint8_t>(Kind::reply)) {
        return fmt::format("the reply arrives by {}: {} bytes for {}", names_.wire(event.wire), event.bytes, portal);
      }
      return fmt::format("its header arrives by {}: a put of {} bytes for {}, {}", names_.wire(event.wire), event.bytes,
                         portal, bits());
    case TraceKind::kernel_match:
      return fmt::format("is taken by {}{}{}",
                         names_.entry(entry.file, event.portal, event.detail, event.b, event.time),
                         event.a > 1 ? fmt::format(", the {} of the entries that were looked at",
                                                   event.a == 2   ? "second"
                                                   : event.a == 3 ? "third"
                                                                  : fmt::format("{}th", event.a))
                                     : "",
                         tells_saved(event) ? fmt::format("; {}", saved_words(event.saved)) : "");
    case TraceKind::kernel_deposit_begin:
      return fmt::format("the body begins to come, to offset {}", event.detail);
    case TraceKind::kernel_deposit:
      if (event.header == static_cast<std::uint8_t>(Kind::acknowledgment)) return "it is there";
      if (event.saved == Saved::header) return "its header is kept";
      return fmt::format("all is there: {} bytes at offset {}", event.bytes, event.detail);
    case TraceKind::kernel_ack_sent:
      return fmt::format("acknowledges {}: {}", answered(event), saved_words(event.saved));
    case TraceKind::kernel_ack_arrived:
      return fmt::format("the acknowledgment of {} arrives: {}", answered(event), saved_words(event.saved));
    case TraceKind::kernel_get_arrived:
      return fmt::format("the get arrives by {}: {} bytes of {} are wanted", names_.wire(event.wire), event.bytes,
                         portal);
    case TraceKind::kernel_reply_sent:
      return fmt::format("replies to {} with {} bytes", answered(event), event.bytes);
    case TraceKind::kernel_drop:
      return fmt::format("is dropped, {}: {} bytes for {}, {}", reason_text(event), event.bytes, portal, bits());
    case TraceKind::kernel_hold:
      return fmt::format("stays on the wire, {}, until there is room", reason_text(event));
    case TraceKind::stop:
      return "stops: the receiver wants no more of the body";
    case TraceKind::given_back:
      return "leaves the heap unread";
    case TraceKind::take_back:
      return "is cancelled before its wire had begun with it";
    default:
      return "";
  }
}

std::string EventWords::passed_entry(const Trace::Entry& entry) const {
  return names_.entry(entry.file, entry.event.portal, entry.event.detail, entry.event.a >> 16U & 0xffU,
                      entry.event.time);
}

std::string EventWords::why_passed(const Trace::Entry& entry, std::optional<std::uint64_t> message_bits) const {
  const TraceEvent& event = entry.event;
  if (static_cast<portals::Passed>(event.reason) != portals::Passed::no_match) return std::string(reason_text(event));
  const std::string which =
      message_bits ? names_.mismatch(entry.file, event.portal, event.match_bits, event.bytes, *message_bits, event.time)
                   : "it wants " + names_.wanted(entry.file, event.portal, event.match_bits, event.bytes, event.time);
  const bool is_from_another = event.b != portals::kAnyRank && event.b != event.source;
  return fmt::format("no match, {}{}", which, is_from_another ? fmt::format("; it takes rank {} only", event.b) : "");
}

std::string EventWords::of_pass(const Trace::Entry& entry, std::optional<std::uint64_t> message_bits) const {
  return fmt::format("passes over {}: {}; its link leads to {}", passed_entry(entry), why_passed(entry, message_bits),
                     link_words(static_cast<TraceLink>(entry.event.a >> 24U)));
}

std::string EventWords::of_request(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  switch (event.kind) {
    case TraceKind::send_begin: {
      const std::string_view reason = choice_words(static_cast<TraceChoice>(event.reason));
      return fmt::format("sends {} to {}: {}{}{}", message(entry), rank_words(event.destination), name(event.protocol),
                         reason.empty() ? "" : ", as ", reason);
    }
    case TraceKind::post_receive:
      return fmt::format("wants at most {}, {} (request {})",
                         names_.elements(entry.file, event.b, event.bytes, event.time),
                         names_.wanted(entry.file, 0, event.match_bits, event.detail, event.time), event.a);
    case TraceKind::search_hit:
      return "finds it among the unexpected messages";
    case TraceKind::search_miss:
      return "no unexpected message is the one: the receive is posted";
    case TraceKind::receive_complete:
      return fmt::format("the message is in the receive's memory, {} bytes", event.bytes);
    case TraceKind::request_complete:
      return fmt::format("request {} is complete", event.a);
    case TraceKind::pull_begin:
      return fmt::format("asks the sender for the body, {} bytes", event.bytes);
    case TraceKind::pull_complete:
      return "has the body";
    case TraceKind::synchronous_answer:
      return "tells the sender that a receive took the message";
    default:
      return "";
  }
}

std::string EventWords::of_collective(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  const EnvelopeBits bits = split_envelope(event.match_bits);
  const std::string call = fmt::format("{} of {}", collective_call_words(event.a),
                                       names_.communicator(entry.file, bits.context, event.time));
  if (event.kind == TraceKind::collective_end) {
    return event.b == 0 ? fmt::format("{} is over", call)
                        : fmt::format("{} is over with {}", call, error_name(event.b));
  }
  const CollectiveShape shape = collective_shape(event);
  return fmt::format("begins {}: {}, {} bytes", call, words_of(shape), event.bytes);
}

std::string EventWords::of_rank(const Trace::Entry& entry) const {
  const TraceEvent& event = entry.event;
  const TraceFile& file = trace_.files[entry.file];
  switch (event.kind) {
    case TraceKind::wait_begin:
      return fmt::format("waits in {}{}", call_name(file, event.a), thread_words(event));
    case TraceKind::wait_end:
      return fmt::format("goes on in {}{}", call_name(file, event.a), thread_words(event));
    case TraceKind::sleep:
      return event.detail == 0 ? "sleeps" : fmt::format("sleeps, at most {}", duration_text(event.detail));
    case TraceKind::wake:
      return "runs again";
    case TraceKind::coprocessor_begin:
      return "its message coprocessor takes over";
    case TraceKind::coprocessor_end:
      return fmt::format("its message coprocessor rests, after {} messages", event.a);
    case TraceKind::peer_lost:
      return fmt::format("has lost {}", rank_words(event.source));
    case TraceKind::mpi_enter:
      return fmt::format("calls {}{}", call(entry), thread_words(event));
    case TraceKind::mpi_leave:
      if (event.reason != 0) {
        return fmt::format("{} fails by a fatal error: {}{}", call_name(file, event.a), error_name(event.b),
                           thread_words(event));
      }
      return fmt::format("{} returns{}{}", call_name(file, event.a),
                         event.b == 0 ? "" : fmt::format(" {}", error_name(event.b)), thread_words(event));
    case TraceKind::shared_write:
    case TraceKind::shared_read: {
      const EnvelopeBits bits = split_envelope(event.match_bits);
      const std::string call = fmt::format("{} of {}", collective_call_words(event.a),
                                           names_.communicator(entry.file, bits.context, event.time));
      return event.kind == TraceKind::shared_write
                 ? fmt::format("shows its part of {} to the node, {} bytes", call, event.bytes)
                 : fmt::format("reads rank {}'s part of {}, {} bytes", event.source, call, event.bytes);
    }
    case TraceKind::collective_begin:
    case TraceKind::collective_end:
      return of_collective(entry);
    case TraceKind::window_access:
      return fmt::format("{} of {} bytes at offset {} of {}'s window {}, {}, epoch {}",
                         name(static_cast<TraceAccess>(event.a)), event.bytes, event.detail,
                         rank_words(event.destination), event.match_bits >> 32U,
                         name(static_cast<TraceWay>(event.reason)), name(static_cast<TraceEpoch>(event.b)));
    case TraceKind::window_sync:
      return fmt::format("{} of window {} is done{}", name(static_cast<TraceSync>(event.a)), event.match_bits >> 32U,
                         event.destination == portals::kAnyRank ? "" : " with " + rank_words(event.destination));
    default:
      return fmt::format("does something that this version does not know (kind {})",
                         static_cast<std::uint16_t>(event.kind));
  }
}

}  // namespace margay::sim
