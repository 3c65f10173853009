#include "command/calibrate/measurement.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/processors.hpp"

namespace margay::command {

namespace {

using portals::Status;

// Messages in flight at once; enough that a further message costs no latency.
constexpr int kWindow = 64;

std::string task(std::string_view name, std::uint64_t bytes) {
  return std::string(name) + ":" + std::to_string(bytes);
}

std::string_view take_field(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

// An incomplete line is an error, because its number would become a rate.
bool parse_answer(std::string_view line, Answers& out) {
  const std::string_view name = take_field(line);
  const std::string_view bytes = take_field(line);
  double seconds = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
  if (error != std::errc() || end != line.data() + line.size() || !std::isfinite(seconds)) return false;
  out[bytes == "0" ? std::string(name) : std::string(name) + ":" + std::string(bytes)] = seconds;
  return true;
}

// The seconds of task `asked`. Requires: parse_answers() found it.
double of(const Answers& answers, const std::string& asked) {
  return answers.find(asked)->second;
}

const std::string kMessage = task("bcast", collectives::kTimedMessage);
const std::string kShorter = task("bcast", collectives::kTimedShorter);
const std::string kLonger = task("bcast", collectives::kTimedLonger);
const std::string kRow = task("combine", collectives::kTimedRow);
const std::string kShared = task("allreduce", collectives::kTimedShared);
const std::string kOne = task("window", 1);
const std::string kMany = task("window", kWindow);
constexpr std::uint64_t kStreamBytes = 65'536;
const std::string kPass = task("pass", 8);
const std::string kStream = task("stream", kStreamBytes);

}  // namespace

Status parse_answers(std::string_view output, const std::vector<std::string>& asked, Answers& out) {
  Answers answers;
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (!parse_answer(line, answers)) {
      return Status::error("the measuring ranks printed \"" + std::string(line.substr(0, 80)) + "\"");
    }
  }
  for (const std::string& one : asked) {
    if (answers.find(one) == answers.end()) return Status::error("the measuring ranks did not measure " + one);
  }
  out = std::move(answers);
  return {};
}

// A low quantile, because disturbances only add time.
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
  return {{kMessage, kShorter, kLonger, kOne, kMany, kRow, "barrier", kShared, kPass, kStream},
          "bcast=tree,barrier=shared,allreduce=shared"};
}

// Between nodes, messages to one peer leave together but those to several do not, so the sender's cost of one message
// is measured separately.
Question between_question() {
  return {{kMessage, kShorter, kLonger, "send", kPass, kStream}, "bcast=tree"};
}

Question alone_question() {
  return {{kRow}, ""};
}

Question crowd_question(std::string_view algorithm) {
  return {{"barrier"}, std::string(algorithm)};
}

void take_inside(const Answers& answers, collectives::CallTimes& out) {
  // The cost of a further message: all messages of a window together pay the latency once.
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

collectives::Rates::Message message_rates(const Answers& answers, const collectives::Rates::Message& solved,
                                          bool copies) {
  const double startup = std::clamp(of(answers, kPass), collectives::kRateLeast, collectives::kRateMost);
  const double busy = std::min(solved.busy, startup / 2);
  const double body = of(answers, kStream) - (copies ? busy : 0);
  return {.startup = startup,
          .busy = busy,
          .byte = std::clamp(body / kStreamBytes, collectives::kRateLeast, collectives::kRateMost)};
}

namespace {

using portals::Status;

constexpr std::array<std::string_view, 2> kKeptVariables = {"MARGAY_SHM_DIR=", "MARGAY_REFUSE_MEMFD="};

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// The user's settings must not influence the rates; the measurement itself uses the usual ones.
std::vector<std::string> environment_of(const std::string& collective) {
  std::vector<std::string> entries{"MARGAY_COLLECTIVE=" + collective, "MARGAY_RATES=usual"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool kept = std::any_of(kKeptVariables.begin(), kKeptVariables.end(),
                                  [&](std::string_view name) { return text.starts_with(name); });
    if (kept || !text.starts_with("MARGAY_")) entries.emplace_back(text);
  }
  return entries;
}

std::vector<char*> pointers_of(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The first `most` of the processors that this process may use.
cpu_set_t first_processors(int most) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return allowed;
  for (int at = 0; at < CPU_SETSIZE; ++at) {
    if (CPU_ISSET(at, &allowed) && most-- <= 0) CPU_CLR(at, &allowed);
  }
  return allowed;
}

std::string read_all(std::FILE* file) {
  std::string text;
  std::array<char, 4096> buffer;
  std::rewind(file);
  for (std::size_t count = 1; count != 0;) {
    count = std::fread(buffer.data(), 1, buffer.size(), file);
    text.append(buffer.data(), count);
  }
  return text;
}

// Runs in the child between fork and exec.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment,
                         const cpu_set_t& processors, int output, int errors) {
  // The ranks inherit the mask.
  if (CPU_COUNT(&processors) != 0) static_cast<void>(::sched_setaffinity(0, sizeof processors, &processors));
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  // The same executable, whatever is in PATH.
  ::execve("/proc/self/exe", arguments.data(), environment.data());
  constexpr int kNotStarted = 126;
  ::_exit(kNotStarted);
}

}  // namespace

Status run_margay(const std::vector<std::string>& arguments, const std::string& collective, int processors,
                  std::string& output) {
  const File result(std::tmpfile());
  const File errors(std::tmpfile());
  if (result == nullptr || errors == nullptr) {
    return Status::error(std::string("cannot make a temporary file: ") + std::strerror(errno));
  }
  std::vector<std::string> line{"margay"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_of(collective);
  const std::vector<char*> argument_pointers = pointers_of(line);
  const std::vector<char*> environment_pointers = pointers_of(environment);
  const cpu_set_t mask = first_processors(processors);
  const pid_t child = ::fork();
  if (child < 0) return Status::error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(argument_pointers, environment_pointers, mask, ::fileno(result.get()), ::fileno(errors.get()));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Files, not pipes: the child can never block on its output.
  output = read_all(result.get());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::string sentence;
  for (const std::string& argument : line) sentence += (sentence.empty() ? "" : " ") + argument;
  sentence += WIFEXITED(status) ? " failed with exit status " + std::to_string(WEXITSTATUS(status))
                                : " was ended by signal " + std::to_string(WTERMSIG(status));
  const std::string said = read_all(errors.get());
  return Status::error(sentence + (said.empty() ? "" : ": " + said.substr(0, said.find('\n'))));
}

namespace {

// Seconds that were not idle, from a line of /proc/stat in ticks: "cpu3 user nice system idle iowait irq softirq steal
// ...".
double busy_s(std::istringstream& line) {
  constexpr std::size_t kIdle = 3, kWaiting = 4;
  std::array<double, 8> ticks{};
  double busy = 0;
  for (std::size_t i = 0; i < ticks.size() && line >> ticks[i]; ++i) {
    if (i != kIdle && i != kWaiting) busy += ticks[i];
  }
  return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Busy seconds of the processors that this process may use; -1: unknown.
double all_s() {
  const std::vector<int> allowed = sim::allowed_processors();
  std::ifstream stat("/proc/stat");
  double sum = 0;
  bool any = false;
  for (std::string text; std::getline(stat, text);) {
    std::istringstream line(text);
    std::string name;
    line >> name;
    // The line "cpu" without a number sums all processors, also those that this process may not use.
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) continue;
    if (std::ranges::find(allowed, std::atoi(name.c_str() + 3)) == allowed.end()) continue;
    sum += busy_s(line);
    any = true;
  }
  return any ? sum : -1;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double own_s() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    sum += seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  return sum;
}

}  // namespace

OtherLoad::OtherLoad() : all_s_(all_s()), own_s_(own_s()), begin_(std::chrono::steady_clock::now()) {}

// Clamped: the two sources of time are not read at the same instant.
double OtherLoad::share() const {
  const double now_s = all_s();
  const auto processors = static_cast<double>(sim::allowed_processors().size());
  if (all_s_ < 0 || now_s < 0) return 0;
  const double passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double others_s = now_s - all_s_ - (own_s() - own_s_);
  return passed_s <= 0 ? 0 : std::clamp(others_s / (passed_s * processors), 0.0, 1.0);
}

}  // namespace margay::command
