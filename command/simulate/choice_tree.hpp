// The schedules of a program that differ in the messages of its wildcards, depth first. A node is a wildcard with the
// sources that it may take; a schedule is a path. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace margay::command {

// The source whose message a wildcard takes: a rank's `number`-th one.
struct Choice {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  int source = 0;
  bool operator==(const Choice&) const = default;
};

// A wildcard of a run, in the order in which the run decided.
struct Decision {
  Choice choice;
  // All sources that it could take in this run.
  std::vector<int> sources;
  // The message's sender, as a rank of the world, and its number in its pair of ranks; 0: it never had one, or no trace
  // was recorded.
  std::uint32_t from = 0;
  std::uint64_t sequence = 0;
};

// The choices as the value of --wildcards.
[[nodiscard]] std::string format_choices(const std::vector<Choice>& choices);

// The tree, of which only the path of the latest schedule is kept.
class ChoiceTree {
 public:
  // The choices of the next schedule; empty: all schedules have been returned. Requires: record() has been called for
  // the last one.
  [[nodiscard]] std::optional<std::vector<Choice>> next();
  // The decisions of the schedule that next() returned, as its run made them.
  void record(const std::vector<Decision>& decisions);

 private:
  struct Node {
    Choice choice;
    // The sources of earlier schedules, of the latest one and of later ones, in this order.
    std::vector<int> known;
    // Known sources before this index have had their schedules.
    std::size_t tried = 1;
  };
  // The node of a rank's `number`-th wildcard on the path; nullptr: none.
  [[nodiscard]] Node* find(std::uint32_t rank, std::uint32_t number);

  std::vector<Node> path_;
  bool has_begun_ = false;
};

}  // namespace margay::command
