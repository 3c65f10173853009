#include "command/simulate/schedule.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/base/text.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {
namespace {

using portals::Status;
using virtual_machine::Settings;

// Conflicts of one-sided accesses depend on the schedule, so every run reports them.
constexpr const char* kCheckRma = "MARGAY_CHECK_RMA";

// As a shell's status of a process that a signal has ended.
constexpr int kExitOfSignal = 128;

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The rank of a line's label, "[12] ..."; lines without one are the last.
std::uint32_t rank_of(const std::string& line) {
  std::uint32_t rank = 0;
  if (line.empty() || line[0] != '[') return std::numeric_limits<std::uint32_t>::max();
  const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), rank);
  const bool is_label = error == std::errc() && end != line.data() + line.size() && *end == ']';
  return is_label ? rank : std::numeric_limits<std::uint32_t>::max();
}

// The ids at the ends of lines: "... [deadlock]".
std::vector<std::string> findings_in(const std::string& errors) {
  std::vector<std::string> ids;
  for (const std::string& line : lines_of(errors)) {
    const std::size_t begin = line.rfind(" [");
    if (begin == std::string::npos || !line.ends_with(']') || line.find("margay") == std::string::npos) continue;
    const std::string id = line.substr(begin + 2, line.size() - begin - 3);
    const bool is_id = !id.empty() && id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
    if (is_id && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

// The log of virtual_machine/world/wildcards: a line for a choice with its sources, for a source that could also have
// been chosen later, for a message that a wildcard has, and for the end of a run that cannot follow its choices. A line
// that a crash has cut off is passed over.
void read_log(const std::string& text, ScheduleRun& run) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  for (const std::string& line : lines_of(text)) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    run.is_infeasible |= json.contains("infeasible");
    if (!json.contains("rank")) continue;
    const Choice choice{json.value("rank", 0U), json.value("number", 0U), json.value("source", -1)};
    const auto [at, is_new] = known.try_emplace({choice.rank, choice.number}, run.decisions.size());
    if (is_new) run.decisions.push_back({choice, json.value("sources", std::vector<int>{choice.source})});
    Decision& decision = run.decisions[at->second];
    if (json.contains("later")) decision.sources.push_back(json.value("later", -1));
    if (!json.contains("sequence")) continue;
    decision.from = json.value("from", 0U);
    decision.sequence = json.value("sequence", std::uint64_t{0});
  }
}

void redirect(const std::string& path, int flags, int to) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0 || ::dup2(file, to) < 0) ::_exit(EXIT_FAILURE);
}

// The child, after fork(). Dies with its parent.
[[noreturn]] void become_run(const SimulateOrder& order, const ScratchFolder& folder, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(folder.file("output"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect(folder.file("errors"), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  ::setenv(kCheckRma, "1", 1);
  int exit_status = 0;
  const Status status = start_program(order, exit_status);
  std::fprintf(stderr, "margay simulate: %s\n", sim::for_terminal(status.sentence()).c_str());
  ::_exit(exit_status);
}

// Waits for the child's end, and ends it itself after the limit.
void await(pid_t child, std::uint64_t limit_seconds, ScheduleRun& run) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (process >= 0) {
    pollfd ended{process, POLLIN, 0};
    int ready = 0;
    do ready = ::poll(&ended, 1, static_cast<int>(limit_seconds * 1000));
    while (ready < 0 && errno == EINTR);
    run.exceeded_limit = ready == 0;
    if (run.exceeded_limit) ::kill(child, SIGKILL);
    ::close(process);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  run.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : kExitOfSignal + WTERMSIG(status);
}

}  // namespace

std::string repeat_command(const SimulateOrder& order, const Schedule& schedule) {
  const Settings& settings = order.settings;
  std::string text = fmt::format("{}=1 margay simulate -n {} --machine {} --compute {}", kCheckRma, settings.ranks,
                                 quoted(settings.machine), order.compute);
  const Settings usual;
  if (settings.cpu_scale != usual.cpu_scale) text += fmt::format(" --cpu-scale {}", settings.cpu_scale);
  if (settings.stack_bytes != usual.stack_bytes) text += fmt::format(" --stack {}", settings.stack_bytes);
  for (const virtual_machine::Change& change : settings.changes)
    text += " --set " + quoted(change.name + "=" + change.value);
  for (const std::string& death : settings.deaths) text += " --kill " + quoted(death);
  for (const std::string& link : settings.down_links) text += " --down " + quoted(link);
  if (schedule.choices)
    text += " --wildcards " + format_choices(*schedule.choices);
  else if (!settings.wildcards.empty())
    text += " --wildcards " + settings.wildcards;
  if (schedule.seed != 0) text += fmt::format(" --seed {}", schedule.seed);
  if (schedule.delay_ns != 0) text += fmt::format(" --delay {}ns", schedule.delay_ns);
  for (const std::string& word : order.command) text += " " + quoted(word);
  return text;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status ScratchFolder::make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "margay-explore-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr)
    return Status::error(
        fmt::format("cannot make a folder in {}: {}; set TMPDIR", parent.string(), std::strerror(errno)));
  path_ = name;
  return {};
}

Status run_schedule(const SimulateOrder& order, const Schedule& schedule, const ScratchFolder& folder,
                    std::uint64_t limit_seconds, const std::string& trace_dir, ScheduleRun& out) {
  SimulateOrder child_order = order;
  Settings& settings = child_order.settings;
  settings.seed = schedule.seed;
  settings.delay_ns = schedule.delay_ns;
  settings.trace_dir = trace_dir;
  settings.wildcard_log = folder.file("log");
  if (schedule.choices) settings.wildcards = format_choices(*schedule.choices);
  std::error_code ignored;
  std::filesystem::remove(settings.wildcard_log, ignored);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return Status::error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become_run(child_order, folder, parent);
  out = {};
  out.schedule = schedule;
  await(child, limit_seconds, out);
  out.output = lines_of(read_file(folder.file("output")));
  std::stable_sort(out.output.begin(), out.output.end(),
                   [](const std::string& a, const std::string& b) { return rank_of(a) < rank_of(b); });
  out.errors = read_file(folder.file("errors"));
  out.findings = findings_in(out.errors);
  read_log(read_file(settings.wildcard_log), out);
  return {};
}

}  // namespace margay::command
