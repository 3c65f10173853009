// Tests of the lines of `margay machines`.
#include "command/machines/machines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "virtual_machine/model/presets.hpp"

namespace {

using namespace margay::command;
using margay::virtual_machine::find_machine;
using margay::virtual_machine::Machine;
using margay::virtual_machine::Preset;
using margay::virtual_machine::presets;

using Lines = std::vector<std::string>;

Machine preset(std::string_view name) {
  Machine machine;
  REQUIRE(find_machine(std::string(name), machine).ok());
  return machine;
}

std::ptrdiff_t lines_with(const Lines& lines, std::string_view part) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("the list has a line for each machine with its first source, and one for each further transport") {
  std::vector<Machine> machines;
  for (const Preset& one : presets()) machines.push_back(preset(one.name));
  const Lines lines = list_machines(machines);
  for (const Machine& machine : machines) {
    CAPTURE(machine.name);
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [&](const std::string& one) { return one.starts_with(machine.name + " "); });
    REQUIRE(line != lines.end());
    const std::string& source = machine.sources.front();
    CHECK(line->ends_with(source.substr(0, source.find(':'))));
  }
  // MPL is in the line of its machine.
  CHECK(lines_with(lines, "83 µs") == 1);
  CHECK(lines_with(lines, "2 ms") == 1);
}

TEST_CASE("a machine is explained with all its networks, the times that fit its ranks, and all sources") {
  const Machine sp2 = preset("sp2");
  const Lines coupled = describe_machine(sp2, 24);
  CHECK(lines_with(coupled, "network mpl") == 1);
  CHECK(lines_with(coupled, "network tcp") == 1);
  // The nearest and the farthest rank by MPL; all ranks that TCP reaches are equally far. No two ranks are on a node.
  CHECK(lines_with(coupled, " hops ") == 3);
  for (const std::string& source : sp2.sources) CHECK(lines_with(coupled, source) == 1);
  // One partition: TCP carries no message.
  CHECK(lines_with(describe_machine(sp2, 16), " hops ") == 2);
  CHECK(lines_with(describe_machine(sp2, 1), " hops ") == 0);
  CHECK(lines_with(describe_machine(preset("origin3800"), 48), "  memory ") == 2);
}

TEST_CASE("each preset is explained for one rank and for its usual number of ranks") {
  for (const Preset& one : presets()) {
    CAPTURE(one.name);
    const Machine machine = preset(one.name);
    for (const std::uint32_t ranks : {1U, usual_ranks(machine)}) {
      CHECK(lines_with(describe_machine(machine, ranks), machine.description) == 1);
    }
  }
  CHECK(usual_ranks(preset("paragon")) == 1024);
  CHECK(usual_ranks(preset("asci-red")) == 1024);
  CHECK(usual_ranks(preset("beowulf-cluster")) == 10);
}
