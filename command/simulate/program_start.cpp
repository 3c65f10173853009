#include "command/simulate/program_start.hpp"

#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "command/line/line_mistakes.hpp"
#include "command/run/process/rank_environment.hpp"
#include "command/run/program/program.hpp"
#include "command/simulate/calibrated_machine.hpp"
#include "sim/base/poll_setting.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/options.hpp"
#include "virtual_machine/model/changes.hpp"
#include "virtual_machine/model/faults.hpp"
#include "virtual_machine/model/presets.hpp"
#include "virtual_machine/model/run_report.hpp"
#include "virtual_machine/model/way_plan.hpp"

namespace margay::command {
namespace {

using portals::Status;
using virtual_machine::Change;
using virtual_machine::Settings;

// EX_OSERR of <sysexits.h>.
constexpr int kStatusCannotStart = 71;

// Bounds of --stack. Calls of MPI need some 20 KiB.
constexpr std::uint64_t kStackLeast = std::uint64_t{64} * 1024;
constexpr std::uint64_t kStackMost = std::uint64_t{1} << 30;

// Finds the libmpi.so.12 with the virtual machine in it, which replaces the program's.
Status find_simulating_library(std::string& path) {
  const std::string folder = find_library_folder();
  path = folder + "/margay/simulate/libmpi.so.12";
  if (!folder.empty() && ::access(path.c_str(), R_OK) == 0) return {};
  return Status::error("cannot read " + (folder.empty() ? "libmpi.so.12 beside this command" : path) +
                       "; build or install margay anew (target mpi_simulate)");
}

bool read_time(std::string_view text, std::uint64_t& out_ns) {
  const std::optional<std::uint64_t> ns = virtual_machine::time_of(text);
  out_ns = ns.value_or(0);
  return ns.has_value();
}

// Parses "measured", "none" or a time such as "calls=1us". Returns false for any other text.
bool read_compute(std::string_view text, Settings& settings) {
  if (text == "measured") return true;
  settings.compute = virtual_machine::Compute::calls;
  if (text == "none") return true;
  constexpr std::string_view kCalls = "calls=";
  return text.starts_with(kCalls) && read_time(text.substr(kCalls.size()), settings.call_ns);
}

void make_absolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(path).string();
}

// Adds the changes of the library's options to the environment, in which each rank reads them. Later items of a list
// override earlier ones.
void set_library_options(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (!virtual_machine::is_library_option(change.name)) continue;
    std::string variable = "MARGAY_";
    for (const char c : change.name) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const char* const before = std::getenv(variable.c_str());
    const bool is_item = change.value.find('=') != std::string::npos && before != nullptr && *before != '\0';
    ::setenv(variable.c_str(), ((is_item ? std::string(before) + "," : "") + change.value).c_str(), 1);
  }
}

// Checks the option whose value the ranks of a virtual machine do not report.
Status check_polling(const Change& change) {
  std::vector<sim::NamedPollSetting> settings;
  if (change.name != "skip_poll") return {};
  const Status status = sim::parse_poll_settings(change.value, settings);
  return status.ok() ? status : Status::error("skip_poll: " + status.sentence());
}

// Creates the report that a process leaves if it ends before the simulated run. A pipe gets only the run's own report.
Status create_report(const SimulateOrder& order) {
  std::error_code error;
  const auto type = std::filesystem::status(order.settings.report, error).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular) return {};
  virtual_machine::RunReport report = virtual_machine::begin_report(order.settings, order.command);
  report.error = "the process ended before the simulated run";
  return virtual_machine::write_report(order.settings.report, report);
}

}  // namespace

Status check_order(SimulateOrder& order, int& exit_status) {
  exit_status = kStatusBadCommandLine;
  Settings& settings = order.settings;
  virtual_machine::Machine machine;
  if (Status status = virtual_machine::find_machine(settings.machine, machine); !status.ok()) return status;
  if (settings.machine == kCalibratedMachine) {
    std::vector<Change> calibrated;
    if (Status status = read_calibration(calibrated); !status.ok()) return status;
    // Before those of --set, which may change the same fields.
    settings.changes.insert(settings.changes.begin(), calibrated.begin(), calibrated.end());
  }
  if (!sim::Options::from_environment(environ).text("forward").empty()) {
    return Status::error(
        "MARGAY_FORWARD: the ranks of a simulated machine have their own networks, and none forwards for others; unset "
        "it, or use `margay run`");
  }
  const std::size_t set = settings.changes.size() - order.swept;
  for (std::size_t i = 0; i < settings.changes.size(); ++i) {
    Status status = order.recording == nullptr ? Status() : check_replayed_change(settings.changes[i]);
    if (status.ok()) status = virtual_machine::apply_change(settings.changes[i], settings, machine);
    if (status.ok()) status = check_polling(settings.changes[i]);
    if (!status.ok()) return Status::error((i < set ? "option --set: " : "option --sweep: ") + status.sentence());
  }
  if (Status status = virtual_machine::check_ranks(machine, settings.ranks); !status.ok()) return status;
  virtual_machine::WayPlan plan;
  if (Status status =
          virtual_machine::WayPlan::make(virtual_machine::way_list(settings.changes), machine, settings.ranks, plan);
      !status.ok())
    return Status::error("option --set: " + status.sentence());
  virtual_machine::Faults faults;
  if (Status status = virtual_machine::parse_faults(settings, machine, faults); !status.ok()) return status;
  if (virtual_machine::is_machine_file(settings.machine)) make_absolute(settings.machine);
  // Absolute, because the program may change its folder before MPI_Init opens the trace.
  make_absolute(settings.trace_dir);
  make_absolute(settings.report);
  if (!read_compute(order.compute, settings)) {
    return Status::error("option --compute: invalid value " + order.compute +
                         "; use measured, none, or calls=TIME, such as calls=1us");
  }
  if (settings.stack_bytes < kStackLeast || settings.stack_bytes > kStackMost) {
    return Status::error("option --stack: invalid value " + std::to_string(settings.stack_bytes) + "; use 64k to 1g");
  }
  if (!read_time(order.delay, settings.delay_ns))
    return Status::error("option --delay: invalid value " + order.delay + "; use a time, such as 100us");
  virtual_machine::GivenSources given;
  if (Status status = virtual_machine::parse_wildcards(settings, given); !status.ok()) return status;
  if (order.recording != nullptr) return {};
  return find_program(order.command[0], "", std::getenv("PATH"), order.program, exit_status);
}

Status start_program(const SimulateOrder& order, int& exit_status) {
  exit_status = kStatusCannotStart;
  const Settings& settings = order.settings;
  std::string library;
  if (Status status = find_simulating_library(library); !status.ok()) return status;
  if (Status status = create_report(order); !status.ok()) return status;
  set_library_options(settings.changes);
  ::setenv(virtual_machine::kSettingsVariable, virtual_machine::format_settings(settings).c_str(), 1);
  ::setenv("LD_PRELOAD", library.c_str(), 1);
  // With equal addresses in each run, a program's output and its trace are repeatable even if they depend on them.
  ::personality(ADDR_NO_RANDOMIZE);
  std::vector<std::string> words = order.command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(order.program.c_str(), arguments.data());
  return Status::error(order.program + ": " + std::strerror(errno));
}

}  // namespace margay::command
