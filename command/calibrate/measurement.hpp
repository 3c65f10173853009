// What the ranks of `margay calibrate` are asked (measure.c), and their answers put together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/select/solve_rates.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Of one run of the ranks: "bcast:8" took so many seconds.
using Answers = std::map<std::string, double, std::less<>>;

// Lines "NAME BYTES SECONDS". Error: a line is none, or what was asked for is not there.
[[nodiscard]] portals::Status parse_answers(std::string_view output, const std::vector<std::string>& asked,
                                            Answers& out);
// Of several runs, in each of which everything was asked for: what a third of them stayed below. Requires: there is
// one.
[[nodiscard]] Answers fast_of(const std::vector<Answers>& runs);

// The words that are asked, and the algorithms that calls go by meanwhile.
struct Question {
  std::vector<std::string> words;
  std::string collective;
};
[[nodiscard]] Question inside_question();   // two ranks of one node, a processor each
[[nodiscard]] Question between_question();  // of two nodes
[[nodiscard]] Question alone_question();    // one rank
[[nodiscard]] Question crowd_question(std::string_view algorithm);

void take_inside(const Answers& answers, collectives::CallTimes& out);
void take_between(const Answers& answers, collectives::CallTimes& out);
void take_alone(const Answers& answers, collectives::CallTimes& out);

}  // namespace margay::command
