// Tests of the settings of a simulated run as text.
#include "virtual_machine/model/settings.hpp"

#include <doctest/doctest.h>

#include <string>

namespace margay::virtual_machine {
namespace {

TEST_CASE("settings: a text gives back what it was made of") {
  Settings settings;
  settings.ranks = 9216;
  settings.machine = "/a folder/\"machine\".toml";
  settings.seed = ~std::uint64_t{0};
  settings.compute = Compute::calls;
  settings.cpu_scale = 0.1;
  settings.call_ns = 1'500;
  settings.stack_bytes = 65'536;
  settings.trace_dir = "/tmp/trace";
  settings.summary = true;
  settings.delay_ns = 100'000;
  settings.wildcards = "0:1=2";
  settings.wildcard_log = "/tmp/log";
  settings.deaths = {"3@2ms"};
  settings.down_links = {"0-1", "2-3@1s"};
  Settings read;
  REQUIRE(parse_settings(format_settings(settings), read).ok());
  CHECK_EQ(format_settings(read), format_settings(settings));
  CHECK_EQ(read.machine, settings.machine);
  CHECK_EQ(read.seed, settings.seed);
  CHECK_EQ(read.compute, settings.compute);
  CHECK_EQ(read.cpu_scale, settings.cpu_scale);
  CHECK_EQ(read.delay_ns, settings.delay_ns);
  CHECK_EQ(read.wildcards, settings.wildcards);
  CHECK_EQ(read.wildcard_log, settings.wildcard_log);
  CHECK_EQ(read.deaths, settings.deaths);
  CHECK_EQ(read.down_links, settings.down_links);
}

TEST_CASE("settings: another text is an error") {
  for (const char* text : {"", "{}", "[1, 2]", R"({"ranks": "four"})", "ranks=4"}) {
    CAPTURE(text);
    Settings read;
    CHECK_FALSE(parse_settings(text, read).ok());
  }
}

TEST_CASE("settings: the sources of wildcards") {
  Settings settings;
  settings.ranks = 3;
  const struct {
    const char* text;
    bool is_valid;
    GivenSources sources;
  } cases[] = {{"", true, {}},
               {"lowest", true, {}},
               {"0:1=2", true, {{{0, 1}, 2}}},
               {"0:1=2,2:10=0", true, {{{0, 1}, 2}, {{2, 10}, 0}}},
               {"first", false, {}},
               {"0:1", false, {}},
               {"0:1=", false, {}},
               {"0:1=2;0:2=1", false, {}},
               {"3:1=0", false, {}},
               {"0:1=2,,0:2=1", false, {}}};
  for (const auto& each : cases) {
    CAPTURE(each.text);
    settings.wildcards = each.text;
    GivenSources read;
    CHECK_EQ(parse_wildcards(settings, read).ok(), each.is_valid);
    if (each.is_valid) CHECK(read == each.sources);
  }
  settings.wildcards = "lowest";
  settings.ranks = kWildcardRanksMax + 1;
  GivenSources none;
  CHECK_FALSE(parse_wildcards(settings, none).ok());
}

}  // namespace
}  // namespace margay::virtual_machine
