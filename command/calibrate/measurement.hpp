// Measurements of `margay calibrate`: the ranks' tasks (measure.c), their results, and the load by other programs.
#pragma once

#include <chrono>
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

// This command started again, as `margay run`, with its output read.

// Runs `margay WORDS...` to its end on at most `processors` processors. No variable MARGAY_* of the user's reaches it
// but those that say where shared memory lies; `collective` goes into MARGAY_COLLECTIVE. Error: it could not be
// started, or failed; with the first line of what it said.
[[nodiscard]] portals::Status run_margay(const std::vector<std::string>& words, const std::string& collective,
                                         int processors, std::string& output);

// How much of the processors others use while something is measured: then the figures are theirs as well.

// Watches from its construction on. Counted: all that ran on the processors that this process may use (Linux's
// /proc/stat, what a virtual machine's host took among it), less what this process and its children, as far as they
// have ended, had of it.
class OtherLoad {
 public:
  OtherLoad();
  // 0: nobody else ran; 1: others had all processors all the time. 0 where the system does not say.
  [[nodiscard]] double share() const;

 private:
  double all_s_;
  double own_s_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace margay::command
