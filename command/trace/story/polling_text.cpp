#include "command/trace/story/polling_text.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sim/base/poll_setting.hpp"
#include "sim/base/text.hpp"
#include "sim/wire/wire.hpp"

namespace margay::command {

std::string polling_text(const sim::TraceEvent& event) {
  const std::string_view wire = name(static_cast<sim::WireId>(event.wire));
  const auto mode = static_cast<sim::PollMode>(event.reason);
  if (mode == sim::PollMode::off) return fmt::format("stops polling the wire {}", wire);
  if (mode == sim::PollMode::block)
    return fmt::format("polls the wire {} after its blocking thread has woken up", wire);
  const std::string each = event.a == 1 ? "each round" : fmt::format("one round in {}", event.a);
  if (mode == sim::PollMode::fixed) return fmt::format("polls the wire {} in {}", wire, each);
  return fmt::format("polls the wire {} in {}: a poll takes {}, and other wires delivered {} since its last message",
                     wire, each, fmt::format("{} ns", event.detail), sim::counted(event.bytes, "message"));
}

}  // namespace margay::command
