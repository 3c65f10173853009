// The launcher refuses a --collective that no rank would understand. It knows no collectives, so it has a list of its
// own (command/run/options/option_rules), which is held to theirs here.
#include <doctest/doctest.h>

#include <string>

#include "collectives/cost/facts.hpp"
#include "collectives/select/choose.hpp"
#include "command/run/options/option_rules.hpp"

namespace margay::command {

TEST_CASE("the launcher's list of --collective names the algorithms that there are, and no others") {
  std::string expected;
  for (std::size_t at = 0; at < collectives::kOperationCount; ++at) {
    const auto operation = static_cast<collectives::Operation>(at);
    std::string algorithms = collectives::algorithms_of(operation);
    if (algorithms.empty()) continue;
    if (const std::size_t hybrid = algorithms.find("hybrid"); hybrid != std::string::npos) {
      algorithms.replace(hybrid, std::string("hybrid").size(), "hybrid|hybrid:PLAN");
    }
    expected += (expected.empty() ? "" : ",") + std::string(collectives::name(operation)) + "=" + algorithms;
  }
  const command::OptionRule* const rule = command::find_option_rule("collective");
  REQUIRE(rule != nullptr);
  CHECK(rule->choices == expected);
}

}  // namespace margay::command
