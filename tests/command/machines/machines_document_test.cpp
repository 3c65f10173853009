// Tests that the tables of docs/machines.md equal those made from the fields of machine files and from the presets.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "command/machines/machines.hpp"
#include "virtual_machine/model/machine_fields.hpp"
#include "virtual_machine/model/presets.hpp"

namespace {

using namespace margay::virtual_machine;

std::string path() {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind("tests/command/")) + "docs/machines.md";
}

template <typename Object>
std::string table_of(std::span<const Field<Object>> fields) {
  std::string text = "| field | values | default | meaning |\n|---|---|---|---|\n";
  for (const Field<Object>& field : fields) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.name, allowed_values(field), field.fallback, field.meaning);
  }
  return text;
}

std::string bandwidth_text(double bytes_per_s) {
  return std::isinf(bytes_per_s) ? "no limit" : fmt::format("{:g} MB/s", bytes_per_s / 1e6);
}

std::string presets_table() {
  std::string text =
      "| name | machine | nodes, processors | network | latency | bandwidth |\n|---|---|---|---|---|---|\n";
  for (const Preset& preset : presets()) {
    Machine machine;
    REQUIRE(find_machine(std::string(preset.name), machine).ok());
    const std::string nodes = machine.nodes == 0 ? "any" : fmt::format("{}", machine.nodes);
    std::string about =
        fmt::format("`{}` | {} | {}, {} each", preset.name, machine.description, nodes, machine.processors_per_node);
    for (const margay::command::Transport& one : margay::command::transports_of(machine)) {
      text += fmt::format("| {} | {}, {} | {:g} µs | {} |\n", about, one.name, one.kind,
                          static_cast<double>(one.latency_ns) / 1e3, bandwidth_text(one.bytes_per_s));
      about = " |  | ";
    }
  }
  return text;
}

// With WRITE_DOCUMENTS in the environment the text is written there.
void check_made(const std::string& mark, const std::string& made_from, const std::string& made) {
  std::ifstream stream(path());
  std::ostringstream read;
  read << stream.rdbuf();
  const std::string text = read.str();
  const std::string begin = "<!-- " + mark + " are made from virtual_machine/model/" + made_from + " -->\n";
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find("<!-- end of " + mark + " -->\n");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::size_t table = from + begin.size();
  if (std::getenv("WRITE_DOCUMENTS") != nullptr) {
    std::ofstream(path()) << text.substr(0, table) + made + text.substr(to);
    return;
  }
  CHECK_MESSAGE(text.substr(table, to - table) == made,
                "docs/machines.md differs from the program: WRITE_DOCUMENTS=1 command_test -tc=\"docs/machines.md*\"");
}

}  // namespace

TEST_CASE("docs/machines.md is made from the table of fields and from the presets") {
  check_made("machine fields", "machine_fields.cpp", table_of(machine_fields()));
  check_made("network fields", "machine_fields.cpp", table_of(network_fields()));
  check_made("presets", "machines", presets_table());
}
