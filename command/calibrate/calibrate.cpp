#include "command/calibrate/calibrate.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include "collectives/select/describe.hpp"
#include "collectives/select/solve_rates.hpp"
#include "command/calibrate/measurement.hpp"
#include "sim/base/processors.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

using collectives::CallTimes;
using portals::Status;

// Runs of each shape.
constexpr int kRounds = 5;
// No round begins after this time: on a busy machine the rounds completed by then must suffice.
constexpr std::chrono::seconds kPatience{15};
// Ranks per processor in the shapes that measure oversubscribed processors (crowd_question()).
constexpr int kCrowdedTo = 4;
// No limit: more processors than any machine has.
constexpr int kAnyProcessors = 1 << 20;

// The path of this executable; empty: it cannot be determined.
std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length <= 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}

// A job of a few ranks with their tasks and results.
struct Shape {
  Question question;
  int ranks;
  int nodes;
  // Maximum number of processors.
  int processors;
  std::vector<Answers> runs = {};
  // The failure of the first run that failed; no further run follows.
  Status status = {};

  [[nodiscard]] Answers answers() const { return fast_of(runs); }
};

// Appends the results of one run to the shape, or sets its status. run_all() skips a shape that has failed, because it
// would fail each time.
void run_once(Shape& shape, const std::string& program) {
  // A shape that hangs fails after 60 s and does not stop the command.
  std::vector<std::string> arguments{
      "run", "-n", std::to_string(shape.ranks), "--nodes", std::to_string(shape.nodes), "--timeout", "60", program};
  arguments.insert(arguments.end(), shape.question.tasks.begin(), shape.question.tasks.end());
  std::string output;
  shape.status = run_margay(arguments, shape.question.collective, shape.processors, output);
  if (shape.status.ok()) shape.status = parse_answers(output, shape.question.tasks, shape.runs.emplace_back());
}

// Runs all shapes in turn, several times: a temporary disturbance then affects one run of each.
void run_all(std::vector<Shape>& shapes, const std::string& program) {
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0 && std::chrono::steady_clock::now() - began > kPatience) return;
    for (Shape& shape : shapes) {
      if (shape.status.ok()) run_once(shape, program);
    }
    if (!shapes.front().status.ok()) return;
  }
}

// The shapes for this machine. The shapes of two ranks (one on one node, one on two) need a processor for each rank.
// The first shape shows whether jobs can be started at all.
std::vector<Shape> shapes_for(int processors) {
  std::vector<Shape> shapes;
  if (processors >= 2) {
    shapes.push_back({.question = inside_question(), .ranks = 2, .nodes = 1, .processors = kAnyProcessors});
    shapes.push_back({.question = between_question(), .ranks = 2, .nodes = 2, .processors = kAnyProcessors});
  } else {
    shapes.push_back({.question = alone_question(), .ranks = 1, .nodes = 1, .processors = kAnyProcessors});
  }
  for (const char* barrier : {"barrier=nodes", "barrier=shared"}) {
    shapes.push_back(
        {.question = crowd_question(barrier), .ranks = kCrowdedTo * processors, .nodes = 1, .processors = processors});
  }
  return shapes;
}

// Extracts the times from the results of shapes_for().
CallTimes times_of(const std::vector<Shape>& shapes, int processors, std::vector<std::string>& remarks) {
  CallTimes times;
  if (processors < 2) {
    take_alone(shapes[0].answers(), times);
    remarks.emplace_back("messages and shared memory: two ranks need a processor each");
  } else {
    take_inside(shapes[0].answers(), times);
    if (shapes[1].status.ok()) {
      take_between(shapes[1].answers(), times);
    } else {
      remarks.push_back("messages between nodes: " + shapes[1].status.sentence());
    }
  }
  const Shape& nodes = shapes[shapes.size() - 2];
  const Shape& shared = shapes.back();
  if (nodes.status.ok() && shared.status.ok()) {
    times.crowd = {.ranks = nodes.ranks,
                   .processors = static_cast<double>(processors),
                   .nodes = nodes.answers().find("barrier")->second,
                   .shared = shared.answers().find("barrier")->second};
  } else {
    remarks.push_back("turns of a processor: " + (nodes.status.ok() ? shared : nodes).status.sentence());
  }
  return times;
}

std::string date_now() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

int complain(const Status& status) {
  std::fprintf(stderr, "margay calibrate: %s\n", sim::for_terminal(status.sentence()).c_str());
  return 1;
}

// Determines the file for the rates: that of the order, or the user's file. Fails for the user's file if neither
// XDG_CACHE_HOME nor HOME names its folder.
Status find_rates_file(const command::CalibrateOrder& order, std::string& path) {
  path = order.installed ? sim::installed_rates_file() : order.file;
  if (!path.empty()) return {};
  path = sim::user_rates_file();
  return path.empty() ? Status::error(
                            "neither XDG_CACHE_HOME nor HOME names a folder for the rates; name a file with "
                            "--write FILE, or set one of them")
                      : Status();
}

}  // namespace

std::string measuring_program(std::string command) {
  // Goes up two folders: from PREFIX/bin/margay to PREFIX.
  for (int folder = 0; folder < 2; ++folder) {
    const std::size_t slash = command.rfind('/');
    if (slash == std::string::npos) return {};
    command.resize(slash);
  }
  for (const char* folder : {"/libexec/margay", "/lib/margay"}) {
    std::string program = command + folder + "/measure";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

namespace {

// If other programs use at least this share of the processors, the results describe these programs more than the
// machine. With one busy program on two processors, memory seemed 26 times as slow, and broadcasts chosen by these
// rates took six times as long.
constexpr double kDisturbingShare = 0.1;

std::string load_text(double others) {
  const char* const anyway = std::getenv("MARGAY_CALIBRATE");
  if (others < kDisturbingShare || (anyway != nullptr && std::string_view(anyway) == "anyway")) return {};
  return "other programs used " + std::to_string(static_cast<int>(others * 100)) +
         " % of the processors meanwhile, so the rates describe these programs too; calibrate on an idle machine";
}

}  // namespace

// Uses at most two processors, so that rates do not depend on the size of the machine.
Status measure_machine(sim::MeasuredRates& out, std::vector<std::string>& remarks, std::string& disturbed) {
  const std::string program = measuring_program(own_path());
  if (program.empty()) {
    return Status::error(
        "libexec/margay/measure is not beside the folder of this command: build or install all of margay (target "
        "installed)");
  }
  const int processors = sim::processor_share().processors >= 2 ? 2 : 1;
  std::vector<Shape> shapes = shapes_for(processors);
  const OtherLoad others;
  run_all(shapes, program);
  disturbed = load_text(others.share());
  if (const Status& status = shapes.front().status; !status.ok()) {
    return Status::error("cannot measure a rank: " + status.sentence() + " (`margay doctor` looks for the reason)");
  }
  const collectives::SolvedRates solved = collectives::solve_rates(times_of(shapes, processors, remarks));
  collectives::Rates messages = solved.rates;
  if (processors >= 2) messages.inside = message_rates(shapes[0].answers(), messages.inside, true);
  if (processors >= 2 && shapes[1].status.ok())
    messages.between = message_rates(shapes[1].answers(), messages.between, false);
  std::string unmeasured;
  for (const std::string& name : solved.unmeasured) unmeasured += (unmeasured.empty() ? "" : ", ") + name;
  out = {.machine = sim::this_machine(),
         .date = date_now(),
         .unmeasured = unmeasured,
         .rates = collectives::to_text(solved.rates),
         .messages = collectives::to_text(messages)};
  return {};
}

// The file's path is determined before the measurement, which takes seconds, so that an error is reported at once.
int calibrate(const command::CalibrateOrder& order) {
  std::string path;
  if (!order.print) {
    if (const Status status = find_rates_file(order, path); !status.ok()) return complain(status);
  }
  sim::MeasuredRates measured;
  std::vector<std::string> remarks;
  std::string disturbed;
  if (const Status status = measure_machine(measured, remarks, disturbed); !status.ok()) return complain(status);
  for (const std::string& remark : remarks)
    std::fprintf(stderr, "margay calibrate: not measured, %s\n", remark.c_str());
  if (!disturbed.empty()) std::fprintf(stderr, "margay calibrate: %s\n", disturbed.c_str());
  if (order.print) {
    std::printf("%s\n", measured.rates.c_str());
    return 0;
  }
  collectives::Rates rates = collectives::usual_rates();
  if (const Status status = collectives::parse_rates(measured.rates, rates); !status.ok()) return complain(status);
  // A file that the user names gets the results in any case; otherwise disturbed results are not stored, and jobs use
  // the rates stored before, or the usual ones.
  const bool kept = disturbed.empty() || !order.file.empty();
  if (kept) {
    if (const Status status = sim::write_rates_file(path, measured); !status.ok()) return complain(status);
  }
  std::printf("what collectives cost on this machine (%s)\n", measured.machine.c_str());
  for (const std::string& line : collectives::describe_rates(rates)) std::printf("%s\n", line.c_str());
  if (!measured.unmeasured.empty()) std::printf("  not measured, the usual values: %s\n", measured.unmeasured.c_str());
  std::printf(kept ? "kept in %s\n" : "not kept in %s\n", path.c_str());
  return 0;
}

}  // namespace margay::command
