// Tests of rates_of(): the rates of machines whose figures the papers give.
#include "virtual_machine/world/machine_rates.hpp"

#include <doctest/doctest.h>

#include "virtual_machine/model/presets.hpp"

namespace margay::virtual_machine {

TEST_CASE("machine_rates: a machine's rates are those of its preferred network and its memory") {
  struct Row {
    const char* machine;
    double between_us, inside_us;
  };
  // One way of a short message; the Paragon has one processor on a node.
  for (const Row& row : {Row{"paragon", 25, 25}, Row{"asci-red", 15, 11}}) {
    CAPTURE(row.machine);
    Machine machine;
    REQUIRE(find_machine(row.machine, machine).ok());
    const collectives::Rates rates = rates_of(machine);
    CHECK(rates.between.startup * 1e6 == doctest::Approx(row.between_us));
    CHECK(rates.inside.startup * 1e6 == doctest::Approx(row.inside_us));
  }
}

TEST_CASE("machine_rates: every preset's rates are valid as text") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    Machine machine;
    REQUIRE(find_machine(std::string(preset.name), machine).ok());
    collectives::Rates parsed;
    CHECK(collectives::parse_rates(collectives::to_text(rates_of(machine)), parsed).ok());
  }
}

}  // namespace margay::virtual_machine
