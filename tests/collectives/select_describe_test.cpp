// What `margay info --protocols` tells of the collectives' choice.
#include <doctest/doctest.h>

#include "sim/base/processors.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/select/choice.hpp"
#include "collectives/select/describe.hpp"

namespace margay::collectives {
namespace {

bool has(const std::vector<std::string>& lines, const std::string& first, const std::string& second) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(first) != std::string::npos && line.find(second) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("the choices that are told are those that select() makes") {
  for (const bool crowded : {false, true}) {
    const std::vector<std::string> lines = describe_choices(8, crowded);
    Facts facts = facts_of_nodes(std::vector<std::uint32_t>(8, 0));
    facts.crowded = crowded;
    facts.processors = sim::processor_share().processors;
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
      const Choice choice = select(Operation::allreduce, bytes, facts);
      CHECK(has(lines, "allreduce", std::string(choice.reason)));
      CHECK(has(lines, bytes == 0 ? "up to 16 KiB" : "above 16 KiB", std::string(name(choice.algorithm))));
    }
    CHECK(has(lines, "this job: 8 ranks", crowded ? "more ranks than processors" : "one node"));
    CHECK(has(lines, "2 nodes of 8", ""));
    for (const char* operation : {"barrier", "broadcast", "reduction"}) CHECK(has(lines, operation, ""));
  }
}

TEST_CASE("a long barrier is not told of") {
  for (const std::string& line : describe_choices(4, true)) {
    CHECK_FALSE((line.find("above") != std::string::npos && line.find("barrier") != std::string::npos));
  }
}

}  // namespace margay::collectives
