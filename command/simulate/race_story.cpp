#include "command/simulate/race_story.hpp"

#include "command/trace/common.hpp"
#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/format.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

using portals::Status;

Status story_of(const std::string& folder, const Decision& decision, const CallSite& call_site, std::string& out) {
  if (decision.sequence == 0) return Status::error("the receive never got its message");
  Trace trace;
  if (Status status = read_trace(folder, trace); !status.ok()) return status;
  const TraceNames names(trace, wire_text);
  const Messages messages(trace);
  const Collectives collectives(trace, names);
  const EventText event_text(trace, names, call_site, &collectives);
  const MessageStory story = messages.story({decision.from, decision.choice.rank, decision.sequence});
  if (story.steps.empty()) return Status::error("its trace does not have the message");
  out = format_story(trace, messages, event_text, story);
  return {};
}

}  // namespace margay::command
