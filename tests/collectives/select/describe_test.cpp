// Tests of the description of the collectives' choice in `margay info --protocols`.
#include <doctest/doctest.h>

#include "sim/base/processors.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/select/choose.hpp"
#include "collectives/select/describe.hpp"

namespace margay::collectives {
namespace {

bool has(const std::vector<std::string>& lines, const std::string& first, const std::string& second) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(first) != std::string::npos && line.find(second) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("the described choices are those that choose() makes") {
  for (const bool crowded : {false, true}) {
    const std::vector<std::string> lines = describe_choices(8, crowded);
    Facts facts = facts_of_nodes(std::vector<std::uint32_t>(8, 0));
    facts.crowded = crowded;
    facts.processors = sim::processor_share().processors;
    const auto first = std::ranges::find_if(
        lines, [](const std::string& line) { return line.find("for nonblocking calls") != std::string::npos; });
    const std::vector<std::string> of_nonblocking(first, lines.end());
    for (const auto& [bytes, length] :
         {std::pair{0, "up to 16 KiB"}, std::pair{1 << 16, "64 KiB"}, std::pair{1 << 20, "1 MiB"}}) {
      const Algorithm algorithm = choose(Operation::allreduce, static_cast<std::uint64_t>(bytes), facts);
      const auto line = std::ranges::find_if(of_nonblocking, [length = length](const std::string& one) {
        return one.find(length) != std::string::npos && one.find("allreduce") != std::string::npos;
      });
      REQUIRE(line != of_nonblocking.end());
      CHECK(line->find(std::string(name(algorithm)) + " ") != std::string::npos);
    }
    CHECK(has(lines, "this job: 8 ranks", crowded ? "more ranks than processors" : "one node"));
    CHECK(has(lines, "2 nodes of 8", ""));
    for (const char* operation : {"barrier", "broadcast", "reduction"}) CHECK(has(lines, operation, ""));
  }
}

TEST_CASE("a long barrier is not described") {
  for (const std::string& line : describe_choices(4, true)) {
    CHECK_FALSE((line.find("MiB") != std::string::npos && line.find("barrier") != std::string::npos));
  }
}

}  // namespace margay::collectives
