#include "command/calibrate/calibrate.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <string_view>
#include <utility>

#include "collectives/select/describe_costs.hpp"
#include "collectives/select/solve_rates.hpp"
#include "command/calibrate/child.hpp"
#include "command/calibrate/measurement.hpp"
#include "sim/base/processors.hpp"

namespace margay::command {

namespace {

using collectives::CallTimes;
using portals::Status;

constexpr int kRounds = 5;
constexpr int kCrowdedTo = 4;  // ranks to a processor
constexpr int kAnyProcessors = 1 << 20;

// libexec/margay/measure beside the folder of this command; empty: it is not there.
std::string measuring_program() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return {};
  std::string prefix(path, static_cast<std::size_t>(length));
  prefix.resize(prefix.rfind('/'));
  prefix.resize(prefix.rfind('/'));
  for (const char* folder : {"/libexec/margay", "/lib/margay"}) {
    const std::string program = prefix + folder + "/measure";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

struct Shape {
  int ranks;
  int nodes;
  int processors;  // that they have
};

// One after the other, several times: what disturbs one run does not the next.
class Measurer {
 public:
  explicit Measurer(std::string program) : program_(std::move(program)) {}

  Status ask(const Question& question, const Shape& shape, Answers& out) const {
    std::vector<Answers> runs;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::string> words{"run",     "-n",        std::to_string(shape.ranks),
                                     "--nodes", std::to_string(shape.nodes), "--timeout", "60", program_};
      words.insert(words.end(), question.words.begin(), question.words.end());
      std::string output;
      Status status = run_margay(words, std::string(question.collective), shape.processors, output);
      if (status.ok()) status = parse_answers(output, question.words, runs.emplace_back());
      if (!status.ok()) return status;
    }
    out = middle_of(runs);
    return {};
  }

 private:
  std::string program_;
};

// The first one that can be started shows that jobs can be; what follows may fail each by itself.
Status measure_pair(const Measurer& measurer, int processors, CallTimes& times, std::vector<std::string>& remarks) {
  Answers answers;
  if (processors >= 2) {
    if (Status status = measurer.ask(inside_question(), {2, 1, kAnyProcessors}, answers); !status.ok()) return status;
    take_inside(answers, times);
    const Status status = measurer.ask(between_question(), {2, 2, kAnyProcessors}, answers);
    if (status.ok()) {
      take_between(answers, times);
    } else {
      remarks.push_back("between nodes: " + status.sentence());
    }
    return {};
  }
  remarks.emplace_back("messages and shared memory: there is no processor for each of two ranks");
  if (Status status = measurer.ask(alone_question(), {1, 1, kAnyProcessors}, answers); !status.ok()) return status;
  take_alone(answers, times);
  return {};
}

void measure_crowd(const Measurer& measurer, int processors, CallTimes& times, std::vector<std::string>& remarks) {
  const Shape shape{kCrowdedTo * processors, 1, processors};
  Answers nodes;
  Answers shared;
  Status status = measurer.ask(crowd_question("barrier=nodes"), shape, nodes);
  if (status.ok()) status = measurer.ask(crowd_question("barrier=shared"), shape, shared);
  if (!status.ok()) {
    remarks.push_back("turns of a processor: " + status.sentence());
    return;
  }
  times.crowd = {.ranks = shape.ranks,
                 .processors = static_cast<double>(processors),
                 .nodes = nodes.find("barrier")->second,
                 .shared = shared.find("barrier")->second};
}

std::string date_now() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

int complain(const Status& status) {
  std::fprintf(stderr, "margay calibrate: %s\n", status.sentence().c_str());
  return 1;
}

Status place_of(const sim::CalibrateOrder& order, std::string& path) {
  path = order.installed ? sim::installed_rates_file() : order.file;
  if (!path.empty()) return {};
  path = sim::user_rates_file();
  return path.empty() ? Status::error("neither XDG_CACHE_HOME nor HOME names a folder to keep it in; name a file with "
                                      "--write FILE, or set one of them")
                      : Status();
}

}  // namespace

Status measure_machine(sim::MeasuredRates& out, std::vector<std::string>& remarks) {
  const std::string program = measuring_program();
  if (program.empty()) {
    return Status::error(
        "libexec/margay/measure is not beside the folder of this command: build or install all of margay (target "
        "installed)");
  }
  const double share = sim::processor_share().processors;
  const int processors = share >= 2 ? 2 : 1;
  const Measurer measurer(program);
  CallTimes times;
  if (const Status status = measure_pair(measurer, processors, times, remarks); !status.ok()) {
    return Status::error("no rank can be measured: " + status.sentence() + " (`margay doctor` looks for the reason)");
  }
  measure_crowd(measurer, processors, times, remarks);
  const collectives::SolvedRates solved = collectives::solve_rates(times);
  std::string unmeasured;
  for (const std::string& name : solved.unmeasured) unmeasured += (unmeasured.empty() ? "" : ", ") + name;
  out = {.machine = sim::this_machine(),
         .date = date_now(),
         .unmeasured = unmeasured,
         .rates = collectives::to_text(solved.rates)};
  return {};
}

int calibrate(const sim::CalibrateOrder& order) {
  std::string path;
  if (!order.print) {
    if (const Status status = place_of(order, path); !status.ok()) return complain(status);
  }
  sim::MeasuredRates measured;
  std::vector<std::string> remarks;
  if (const Status status = measure_machine(measured, remarks); !status.ok()) return complain(status);
  for (const std::string& remark : remarks) std::fprintf(stderr, "margay calibrate: not measured, %s\n", remark.c_str());
  if (order.print) {
    std::printf("%s\n", measured.rates.c_str());
    return 0;
  }
  collectives::Rates rates = collectives::usual_rates();
  if (const Status status = collectives::parse_rates(measured.rates, rates); !status.ok()) return complain(status);
  if (const Status status = sim::write_rates_file(path, measured); !status.ok()) return complain(status);
  std::printf("what collectives cost on this machine (%s)\n", measured.machine.c_str());
  for (const std::string& line : collectives::describe_rates(rates)) std::printf("%s\n", line.c_str());
  if (!measured.unmeasured.empty()) std::printf("  not measured, the usual values: %s\n", measured.unmeasured.c_str());
  std::printf("kept in %s\n", path.c_str());
  return 0;
}

}  // namespace margay::command
