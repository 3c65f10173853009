#include "command/trace/story/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "command/trace/names/text.hpp"
#include "command/trace/story/copies.hpp"
#include "command/trace/story/fate.hpp"
#include "portals/base/verdict.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kMissing = MessageStory::kNone;

// The title. `message` formats an entry's contents and envelope; the first event that has them is used.
template <typename Message>
std::string titled(const Trace& trace, const MessageStory& story, const Message& message) {
  std::string text = fmt::format("{}>{} #{}", story.identity.source, story.identity.destination,
                                 sim::number_text(story.identity.sequence));
  for (const std::size_t step : {story.begin, story.arrived, story.matched, story.dropped}) {
    if (step != kMissing) return text + ": " + message(trace.entries[step]);
  }
  return text;
}

// Builds the text of one story; run() may be called once.
class StoryWriter {
 public:
  StoryWriter(const Trace& trace, const Messages& messages, const EventText& event_text, const MessageStory& story,
              EventTextCache& cache)
      : trace_(trace),
        messages_(messages),
        event_text_(event_text),
        story_(story),
        missed_(missed_receive(trace, messages, story)),
        cache_(cache) {}

  // The title and steps first, then sentences in the order of the message's path.
  std::string run() {
    text_ = titled(trace_, story_, [&](const Trace::Entry& entry) { return cache_.message(entry); }) + "\n";
    add_steps();
    add_bits();
    add_walk();
    for (const std::string& sentence : probe_sentences(trace_, messages_, event_text_, story_)) add(sentence);
    add_missed();
    add_account();
    for (const std::string& sentence : copy_sentences(copies_of(trace_, story_))) add(sentence);
    for (const std::string& sentence : gap_sentences(trace_, story_)) add(sentence);
    return std::move(text_);
  }

 private:
  [[nodiscard]] const Trace::Entry& at(std::size_t index) const { return trace_.entries[index]; }
  [[nodiscard]] std::uint64_t time(std::size_t index) const { return at(index).event.time; }
  [[nodiscard]] std::uint64_t between(std::size_t from, std::size_t to) const {
    return time(to) > time(from) ? time(to) - time(from) : 0;
  }

  // Adds the steps, and the calls in which the sender sent the message and the receiver took it. If the rank has
  // several threads, its calls are omitted, because they are uncertain.
  void add_steps() {
    std::vector<std::size_t> all = story_.steps;
    for (const std::size_t step : {missed_.posted, missed_.searched}) {
      if (step != kMissing) all.push_back(step);
    }
    std::vector<std::size_t> in_calls{story_.begin, story_.posted, story_.received, story_.completed, missed_.posted};
    if (!story_.found.empty()) {
      std::erase_if(all, [&](std::size_t step) { return is_probe_left_out(trace_, story_, step); });
      in_calls.insert(in_calls.end(), {story_.found.front(), story_.found.back()});
    }
    for (const std::size_t step : in_calls) {
      if (step == kMissing) continue;
      const std::size_t call = messages_.call_around(step);
      if (call == kMissing || messages_.has_threads(at(step).file)) continue;
      all.push_back(call);
      const std::size_t leave = messages_.leave_of(call);
      if (leave != kMissing) all.push_back(leave);
    }
    std::sort(all.begin(), all.end());
    // Several steps may lie in one call.
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const std::size_t step : all) {
      const sim::TraceEvent& event = at(step).event;
      // A pass over an entry is explained by the message's own bits, which only its arrival has.
      const sim::TraceEvent* const arrival =
          event.kind == sim::TraceKind::kernel_pass ? messages_.arrival(identity(event)) : nullptr;
      const std::uint64_t since = time(step) - time(all.front());
      fmt::format_to(std::back_inserter(text_), "{:>12}.{:03}  rank {:<4} {:<14} {}\n", since / 1000, since % 1000,
                     trace_.files[at(step).file].rank, hop_of(event), cache_.of(at(step), arrival));
    }
  }

  [[nodiscard]] bool is_in_finalize(std::size_t step) const {
    const std::size_t enter = messages_.call_around(step);
    return enter != kMissing && call_name(trace_.files[at(enter).file], at(enter).event.a) == "MPI_Finalize";
  }

  // `freed` covers MPI_Finalize and MPI_Comm_free; the call around the event distinguishes them.
  [[nodiscard]] std::string_view given_back_text() const {
    switch (static_cast<sim::TraceGivenBack>(at(story_.given_back).event.reason)) {
      case sim::TraceGivenBack::cancelled:
        return "its sender cancelled it";
      case sim::TraceGivenBack::never_wanted:
        return "its sender ended, and no receive had come for it";
      case sim::TraceGivenBack::freed:
        if (missed_.posted != kMissing) return "it was among the unexpected messages to the end";
        return is_in_finalize(story_.given_back) ? "its receiver ended MPI, and no receive had come for it"
                                                 : "its communicator was freed, and no receive had come for it";
    }
    return "why is not known";
  }

  [[nodiscard]] std::string_view dropped_text() const {
    const sim::TraceEvent& event = at(story_.dropped).event;
    // A ready message requires a posted receive, so the cause is the program's and not the match list's.
    const bool no_match = event.reason == static_cast<std::uint8_t>(portals::DropReason::no_match);
    const sim::TraceProtocol protocol =
        story_.begin == kMissing ? sim::TraceProtocol::none : at(story_.begin).event.protocol;
    const bool is_ready = protocol == sim::TraceProtocol::ready_short || protocol == sim::TraceProtocol::ready_long;
    return no_match && is_ready ? "it was ready, and no receive was posted for it" : reason_text(event);
  }

  // The hop of the message that a step is about; "" for steps of the receive.
  [[nodiscard]] std::string_view hop_of(const sim::TraceEvent& event) const {
    if (event.sequence == 0) return "";
    if (identity(event) == story_.identity) return "the message";
    if (event.header < portals::kKindCount) {
      switch (static_cast<portals::Kind>(event.header)) {
        case portals::Kind::put:
          return "the answer";
        case portals::Kind::get:
          return "the get";
        case portals::Kind::reply:
          return "the reply";
        case portals::Kind::acknowledgment:
          return "acknowledgment";
      }
    }
    return "";
  }

  void add(std::string_view sentence) { text_.append("- ").append(sentence).append("\n"); }

  // The fields of the match bits, from the first event that has them.
  void add_bits() {
    for (const std::size_t step : {story_.sent, story_.arrived}) {
      if (step == kMissing) continue;
      const std::string bits = event_text_.split_bits(at(step));
      if (!bits.empty()) add(fmt::format("Its match bits: {}.", bits));
      return;
    }
  }

  // Adds the number of entries that the walk passed over, if not all of them were recorded.
  void add_walk() {
    const std::size_t end = story_.matched != kMissing ? story_.matched : story_.dropped;
    if (end == kMissing) return;
    const auto shown = std::count_if(story_.steps.begin(), story_.steps.end(), [&](std::size_t step) {
      return at(step).event.kind == sim::TraceKind::kernel_pass && identity(at(step).event) == story_.identity;
    });
    const sim::TraceEvent& event = at(end).event;
    const bool is_taken = event.kind == sim::TraceKind::kernel_match;
    const std::uint32_t how = is_taken ? event.reason : event.b;
    const bool is_cut = (how & sim::kTraceWalkCut) != 0;
    // `a` counts the visited entries, of which the last one took the message.
    const std::uint32_t passed = is_taken && event.a != 0 && !is_cut ? event.a - 1 : event.a;
    const bool is_shown = passed <= shown;
    if ((how & sim::kTraceWalkByIndex) != 0) {
      add(fmt::format("The kernel's index found the entry; the walk of the paper passes over {}{} before it.",
                      is_cut ? "at least " : "", passed));
    }
    if (is_shown) return;
    add(fmt::format("Of {} {} that the walk passes over, {} listed; --trace-walks records all.",
                    is_cut ? "at least" : "the", sim::counted(passed, "entry", "entries"),
                    sim::counted(shown, "is", "are")));
  }

  // Sentences on the outcome. The account of a message that was cancelled, given back or dropped ends there: no receive
  // took it.
  void add_account() {
    const MessageIdentity& message = story_.identity;
    if (story_.taken_back) {
      add("It was cancelled before it had left.");
      return;
    }
    if (story_.given_back != kMissing) {
      add(fmt::format("It left the heap unread: {}.", given_back_text()));
      add_calls(message.source, story_.begin, story_.completed, "sent it", "began to send it");
      return;
    }
    if (story_.dropped != kMissing) {
      add(fmt::format("It was dropped: {}.", dropped_text()));
      return;
    }
    if (story_.sent != kMissing && story_.arrived == kMissing) {
      add(!messages_.is_whole_after(message.destination, story_.sent)
              ? fmt::format("Whether rank {} saw it is not known: its recording is not whole.", message.destination)
          : is_unclosed(message.destination)
              ? fmt::format("It had not arrived when rank {}'s file was read, which is not closed.",
                            message.destination)
              : fmt::format("It never arrived: rank {}'s recording ends without it.", message.destination));
    }
    for (const std::string& sentence : wait_sentences(trace_, messages_, story_)) add(sentence);
    if (story_.pulled != kMissing) {
      // A receive without room asks for none of the body.
      const bool no_room = story_.received != kMissing && at(story_.received).event.bytes == 0;
      add(fmt::format("Its body was not kept when its header came: {}.",
                      no_room ? "the receive had no room for it, so it did not travel"
                              : "it travelled when the receiver asked for it"));
      for (const std::string& sentence : pull_wait_sentences(trace_, story_)) add(sentence);
    }
    if (fate(messages_, story_) == "broken off") add("Its body did not come to its end.");
    for (const std::string& sentence : loss_sentences(trace_, messages_, story_)) add(sentence);
    add_truncation();
    if (story_.begin != kMissing && story_.received != kMissing) {
      add(fmt::format("From the send to the receive's memory it took {}.",
                      duration_text(between(story_.begin, story_.received))));
    }
    add_calls(message.source, story_.begin, story_.completed, "sent it", "began to send it");
    add_calls(message.destination, story_.posted, story_.received, "received it", "began its receive");
    const bool lies_there = story_.unexpected && story_.searched == kMissing && story_.received == kMissing;
    if (lies_there && story_.matched != kMissing && messages_.is_whole_after(message.destination, story_.matched)) {
      add("Nothing in this trace received it.");
    }
  }

  // Only a library that does not post receives atomically can cause this (lab 11).
  void add_missed() {
    if (missed_.posted == kMissing) return;
    add(fmt::format(
        "A receive that accepts it (request {}) had searched the heap {} before it came, and entered the match "
        "list after it: the posting was not atomic.",
        at(missed_.searched).event.a, duration_text(between(missed_.searched, story_.matched))));
  }

  // Compares the lengths at both ends; receive_complete has the received one.
  void add_truncation() {
    if (story_.begin == kMissing || story_.received == kMissing) return;
    const sim::TraceEvent& sent = at(story_.begin).event;
    const sim::TraceEvent& received = at(story_.received).event;
    if (received.kind != sim::TraceKind::receive_complete || received.bytes >= sent.bytes) return;
    add(fmt::format("It was longer than its receive (MPI_ERR_TRUNCATE): {} of its {} there{}.", received.bytes,
                    sim::counted(sent.bytes, "byte is", "bytes are"), truncated_call_text()));
  }

  // The result of the call in which the receive completed: any call that makes progress, not only the one that began
  // it.
  [[nodiscard]] std::string truncated_call_text() const {
    const std::size_t enter = messages_.call_around(story_.received);
    if (enter == kMissing || messages_.has_threads(at(story_.received).file)) return "";
    const std::string call = call_name(trace_.files[at(enter).file], at(enter).event.a);
    const std::size_t leave = messages_.leave_of(enter);
    if (leave == kMissing) return fmt::format(", and {} did not return", call);
    const sim::TraceEvent& left = at(leave).event;
    if (left.b == 0) return "";
    return fmt::format(", and {} {} {}", call, left.reason == 1 ? "ended the job by" : "returned", error_name(left.b));
  }

  [[nodiscard]] bool is_unclosed(std::uint32_t rank) const {
    return std::any_of(trace_.files.begin(), trace_.files.end(),
                       [&](const TraceFile& file) { return file.rank == rank && !file.closed && !file.sealed; });
  }

  // Names the call in which the rank began the send or receive, and the call in which it completed.
  void add_calls(std::uint32_t rank, std::size_t started, std::size_t ended, std::string_view did,
                 std::string_view began) {
    for (const std::size_t step : {started, ended}) {
      if (step == kMissing || !messages_.has_threads(at(step).file)) continue;
      add(fmt::format("Rank {} calls MPI in several threads: in which of their calls this was is not known.", rank));
      return;
    }
    // A failed or cancelled operation must not be reported as done in its call.
    const bool is_done = ended == kMissing || at(ended).event.kind != sim::TraceKind::request_complete ||
                         (at(ended).event.b == 0 && at(ended).event.reason != sim::kTraceCancelled);
    const bool is_one_call = is_done && started != kMissing && ended != kMissing &&
                             messages_.call_around(started) == messages_.call_around(ended);
    // A short send has no request and no completion event: it left in the call that sent it.
    const bool left_at_once = started != kMissing && ended == kMissing && story_.sent != kMissing &&
                              at(started).event.kind == sim::TraceKind::send_begin &&
                              at(started).event.a == sim::kTraceNoRequest;
    const std::string in_first = call_text(started);
    if (!in_first.empty())
      add(fmt::format("Rank {} {} in {}.", rank, is_one_call || left_at_once ? did : began, in_first));
    const std::string in_last = is_one_call ? "" : call_text(ended);
    if (!in_last.empty()) add(fmt::format("That {} while rank {} was in {}.", end_of(ended), rank, in_last));
  }

  // The end of the operation that `step` completes.
  [[nodiscard]] std::string end_of(std::size_t step) const {
    const sim::TraceEvent& event = at(step).event;
    if (event.kind != sim::TraceKind::request_complete) return "was complete";
    if (event.reason == sim::kTraceCancelled) return "was cancelled";
    return event.b == 0 ? "was complete" : "failed (" + error_name(event.b) + ")";
  }

  // "MPI_Waitall, 12.0 ms long, 11.9 ms of it waiting".
  [[nodiscard]] std::string call_text(std::size_t step) const {
    const std::size_t enter = step == kMissing ? kMissing : messages_.call_around(step);
    const std::size_t leave = enter == kMissing ? kMissing : messages_.leave_of(enter);
    if (leave == kMissing) return "";
    const std::uint64_t waited = messages_.waited_in(enter);
    return fmt::format("{}, {} long{}", call_name(trace_.files[at(enter).file], at(enter).event.a),
                       duration_text(between(enter, leave)),
                       waited == 0 ? "" : fmt::format(", {} of it waiting", duration_text(waited)));
  }

  const Trace& trace_;
  const Messages& messages_;
  const EventText& event_text_;
  const MessageStory& story_;
  const MissedReceive missed_;
  EventTextCache& cache_;
  std::string text_;
};

}  // namespace

std::string title(const Trace& trace, const EventText& event_text, const MessageStory& story) {
  return titled(trace, story, [&](const Trace::Entry& entry) { return event_text.message(entry); });
}

std::string format_story(const Trace& trace, const Messages& messages, const EventText& event_text,
                         const MessageStory& story, EventTextCache& cache) {
  return StoryWriter(trace, messages, event_text, story, cache).run();
}

std::string format_story(const Trace& trace, const Messages& messages, const EventText& event_text,
                         const MessageStory& story) {
  EventTextCache cache(event_text);
  return format_story(trace, messages, event_text, story, cache);
}

}  // namespace margay::command
