// Tests of plans of hybrids in textual form, and of their completion for a number of ranks.
#include "collectives/cost/facts.hpp"

#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace margay::collectives {
namespace {

using RequestedDimension = RequestedPlan::Dimension;

RequestedPlan parsed(std::string_view text) {
  RequestedPlan plan;
  CHECK(parse_plan(text, plan).ok());
  return plan;
}

RequestedPlan asking(const std::vector<RequestedDimension>& dimensions) {
  RequestedPlan plan;
  std::copy(dimensions.begin(), dimensions.end(), plan.dimensions.begin());
  return plan;
}

}  // namespace

TEST_CASE("a plan is a list of lengths, each with or without a letter") {
  CHECK(parsed("8") == asking({{8}}));
  CHECK(parsed("2x4") == asking({{2}, {4}}));
  CHECK(parsed("2sx4l") == asking({{2, Method::brief}, {4, Method::slices}}));
  CHECK(parsed("2x4bx1") == asking({{2}, {4, Method::bucket}, {1}}));
  CHECK(parsed("12lx3x2sx100") == asking({{12, Method::slices}, {3}, {2, Method::brief}, {100}}));
}

TEST_CASE("other texts are invalid plans") {
  for (const std::string_view text : {"", "x", "2x", "x2", "2x4x", "2xx4", "0x4", "-2x4", "2y4", "2ss", "2X4", "s",
                                      "2 x4", "2x2x2x2x2", "99999999999x2", "2x4,"}) {
    CAPTURE(text);
    RequestedPlan plan = asking({{3}});
    const portals::Status said = parse_plan(text, plan);
    CHECK_FALSE(said.ok());
    CHECK(said.sentence().find("as 2x4") != std::string::npos);
    CHECK(plan == RequestedPlan{});
  }
}

TEST_CASE("a plan is completed for its own number of ranks, and for no other") {
  using Dimension = HybridPlan::Dimension;
  const std::optional<HybridPlan> asked = complete_plan(parsed("2sx4x1"), 8, 2, 4);
  REQUIRE(asked.has_value());
  CHECK(asked->dimensions == std::array{Dimension{2, Method::brief}, Dimension{4}, Dimension{1}, Dimension{1}});
  for (const int ranks : {1, 4, 7, 9, 16}) CHECK_FALSE(complete_plan(parsed("2sx4x1"), ranks, 1, ranks).has_value());
  CHECK_FALSE(complete_plan(parsed("2000000000x2000000000x2000000000x2000000000"), 8, 2, 4).has_value());

  const std::optional<HybridPlan> physical = complete_plan({}, 12, 3, 4);
  REQUIRE(physical.has_value());
  CHECK(physical->dimensions == std::array{Dimension{4}, Dimension{3}, Dimension{1}, Dimension{1}});
  CHECK_FALSE(complete_plan({}, 12, 3, 0).has_value());
  CHECK(complete_plan(parsed("3x4"), 12, 3, 0).has_value());
}

}  // namespace margay::collectives
