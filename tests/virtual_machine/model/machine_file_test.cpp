// Tests of machine files: every field missing, of the wrong type and out of range, and the rules between fields.
#include "virtual_machine/model/machine.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "virtual_machine/model/machine_fields.hpp"

namespace {

using namespace margay::virtual_machine;
using margay::portals::Status;

// A machine file, line by line: the machine's fields, and those of one network.
struct Text {
  using Lines = std::vector<std::pair<std::string, std::string>>;
  Lines machine = {{"name", R"("m")"},
                   {"description", R"("a machine")"},
                   {"sources", R"(["nowhere"])"},
                   {"nodes", "16"},
                   {"processors_per_node", "2"},
                   {"coprocessor", "false"},
                   {"cpu_scale", "2.5"},
                   {"memory_bytes_per_s", "1e9"},
                   {"memory_latency_ns", "100"},
                   {"memory_overhead_ns", "50"},
                   {"placement", R"("block")"},
                   {"nodes_per_partition", "4"}};
  Lines network = {{"name", R"("net")"},
                   {"topology", R"("mesh")"},
                   {"applies", R"("any")"},
                   {"shape", "[4, 4]"},
                   {"nodes_per_switch", "1"},
                   {"link_bytes_per_s", "200e6"},
                   {"injection_bytes_per_s", "100e6"},
                   {"ejection_bytes_per_s", "inf"},
                   {"latency_ns", "1000"},
                   {"hop_ns", "10"},
                   {"send_overhead_ns", "2000"},
                   {"receive_overhead_ns", "3000"},
                   {"poll_ns", "100"},
                   {"short_limit", "4096"}};

  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& [name, value] : machine) all += name + " = " + value + "\n";
    all += "[[network]]\n";
    for (const auto& [name, value] : network) all += name + " = " + value + "\n";
    return all;
  }

  // Sets a field, or removes it if `value` is empty.
  static void set(Lines& lines, std::string_view name, const std::string& value) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].first != name) continue;
      if (value.empty()) {
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        lines[i].second = value;
      }
      return;
    }
    if (!value.empty()) lines.emplace_back(name, value);
  }

  // "LINE:COLUMN" of a field's value.
  [[nodiscard]] std::string place_of(bool of_machine, std::string_view name) const {
    const Lines& lines = of_machine ? machine : network;
    std::size_t line = of_machine ? 1 : machine.size() + 2;
    for (const auto& one : lines) {
      if (one.first == name) return fmt::format("{}:{}", line, name.size() + 4);
      ++line;
    }
    return "none";
  }
};

// A tree in place of the mesh, for the fields of trees.
Text tree_text() {
  Text text;
  Text::set(text.network, "topology", R"("fat_tree")");
  Text::set(text.network, "shape", "");
  Text::set(text.network, "nodes_per_switch", "");
  Text::set(text.network, "arity", "4");
  return text;
}

Text text_with(std::string_view field) {
  return field == "arity" ? tree_text() : Text();
}

std::string error_of(const std::string& text) {
  Machine machine;
  machine.name = "unchanged";
  const Status status = parse_machine(text, "m.toml", machine);
  if (!status.ok()) CHECK(machine.name == "unchanged");
  return status.sentence();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Calls test(is_of_machine, field) for each field of both tables.
template <typename Test>
void for_each_field(const Test& test) {
  for (const Field<Machine>& field : machine_fields()) test(true, field);
  for (const Field<Network>& field : network_fields()) test(false, field);
}

// Values that a member of this type rejects: of the wrong type, and out of range.
struct Rejected {
  std::vector<std::string> wrong_type;
  std::vector<std::string> out_of_range;
};

template <typename Object, typename Value>
Rejected rejected(const Field<Object>& field, Value Object::*) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return {{"1", "true", "[\"a\"]"}, {"\"\""}};
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    return {{"\"a\"", "[1]", "[\"a\", 1]"}, {"[]", "[\"a\", \"\"]"}};
  } else if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>>) {
    return {{"4", "[4.0]", "[\"a\"]", "[4, [4]]"}, {"[-1]", fmt::format("[4, {:.0f}]", field.most + 1)}};
  } else if constexpr (std::is_same_v<Value, bool>) {
    return {{"1", "\"true\""}, {}};
  } else if constexpr (std::is_same_v<Value, double>) {
    Rejected values{{"\"1\"", "true", "[1]"}, {"nan", "-1", "0", fmt::format("{}", field.least / 2), "-inf"}};
    values.out_of_range.push_back(std::isinf(field.most) ? "-1e300" : fmt::format("{}", field.most * 2));
    return values;
  } else if constexpr (std::is_enum_v<Value>) {
    return {{"1", "true"}, {"\"x\"", "\"\"", "\"Mesh\""}};
  } else {
    return {{"1.0", "\"1\"", "true", "[1]", "1979-05-27"},
            {fmt::format("{:.0f}", field.least - 1), fmt::format("{:.0f}", field.most + 1), "9223372036854775807"}};
  }
}

template <typename Object, typename Value>
bool is_real_number(Value Object::*) {
  return std::is_same_v<Value, double>;
}

}  // namespace

TEST_CASE("a complete machine file is taken field by field") {
  Machine machine;
  const Status status = parse_machine(Text().text(), "m.toml", machine);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  CHECK(machine.name == "m");
  CHECK(machine.description == "a machine");
  CHECK(machine.sources == std::vector<std::string>{"nowhere"});
  CHECK(machine.nodes == 16);
  CHECK(machine.processors_per_node == 2);
  CHECK_FALSE(machine.coprocessor);
  CHECK(machine.cpu_scale == 2.5);
  CHECK(machine.memory_bytes_per_s == 1e9);
  CHECK(machine.memory_latency_ns == 100);
  CHECK(machine.memory_overhead_ns == 50);
  CHECK(machine.placement == Placement::block);
  CHECK(machine.nodes_per_partition == 4);
  REQUIRE(machine.networks.size() == 1);
  const Network& network = machine.networks[0];
  CHECK(network.name == "net");
  CHECK(network.topology == Topology::mesh);
  CHECK(network.applies == Reach::any);
  CHECK(network.shape == std::vector<std::uint32_t>{4, 4});
  CHECK(network.nodes_per_switch == 1);
  CHECK(network.link_bytes_per_s == 200e6);
  CHECK(network.injection_bytes_per_s == 100e6);
  CHECK(network.ejection_bytes_per_s == kUnlimited);
  CHECK(network.latency_ns == 1000);
  CHECK(network.hop_ns == 10);
  CHECK(network.send_overhead_ns == 2000);
  CHECK(network.receive_overhead_ns == 3000);
  CHECK(network.poll_ns == 100);
  CHECK(network.short_limit == 4096);
}

TEST_CASE("a missing field is an error that names it, or has its default") {
  for_each_field([](bool of_machine, const auto& field) {
    CAPTURE(field.name);
    Text text = text_with(field.name);
    Text::set(of_machine ? text.machine : text.network, field.name, "");
    const std::string error = error_of(text.text());
    // These two are required by the topology of this file.
    const bool is_needed = field.is_required() || field.name == "shape" || field.name == "arity";
    if (is_needed) {
      // The table's own place: a network's is its heading, behind the lines of the machine.
      CHECK(has(error, of_machine ? "m.toml:1:1: " : fmt::format("m.toml:{}:", text.machine.size() + 1)));
      CHECK(has(error, fmt::format("missing field {} of ", field.name)));
    } else {
      CHECK(error.empty());
    }
  });
}

TEST_CASE("a value of the wrong type or out of range is an error with its place, its field and the allowed values") {
  for_each_field([](bool of_machine, const auto& field) {
    const Rejected values = std::visit([&](auto member) { return rejected(field, member); }, field.member);
    for (const std::vector<std::string>* list : {&values.wrong_type, &values.out_of_range}) {
      for (const std::string& value : *list) {
        Text text = text_with(field.name);
        Text::set(of_machine ? text.machine : text.network, field.name, value);
        const std::string error = error_of(text.text());
        CAPTURE(field.name);
        CAPTURE(value);
        CHECK(has(error, fmt::format("m.toml:{}: {}:", text.place_of(of_machine, field.name), field.name)));
        CHECK(has(error, allowed_values(field)));
        CHECK(has(error, "wrong type") == (list == &values.wrong_type));
      }
    }
  });
}

TEST_CASE("the bounds of each number are allowed") {
  for_each_field([](bool of_machine, const auto& field) {
    if (field.most == 0 || field.name == "shape") return;
    for (const double bound : {field.least, field.most}) {
      CAPTURE(field.name);
      CAPTURE(bound);
      Text text = text_with(field.name);
      // As many nodes as the mesh has places for, unless it is the field under test.
      Text::set(text.machine, "nodes", "0");
      Text::set(text.network, "shape", field.name == "arity" ? "" : "[0, 4]");
      const bool is_real = std::visit([](auto member) { return is_real_number(member); }, field.member);
      Text::set(of_machine ? text.machine : text.network, field.name,
                is_real ? fmt::format("{}", bound) : fmt::format("{:.0f}", bound));
      CHECK(error_of(text.text()).empty());
    }
  });
}

TEST_CASE("an unknown field is an error with the nearest name, or with the place where it belongs") {
  const struct {
    std::string field;
    bool of_machine;
    std::string_view part;
  } kRows[] = {{"node", true, "nodes"},
               {"cpu_scal", true, "cpu_scale"},
               {"latency", false, "name, topology, applies"},
               {"latencyns", false, "latency_ns"},
               {"latency_ns", true, "[[network]]"},
               {"nodes", false, "[[network]]"},
               {"zzzzzz", true, "name, description, sources"}};
  for (const auto& row : kRows) {
    CAPTURE(row.field);
    Text text;
    Text::Lines& lines = row.of_machine ? text.machine : text.network;
    lines.emplace_back(row.field, "1");
    const std::size_t line = row.of_machine ? lines.size() : text.machine.size() + 1 + lines.size();
    const std::string error = error_of(text.text());
    CHECK(has(error, fmt::format("m.toml:{}:1: ", line)));
    CHECK(has(error, '"' + row.field + '"'));
    CHECK(has(error, row.part));
  }
}

TEST_CASE("fields that do not go together are errors") {
  const struct {
    std::string_view what;
    std::vector<std::pair<std::string, std::string>> machine;
    std::vector<std::pair<std::string, std::string>> network;
    std::string_view field;
  } kRows[] = {
      {"a shape without dimensions", {}, {{"shape", "[]"}}, "shape"},
      {"more than eight dimensions", {}, {{"shape", "[2, 2, 2, 2, 2, 2, 2, 2, 2]"}}, "shape"},
      {"fewer places than nodes", {{"nodes", "17"}}, {}, "shape"},
      {"fewer places than nodes, two on each", {{"nodes", "33"}}, {{"nodes_per_switch", "2"}}, "shape"},
      {"too many places", {}, {{"shape", "[1048576, 1048576, 1048576, 1048576]"}}, "shape"},
      {"too many places beside an open dimension", {}, {{"shape", "[1048576, 0, 2]"}}, "shape"},
      {"too many places on many switches", {}, {{"shape", "[2048]"}, {"nodes_per_switch", "1024"}}, "shape"},
      {"a crossbar with a shape", {}, {{"topology", "\"crossbar\""}, {"nodes_per_switch", ""}}, "shape"},
      {"a tree with a shape", {}, {{"topology", "\"fat_tree\""}, {"arity", "4"}, {"nodes_per_switch", ""}}, "shape"},
      {"a mesh with an arity", {}, {{"arity", "4"}}, "arity"},
      {"a torus without shape", {}, {{"topology", "\"torus\""}, {"shape", ""}}, "shape"},
      {"a tree without arity", {}, {{"topology", "\"fat_tree\""}, {"shape", ""}, {"nodes_per_switch", ""}}, "arity"},
      {"a tree with nodes on a switch",
       {},
       {{"topology", "\"fat_tree\""}, {"shape", ""}, {"arity", "4"}},
       "nodes_per_switch"},
      {"a crossbar with nodes on a switch", {}, {{"topology", "\"crossbar\""}, {"shape", ""}}, "nodes_per_switch"},
      {"partitions that no network joins", {}, {{"applies", "\"partition\""}}, "applies"},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.what);
    Text text;
    for (const auto& [name, value] : row.machine) Text::set(text.machine, name, value);
    for (const auto& [name, value] : row.network) Text::set(text.network, name, value);
    const std::string error = error_of(text.text());
    CHECK(error.starts_with("m.toml:"));
    CHECK(has(error, row.field));
  }
}

TEST_CASE("the list of networks: missing, of another type, with a name twice, too long") {
  const std::string text = Text().text();
  const std::string network = text.substr(text.find("[[network]]"));
  const std::string machine = text.substr(0, text.find("[[network]]"));
  CHECK(has(error_of(machine), "[[network]]"));
  CHECK(error_of(machine + "network = 3\n").starts_with("m.toml:13:11: "));
  CHECK(error_of(machine + "network = [1]\n").starts_with("m.toml:13:11: "));
  CHECK(error_of(machine + "network = []\n").starts_with("m.toml:13:11: "));
  CHECK(has(error_of(machine + "[network]\n"), "[[network]]"));
  CHECK(error_of(text + network).starts_with("m.toml:29:8: name:"));
  std::string many = machine;
  for (int i = 0; i < 9; ++i) {
    std::string one = network;
    many += one.replace(one.find("\"net\""), 5, fmt::format("\"net{}\"", i));
    CHECK(error_of(many).empty() == (i < 8));
  }
}

TEST_CASE("strings and comments may have any characters, and columns count characters") {
  Text text;
  Text::set(text.machine, "description", "\"\u00e9\u3042 \U0001f600\"  # \u00b5s");
  Machine machine;
  REQUIRE(parse_machine(text.text(), "m.toml", machine).ok());
  CHECK(machine.description == "\u00e9\u3042 \U0001f600");
  Text::set(text.machine, "sources", "[\"\u00e9\u3042\", 1]");
  CHECK(has(error_of(text.text()), "m.toml:3:11: sources:"));
}

TEST_CASE("text that is not TOML is an error with its place") {
  const struct {
    std::string_view text;
    std::string_view place;
  } kRows[] = {{"name = \n", "m.toml:1:"},
               {"name = \"a\"\nname = \"b\"\n", "m.toml:2:"},
               {"\x7f"
                "ELF",
                "m.toml:1:"},
               {"name = \"\xff\"\n", "m.toml:1:"},
               {"a = [1,\n2\n\n", "m.toml:"},
               {"\"a\\u001b\" = 1\n", "m.toml:1:1: "},
               {"", "m.toml:1:1: "},
               {"[+]\n", "m.toml:1:"},
               {std::string_view("[\0\0", 3), "m.toml:1:"},
               {"a = 1\nb = 0\"\u040d\n", "m.toml:2:"},
               {"a = \u00e9\n", "m.toml:1:"},
               {"\u00e9 = 1\n", "m.toml:1:1: "},
               {"a = \"\u00e9\"\nb = \"\"\"\\\n \u00e9\"\"\"\n", "m.toml:2:5: "},
               {"[[\n", "m.toml:1:"},
               {"[a.]\n", "m.toml:1:"},
               {"= 1\n", "m.toml:1:"},
               {"a = {b = 1,, }\n", "m.toml:1:"},
               {"a = 1979-99-99\n", "m.toml:1:"},
               {"a = \"\\q\"\n", "m.toml:1:"}};
  for (const auto& row : kRows) {
    CAPTURE(row.text);
    const std::string error = error_of(std::string(row.text));
    CHECK(error.starts_with(row.place));
    CHECK_FALSE(has(error, "\x1b"));
  }
}
