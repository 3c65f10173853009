#include "command/trace/story/fate.hpp"

#include <fmt/format.h>

#include <utility>

#include "command/trace/names/names.hpp"
#include "command/trace/story/event_text.hpp"

namespace margay::command {

namespace {

// Sentences on the waits of one message, in the order of its path.
class Waits {
 public:
  Waits(const Trace& trace, const Messages& messages, const MessageStory& story)
      : trace_(trace), messages_(messages), story_(story) {}

  // Order of the message and its receive, then the wire, then the hold.
  std::vector<std::string> run() {
    add_order();
    add_method();
    add_hold();
    return std::move(sentences_);
  }

 private:
  static constexpr std::size_t kMissing = MessageStory::kNone;

  [[nodiscard]] std::uint64_t time(std::size_t step) const { return trace_.entries[step].event.time; }
  [[nodiscard]] std::string between(std::size_t from, std::size_t to) const {
    // Clocks of two hosts may disagree by more than the wait.
    return duration_text(time(to) > time(from) ? time(to) - time(from) : 0);
  }

  // The order of the message and its receive. A held message counts from the end of its hold, because only then could a
  // receive take it.
  void add_order() {
    if (story_.arrived == kMissing || story_.posted == kMissing) return;
    const std::size_t taken = story_.held == kMissing ? story_.arrived : Messages::hold_end(story_);
    if (taken == kMissing) return;
    if (time(story_.posted) > time(taken)) {
      add("The message lay there for {} before its receive was posted.", between(taken, story_.posted));
    } else if (time(story_.posted) > time(story_.arrived)) {
      add("Its receive was posted {} after it had arrived, while its wire held it.",
          between(story_.arrived, story_.posted));
    } else if (story_.sent != kMissing && time(story_.sent) < time(story_.posted)) {
      // The receiver had not polled yet: the message was early, but did not enter the heap.
      add("The message was sent {} before its receive was posted, and seen after that.",
          between(story_.sent, story_.posted));
    } else {
      add("The receive was posted {} before the message arrived.", between(story_.posted, story_.arrived));
    }
  }

  // The header's time on the wire, and what blocked it there.
  void add_method() {
    const Messages::Blocked behind = messages_.blocked(story_);
    const std::string what = fmt::format("{}>{} #{}, which was held for lack of room", behind.by.source,
                                         behind.by.destination, sim::number_text(behind.by.sequence));
    if (story_.sent != kMissing && story_.arrived != kMissing) {
      add("The header was on its way for {} until rank {} saw it{}.", between(story_.sent, story_.arrived),
          story_.identity.destination,
          behind.ns == 0 ? "" : fmt::format(", {} of it behind {}", duration_text(behind.ns), what));
    } else if (behind.ns != 0) {
      add("It was behind {}, for {}.", what, duration_text(behind.ns));
    }
  }

  // The reason why the receiver held it.
  void add_hold() {
    const std::uint32_t receiver = story_.identity.destination;
    if (story_.held == kMissing) return;
    const std::size_t end = Messages::hold_end(story_);
    if (end == kMissing) {
      add("It was held on its wire to the end: rank {} had no room for it.", receiver);
      return;
    }
    const bool by_receive = story_.matched != kMissing && story_.posted != kMissing &&
                            trace_.entries[story_.matched].event.b == mpi_adi::kOwnerReceive;
    add("It was held on its wire for {}, until {}.", between(story_.held, end),
        by_receive ? "its receive was posted" : fmt::format("rank {} had room for it", receiver));
  }

  template <typename... Words>
  void add(fmt::format_string<Words...> sentence, Words&&... words) {
    sentences_.push_back(fmt::format(sentence, std::forward<Words>(words)...));
  }

  const Trace& trace_;
  const Messages& messages_;
  const MessageStory& story_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> wait_sentences(const Trace& trace, const Messages& messages, const MessageStory& story) {
  return Waits(trace, messages, story).run();
}

std::vector<std::string> pull_wait_sentences(const Trace& trace, const MessageStory& story) {
  constexpr std::size_t kNowhere = MessageStory::kNone;
  std::size_t asked = kNowhere, seen = kNowhere;
  // The get is a hop of the story; the last one counts.
  for (const std::size_t step : story.steps) {
    const sim::TraceEvent& event = trace.entries[step].event;
    const bool is_get = event.header == static_cast<std::uint8_t>(portals::Kind::get);
    if (is_get && event.kind == sim::TraceKind::kernel_send) asked = step;
    if (event.kind == sim::TraceKind::kernel_get_arrived) seen = step;
  }
  if (story.pulled == kNowhere || asked == kNowhere || seen == kNowhere) return {};
  const auto between = [&](std::size_t from, std::size_t to) {
    const std::uint64_t begin = trace.entries[from].event.time, end = trace.entries[to].event.time;
    return duration_text(end > begin ? end - begin : 0);
  };
  std::vector<std::string> sentences{fmt::format("The receive waited {} until rank {} saw that its body was asked for.",
                                                 between(asked, seen), story.identity.source)};
  if (story.pull_ended != kNowhere) {
    sentences.push_back(fmt::format("From there the body took {} to its end.", between(seen, story.pull_ended)));
  }
  return sentences;
}

}  // namespace margay::command
