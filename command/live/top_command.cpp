#include "command/live/screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "sim/base/clock.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/trace/definition.hpp"

namespace margay::command {

namespace {

constexpr int kStatusNoTable = 1;
constexpr double kIntervalLeast = 0.05;
constexpr double kIntervalMost = 3600;

std::string column_problem(const std::string& name) {
  std::string all;
  for (const SortName& sort : sort_names()) {
    if (name == sort.name) return "";
    all += fmt::format("{}{}", all.empty() ? "" : ", ", sort.name);
  }
  return fmt::format("invalid column {}; use {}", sim::printable(name), all);
}

SortKey key_of(std::string_view name) {
  const auto names = sort_names();
  const auto at = std::ranges::find(names, name, &SortName::name);
  return at == names.end() ? SortKey::rank : at->key;
}

// The comparison also rejects NaN.
std::string interval_problem(const std::string& text) {
  double seconds = 0;
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool number = error == std::errc() && behind == text.data() + text.size();
  if (number && seconds >= kIntervalLeast && seconds <= kIntervalMost) return "";  // and not NaN
  return fmt::format("{} is not a number of seconds from {} to {}", sim::printable(text), kIntervalLeast,
                     kIntervalMost);
}

// Sleeps until the time is over or all jobs have ended. It sleeps in slices, because the system sends no event when a
// process of another parent ends.
void pause_between(double seconds, const std::vector<RunningJob*>& jobs) {
  constexpr std::uint64_t kSliceNs = 50'000'000;
  const std::uint64_t until = sim::real_clock().now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  for (std::uint64_t now = sim::real_clock().now_ns(); now < until; now = sim::real_clock().now_ns()) {
    if (std::ranges::all_of(jobs, [](const RunningJob* job) { return sim::has_ended(job->launcher); })) return;
    sim::give_processor_up(std::min(until - now, kSliceNs));
  }
}

// Prints one table for each job. Rates need two snapshots; a job that ends between them is shown as ended.
int print_once(const TopOptions& options) {
  RunningJobs jobs;
  jobs.find();
  print_remarks(jobs, options.job);
  std::vector<RunningJob*> chosen;
  for (RunningJob& job : jobs.all()) {
    if (options.job.empty() || jobs.named(options.job) == &job) chosen.push_back(&job);
  }
  if (chosen.empty() && !options.job.empty()) return kStatusNoTable;
  if (chosen.empty()) std::printf("no job of this user runs on this machine\n");
  std::vector<JobMonitor> monitors(chosen.size());
  for (std::size_t at = 0; at < chosen.size(); ++at) {
    // Rates are differences between two snapshots; this first snapshot is not printed.
    static_cast<void>(monitors[at].look(*chosen[at], sim::real_clock().now_ns()));
  }
  pause_between(options.interval_s, chosen);
  for (std::size_t at = 0; at < chosen.size(); ++at) {
    std::size_t head_at = 0;
    const JobSnapshot look = monitors[at].look(*chosen[at], sim::real_clock().now_ns());
    if (at > 0) std::printf("\n");
    for (const std::string& line : table_of(look, options.key, kAnyWidth, head_at)) std::printf("%s\n", line.c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : kStatusNoTable;
}

}  // namespace

void add_top_command(CLI::App& app) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* top =
      app.add_subcommand("top", "show running jobs: ranks, calls, queues, rates, heap, wires (docs/live.md)");
  top->add_option("job", options->job, "a job's name, or the number of its launcher (default: all jobs of this user)");
  top->add_flag("--once", options->once, "print one table; the default if standard output is not a terminal");
  top->add_option("--interval", options->interval_s, "seconds from one update to the next (default 0.5)")
      ->type_name("SECONDS")
      ->check(CLI::Validator(interval_problem, ""));
  // Names only: CLI11's own transformer would also list and accept the numbers of the enumeration.
  top->add_option_function<std::string>(
         "--sort", [options](const std::string& name) { options->key = key_of(name); },
         "rank, since, cpu, calls, messages, bytes, posted, unexpected, heap")
      ->type_name("COLUMN")
      ->check(CLI::Validator(column_problem, ""));
  top->callback([options] {
    const bool screen = !options->once && ::isatty(STDOUT_FILENO) != 0;
    if (const int status = screen ? show_screen(*options) : print_once(*options); status != 0) {
      throw CLI::RuntimeError(status);
    }
  });
}

}  // namespace margay::command
