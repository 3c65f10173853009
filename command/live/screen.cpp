#include "command/live/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "command/live/terminal.hpp"
#include "sim/base/clock.hpp"

namespace margay::command {

namespace {

constexpr int kStatusNoScreen = 1;
constexpr int kSignalBase = 128;
constexpr std::uint64_t kNsPerMs = 1'000'000;

// The current order is marked with an asterisk.
std::string help_line(SortKey key) {
  std::string text = "q quit  sort";
  for (const SortName& sort : sort_names()) {
    const std::string_view mark = sort.key == key ? "*" : "";
    text += fmt::format(" {}{}", sort.help, mark);
  }
  return text + "  j k scroll";
}

// The state of the screen: snapshots, sort order, scroll position.
class Screen {
 public:
  explicit Screen(const TopOptions& options) : options_(options), key_(options.key) {}
  int run();

 private:
  void look();
  void draw();
  void take_key(int key);
  void scroll(std::ptrdiff_t lines);

  TopOptions options_;
  SortKey key_;
  Terminal terminal_;
  RunningJobs jobs_;
  // By the job's name.
  std::map<std::string, JobMonitor> monitors_;
  std::vector<JobSnapshot> looks_;
  // First visible line.
  std::size_t top_ = 0;
  std::size_t lines_ = 0;
  bool over_ = false;
};

// Finds new jobs at each snapshot, and drops ended ones after the snapshot that showed their end.
void Screen::look() {
  jobs_.find();
  looks_.clear();
  for (RunningJob& job : jobs_.all()) {
    if (!options_.job.empty() && jobs_.named(options_.job) != &job) continue;
    looks_.push_back(monitors_[job.name].look(job, sim::real_clock().now_ns()));
  }
  // A requested job stays on the screen after its end.
  if (!options_.job.empty()) return;
  jobs_.drop_ended();
  std::erase_if(monitors_, [this](const auto& entry) { return jobs_.named(entry.first) == nullptr; });
}

// All tables are laid out, and the visible part is drawn: the terminal may be smaller than one job.
void Screen::draw() {
  std::vector<std::string> lines;
  std::vector<std::size_t> heads;
  for (const JobSnapshot& job : looks_) {
    if (!lines.empty()) lines.emplace_back();
    std::size_t head_at = 0;
    const std::vector<std::string> table = table_of(job, key_, terminal_.columns(), head_at);
    heads.push_back(lines.size() + head_at);
    lines.insert(lines.end(), table.begin(), table.end());
  }
  if (looks_.empty()) lines.emplace_back("no job of this user runs on this machine");
  const std::size_t room = std::max<std::size_t>(terminal_.rows(), 2) - 1;
  lines_ = lines.size();
  top_ = std::min(top_, lines_ > room ? lines_ - room : 0);
  std::vector<std::string> shown(lines.begin() + static_cast<std::ptrdiff_t>(top_), lines.end());
  shown.resize(room);
  shown.push_back(help_line(key_));
  std::vector<std::size_t> reversed{room};
  for (const std::size_t head : heads) {
    if (head >= top_) reversed.push_back(head - top_);
  }
  terminal_.draw(shown, reversed);
}

// draw() corrects the position to the last page.
void Screen::scroll(std::ptrdiff_t lines) {
  const auto to = static_cast<std::ptrdiff_t>(top_) + lines;
  top_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(to, 0, static_cast<std::ptrdiff_t>(lines_)));
}

void Screen::take_key(int key) {
  // One line of the former page stays visible.
  const auto page = static_cast<std::ptrdiff_t>(std::max<std::size_t>(terminal_.rows(), 3) - 2);
  switch (key) {
    case 'q':
      over_ = true;
      return;
    case 'k':
    case TerminalEvent::kUp:
      return scroll(-1);
    case 'j':
    case TerminalEvent::kDown:
      return scroll(1);
    case TerminalEvent::kPageUp:
      return scroll(-page);
    case TerminalEvent::kPageDown:
      return scroll(page);
    default:
      break;
  }
  for (const SortName& sort : sort_names()) {
    if (sort.letter == key) key_ = sort.key;
  }
}

// The job's name is resolved before the screen is entered, so that an error appears on the normal screen.
int Screen::run() {
  if (!options_.job.empty()) {
    jobs_.find();
    const RunningJob* const job = jobs_.named(options_.job);
    if (job == nullptr) {
      print_remarks(jobs_, options_.job);
      return kStatusNoScreen;
    }
    // The full name: a later job's name may begin with the given one.
    options_.job = job->name;
  }
  if (const portals::Status status = terminal_.open(); !status.ok()) {
    std::fprintf(stderr, "margay top: %s; --once prints one table\n", status.sentence().c_str());
    return kStatusNoScreen;
  }
  std::uint64_t next_ns = 0;
  while (!over_) {
    std::uint64_t now = sim::real_clock().now_ns();
    if (now >= next_ns) {
      look();
      next_ns = now + static_cast<std::uint64_t>(options_.interval_s * 1e9);
    }
    draw();
    now = sim::real_clock().now_ns();
    // Keys redraw at once, but do not change the interval of the snapshots.
    const std::uint64_t left_ms = next_ns > now ? (next_ns - now + kNsPerMs - 1) / kNsPerMs : 0;
    const TerminalEvent event = terminal_.wait(static_cast<int>(left_ms));
    if (event.kind == TerminalEvent::Kind::end) return event.value == 0 ? kStatusNoScreen : kSignalBase + event.value;
    if (event.kind == TerminalEvent::Kind::key) take_key(event.value);
  }
  return 0;
}

}  // namespace

void print_remarks(RunningJobs& jobs, const std::string& job) {
  for (const std::string& remark : jobs.remarks()) std::fprintf(stderr, "margay top: %s\n", remark.c_str());
  if (job.empty() || jobs.named(job) != nullptr) return;
  std::fprintf(stderr, "margay top: %s\n", jobs.explain_no_match(job, "job").c_str());
}

int show_screen(const TopOptions& options) {
  return Screen(options).run();
}

}  // namespace margay::command
