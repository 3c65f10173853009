#include "virtual_machine/model/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace margay::virtual_machine {

using portals::Status;

Status parse_wildcards(const Settings& settings, GivenSources& out) {
  const std::string& text = settings.wildcards;
  if (text.empty()) return {};
  if (settings.ranks > kWildcardRanksMax) {
    return Status::error("option --wildcards: at most " + std::to_string(kWildcardRanksMax) + " ranks, not " +
                         std::to_string(settings.ranks));
  }
  if (text == kLowestSources) return {};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string choice = text.substr(at, end - at);
    std::uint32_t rank = 0, number = 0;
    int source = 0, length = 0;
    const int fields = std::sscanf(choice.c_str(), "%u:%u=%d%n", &rank, &number, &source, &length);
    if (fields != 3 || static_cast<std::size_t>(length) != choice.size() || rank >= settings.ranks) {
      return Status::error("option --wildcards: invalid choice " + choice +
                           "; use lowest, or RANK:NUMBER=SOURCE with a rank of the run, separated by commas");
    }
    out[{rank, number}] = source;
    at = end + 1;
  }
  return {};
}

std::string format_settings(const Settings& settings) {
  nlohmann::json changes = nlohmann::json::array();
  for (const Change& change : settings.changes) changes.push_back({change.name, change.value});
  return nlohmann::json{{"ranks", settings.ranks},         {"machine", settings.machine},
                        {"seed", settings.seed},           {"compute", static_cast<int>(settings.compute)},
                        {"cpu_scale", settings.cpu_scale}, {"stack_bytes", settings.stack_bytes},
                        {"trace_dir", settings.trace_dir}, {"call_ns", settings.call_ns},
                        {"summary", settings.summary},     {"changes", changes},
                        {"report", settings.report},       {"delay_ns", settings.delay_ns},
                        {"wildcards", settings.wildcards}, {"wildcard_log", settings.wildcard_log},
                        {"deaths", settings.deaths},       {"down_links", settings.down_links}}
      .dump();
}

Status parse_settings(std::string_view text, Settings& out) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    json.at("ranks").get_to(out.ranks);
    json.at("machine").get_to(out.machine);
    json.at("seed").get_to(out.seed);
    out.compute = static_cast<Compute>(json.at("compute").get<int>());
    json.at("cpu_scale").get_to(out.cpu_scale);
    json.at("call_ns").get_to(out.call_ns);
    json.at("stack_bytes").get_to(out.stack_bytes);
    json.at("trace_dir").get_to(out.trace_dir);
    json.at("summary").get_to(out.summary);
    for (const nlohmann::json& pair : json.at("changes"))
      out.changes.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
    json.at("report").get_to(out.report);
    json.at("delay_ns").get_to(out.delay_ns);
    json.at("wildcards").get_to(out.wildcards);
    json.at("wildcard_log").get_to(out.wildcard_log);
    json.at("deaths").get_to(out.deaths);
    json.at("down_links").get_to(out.down_links);
  } catch (const nlohmann::json::exception& exception) {
    return Status::error("invalid " + std::string(kSettingsVariable) +
                         "; only `margay simulate` may set it: " + exception.what());
  }
  return {};
}

}  // namespace margay::virtual_machine
