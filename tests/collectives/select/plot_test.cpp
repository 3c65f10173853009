// Tests of the cost curves: the ranges, the table and the picture.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/select/choose.hpp"
#include "collectives/select/cost_curves.hpp"
#include "collectives/select/describe.hpp"

namespace margay::collectives {
namespace {

Facts group(int ranks, int nodes, bool crowded) {
  std::vector<std::uint32_t> node_of_rank;
  node_of_rank.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) node_of_rank.push_back(static_cast<std::uint32_t>(rank * nodes / ranks));
  Facts facts = facts_of_nodes(node_of_rank);
  facts.crowded = crowded;
  facts.processors = 2;
  facts.shared = nodes == 1;
  return facts;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string panel_of(const std::string& picture, Operation operation) {
  const std::size_t begin = picture.find("data-operation=\"" + std::string(name(operation)) + "\"");
  return begin == std::string::npos ? "" : picture.substr(begin, picture.find("</g>", begin) - begin);
}

bool any_with(const std::vector<std::string>& lines, const std::string& first, const std::string& second) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(first) != std::string::npos && line.find(second) != std::string::npos;
  });
}

void check_points(const std::string& picture) {
  std::smatch size;
  REQUIRE(std::regex_search(picture, size, std::regex("viewBox=\"0 0 ([0-9]+) ([0-9]+)\"")));
  const double width = std::stod(size[1]);
  const double height = std::stod(size[2]);
  const std::regex point("[ML]([0-9.]+) ([0-9.]+)");
  std::size_t points = 0;
  for (std::sregex_iterator at(picture.begin(), picture.end(), point), end; at != end; ++at, ++points) {
    CHECK(std::stod((*at)[1]) <= width);
    CHECK(std::stod((*at)[2]) <= height);
  }
  CHECK(points > 1000);
  // No coordinate may be nan or inf; the text beside a point may.
  CHECK_FALSE(std::regex_search(picture, std::regex("[ML \"]-?(nan|inf)")));
}

}  // namespace

TEST_CASE("the chosen ranges agree with choose() to the byte, without gaps") {
  for (const Facts& facts : {group(8, 1, true), group(8, 2, false), group(2, 1, false), group(16, 4, true)}) {
    for (const Operation operation : operations_with_choice()) {
      const OperationCosts costs = costs_of(operation, facts);
      REQUIRE_FALSE(costs.chosen.empty());
      for (std::size_t at = 0; at < costs.chosen.size(); ++at) {
        const ChosenRange& range = costs.chosen[at];
        CHECK(choose(operation, range.first, facts) == range.algorithm);
        CHECK(choose(operation, range.last, facts) == range.algorithm);
        if (at == 0) continue;
        CHECK(range.first == costs.chosen[at - 1].last + 1);
        CHECK(range.algorithm != costs.chosen[at - 1].algorithm);
      }
    }
  }
}

TEST_CASE("each algorithm that can do some length has its curve, and the chosen one is thick at all lengths") {
  const Facts facts = group(8, 2, false);
  const std::string picture = plot_costs(facts, "a <title> & more", "rates");
  CHECK(picture.find("a &lt;title&gt; &amp; more") != std::string::npos);
  CHECK(picture.find("<title> &") == std::string::npos);
  for (const Operation operation : operations_with_choice()) {
    const std::string panel = panel_of(picture, operation);
    const OperationCosts costs = costs_of(operation, facts);
    for (const CostOf& one : costs_at(operation, operation == Operation::barrier ? 0 : 1024, facts)) {
      CHECK(panel.find("class=\"curve\" data-algorithm=\"" + std::string(name(one.algorithm)) + "\"") +
                panel.find("class=\"chosen\" data-algorithm=\"" + std::string(name(one.algorithm)) + "\"") !=
            2 * std::string::npos);
      CHECK(panel.find(">" + std::string(name(one.algorithm)) + "</text>") != std::string::npos);
    }
    for (const ChosenRange& range : costs.chosen) {
      CHECK(panel.find("class=\"chosen\" data-algorithm=\"" + std::string(name(range.algorithm))) != std::string::npos);
    }
    CHECK(count_of(panel, "class=\"crossover\"") == costs.chosen.size() - 1);
  }
}

TEST_CASE("every point lies within the picture, also for the longest and the shortest times") {
  Facts facts = group(16, 4, true);
  check_points(plot_costs(facts, "title", "rates"));
  for (const double rate : {kRateLeast, kRateMost}) {
    CAPTURE(rate);
    facts.rates = {.inside = {rate, rate, rate},
                   .between = {rate, rate, rate},
                   .combined = rate,
                   .shared = {rate, rate},
                   .turn = rate};
    check_points(plot_costs(facts, "title", "rates"));
  }
}

TEST_CASE("times that are not finite are drawn at the edge, and add no decade to the axis") {
  Facts facts = group(16, 4, true);
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  facts.rates.inside = {.startup = kForEver, .busy = kForEver, .byte = kForEver};
  const std::string picture = plot_costs(facts, "title", "rates");
  CHECK(picture.size() < 1'000'000);
  check_points(picture);
}

TEST_CASE("the table has the choice, its cost and that of the next one") {
  Facts facts = group(8, 1, true);
  std::vector<std::string> lines = describe_costs(facts);
  const std::vector<CostOf> costs = costs_at(Operation::barrier, 0, facts);
  REQUIRE(costs.size() > 1);
  CHECK(any_with(lines, "barrier", std::string(name(costs[0].algorithm))));
  CHECK(any_with(lines, seconds_text(costs[0].seconds),
                 std::string(name(costs[1].algorithm)) + " " + seconds_text(costs[1].seconds)));
  facts.requested[static_cast<std::size_t>(Operation::barrier)] = costs[1].algorithm;
  lines = describe_costs(facts);
  CHECK(any_with(lines, "barrier", std::string(name(costs[1].algorithm)) + " "));
  CHECK(any_with(describe_rates(facts.rates), "as text", to_text(facts.rates)));
}

TEST_CASE("no alternative in the table is cheaper than the choice; a hybrid must be a tenth better") {
  const auto judged = [](const CostOf& one) { return one.seconds * (one.algorithm == Algorithm::hybrid ? 1.1 : 1); };
  for (const Rates& rates : {usual_rates(), paragon_rates()}) {
    for (const int ranks : {2, 3, 5, 8}) {
      Facts facts = group(ranks, 1, true);
      facts.strips = facts.reads = true;
      facts.rates = rates;
      for (const Operation operation : operations_with_choice()) {
        for (const ChosenRange& range : costs_of(operation, facts).chosen) {
          const Compared compared = compared_in(operation, range, facts);
          CAPTURE(ranks);
          CAPTURE(name(operation));
          CAPTURE(range.last);
          CAPTURE(compared.bytes);
          REQUIRE(compared.chosen);
          CHECK((compared.bytes >= range.first && compared.bytes <= range.last));
          CHECK((!compared.next || judged(*compared.next) >= judged(*compared.chosen)));
        }
      }
    }
  }
}

TEST_CASE("on the Paragon the bucket begins to pay where its formula crosses the tree's") {
  CHECK(paragon_crossover(1) == 0);
  for (const int nodes : {8, 16, 64}) {
    Facts facts = group(nodes, nodes, false);
    facts.rates = paragon_rates();
    const std::uint64_t bytes = paragon_crossover(nodes);
    const auto takes = [&](Algorithm algorithm, std::uint64_t length) {
      return seconds(cost_of(algorithm, Operation::bcast, length, facts), facts, facts.rates);
    };
    CHECK(takes(Algorithm::bucket, bytes) < takes(Algorithm::tree, bytes));
    CHECK(takes(Algorithm::bucket, bytes - 1) >= takes(Algorithm::tree, bytes - 1));
  }
  CHECK(describe_paragon().find(length_text(paragon_crossover(8)) + " on 8 nodes") != std::string::npos);
}

TEST_CASE("lengths and times have units") {
  CHECK(length_text(17) == "17 B");
  CHECK(length_text(16384) == "16 KiB");
  CHECK(length_text(3 << 20) == "3 MiB");
  CHECK(seconds_text(2.34e-6) == "2.3 us");
  CHECK(seconds_text(1.5e-3) == "1.5 ms");
  CHECK(seconds_text(0.25) == "250 ms");
}

}  // namespace margay::collectives
