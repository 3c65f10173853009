#include "command/trace/story/fate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace margay::command {

namespace {

// Reports the missing steps of one message, following the protocol's order.
class Missing {
 public:
  Missing(const Trace& trace, const MessageStory& story, std::vector<std::string>& sentences)
      : trace_(trace), story_(story), sentences_(sentences) {}

  void look() {
    need(story_.begin != MessageStory::kNone && kind(story_.begin) == sim::TraceKind::send_begin,
         "the choice of its protocol");
    need(story_.sent != MessageStory::kNone, "its header's departure");
    // An empty message travelled under its number, and no receive takes that.
    if (has(sim::TraceKind::take_back)) return;
    need(story_.arrived != MessageStory::kNone, "its header's arrival");
    if (story_.dropped != MessageStory::kNone) return;
    need(story_.matched != MessageStory::kNone, "which entry took it");
    // Without a complete receive the steps below need not exist.
    if (story_.received == MessageStory::kNone) return;
    // Exactly the unexpected messages are found by a search.
    need(story_.unexpected == (story_.searched != MessageStory::kNone), "that the heap's search found it");
    need(story_.posted != MessageStory::kNone, "its receive's beginning");
    if (story_.pulled != MessageStory::kNone) {
      need(has(sim::TraceKind::kernel_get_arrived), "that the sender was asked for its body");
      need(has(sim::TraceKind::kernel_reply_sent), "the body's reply");
      need(has(sim::TraceKind::pull_complete), "the end of its pull");
    }
    const sim::TraceProtocol protocol =
        trace_.entries[story_.begin == MessageStory::kNone ? 0 : story_.begin].event.protocol;
    if (protocol == sim::TraceProtocol::synchronous_short || protocol == sim::TraceProtocol::synchronous_long) {
      need(has(sim::TraceKind::synchronous_answer), "the answer that a receive took it");
      // In a message from a rank to itself the two completions cannot be distinguished (is_of_receive()).
      need(story_.completed != MessageStory::kNone || story_.identity.source == story_.identity.destination,
           "that the sender heard the answer");
    }
  }

 private:
  [[nodiscard]] sim::TraceKind kind(std::size_t at) const { return trace_.entries[at].event.kind; }
  [[nodiscard]] bool has(sim::TraceKind wanted) const {
    return std::any_of(story_.steps.begin(), story_.steps.end(),
                       [&](std::size_t step) { return kind(step) == wanted; });
  }
  void need(bool is_there, std::string_view what) {
    if (is_there) return;
    sentences_.push_back(fmt::format("{}>{} #{}: its story has not {}", story_.identity.source,
                                     story_.identity.destination, sim::number_text(story_.identity.sequence), what));
  }

  const Trace& trace_;
  const MessageStory& story_;
  std::vector<std::string>& sentences_;
};

}  // namespace

std::vector<std::string> missing_steps(const Trace& trace, const TraceNames& names, const Messages& messages) {
  // A rank that was killed may have left between two events of one step.
  const auto is_whole = [&](std::uint32_t rank) {
    return messages.is_whole(rank) && std::any_of(trace.files.begin(), trace.files.end(), [&](const TraceFile& file) {
             return file.rank == rank && file.closed && !sim::was_killed(file.end);
           });
  };
  std::vector<std::string> sentences;
  for (const MessageIdentity& root : messages.roots()) {
    if (!is_whole(root.source) || !is_whole(root.destination)) continue;
    const MessageStory story = messages.story(root);
    const std::size_t about = story.sent != MessageStory::kNone ? story.sent : story.arrived;
    if (about == MessageStory::kNone) continue;
    const auto& [event, file] = trace.entries[about];
    // Answers are hops whose message may be absent; they are not MPI messages of their own.
    if (names.is_answer(file, event.portal, event.match_bits)) continue;
    if (!names.is_envelope(file, event.portal) || event.header != static_cast<std::uint8_t>(portals::Kind::put))
      continue;
    Missing(trace, story, sentences).look();
  }
  return sentences;
}

}  // namespace margay::command
