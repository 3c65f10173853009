#include "command/calibrate/measurement.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace margay::command {

namespace {

using portals::Status;

constexpr int kWindow = 64;

std::string word(std::string_view name, std::uint64_t bytes) {
  return std::string(name) + ":" + std::to_string(bytes);
}

std::string_view take_field(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

bool parse_answer(std::string_view line, Answers& out) {
  const std::string_view name = take_field(line);
  const std::string_view bytes = take_field(line);
  double seconds = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
  if (error != std::errc() || end != line.data() + line.size() || !std::isfinite(seconds)) return false;
  out[bytes == "0" ? std::string(name) : std::string(name) + ":" + std::string(bytes)] = seconds;
  return true;
}

// Requires: it was asked for.
double of(const Answers& answers, const std::string& asked) {
  return answers.find(asked)->second;
}

const std::string kMessage = word("bcast", collectives::kTimedMessage);
const std::string kShorter = word("bcast", collectives::kTimedShorter);
const std::string kLonger = word("bcast", collectives::kTimedLonger);
const std::string kRow = word("combine", collectives::kTimedRow);
const std::string kShared = word("allreduce", collectives::kTimedShared);
const std::string kOne = word("window", 1);
const std::string kMany = word("window", kWindow);

}  // namespace

Status parse_answers(std::string_view output, const std::vector<std::string>& asked, Answers& out) {
  Answers answers;
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (!parse_answer(line, answers)) {
      return Status::error("the ranks that measure said \"" + std::string(line.substr(0, 80)) + "\"");
    }
  }
  for (const std::string& one : asked) {
    if (answers.find(one) == answers.end()) return Status::error("the ranks that measure did not measure " + one);
  }
  out = std::move(answers);
  return {};
}

Answers fast_of(const std::vector<Answers>& runs) {
  Answers fast;
  for (const auto& [asked, first] : runs.front()) {
    std::vector<double> all;
    for (const Answers& run : runs) all.push_back(of(run, asked));
    std::sort(all.begin(), all.end());
    fast[asked] = all[(all.size() - 1) / 3];
  }
  return fast;
}

Question inside_question() {
  return {{kMessage, kShorter, kLonger, kOne, kMany, kRow, "barrier", kShared},
          "bcast=tree,barrier=shared,allreduce=shared"};
}

// Messages to one peer leave together here, those to several do not: what one costs its sender is measured by itself.
Question between_question() {
  return {{kMessage, kShorter, kLonger, "send"}, "bcast=tree"};
}

Question alone_question() {
  return {{kRow}, ""};
}

Question crowd_question(std::string_view algorithm) {
  return {{"barrier"}, std::string(algorithm)};
}

void take_inside(const Answers& answers, collectives::CallTimes& out) {
  out.inside = {.message = of(answers, kMessage),
                .shorter = of(answers, kShorter),
                .longer = of(answers, kLonger),
                .further = (of(answers, kMany) - of(answers, kOne)) / (kWindow - 1)};
  out.shared = {.barrier = of(answers, "barrier"), .allreduce = of(answers, kShared)};
  take_alone(answers, out);
}

void take_between(const Answers& answers, collectives::CallTimes& out) {
  out.between = {.message = of(answers, kMessage),
                 .shorter = of(answers, kShorter),
                 .longer = of(answers, kLonger),
                 .further = of(answers, "send")};
}

void take_alone(const Answers& answers, collectives::CallTimes& out) {
  out.row = of(answers, kRow);
}

}  // namespace margay::command
