// Tests of parse_faults().
#include "virtual_machine/model/faults.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "virtual_machine/model/presets.hpp"

namespace margay::virtual_machine {
namespace {

Machine preset(const char* name) {
  Machine machine;
  REQUIRE(find_machine(name, machine).ok());
  return machine;
}

Settings of_ranks(std::uint32_t ranks) {
  Settings settings;
  settings.ranks = ranks;
  return settings;
}

TEST_CASE("faults: deaths are sorted by their times") {
  Settings settings = of_ranks(4);
  settings.deaths = {"3@2ms", "0@0ns", "2@1s", "1@1.5us"};
  Faults faults;
  REQUIRE(parse_faults(settings, preset("paragon"), faults).ok());
  const std::vector<Death> expected = {{0, 0}, {1, 1'500}, {3, 2'000'000}, {2, 1'000'000'000}};
  CHECK(faults.deaths == expected);
}

TEST_CASE("faults: links between neighbours") {
  // A mesh of 8 columns: the switches 3 and 4 are neighbours along x, and 3 and 11 along y.
  Settings settings = of_ranks(64);
  settings.down_links = {"3-4", "11-3@2ms"};
  Faults faults;
  const Machine machine = preset("paragon");
  REQUIRE(parse_faults(settings, machine, faults).ok());
  const std::vector<DownLink> expected = {{3, 4, 0}, {11, 3, 2'000'000}};
  CHECK(faults.down_links == expected);
}

TEST_CASE("faults: an invalid text is an error") {
  struct Row {
    const char* machine;
    const char* death;
    const char* link;
  };
  for (const Row& row : {Row{"paragon", "", ""},
                         Row{"paragon", "3", ""},
                         Row{"paragon", "3@", ""},
                         Row{"paragon", "@2ms", ""},
                         Row{"paragon", "3@2", ""},
                         Row{"paragon", "3@2min", ""},
                         Row{"paragon", "-1@2ms", ""},
                         Row{"paragon", "3@-2ms", ""},
                         Row{"paragon", "3@2ms ", ""},
                         Row{"paragon", "4294967296@2ms", ""},
                         Row{"paragon", "3@99999999999s", ""},
                         Row{"paragon", "4@2ms", ""},
                         Row{"paragon", nullptr, ""},
                         Row{"paragon", nullptr, "1"},
                         Row{"paragon", nullptr, "1-"},
                         Row{"paragon", nullptr, "1-2@"},
                         Row{"paragon", nullptr, "1-2ms"},
                         Row{"paragon", nullptr, "0-3"},
                         Row{"paragon", nullptr, "0-99"},
                         Row{"ideal", nullptr, "0-1"}}) {
    CAPTURE(row.machine);
    Settings settings = of_ranks(4);
    if (row.death != nullptr)
      settings.deaths = {row.death};
    else
      settings.down_links = {row.link};
    Faults faults;
    CHECK_FALSE(parse_faults(settings, preset(row.machine), faults).ok());
  }
}

}  // namespace
}  // namespace margay::virtual_machine
