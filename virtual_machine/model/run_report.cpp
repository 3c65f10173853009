#include "virtual_machine/model/run_report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace margay::virtual_machine {
namespace {

using portals::Status;
using Json = nlohmann::ordered_json;

constexpr int kReportVersion = 1;

Json json_of(const ReportedFinding& finding) {
  return {{"id", sim::finding_id(finding.finding)}, {"ranks", finding.ranks}, {"message", finding.message}};
}

ReportedFinding finding_of(const Json& json) {
  ReportedFinding found;
  const std::string id = json.at("id").get<std::string>();
  const auto number = std::find(sim::kFindingIds.begin(), sim::kFindingIds.end(), id) - sim::kFindingIds.begin();
  found.finding = static_cast<sim::Finding>(number);
  json.at("ranks").get_to(found.ranks);
  json.at("message").get_to(found.message);
  return found;
}

Json json_of(const RunReport& report) {
  Json out;
  out["version"] = kReportVersion;
  out["command"] = report.command;
  if (!report.replay.empty()) {
    out["replay"] = report.replay;
    out["recorded_ns"] = report.recorded_ns;
  }
  out["machine"] = report.machine;
  out["set"] = Json::object();
  for (const Change& change : report.changes) out["set"][change.name] = change.value;
  out["ranks"] = report.ranks;
  out["seed"] = report.seed;
  if (report.exit_status != RunReport::kNoStatus) out["exit_status"] = report.exit_status;
  if (!report.error.empty()) out["error"] = report.error;
  out["virtual_ns"] = report.virtual_ns;
  out["messages"] = report.messages;
  out["bytes"] = report.bytes;
  out["switches"] = report.switches;
  for (const ReportedWay& way : report.ways) {
    out["ways"][way.wire] = {
        {"messages", way.messages}, {"bytes", way.bytes}, {"polls", way.polls}, {"hits", way.hits}};
  }
  out["findings"] = Json::array();
  for (const ReportedFinding& finding : report.findings) out["findings"].push_back(json_of(finding));
  return out;
}

// A command line need not be UTF-8, but JSON must be.
std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_text(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  std::FILE* const file = std::fopen(path.c_str(), "we");
  bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) is_written = std::fclose(file) == 0 && is_written;
  return is_written ? Status() : Status::error("option --report: cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

RunReport begin_report(const Settings& settings, const std::vector<std::string>& command) {
  RunReport report;
  for (const std::string& word : command) report.command += (report.command.empty() ? "" : " ") + word;
  report.machine = settings.machine;
  report.changes = settings.changes;
  report.ranks = settings.ranks;
  report.seed = settings.seed;
  return report;
}

std::string format_report(const RunReport& report) {
  return text_of(json_of(report));
}

Status parse_report(std::string_view text, RunReport& out) {
  const Json json = Json::parse(text, nullptr, false);
  RunReport report;
  try {
    json.at("command").get_to(report.command);
    json.at("machine").get_to(report.machine);
    for (const auto& [name, value] : json.at("set").items()) report.changes.push_back({name, value.get<std::string>()});
    json.at("ranks").get_to(report.ranks);
    json.at("seed").get_to(report.seed);
    report.exit_status = json.value("exit_status", RunReport::kNoStatus);
    report.error = json.value("error", "");
    report.replay = json.value("replay", "");
    report.recorded_ns = json.value("recorded_ns", std::uint64_t{0});
    json.at("virtual_ns").get_to(report.virtual_ns);
    json.at("messages").get_to(report.messages);
    json.at("bytes").get_to(report.bytes);
    json.at("switches").get_to(report.switches);
    const Json ways = json.value("ways", Json::object());
    for (const auto& [wire, way] : ways.items()) {
      report.ways.push_back({wire, way.at("messages").get<std::uint64_t>(), way.at("bytes").get<std::uint64_t>(),
                             way.at("polls").get<std::uint64_t>(), way.at("hits").get<std::uint64_t>()});
    }
    for (const Json& finding : json.at("findings")) report.findings.push_back(finding_of(finding));
  } catch (const Json::exception& exception) {
    return Status::error(std::string("not a report of `margay simulate`: ") + exception.what());
  }
  out = std::move(report);
  return {};
}

Status write_report(const std::string& path, const RunReport& report) {
  return write_text(path, format_report(report));
}

Status write_reports(const std::string& path, const std::vector<RunReport>& reports) {
  Json all;
  all["version"] = kReportVersion;
  all["runs"] = Json::array();
  for (const RunReport& report : reports) all["runs"].push_back(json_of(report));
  return write_text(path, text_of(all));
}

}  // namespace margay::virtual_machine
