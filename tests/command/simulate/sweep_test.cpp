// Tests of the values of --sweep.
#include "command/simulate/sweep.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace margay::command {

using Values = std::vector<std::string>;

TEST_CASE("a sweep's values: lists, and ranges that double") {
  const struct {
    const char* text;
    Values values;
  } cases[] = {
      {"short_limit=1k..64k", {"1k", "2k", "4k", "8k", "16k", "32k", "64k"}},
      {"short_limit=512..3k", {"512", "1024", "2048", "3k"}},
      {"short_limit=512k..4m", {"512k", "1m", "2m", "4m"}},
      {"heap_bytes=512m..2g", {"512m", "1g", "2g"}},
      {"bandwidth=512k..1m", {"512k", "1m"}},
      {"bandwidth=512k..2m", {"512k", "1024k", "2m"}},
      {"short_limit=1..2k", {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2k"}},
      {"ranks=2..48", {"2", "4", "8", "16", "32", "48"}},
      {"ranks=3..3", {"3"}},
      {"network.latency=0.5us..4us", {"0.5us", "1us", "2us", "4us"}},
      {"latency_ns=250ns..1us", {"250ns", "500ns", "1us"}},
      {"bandwidth=100m..400m,1g", {"100m", "200m", "400m", "1g"}},
      {"coprocessor=false,true", {"false", "true"}},
      {"ranks=1,8..16,100", {"1", "8", "16", "100"}},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text);
    Sweep sweep;
    const portals::Status status = parse_sweep(one.text, sweep);
    REQUIRE_MESSAGE(status.ok(), status.sentence());
    CHECK_EQ(sweep.values, one.values);
    CHECK(sweep.item.empty());
  }
}

TEST_CASE("a sweep over an item of a library's option") {
  Sweep sweep;
  REQUIRE(parse_sweep("collective=allreduce=tree,bucket", sweep).ok());
  CHECK_EQ(sweep.title(), "collective allreduce");
  CHECK_EQ(sweep.values, Values{"tree", "bucket"});
  CHECK_EQ(sweep.change(1), virtual_machine::Change{"collective", "allreduce=bucket"});
  REQUIRE(parse_sweep("protocol=short_limit=1k..4k", sweep).ok());
  CHECK_EQ(sweep.change(1), virtual_machine::Change{"protocol", "short_limit=2k"});
}

TEST_CASE("an invalid sweep is an error that names the option and the text") {
  for (const std::string text : {"", "ranks", "ranks=", "=1", "ranks=1,,2", "ranks=,", "ranks=1..", "ranks=..4",
                                 "ranks=a..b", "ranks=0..4", "ranks=8..4", "ranks=-2..4", "ranks=1us..4us",
                                 "latency_ns=1k..4k", "collective=allreduce=", "bandwidth=1..inf"}) {
    CAPTURE(text);
    Sweep sweep;
    const portals::Status status = parse_sweep(text, sweep);
    REQUIRE_FALSE(status.ok());
    CHECK(status.sentence().find("option --sweep") != std::string::npos);
  }
  std::string many = "ranks=1";
  for (std::size_t i = 0; i < kSweepValuesMost; ++i) many += ",1";
  Sweep sweep;
  CHECK_FALSE(parse_sweep(many, sweep).ok());
  CHECK_FALSE(parse_sweep("cpu_scale=1e-300..1e300", sweep).ok());
}

}  // namespace margay::command
