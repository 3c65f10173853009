// Tests of the command line arguments and variables of Nexus.
#include "libraries/nexus/modules/arguments.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace margay::nexus::test {

using core::Choices;
using Arguments = std::vector<std::string>;

TEST_CASE("arguments of Nexus are taken out, the others keep their order") {
  Arguments words{"prog",
                  "-x",
                  "--nexus-methods",
                  "local,tcp",
                  "y",
                  "--nexus-order=tcp",
                  "--nexus-parameter",
                  "udp.address=127.0.0.1",
                  "--nexus-load=fifo=/a=b/fifo.so",
                  "--nexus-resources=file",
                  "--nexus-off-node",
                  "secure,compressed",
                  "--nexus-skip-poll=tcp=20",
                  "--nexus-forwarder=tcp=0=1-2,4",
                  "--",
                  "--nexus-modules",
                  "z"};
  Choices choices;
  std::string resources;
  CHECK(core::take_arguments(words, choices, resources) == "");
  CHECK(words == Arguments{"prog", "-x", "y", "--", "--nexus-modules", "z"});
  CHECK(*choices.modules == Arguments{"local", "tcp"});
  CHECK(*choices.order == Arguments{"tcp"});
  CHECK(*choices.off_node == Arguments{"secure", "compressed"});
  CHECK(choices.parameters.at(0).value == "127.0.0.1");
  CHECK(choices.loads.at(0).path == "/a=b/fifo.so");
  CHECK(choices.polls.at(0).each == 20);
  CHECK(choices.forwarders.at(0).for_contexts == std::vector<std::uint32_t>{1, 2, 4});
  CHECK(resources == "file");
}

TEST_CASE("invalid arguments change nothing") {
  for (const Arguments& bad : std::vector<Arguments>{{"--nexus-modules"},
                                                     {"--nexus-modules="},
                                                     {"--nexus-modules=a,,b"},
                                                     {"--nexus-method=tcp"},
                                                     {"--nexus-"},
                                                     {"--nexus-load=fifo"},
                                                     {"--nexus-load=fifo=fifo.so"},
                                                     {"--nexus-parameter=udp=1"},
                                                     {"--nexus-forwarder=tcp=0"},
                                                     {"--nexus-skip-poll=tcp"},
                                                     {"--nexus-resources="},
                                                     {"--nexus-parameter=udp.x=" + std::string(2000, 'a')}}) {
    CAPTURE(bad[0]);
    Arguments words{"prog", "--nexus-order=tcp"};
    words.insert(words.end(), bad.begin(), bad.end());
    const Arguments before = words;
    Choices choices;
    std::string resources;
    CHECK(core::take_arguments(words, choices, resources) != "");
    CHECK(words == before);
    CHECK_FALSE(choices.order);
  }
}

static const char* good_variable(const char* name) {
  const std::string_view asked = name;
  if (asked == "MARGAY_NEXUS_MODULES") return "local,udp";
  if (asked == "MARGAY_NEXUS_PARAMETER") return "udp.lose=2;udp.linger_ms=1";
  if (asked == "MARGAY_NEXUS_OFF_NODE") return "secure";
  if (asked == "MARGAY_NEXUS_RESOURCES") return "/a;b";
  return nullptr;
}

static const char* bad_variable(const char* name) {
  return std::string_view(name) == "MARGAY_NEXUS_SKIP_POLL" ? "tcp=20;tcp" : nullptr;
}

TEST_CASE("variables have the values of arguments") {
  Choices choices;
  std::string resources;
  CHECK(core::take_variables(good_variable, choices, resources) == "");
  CHECK(*choices.modules == Arguments{"local", "udp"});
  CHECK(choices.parameters.size() == 2);
  CHECK(*choices.off_node == Arguments{"secure"});
  CHECK(resources == "/a;b");
  // The error names the variable.
  CHECK(core::take_variables(bad_variable, choices, resources).find("MARGAY_NEXUS_SKIP_POLL") == 0);
}

}  // namespace margay::nexus::test
