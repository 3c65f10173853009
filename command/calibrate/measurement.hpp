// The measurements of `margay calibrate`: the ranks' tasks (measure.c), their results, and the load by other programs.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/rates.hpp"
#include "collectives/select/solve_rates.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The results of one run in seconds, by task: "bcast:8".
using Answers = std::map<std::string, double, std::less<>>;

// Parses lines "NAME BYTES SECONDS". Error: an invalid line, or the result of a task is missing.
[[nodiscard]] portals::Status parse_answers(std::string_view output, const std::vector<std::string>& asked,
                                            Answers& out);
// Combines several runs with the same tasks: for each task, the time that is a third of the way up the runs' sorted
// times. Requires: there is at least one run.
[[nodiscard]] Answers fast_of(const std::vector<Answers>& runs);

// The tasks of a job, and the algorithms that its calls shall use.
struct Question {
  std::vector<std::string> tasks;
  std::string collective;
};
// Two ranks of one node, with a processor each.
[[nodiscard]] Question inside_question();
// Two ranks, one on each of two nodes.
[[nodiscard]] Question between_question();
// One rank.
[[nodiscard]] Question alone_question();
// More ranks than processors, with this barrier algorithm.
[[nodiscard]] Question crowd_question(std::string_view algorithm);

// Copy a question's results into the times that solve_rates() needs. Requires: results of that question.
void take_inside(const Answers& answers, collectives::CallTimes& out);
void take_between(const Answers& answers, collectives::CallTimes& out);
void take_alone(const Answers& answers, collectives::CallTimes& out);

// The rates of single messages by the results of one of the questions of two ranks: a ping-pong and a stream instead of
// the broadcasts of `solved`, which has the busy part. `copies`: the sender is busy until it has copied the body.
[[nodiscard]] collectives::Rates::Message message_rates(const Answers& answers,
                                                        const collectives::Rates::Message& solved, bool copies);

// A run of this command as `margay run`.

// Runs `margay ARGUMENTS...` to its end on at most `processors` processors, and returns its standard output. Of the
// user's MARGAY_* variables only MARGAY_SHM_DIR and MARGAY_REFUSE_MEMFD are passed on, which determine the place of
// shared memory; `collective` becomes MARGAY_COLLECTIVE. Fails if the run cannot be started or fails; the message has
// the run's first line of standard error.
[[nodiscard]] portals::Status run_margay(const std::vector<std::string>& arguments, const std::string& collective,
                                         int processors, std::string& output);

// The load by other programs during a measurement.

// Measures from its construction on: the time that all programs used of this process's processors (/proc/stat,
// including time taken by a virtual machine's host), minus the time of this process and its ended children.
class OtherLoad {
 public:
  OtherLoad();
  // The share of others, from 0 (none) to 1 (all processors all the time); 0 where the system does not report it.
  [[nodiscard]] double share() const;

 private:
  double all_s_;
  double own_s_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace margay::command
