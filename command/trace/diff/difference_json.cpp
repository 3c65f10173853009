#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "command/trace/diff/difference.hpp"

namespace margay::command {

namespace {

using Json = nlohmann::ordered_json;

// Incremented when a name changes its meaning.
constexpr int kVersion = 1;

// By SumUnit.
constexpr std::array<std::string_view, 3> kUnitNames = {"count", "bytes", "ns"};

Json json_of(const RunSums& run) {
  return {{"folder", run.folder},
          {"ranks", run.ranks},
          {"clock", run.is_virtual ? "virtual" : "real"},
          {"notes", run.notes},
          {"path", run.path}};
}

Json json_of(const DifferenceSection& section) {
  const SumShape& shape = shape_of(section.section);
  Json measures = Json::array(), rows = Json::array();
  for (const auto& [name, unit] : shape.measures)
    measures.push_back({{"name", name}, {"unit", kUnitNames[static_cast<std::size_t>(unit)]}});
  for (const DifferenceRow& row : section.rows) rows.push_back({{"name", row.name}, {"a", row.a}, {"b", row.b}});
  return {{"id", shape.id}, {"title", shape.title}, {"measures", std::move(measures)}, {"rows", std::move(rows)}};
}

}  // namespace

std::string difference_json(const Difference& difference) {
  Json sections = Json::array();
  for (const DifferenceSection& section : difference.sections) sections.push_back(json_of(section));
  const Json json = {{"version", kVersion},
                     {"a", json_of(difference.a)},
                     {"b", json_of(difference.b)},
                     {"equal_counts", difference.has_equal_counts},
                     {"equal_times", difference.has_equal_times},
                     {"sections", std::move(sections)}};
  // A folder's name and names in a trace may be invalid UTF-8.
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace margay::command
