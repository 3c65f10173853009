// Tests of changes to a run: names, units, bounds, and the errors.
#include "virtual_machine/model/changes.hpp"

#include <doctest/doctest.h>

#include <string>

#include "virtual_machine/model/presets.hpp"

namespace margay::virtual_machine {
namespace {

struct Run {
  Settings settings;
  Machine machine;

  explicit Run(const std::string& name) { REQUIRE(find_machine(name, machine).ok()); }
  [[nodiscard]] portals::Status change(const std::string& name, const std::string& value) {
    return apply_change({name, value}, settings, machine);
  }
};

}  // namespace

TEST_CASE("a change gives a field of the machine, or of its networks, another value") {
  Run run("sp2");
  CHECK(run.change("coprocessor", "true").ok());
  CHECK(run.machine.coprocessor);
  CHECK(run.change("cpu_scale", "1.5").ok());
  CHECK_EQ(run.machine.cpu_scale, 1.5);
  CHECK(run.change("placement", "round_robin").ok());
  CHECK_EQ(run.machine.placement, Placement::round_robin);
  CHECK(run.change("memory_latency_ns", "3us").ok());
  CHECK_EQ(run.machine.memory_latency_ns, 3'000);
  CHECK(run.change("short_limit", "4k").ok());
  CHECK(run.change("network.latency", "0.5ms").ok());
  for (const Network& network : run.machine.networks) {
    CHECK_EQ(network.short_limit, 4096);
    CHECK_EQ(network.latency_ns, 500'000);
  }
  CHECK(run.change("mpl.hop_ns", "7").ok());
  CHECK_EQ(run.machine.networks[0].hop_ns, 7);
  CHECK_EQ(run.machine.networks[1].hop_ns, 125);
  CHECK(run.change("tcp.bandwidth", "12m").ok());
  CHECK_EQ(run.machine.networks[0].link_bytes_per_s, 40e6);
  CHECK_EQ(run.machine.networks[1].link_bytes_per_s, 12e6);
  CHECK_EQ(run.machine.networks[1].injection_bytes_per_s, 12e6);
  CHECK_EQ(run.machine.networks[1].ejection_bytes_per_s, 12e6);
  CHECK(run.change("injection_bytes_per_s", "inf").ok());
  CHECK_EQ(run.machine.networks[0].injection_bytes_per_s, kUnlimited);
}

TEST_CASE("a change gives the run other ranks or another seed, and leaves the library's options") {
  Run run("paragon");
  CHECK(run.change("ranks", "1k").ok());
  CHECK_EQ(run.settings.ranks, 1024);
  CHECK(run.change("seed", "7").ok());
  CHECK_EQ(run.settings.seed, 7);
  for (const std::string_view option : library_options()) {
    CAPTURE(option);
    CHECK(run.change(std::string(option), option == "skip_poll" ? "tcp=3" : "anything").ok());
  }
  CHECK(run.settings.changes.empty());
}

TEST_CASE("an invalid change is an error that names field, value and cure") {
  const struct {
    const char* machine;
    const char* name;
    const char* value;
    const char* part;
  } cases[] = {
      {"paragon", "short_limt", "1k", "short_limit"},
      {"paragon", "network.latncy_ns", "1", "latency_ns"},
      {"paragon", "xyzzy", "1", "coprocessor"},
      {"paragon", "mpl.latency_ns", "1", "\"mpl\""},
      {"paragon", "short_limit", "2g", "0 to 1073741824"},
      {"paragon", "short_limit", "1x", "k, m or g"},
      {"paragon", "short_limit", "0.3", "whole number"},
      {"paragon", "short_limit", "-1", "whole number"},
      {"paragon", "latency_ns", "1k", "ns, us, ms or s"},
      {"paragon", "latency_ns", "nan", "whole number"},
      {"paragon", "latency_ns", "inf", "whole number"},
      {"paragon", "coprocessor", "yes", "true or false"},
      {"paragon", "placement", "best", "round_robin"},
      {"paragon", "bandwidth", "1", "1000"},
      {"paragon", "network.coprocessor", "true", "coprocessor"},
      {"paragon", "arity", "4", "topology"},
      {"ideal", "nodes_per_switch", "2", "topology"},
      {"paragon", "name", "mine", "file"},
      {"paragon", "topology", "torus", "file"},
      {"paragon", "mesh.shape", "4", "file"},
      {"paragon", "ranks", "0", "1 to 65536"},
      {"paragon", "ranks", "65537", "1 to 65536"},
      {"paragon", "seed", "some", "whole number"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.name);
    CAPTURE(one.value);
    Run run(one.machine);
    const portals::Status status = run.change(one.name, one.value);
    REQUIRE_FALSE(status.ok());
    CHECK_MESSAGE(status.sentence().find(one.part) != std::string::npos, status.sentence());
  }
}

TEST_CASE("a text is a change if it has a name and a value") {
  Change change;
  REQUIRE(parse_change("collective=allreduce=tree", "--set", change).ok());
  CHECK_EQ(change, Change{"collective", "allreduce=tree"});
  for (const char* text : {"", "=", "short_limit", "short_limit=", "=1"}) {
    CAPTURE(text);
    const portals::Status status = parse_change(text, "--set", change);
    REQUIRE_FALSE(status.ok());
    CHECK(status.sentence().find("--set") != std::string::npos);
  }
}

TEST_CASE("a number has the unit of its field") {
  CHECK_EQ(number_of("short_limit", "1k"), 1024);
  CHECK_EQ(number_of("bandwidth", "1k"), 1000);
  CHECK_EQ(number_of("mesh.link_bytes_per_s", "2g"), 2e9);
  CHECK_EQ(number_of("memory_latency", "2ms"), 2e6);
  CHECK_EQ(number_of("latency_ns", "12"), 12);
  CHECK_EQ(number_of("collective", "4m"), 4.0 * 1024 * 1024);
  for (const char* text : {"", "k", "1kk", "1 k", "1us", "tree", "inf"}) CHECK_FALSE(number_of("ranks", text));
}

}  // namespace margay::virtual_machine
