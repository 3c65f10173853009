#include "command/simulate/explore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "command/simulate/choice_tree.hpp"
#include "command/simulate/race_story.hpp"
#include "command/simulate/schedule.hpp"
#include "command/simulate/schedule_difference.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/findings.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {
namespace {

using portals::Status;

constexpr int kStatusFound = 1;
// Of a run that cannot begin (program_start, run_world).
constexpr int kStatusNotStarted = 71;
// If the command line gives no delay.
constexpr const char* kDelay = "100us";
// The width of a story in the comparison of two.
constexpr std::size_t kStoryColumns = 76;

class Exploration {
 public:
  Exploration(const ExploreOrder& explored, const SimulateOrder& order, const CallSite& call_site)
      : explored_(explored), order_(order), call_site_(call_site) {}

  [[nodiscard]] Status run(bool& found);

 private:
  [[nodiscard]] Status run_next(const Schedule& schedule, bool& found);
  [[nodiscard]] Status run_next_choices(bool& found);
  void report(const ScheduleRun& reference, const ScheduleRun& run);
  void tell_stories(const ScheduleRun& reference, const ScheduleRun& run);
  void report_nothing() const;

  const ExploreOrder& explored_;
  const SimulateOrder& order_;
  const CallSite& call_site_;
  ScratchFolder folder_;
  ChoiceTree tree_;
  bool is_exhausted_ = false;
  std::uint64_t runs_ = 0;
  std::uint64_t choice_runs_ = 0;
  std::uint64_t infeasible_ = 0;
  // The first run, and the first one whose wildcards were chosen.
  ScheduleRun first_;
  std::optional<ScheduleRun> first_chosen_;
};

bool fails(const ScheduleRun& run) {
  return run.exceeded_limit || !run.findings.empty();
}

// Schedules of choices and of random delays take turns, because either sort may be endless.
Status Exploration::run(bool& found) {
  if (Status status = folder_.make(); !status.ok()) return status;
  Schedule schedule{{}, order_.settings.seed, 0};
  if (Status status = run_next(schedule, found); !status.ok() || found) return status;
  if (first_.exit_status == kStatusNotStarted)
    return Status::error("the first schedule cannot start:\n" + first_.errors);
  const bool chooses = order_.settings.wildcards.empty() && order_.settings.ranks <= virtual_machine::kWildcardRanksMax;
  is_exhausted_ = !chooses;
  while (runs_ < explored_.schedules && !found) {
    if (!is_exhausted_)
      if (Status status = run_next_choices(found); !status.ok()) return status;
    if (found || runs_ >= explored_.schedules) break;
    ++schedule.seed;
    schedule.delay_ns = order_.settings.delay_ns;
    if (Status status = run_next(schedule, found); !status.ok()) return status;
  }
  if (found) return {};
  if (!is_exhausted_) is_exhausted_ = !tree_.next();
  report_nothing();
  return {};
}

Status Exploration::run_next_choices(bool& found) {
  Schedule schedule{tree_.next(), order_.settings.seed, 0};
  is_exhausted_ = !schedule.choices;
  return is_exhausted_ ? Status() : run_next(schedule, found);
}

Status Exploration::run_next(const Schedule& schedule, bool& found) {
  ScheduleRun run;
  if (Status status = run_schedule(order_, schedule, folder_, explored_.limit_seconds, "", run); !status.ok())
    return status;
  const bool is_first = runs_++ == 0;
  if (schedule.choices) {
    tree_.record(run.decisions);
    if (run.is_infeasible) {
      ++infeasible_;
      return {};
    }
    ++choice_runs_;
    if (!first_chosen_) first_chosen_ = run;
  }
  if (is_first) first_ = run;
  found = is_first ? fails(run) : differ(first_, run);
  if (!found) return {};
  // Two schedules of choices have the same choices up to the one that makes the difference.
  const bool has_reference = schedule.choices && !differ(first_, *first_chosen_);
  report(has_reference ? *first_chosen_ : first_, run);
  return {};
}

void Exploration::report(const ScheduleRun& reference, const ScheduleRun& run) {
  const std::optional<WildcardRace> race = find_race(reference, run);
  if (runs_ == 1) {
    fmt::print("margay simulate: the first schedule {}:\n{}",
               run.exceeded_limit ? "does not end within --schedule-limit" : "fails", run.errors);
  } else {
    const sim::Finding finding = race ? sim::Finding::wildcard_race : sim::Finding::schedule_dependent;
    fmt::print("margay simulate: schedule {} has another result than the first one{}\n", runs_,
               sim::id_suffix(finding));
    fmt::print("{}", describe_difference(first_, run));
    fmt::print("To repeat the schedule with this result, and one with the first result:\n  {}\n  {}\n",
               repeat_command(order_, run.schedule), repeat_command(order_, reference.schedule));
  }
  if (race) tell_stories(reference, run);
  if (runs_ == 1) fmt::print("To repeat it:\n  {}\n", repeat_command(order_, run.schedule));
}

// A schedule with the choices of a run, up to that of one wildcard.
Schedule choices_of(const ScheduleRun& run, const Choice& last) {
  Schedule schedule = run.schedule;
  schedule.choices.emplace();
  for (const Decision& decision : run.decisions) {
    schedule.choices->push_back(decision.choice);
    if (decision.choice == last) break;
  }
  return schedule;
}

// Runs both schedules again, with traces. All choices are given, because a trace takes virtual time.
void Exploration::tell_stories(const ScheduleRun& reference, const ScheduleRun& run) {
  const WildcardRace race = *find_race(reference, run);
  const auto story = [&](const ScheduleRun& of, const Choice& choice, const std::string& name) {
    std::string text;
    ScheduleRun traced;
    Status status =
        run_schedule(order_, choices_of(of, choice), folder_, explored_.limit_seconds, folder_.file(name), traced);
    const auto made = std::find_if(traced.decisions.begin(), traced.decisions.end(),
                                   [&](const Decision& decision) { return decision.choice == choice; });
    if (status.ok() && made == traced.decisions.end()) status = Status::error("the run with a trace took another one");
    if (status.ok()) status = story_of(folder_.file(name), *made, call_site_, text);
    return status.ok() ? text : "(no story: " + status.sentence() + ")\n";
  };
  const Choice& here = race.second.choice;
  const Choice& there = race.first.choice;
  fmt::print("Wildcard {} of rank {} took the message of rank {} here, and of rank {} there:\n", here.number, here.rank,
             here.source, there.source);
  fmt::print("{}", side_by_side(story(run, here, "here"), story(reference, there, "there"), kStoryColumns));
}

void Exploration::report_nothing() const {
  std::string text = fmt::format("margay simulate: {} with the same result", sim::counted(runs_, "schedule"));
  if (choice_runs_ != 0) {
    text += is_exhausted_ ? fmt::format("; among them all {} of the choices of wildcards", choice_runs_)
                          : fmt::format("; among them {} of the choices of wildcards, which are more", choice_runs_);
  }
  if (infeasible_ != 0) text += fmt::format(" ({} proved impossible)", infeasible_);
  fmt::print("{}\n", text);
}

}  // namespace

void prepare_exploration(SimulateOrder& order) {
  if (order.compute == "measured") order.compute = "none";
  if (order.delay == SimulateOrder().delay) order.delay = kDelay;
}

int explore(const ExploreOrder& explored, const SimulateOrder& order, const CallSite& call_site) {
  Exploration exploration(explored, order, call_site);
  bool found = false;
  const Status status = exploration.run(found);
  if (!status.ok()) {
    std::fprintf(stderr, "margay simulate: %s\n", sim::for_terminal(status.sentence()).c_str());
    return kStatusFound;
  }
  return found ? kStatusFound : 0;
}

}  // namespace margay::command
