#include "sim/cli/live/top_command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/clock.hpp"
#include "sim/cli/live/screen.hpp"
#include "sim/kernel/waiter.hpp"

namespace margay::sim {

namespace {

constexpr int kStatusNoTable = 1;
constexpr double kIntervalLeast = 0.05;
constexpr double kIntervalMost = 3600;

void print_remarks(const RunningJobs& jobs) {
  for (const std::string& remark : jobs.remarks()) std::fprintf(stderr, "margay top: %s\n", remark.c_str());
}

// Sleeps, but not on when all have ended.
void pause_between(double seconds, const std::vector<RunningJob*>& jobs) {
  constexpr std::uint64_t kSliceNs = 50'000'000;
  const std::uint64_t until = real_clock().now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  for (std::uint64_t now = real_clock().now_ns(); now < until; now = real_clock().now_ns()) {
    if (std::ranges::all_of(jobs, [](const RunningJob* job) { return has_ended(job->launcher); })) return;
    give_processor_up(std::min(until - now, kSliceNs));
  }
}

// Rates take two looks. A job that ends in between is shown as ended, with what it left.
int print_once(const TopOptions& options) {
  RunningJobs jobs;
  jobs.find();
  print_remarks(jobs);
  std::vector<RunningJob*> chosen;
  for (RunningJob& job : jobs.all()) {
    if (options.job.empty() || jobs.named(options.job) == &job) chosen.push_back(&job);
  }
  if (chosen.empty() && !options.job.empty()) {
    std::fprintf(stderr, "margay top: no one job %s of this user runs on this machine; there are: %s\n",
                 options.job.c_str(), jobs.list().c_str());
    return kStatusNoTable;
  }
  if (chosen.empty()) std::printf("no job of this user runs on this machine\n");
  std::vector<JobWatcher> watchers(chosen.size());
  for (std::size_t at = 0; at < chosen.size(); ++at) {
    static_cast<void>(watchers[at].look(*chosen[at], real_clock().now_ns()));
  }
  pause_between(options.interval_s, chosen);
  for (std::size_t at = 0; at < chosen.size(); ++at) {
    std::size_t head_at = 0;
    const JobLook look = watchers[at].look(*chosen[at], real_clock().now_ns());
    if (at > 0) std::printf("\n");
    for (const std::string& line : table_of(look, options.key, head_at)) std::printf("%s\n", line.c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : kStatusNoTable;
}

}  // namespace

void add_top_command(CLI::App& app) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* top = app.add_subcommand("top", "what runs: jobs, ranks, calls, queues, rates, heap, wires (docs/live.md)");
  top->add_option("job", options->job, "its name, or its launcher's process; all jobs of this user else");
  top->add_flag("--once", options->once, "print one table; so it does where standard output is no terminal");
  top->add_option("--interval", options->interval_s, "seconds from look to look (0.5)")
      ->check(CLI::Range(kIntervalLeast, kIntervalMost));
  std::map<std::string, SortKey> keys;
  for (const SortWord& sort : sort_words()) keys.emplace(sort.word, sort.key);
  top->add_option("--sort", options->key, "rank, since, cpu, calls, messages, bytes, posted, unexpected, heap")
      ->transform(CLI::CheckedTransformer(keys));
  top->callback([options] {
    const bool screen = !options->once && ::isatty(STDOUT_FILENO) != 0;
    if (const int status = screen ? show_screen(*options) : print_once(*options); status != 0) {
      throw CLI::RuntimeError(status);
    }
  });
}

}  // namespace margay::sim
