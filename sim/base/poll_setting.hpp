// The setting of a wire's polling, as users write it: "tcp=20,shm=1", "tcp=adaptive", "tcp=block", "tcp=off".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::sim {

// The way in which a wire is polled. Nexus calls the first one skip_poll (section 3.3 of its paper) and proposes the
// second one (section 6); the third one is its blocking thread, and the last one its selective polling (4). Values
// appear on the job board and in traces.
enum class PollMode : std::uint8_t {
  // In every n-th round of progress.
  fixed = 0,
  // At an interval that the kernel derives from the polls (sim/kernel/poll_interval).
  adaptive = 1,
  // After a thread that blocks on the wire's descriptor has woken up.
  block = 2,
  // Never, except while messages of this process wait on the wire.
  off = 3,
};
inline constexpr std::uint8_t kPollModeCount = 4;
// "fixed", "adaptive", "block", "off"; "unknown" for another number.
[[nodiscard]] std::string_view name(PollMode mode);

// The longest fixed interval, in rounds: a round takes some 10 ns at least, so this is more than a second.
inline constexpr std::uint32_t kPollIntervalMax = 100'000'000;

// One wire's setting.
struct PollSetting {
  PollMode mode = PollMode::fixed;
  // Rounds from one poll to the next, 1 to kPollIntervalMax; used by `fixed` only. 1: each round.
  std::uint32_t interval = 1;
  friend bool operator==(const PollSetting&, const PollSetting&) = default;
};
// The setting of the wire with this name ("tcp").
struct NamedPollSetting {
  std::string wire;
  PollSetting setting;
};

// Parses "20", "adaptive", "block" or "off". On failure `out` keeps its value, and the message names the valid forms.
[[nodiscard]] portals::Status parse_poll_setting(std::string_view text, PollSetting& out);
// Parses WIRE=SETTING pairs, separated by commas; an empty list is valid. If a wire occurs twice, its last setting
// counts. Does not check that the wires exist. On failure `out` keeps its value.
[[nodiscard]] portals::Status parse_poll_settings(std::string_view list, std::vector<NamedPollSetting>& out);
// The reverse of parse_poll_setting().
[[nodiscard]] std::string describe(const PollSetting& setting);

// The polls of one wire by one process, since the process joined its job.
struct PollCounts {
  // Polls, and those that found a message or a part of one.
  std::uint64_t polls = 0;
  std::uint64_t hits = 0;
  // Time of the polls that found nothing: their number times the measured cost of such a poll. 0 while no cost is
  // measured.
  std::uint64_t wasted_ns = 0;
  // Rounds from one poll to the next at present; 0: the interval is not counted in rounds (block, off).
  std::uint32_t interval = 1;
  // The present PollMode.
  std::uint32_t mode = 0;
};

}  // namespace margay::sim
