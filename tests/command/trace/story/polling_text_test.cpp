// Tests of the sentences about the polling of a wire.
#include "command/trace/story/polling_text.hpp"

#include <doctest/doctest.h>

#include "sim/base/poll_setting.hpp"
#include "sim/wire/wire.hpp"

namespace margay::command {
namespace {

sim::TraceEvent event_of(sim::PollMode mode, std::uint32_t rounds) {
  sim::TraceEvent event;
  event.kind = sim::TraceKind::poll_interval_changed;
  event.wire = static_cast<std::uint8_t>(sim::WireId::tcp);
  event.reason = static_cast<std::uint8_t>(mode);
  event.a = rounds;
  event.detail = 300;
  event.bytes = 41;
  return event;
}

TEST_CASE("polling text: each mode has a sentence of its own, with the wire and the interval") {
  const std::string fixed = polling_text(event_of(sim::PollMode::fixed, 20));
  CHECK(fixed.find("tcp") != std::string::npos);
  CHECK(fixed.find("20") != std::string::npos);
  CHECK(polling_text(event_of(sim::PollMode::fixed, 1)).find("each round") != std::string::npos);
  const std::string adaptive = polling_text(event_of(sim::PollMode::adaptive, 64));
  CHECK(adaptive.find("64") != std::string::npos);
  CHECK(adaptive.find("41") != std::string::npos);
  const std::string block = polling_text(event_of(sim::PollMode::block, 0));
  const std::string off = polling_text(event_of(sim::PollMode::off, 0));
  CHECK(block != off);
  CHECK(off.find("tcp") != std::string::npos);
}

}  // namespace
}  // namespace margay::command
