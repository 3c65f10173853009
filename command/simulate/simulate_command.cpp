#include "command/simulate/simulate_command.hpp"

#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command/line/line_mistakes.hpp"
#include "command/run/options/option_rules.hpp"
#include "command/run/process/rank_environment.hpp"
#include "command/run/program/program.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "virtual_machine/model/presets.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {
namespace {

using virtual_machine::Settings;

// EX_OSERR of <sysexits.h>.
constexpr int kStatusCannotStart = 71;

// Bounds of --stack. Calls of MPI need some 20 KiB.
constexpr std::uint64_t kStackLeast = std::uint64_t{64} * 1024;
constexpr std::uint64_t kStackMost = std::uint64_t{1} << 30;

struct SimulateOrder {
  Settings settings;
  std::string compute = "measured";
  std::vector<std::string> command;  // the program and its arguments
};

[[noreturn]] void fail(const std::string& sentence, int status) {
  std::fprintf(stderr, "margay simulate: %s\n", sim::for_terminal(sentence).c_str());
  throw CLI::RuntimeError(status);
}

// The libmpi.so.12 with the virtual machine in it, which replaces the program's.
std::string find_simulating_library() {
  const std::string folder = find_library_folder();
  const std::string path = folder + "/margay/simulate/libmpi.so.12";
  if (!folder.empty() && ::access(path.c_str(), R_OK) == 0) return path;
  fail("cannot read " + (folder.empty() ? "libmpi.so.12 beside this command" : path) +
           "; build or install margay anew (target mpi_simulate)",
       kStatusCannotStart);
}

// Parses "measured", "none" or a time such as "calls=1us". Returns false for any other text.
bool read_compute(std::string_view text, Settings& settings) {
  if (text == "measured") return true;
  settings.compute = virtual_machine::Compute::calls;
  if (text == "none") return true;
  constexpr std::string_view kCalls = "calls=";
  if (!text.starts_with(kCalls)) return false;
  text.remove_prefix(kCalls.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), settings.call_ns);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::uint64_t kNsMax = 1'000'000'000;
  const std::uint64_t scale = unit == "ns" ? 1 : unit == "us" ? 1'000 : unit == "ms" ? 1'000'000 : 0;
  if (error != std::errc() || scale == 0 || settings.call_ns > kNsMax) return false;
  settings.call_ns *= scale;
  return true;
}

[[noreturn]] void simulate(SimulateOrder order) {
  virtual_machine::Machine machine;
  if (const portals::Status status = virtual_machine::find_machine(order.settings.machine, machine); !status.ok())
    fail(status.sentence(), kStatusBadCommandLine);
  if (std::filesystem::exists(order.settings.machine))
    order.settings.machine = std::filesystem::absolute(order.settings.machine).string();
  // Absolute, because the program may change its folder before MPI_Init opens the trace.
  if (!order.settings.trace_dir.empty())
    order.settings.trace_dir = std::filesystem::absolute(order.settings.trace_dir).string();
  if (!read_compute(order.compute, order.settings))
    fail("option --compute: invalid value " + order.compute + "; use measured, none, or calls=TIME, such as calls=1us",
         kStatusBadCommandLine);
  if (order.settings.stack_bytes < kStackLeast || order.settings.stack_bytes > kStackMost)
    fail("option --stack: invalid value " + std::to_string(order.settings.stack_bytes) + "; use 64k to 1g",
         kStatusBadCommandLine);
  std::string path;
  int exit_status = 0;
  const portals::Status found = find_program(order.command[0], "", std::getenv("PATH"), path, exit_status);
  if (!found.ok()) fail(found.sentence(), exit_status);
  ::setenv(virtual_machine::kSettingsVariable, virtual_machine::format_settings(order.settings).c_str(), 1);
  ::setenv("LD_PRELOAD", find_simulating_library().c_str(), 1);
  // With equal addresses in each run, a program's output and its trace are repeatable even if they depend on them.
  ::personality(ADDR_NO_RANDOMIZE);
  std::vector<char*> arguments;
  for (std::string& word : order.command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
  fail(path + ": " + std::strerror(errno), kStatusCannotStart);
}

}  // namespace

void add_simulate_command(CLI::App& app) {
  CLI::App* simulating = app.add_subcommand(
      "simulate", "run an MPI program's ranks in one process, in the time of another machine (docs/simulate.md)");
  const auto order = std::make_shared<SimulateOrder>();
  Settings& settings = order->settings;
  simulating->add_option("-n,--ranks", settings.ranks, "the number of ranks")->check(whole_number(1, sim::kRanksMax));
  simulating->add_option("--machine", settings.machine, "a preset (listed by margay machines) or a machine file");
  simulating->add_option("--seed", settings.seed,
                         "the seed of the order of ranks that continue at the same time (0: their usual order)");
  simulating->add_option("--compute", order->compute,
                         "the virtual time of computation: measured (its processor time), none, or calls=TIME (TIME "
                         "for each call of MPI)");
  simulating->add_option("--cpu-scale", settings.cpu_scale, "virtual time for each second of processor time")
      ->check(CLI::Range(1e-6, 1e6));
  simulating->add_option("--trace", settings.trace_dir, "record a trace in this folder");
  simulating->add_option("--stack", settings.stack_bytes, "the size of each rank's stack, 64k to 1g")
      ->transform(CLI::AsSizeValue(false));
  simulating->add_flag("--summary", settings.summary, "print the virtual time and counts at the end");
  simulating->add_option("program", order->command, "the program and its arguments")->required();
  simulating->prefix_command();
  simulating->callback([order] { simulate(*order); });
}

}  // namespace margay::command
