// Tests of the answers of a calibration's ranks.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "command/calibrate/measurement.hpp"

namespace margay::command {
namespace {

// The answers of the ranks: a time for each word, in its order.
std::string answer_to(const Question& question) {
  std::string output;
  int time = 0;
  for (const std::string& task : question.tasks) {
    const std::size_t colon = task.find(':');
    output += task.substr(0, colon) + " " + (colon == std::string::npos ? "0" : task.substr(colon + 1)) + " " +
              std::to_string(++time) + "e-06\n";
  }
  return output;
}

}  // namespace

TEST_CASE("answers are found under the text of their questions") {
  Answers answers;
  REQUIRE(parse_answers("bcast 8 4.5e-07\nbarrier 0 2e-06\n", {"bcast:8", "barrier"}, answers).ok());
  CHECK(answers.at("bcast:8") == 4.5e-07);
  CHECK(answers.at("barrier") == 2e-06);
}

TEST_CASE("an invalid or missing answer is reported") {
  Answers answers;
  for (const char* output : {"bcast 8\n", "bcast 8 soon\n", "bcast 8 nan\n", "bcast 8 1e-6 more\n", "\n"}) {
    CHECK_FALSE(parse_answers(output, {}, answers).ok());
  }
  CHECK(parse_answers("bcast 8 1e-6\n", {"barrier"}, answers).sentence().find("barrier") != std::string::npos);
}

TEST_CASE("of several runs the disturbed ones do not count") {
  const std::vector<Answers> runs{
      {{"barrier", 3.0}}, {{"barrier", 90.0}}, {{"barrier", 2.0}}, {{"barrier", 80.0}}, {{"barrier", 4.0}}};
  CHECK(fast_of(runs).at("barrier") == 3.0);
  CHECK(fast_of({{{"barrier", 5.0}}}).at("barrier") == 5.0);
}

TEST_CASE("each shape is asked for all values that are taken from its answers") {
  collectives::CallTimes times;
  Answers answers;
  REQUIRE(parse_answers(answer_to(inside_question()), inside_question().tasks, answers).ok());
  take_inside(answers, times);
  REQUIRE((times.inside && times.shared && times.row));
  CHECK(times.inside->message == doctest::Approx(1e-6));
  CHECK(times.inside->further == doctest::Approx(1e-6 / 63));
  CHECK(times.shared->barrier == doctest::Approx(7e-6));
  REQUIRE(parse_answers(answer_to(between_question()), between_question().tasks, answers).ok());
  take_between(answers, times);
  REQUIRE(times.between);
  CHECK(times.between->further == doctest::Approx(4e-6));
  CHECK_FALSE(times.crowd);
}

TEST_CASE("the rates of single messages are those of a ping-pong and a stream") {
  const collectives::Rates::Message solved{.startup = 9e-6, .busy = 2e-6, .byte = 9e-9};
  const struct {
    double pass;
    double stream;
    bool copies;
    collectives::Rates::Message expected;
  } cases[] = {{6e-6, 65.536e-6, false, {6e-6, 2e-6, 1e-9}},
               {6e-6, 67.536e-6, true, {6e-6, 2e-6, 1e-9}},
               {3e-6, 65.536e-6, false, {3e-6, 1.5e-6, 1e-9}},
               // Faster than the sender's work alone.
               {6e-6, 1e-6, true, {6e-6, 2e-6, collectives::kRateLeast}}};
  for (const auto& row : cases) {
    CAPTURE(row.stream);
    const collectives::Rates::Message rates =
        message_rates({{"pass:8", row.pass}, {"stream:65536", row.stream}}, solved, row.copies);
    CHECK(rates.startup == row.expected.startup);
    CHECK(rates.busy == row.expected.busy);
    CHECK(rates.byte == doctest::Approx(row.expected.byte));
  }
}

}  // namespace margay::command
