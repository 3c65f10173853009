#include "sim/base/poll_setting.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace margay::sim {

using portals::Status;

namespace {

constexpr std::array<std::string_view, kPollModeCount> kPollModeNames = {"fixed", "adaptive", "block", "off"};

constexpr std::string_view kPollForms = "a number of rounds, adaptive, block or off";

}  // namespace

std::string_view name(PollMode mode) {
  const auto index = static_cast<std::size_t>(mode);
  return index < kPollModeNames.size() ? kPollModeNames[index] : "unknown";
}

Status parse_poll_setting(std::string_view text, PollSetting& out) {
  // The interval follows "fixed" by its number alone.
  for (const PollMode mode : {PollMode::adaptive, PollMode::block, PollMode::off}) {
    if (text != name(mode)) continue;
    out = {mode, 1};
    return {};
  }
  std::uint32_t interval = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), interval);
  const std::string quoted = "\"" + std::string(text) + "\"";
  const bool is_number = !text.empty() && end == text.data() + text.size();
  if (!is_number || (error != std::errc() && error != std::errc::result_out_of_range)) {
    return Status::error("invalid poll interval " + quoted + "; use " + std::string(kPollForms));
  }
  if (error == std::errc() && interval == 0) {
    return Status::error(
        "invalid poll interval 0: an interval counts rounds from one poll to the next, so 1 polls in every round; use "
        "off to stop polling");
  }
  if (error != std::errc() || interval > kPollIntervalMax) {
    return Status::error("invalid poll interval " + quoted + ": the longest is " + std::to_string(kPollIntervalMax) +
                         " rounds");
  }
  out = {PollMode::fixed, interval};
  return {};
}

Status parse_poll_settings(std::string_view list, std::vector<NamedPollSetting>& out) {
  std::vector<NamedPollSetting> settings;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view pair = list.substr(begin, end - begin);
    begin = end + 1;
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Status::error("\"" + std::string(pair) + "\" is not of the form WIRE=INTERVAL; the interval is " +
                           std::string(kPollForms));
    }
    NamedPollSetting named{std::string(pair.substr(0, equals)), {}};
    if (Status status = parse_poll_setting(pair.substr(equals + 1), named.setting); !status.ok()) {
      return Status::error(named.wire + ": " + status.sentence());
    }
    // The last setting of a wire counts, as in other lists of options.
    std::erase_if(settings, [&](const NamedPollSetting& earlier) { return earlier.wire == named.wire; });
    settings.push_back(std::move(named));
  }
  out = std::move(settings);
  return {};
}

std::string describe(const PollSetting& setting) {
  return setting.mode == PollMode::fixed ? std::to_string(setting.interval) : std::string(name(setting.mode));
}

}  // namespace margay::sim
