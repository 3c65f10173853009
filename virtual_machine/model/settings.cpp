#include "virtual_machine/model/settings.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace margay::virtual_machine {

using portals::Status;

std::string format_settings(const Settings& settings) {
  nlohmann::json changes = nlohmann::json::array();
  for (const Change& change : settings.changes) changes.push_back({change.name, change.value});
  return nlohmann::json{{"ranks", settings.ranks},         {"machine", settings.machine},
                        {"seed", settings.seed},           {"compute", static_cast<int>(settings.compute)},
                        {"cpu_scale", settings.cpu_scale}, {"stack_bytes", settings.stack_bytes},
                        {"trace_dir", settings.trace_dir}, {"call_ns", settings.call_ns},
                        {"summary", settings.summary},     {"changes", changes},
                        {"report", settings.report}}
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
  } catch (const nlohmann::json::exception& exception) {
    return Status::error("invalid " + std::string(kSettingsVariable) +
                         "; only `margay simulate` may set it: " + exception.what());
  }
  return {};
}

}  // namespace margay::virtual_machine
