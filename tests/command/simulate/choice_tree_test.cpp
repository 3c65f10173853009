// The tree of choices: each schedule of a program is returned once, and no other. The program is a function from
// choices to decisions.
#include "command/simulate/choice_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace margay::command;

namespace {

// The source that the choices give to a wildcard; otherwise the lowest one.
int source_in(const std::vector<Choice>& choices, std::uint32_t rank, std::uint32_t number,
              const std::vector<int>& sources) {
  const auto given = std::find_if(choices.begin(), choices.end(),
                                  [&](const Choice& choice) { return choice.rank == rank && choice.number == number; });
  return given == choices.end() ? sources.front() : given->source;
}

using Program = std::function<std::vector<Decision>(const std::vector<Choice>&)>;

// One wildcard after the other takes one of the senders that are left.
Program permutations(int senders) {
  return [senders](const std::vector<Choice>& choices) {
    std::vector<Decision> decisions;
    std::vector<int> left;
    for (int sender = 1; sender <= senders; ++sender) left.push_back(sender);
    for (std::uint32_t number = 1; !left.empty(); ++number) {
      const int source = source_in(choices, 0, number, left);
      decisions.push_back({{0, number, source}, left});
      std::erase(left, source);
    }
    return decisions;
  };
}

// Rank 2's wildcard has a single source, but its message makes another one for rank 0's wildcard.
std::vector<Decision> relay(const std::vector<Choice>& choices) {
  const int first = source_in(choices, 0, 1, {1});
  return {{{0, 1, first}, {1, 2}}, {{2, 1, 1}, {1}}, {{0, 2, 3 - first}, {3 - first}}};
}

// All schedules, as texts of their sources.
std::vector<std::string> schedules_of(const Program& program) {
  ChoiceTree tree;
  std::vector<std::string> all;
  while (const std::optional<std::vector<Choice>> choices = tree.next()) {
    const std::vector<Decision> decisions = program(*choices);
    tree.record(decisions);
    std::string text;
    for (const Decision& decision : decisions) text += std::to_string(decision.choice.source);
    all.push_back(text);
    REQUIRE(all.size() <= 1000);
  }
  return all;
}

}  // namespace

TEST_CASE("each schedule once") {
  const struct {
    Program program;
    std::size_t schedules;
  } cases[] = {{permutations(0), 1}, {permutations(1), 1},   {permutations(2), 2},
               {permutations(3), 6}, {permutations(5), 120}, {relay, 2}};
  for (const auto& [program, schedules] : cases) {
    const std::vector<std::string> all = schedules_of(program);
    CHECK(all.size() == schedules);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == schedules);
  }
}

TEST_CASE("the choices of a schedule are those of wildcards with several sources") {
  ChoiceTree tree;
  CHECK(tree.next()->empty());
  tree.record(relay({}));
  const std::optional<std::vector<Choice>> second = tree.next();
  REQUIRE(second);
  CHECK(format_choices(*second) == "0:1=2");
  tree.record(relay(*second));
  CHECK_FALSE(tree.next());
}

TEST_CASE("a source that a later run shows is tried, too") {
  ChoiceTree tree;
  static_cast<void>(tree.next());
  tree.record({{{0, 1, 1}, {1}}, {{1, 1, 0}, {0, 2}}});
  CHECK(format_choices(tree.next().value()) == "1:1=2");
  tree.record({{{0, 1, 1}, {1, 3}}, {{1, 1, 2}, {0, 2}}});
  CHECK(format_choices(tree.next().value()) == "0:1=3");
}

TEST_CASE("choices as text") {
  CHECK(format_choices({}) == "lowest");
  CHECK(format_choices({{0, 1, 2}, {10, 3, 0}}) == "0:1=2,10:3=0");
}
