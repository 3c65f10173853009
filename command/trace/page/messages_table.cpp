#include "command/trace/page/messages_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "command/trace/page/collectives_table.hpp"
#include "command/trace/story/fate.hpp"

namespace margay::command {

namespace {

// The tag in a library's message; -1: it has none that is a tag of MPI, too.
std::int32_t tag_in(const NamedMessage& message) {
  const std::string_view text = message.field("tag");
  std::int32_t tag = -1;
  static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), tag));
  return std::max(tag, -1);
}

// The context in a library's message: "context_id 3"; empty: it has none.
std::string context_in(const NamedMessage& message) {
  const std::string_view context = message.field("context_id");
  return context.empty() ? std::string() : "context_id " + std::string(context);
}

// Builds the table of messages row by row.
class MessageRows {
 public:
  MessageRows(const PageInput& input, const PageCalls& calls, PageStrings& strings)
      : input_(input), calls_(calls), collective_rows_(collective_rows(input)), strings_(strings) {}

  // Every column gets exactly one value for each message.
  void add(const MessageStory& story) {
    const Trace::Entry& described = about(input_.trace, story);
    add_times(story);
    add_words(story, described);
    add_waits(story);
    send_call_.push_back(calls_.row_around(input_, story.begin));
    // The call that waited for the message; if there is none, the call that posted its receive.
    const std::int32_t call = calls_.row_around(input_, story.received);
    const bool waited_for = call != kNoRow && (story.posted == kNoEntry ||
                                               may_wait_for(input_.messages.call_around(story.received), story.posted));
    receive_call_.push_back(waited_for ? call : calls_.row_around(input_, story.posted));
    const CollectiveStep* const step = input_.collectives.step_of(story.identity);
    collective_.push_back(step == nullptr ? kNoRow : collective_rows_[step->part]);
    step_.push_back(step == nullptr ? 0 : step->step);
    phase_.push_back(step == nullptr ? 0
                                     : static_cast<std::uint8_t>(split_envelope(described.event.match_bits).type & 1U));
  }

  void write(PageData& data) const {
    data.table("messages", source_.size())
        .column("source", source_)
        .column("destination", destination_)
        .column("sequence", sequence_)
        .column("way", way_)
        .column("first", first_)
        .column("last", last_)
        .column("sent", sent_)
        .column("arrived", arrived_)
        .column("posted", posted_)
        .column("taken", taken_)
        .column("received", received_)
        .column("completed", completed_)
        .column("held_until", held_)
        .column("probed", probed_)
        .column("bytes", bytes_)
        .column("tag", tag_)
        .column("what", what_)
        .column("communicator", communicator_)
        .column("protocol", protocol_)
        .column("how", how_)
        .column("wire", wire_)
        .column("portal", portal_)
        .column("portal_name", portal_name_)
        .column("internal", internal_)
        .column("walked", walked_)
        .column("taker", taker_)
        .column("send_call", send_call_)
        .column("receive_call", receive_call_)
        .column("sender_waited", sender_waited_)
        .column("receiver_waited", receiver_waited_)
        .column("collective", collective_)
        .column("step", step_)
        .column("phase", phase_)
        .done();
  }

 private:
  void add_times(const MessageStory& story) {
    source_.push_back(story.identity.source);
    destination_.push_back(story.identity.destination);
    sequence_.push_back(static_cast<std::uint32_t>(sim::position_of(story.identity.sequence)));
    way_.push_back(strings_.number(std::string(sim::name_of_way(sim::way_of(story.identity.sequence)))));
    // The message's own first event, not its receive's: it determines the table's order.
    const auto own = std::find_if(story.steps.begin(), story.steps.end(),
                                  [&](std::size_t at) { return identity(input_.entry(at).event) == story.identity; });
    first_.push_back(input_.time(own == story.steps.end() ? story.steps.front() : *own));
    last_.push_back(input_.time(last_step(input_.trace, story)));
    sent_.push_back(input_.time(story.sent));
    arrived_.push_back(input_.time(story.arrived));
    posted_.push_back(input_.time(story.posted));
    taken_.push_back(input_.time(story.searched));
    received_.push_back(input_.time(received_step(input_.trace, story)));
    completed_.push_back(input_.time(story.completed));
    held_.push_back(held_until(story));
  }

  // The time at which an entry took a message that was held on its wire; infinite if none did. NaN: it was not held.
  [[nodiscard]] double held_until(const MessageStory& story) const {
    const bool was_held = std::any_of(story.steps.begin(), story.steps.end(), [&](std::size_t at) {
      const sim::TraceEvent& event = input_.entry(at).event;
      return event.kind == sim::TraceKind::kernel_hold && identity(event) == story.identity;
    });
    if (!was_held) return kNoTime;
    return story.matched == kNoEntry ? std::numeric_limits<double>::infinity() : input_.time(story.matched);
  }

  // Length and datatype come from the send_begin if there is one, because it has the program's own values.
  void add_words(const MessageStory& story, const Trace::Entry& described) {
    const sim::TraceEvent& event = described.event;
    const bool is_begin = story.begin != kNoEntry && input_.entry(story.begin).event.kind == sim::TraceKind::send_begin;
    const sim::TraceEvent& chosen = is_begin ? input_.entry(story.begin).event : event;
    bytes_.push_back(static_cast<double>(chosen.bytes));
    const std::uint8_t portal = event.portal;
    const bool is_envelope = is_begin || input_.names.is_envelope(described.file, portal);
    const bool is_data = input_.names.is_collective_data(described.file, portal);
    const auto tag = input_.names.program_tag(described.file, event.match_bits, event.time);
    const bool is_answer = !is_begin && input_.names.is_answer(described.file, portal, event.match_bits);
    const NamedMessage named =
        is_envelope ? NamedMessage() : input_.names.library_message(described.file, portal, event.match_bits);
    tag_.push_back(is_envelope && !is_answer && tag ? static_cast<std::int32_t>(*tag) : tag_in(named));
    const Trace::Entry& best = is_begin ? input_.entry(story.begin) : described;
    what_.push_back(strings_.number(input_.event_text.message(best)));
    const bool has_communicator = (is_envelope && !is_answer) || is_data;
    communicator_.push_back(
        strings_.number(has_communicator ? input_.event_text.communicator(best) : context_in(named)));
    protocol_.push_back(chosen.protocol == sim::TraceProtocol::none ? 0 : strings_.number(name(chosen.protocol)));
    how_.push_back(strings_.number(fate(input_.messages, story)));
    const std::size_t on_wire = story.sent != kNoEntry ? story.sent : story.arrived;
    wire_.push_back(
        strings_.number(on_wire == kNoEntry ? std::string() : input_.names.wire(input_.entry(on_wire).event.wire)));
    portal_.push_back(portal);
    portal_name_.push_back(portal == portals::kNoPortal ? 0
                                                        : strings_.number(input_.names.portal(described.file, portal)));
    const bool is_internal = portal != portals::kNoPortal && input_.names.is_internal(described.file, portal);
    internal_.push_back(is_answer || (is_internal && !is_data) ? 1 : 0);
    walked_.push_back(story.matched == kNoEntry ? 0 : input_.entry(story.matched).event.a);
    taker_.push_back(strings_.number(taker(story)));
  }

  // The name of the entry that took the message.
  [[nodiscard]] std::string taker(const MessageStory& story) const {
    if (story.matched == kNoEntry) return "";
    const auto& [event, file] = input_.entry(story.matched);
    return input_.names.entry(file, event.portal, event.detail, event.b, event.time);
  }

  // Attributes waiting time. Late receiver: the sender waited while no receive was posted. Late sender: the receiver
  // waited before the message was sent. Waiting time counts only in the call in which the request completed. If several
  // messages completed in this call, it counts for the last one, because that ended the wait. With several threads the
  // wait cannot be attributed.
  void add_waits(const MessageStory& story) {
    sender_waited_.push_back(0);
    receiver_waited_.push_back(0);
    probed_.push_back(kNoTime);
    for (const std::size_t step : story.found) add_probe_wait(step, input_.time(story.begin));
    if (story.posted == kNoEntry || story.begin == kNoEntry) return;
    const double sent = input_.time(story.begin), posted = input_.time(story.posted);
    add_wait({story.begin, story.completed, sent, posted}, senders_, sender_waited_);
    add_wait({story.posted, story.received, posted, sent}, receivers_, receiver_waited_);
  }

  // A blocking probe waits for the message that it finds, and for no other.
  void add_probe_wait(std::size_t step, double sent) {
    const auto& [event, file] = input_.entry(step);
    if (!blocks(static_cast<sim::TraceProbe>(event.reason))) return;
    if (std::isnan(probed_.back())) probed_.back() = input_.time(step);
    const std::size_t call = input_.messages.call_around(step);
    if (call == kNoEntry || input_.messages.has_threads(file)) return;
    const double cost = calls_.waited(file, input_.time(call), std::min(sent, input_.time(step)));
    if (cost > 0) record_wait(call, input_.time(step), cost, receivers_, receiver_waited_);
  }

  struct Waited {
    // Entries: the request's beginning and its end.
    std::size_t started, ended;
    // The time in which the other side was awaited.
    double from, to;
  };
  struct Last {
    double ended = 0;
    std::size_t row = 0;
  };
  // Counts only the part of the wait that is inside the call and before the beginning on the other side.
  void add_wait(const Waited& waited, std::unordered_map<std::size_t, Last>& last, std::vector<double>& column) {
    if (waited.ended == kNoEntry || waited.to <= waited.from) return;
    const std::uint32_t file = input_.entry(waited.ended).file;
    const std::size_t call = input_.messages.call_around(waited.ended);
    if (call == kNoEntry || input_.messages.has_threads(file) || !may_wait_for(call, waited.started)) return;
    const double from = std::max(waited.from, input_.time(call));
    const double ended = input_.time(waited.ended);
    record_wait(call, ended, calls_.waited(file, from, std::min(waited.to, ended)), last, column);
  }
  // Adds the wait to the row under construction, unless a later message of the same call has it. An earlier message of
  // the same call loses it.
  static void record_wait(std::size_t call, double ended, double cost, std::unordered_map<std::size_t, Last>& last,
                          std::vector<double>& column) {
    const auto [found, is_first] = last.try_emplace(call, Last{ended, column.size() - 1});
    if (!is_first) {
      if (found->second.ended > ended) return;
      column[found->second.row] = 0;
      found->second = {ended, column.size() - 1};
    }
    column.back() = cost;
  }
  // Whether the call can have waited for the request: it began the request itself, or it is one that waits for
  // requests.
  [[nodiscard]] bool may_wait_for(std::size_t call, std::size_t started) const {
    if (input_.messages.call_around(started) == call) return true;
    const Trace::Entry& enter = input_.entry(call);
    return call_name(input_.trace.files[enter.file], enter.event.a).starts_with("MPI_Wait");
  }

  const PageInput& input_;
  const PageCalls& calls_;
  // By part.
  const std::vector<std::int32_t> collective_rows_;
  // By call: the last message that completed in it.
  std::unordered_map<std::size_t, Last> senders_, receivers_;
  PageStrings& strings_;
  std::vector<std::uint32_t> source_, destination_, sequence_, way_, what_, communicator_, protocol_, how_, wire_,
      portal_name_, walked_, taker_, step_;
  // phase_: 0 or 1, the phase of a collective call to which the message belongs; 0 for other messages.
  std::vector<std::uint8_t> portal_, internal_, phase_;
  std::vector<std::int32_t> tag_, send_call_, receive_call_, collective_;
  std::vector<double> first_, last_, sent_, arrived_, posted_, taken_, received_, completed_, held_, probed_, bytes_,
      sender_waited_, receiver_waited_;
};

// Builds the table of hops: acknowledgments, gets, replies and answers, each with the row of its message.
class HopRows {
 public:
  HopRows(const PageInput& input, PageStrings& strings) : input_(input), strings_(strings) {}

  void add(std::int32_t row, const MessageStory& story) {
    struct Hop {
      MessageIdentity identity;
      std::string_view kind;
      std::size_t sent = kNoEntry, arrived = kNoEntry;
    };
    std::vector<Hop> hops;
    for (const std::size_t at : story.steps) {
      const sim::TraceEvent& event = input_.entry(at).event;
      if (event.sequence == 0 || identity(event) == story.identity) continue;
      auto hop =
          std::find_if(hops.begin(), hops.end(), [&](const Hop& one) { return one.identity == identity(event); });
      if (hop == hops.end()) hop = hops.insert(hop, {identity(event), kind_of(event)});
      std::size_t* const end = end_of(event.kind, hop->sent, hop->arrived);
      if (end != nullptr && *end == kNoEntry) *end = at;
      // Not every event of a hop has its header, so a later event may be the first with the hop's kind.
      if (hop->kind.empty()) hop->kind = kind_of(event);
    }
    for (const Hop& hop : hops) {
      message_.push_back(row);
      source_.push_back(hop.identity.source);
      destination_.push_back(hop.identity.destination);
      kind_.push_back(strings_.number(hop.kind));
      sent_.push_back(input_.time(hop.sent));
      arrived_.push_back(input_.time(hop.arrived));
    }
  }

  void write(PageData& data) const {
    data.table("hops", message_.size())
        .column("message", message_)
        .column("source", source_)
        .column("destination", destination_)
        .column("kind", kind_)
        .column("sent", sent_)
        .column("arrived", arrived_)
        .done();
  }

 private:
  static std::string_view kind_of(const sim::TraceEvent& event) {
    // Indexed by portals::Kind. A put that is a hop, and not the message itself, is an answer of the library.
    constexpr std::string_view kKinds[] = {"answer", "get", "reply", "acknowledgment"};
    return event.header < std::size(kKinds) ? kKinds[event.header] : "";
  }
  static std::size_t* end_of(sim::TraceKind kind, std::size_t& sent, std::size_t& arrived) {
    switch (kind) {
      case sim::TraceKind::kernel_send:
      case sim::TraceKind::kernel_ack_sent:
      case sim::TraceKind::kernel_reply_sent:
        return &sent;
      case sim::TraceKind::kernel_arrive:
      case sim::TraceKind::kernel_ack_arrived:
      case sim::TraceKind::kernel_get_arrived:
        return &arrived;
      default:
        return nullptr;
    }
  }

  const PageInput& input_;
  PageStrings& strings_;
  std::vector<std::int32_t> message_;
  std::vector<std::uint32_t> source_, destination_, kind_;
  std::vector<double> sent_, arrived_;
};

void add_passes(const PageInput& input, const PageMessages& messages, PageData& data) {
  std::vector<std::int32_t> message;
  std::vector<double> time;
  std::vector<std::uint32_t> step, entry_text, reason;
  std::vector<std::uint8_t> link;
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const Trace::Entry& entry = input.entry(i);
    if (entry.event.kind != sim::TraceKind::kernel_pass) continue;
    // Walks of hops appear in the story only.
    const auto found = messages.row_of.find(identity(entry.event));
    if (found == messages.row_of.end()) continue;
    message.push_back(found->second);
    time.push_back(input.time(i));
    step.push_back(entry.event.a & 0xffffU);
    link.push_back(static_cast<std::uint8_t>(sim::TracePass::of(entry.event.a).link));
    const sim::TraceEvent* const arrival = input.messages.arrival(identity(entry.event));
    entry_text.push_back(data.strings().number(input.event_text.passed_entry(entry)));
    reason.push_back(data.strings().number(input.event_text.why_passed(entry, arrival)));
  }
  data.table("passes", message.size())
      .column("message", message)
      .column("time", time)
      .column("step", step)
      .column("entry", entry_text)
      .column("reason", reason)
      .column("link", link)
      .done();
}

}  // namespace

// Roots are ordered by their first events, and so are the rows.
PageMessages add_messages(const PageInput& input, const PageCalls& calls, PageData& data) {
  PageMessages messages;
  MessageRows rows(input, calls, data.strings());
  HopRows hops(input, data.strings());
  for (const MessageIdentity& root : input.messages.roots()) {
    MessageStory story = input.messages.story(root);
    if (story.steps.empty()) continue;
    const auto row = static_cast<std::int32_t>(messages.stories.size());
    rows.add(story);
    hops.add(row, story);
    messages.row_of[root] = row;
    for (const std::size_t at : story.steps) {
      // The table of entries finds messages by the search that failed: from then on the receive was in the match list.
      if (input.entry(at).event.kind == sim::TraceKind::search_miss) messages.row_of_search[at] = row;
    }
    messages.stories.push_back(std::move(story));
  }
  rows.write(data);
  hops.write(data);
  add_passes(input, messages, data);
  return messages;
}

}  // namespace margay::command
