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
  Settings read;
  REQUIRE(parse_settings(format_settings(settings), read).ok());
  CHECK_EQ(format_settings(read), format_settings(settings));
  CHECK_EQ(read.machine, settings.machine);
  CHECK_EQ(read.seed, settings.seed);
  CHECK_EQ(read.compute, settings.compute);
  CHECK_EQ(read.cpu_scale, settings.cpu_scale);
}

TEST_CASE("settings: another text is an error") {
  for (const char* text : {"", "{}", "[1, 2]", R"({"ranks": "four"})", "ranks=4"}) {
    CAPTURE(text);
    Settings read;
    CHECK_FALSE(parse_settings(text, read).ok());
  }
}

}  // namespace
}  // namespace margay::virtual_machine
