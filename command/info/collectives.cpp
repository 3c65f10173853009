#include "command/info/info.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/select/choose.hpp"
#include "collectives/select/describe.hpp"
#include "command/calibrate/calibrate.hpp"
#include "command/line/line_mistakes.hpp"
#include "sim/base/processors.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/job_rates.hpp"

namespace margay::command {

namespace {

using portals::Status;

// Prints a message. Control characters are replaced, because file names and rates of the command line may be part of
// it.
void print_error(const std::string& sentence) {
  std::fprintf(stderr, "margay info: %s\n", sim::for_terminal(sentence).c_str());
}

int refuse(const Status& status) {
  print_error(status.sentence());
  return kStatusBadCommandLine;
}

// The rates that a run would use, with a description of their source.
struct TakenRates {
  collectives::Rates rates = collectives::usual_rates();
  std::string source;
};

// Names the rates that were not measured, because these influence choices as much as measured ones.
std::string from_file(const std::string& file, const sim::MeasuredRates& measured) {
  std::string text = fmt::format("measured {} on {}, kept in {}", measured.date, measured.machine, file);
  if (!measured.unmeasured.empty()) text += fmt::format("; the usual values, not measured: {}", measured.unmeasured);
  return text;
}

// Measures the machine at the first use. If the measurement fails or is disturbed, the usual rates are shown, because a
// run would use these.
Status measure_first(sim::JobRates& found, TakenRates& out) {
  std::fprintf(stderr, "margay info: this machine was not measured yet; measuring, once, for a few seconds\n");
  std::vector<std::string> remarks;
  std::string disturbed;
  const Status status = measure_machine(found.measured, remarks, disturbed);
  if (!status.ok() || !disturbed.empty()) {
    out.source = "the usual ones: " + (status.ok() ? disturbed : status.sentence());
    return {};
  }
  found.text = found.measured.rates;
  found.file = sim::user_rates_file();
  const Status kept = found.file.empty() ? Status::error("neither XDG_CACHE_HOME nor HOME names a folder for it")
                                         : sim::write_rates_file(found.file, found.measured);
  out.source = from_file(found.file, found.measured);
  if (!kept.ok()) out.source = "measured now and not stored, so a run uses the usual ones: " + kept.sentence();
  return collectives::parse_rates(found.text, out.rates);
}

// The same search as a run's, so that the output describes the next run.
Status take_rates(const std::string& asked, TakenRates& out) {
  sim::Options options = sim::Options::from_environment(environ);
  if (!asked.empty()) options.set("rates", asked);
  sim::JobRates found;
  if (Status status = sim::find_job_rates(options, found); !status.ok()) return status;
  for (const std::string& sentence : found.passed_over) print_error(sentence + "; it is passed over");
  if (found.text.empty()) return measure_first(found, out);
  Status status = collectives::parse_requested_rates(found.text, out.rates);
  if (!status.ok() && found.given) return status;
  if (!status.ok()) {
    out.source = fmt::format("the usual ones: {} is passed over: {}", found.file, status.sentence());
  } else if (!found.file.empty()) {
    out.source = from_file(found.file, found.measured);
  } else if (found.text == "usual") {
    out.source = "the usual ones, of a server of 2020 and TCP over loopback";
  } else if (found.text == "paragon") {
    out.source = "the Intel Paragon's, as published";
  } else {
    out.source = "as given (--rates, MARGAY_RATES)";
  }
  return {};
}

// The facts of a group whose ranks are placed in blocks, as by `margay run --nodes`.
collectives::Facts facts_of_group(const command::CollectivesQuestion& question) {
  std::vector<std::uint32_t> node_of_rank;
  // The number of nodes with one rank more.
  const unsigned larger = question.ranks % question.nodes;
  for (unsigned node = 0; node < question.nodes; ++node) {
    node_of_rank.insert(node_of_rank.end(), question.ranks / question.nodes + (node < larger ? 1 : 0), node);
  }
  collectives::Facts facts = collectives::facts_of_nodes(node_of_rank);
  facts.crowded = command::is_crowded(question.ranks);
  facts.processors = sim::processor_share().processors;
  facts.shared = question.nodes == 1 && question.ranks > 1;
  facts.strips = facts.shared;
  return facts;
}

std::string group_text(const command::CollectivesQuestion& question, const collectives::Facts& facts) {
  return fmt::format("{} rank{} on {} node{}, {}", question.ranks, question.ranks == 1 ? "" : "s", question.nodes,
                     question.nodes == 1 ? "" : "s",
                     facts.crowded ? "more ranks than processors" : "a processor for each");
}

// Writes the picture to a file, or to standard output ("-"). A full file system may be detected by fclose() only, so
// its result counts, too.
int write_picture(const std::string& file, const std::string& picture) {
  if (file == "-") return std::fputs(picture.c_str(), stdout) < 0 ? 1 : 0;
  std::FILE* const out = std::fopen(file.c_str(), "we");
  bool written = out != nullptr && std::fputs(picture.c_str(), out) >= 0;
  if (out != nullptr) written = std::fclose(out) == 0 && written;
  if (written) return 0;
  print_error(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  return 1;
}

}  // namespace

// Facts come from the options, not from a job: no rank is started except for a first measurement.
int info_collectives(const command::CollectivesQuestion& question) {
  if (question.nodes > question.ranks) {
    return refuse(Status::error(fmt::format("--nodes {} is more than the {} ranks", question.nodes, question.ranks)));
  }
  TakenRates taken;
  if (const Status status = take_rates(question.rates, taken); !status.ok()) return refuse(status);
  collectives::Facts facts = facts_of_group(question);
  facts.rates = taken.rates;
  const std::string group = group_text(question, facts);
  if (!question.plot.empty()) {
    return write_picture(question.plot,
                         collectives::plot_costs(facts, "Collective operations of " + group, "Rates: " + taken.source));
  }
  std::printf("rates: %s\n", taken.source.c_str());
  for (const std::string& line : collectives::describe_rates(taken.rates)) std::printf("%s\n", line.c_str());
  std::printf(
      "%s: bytes of one rank, chosen algorithm, its cost and the next best one's (a hybrid must be a tenth cheaper)\n",
      group.c_str());
  for (const std::string& line : collectives::describe_costs(facts)) std::printf("%s\n", line.c_str());
  std::printf("%s\n", collectives::describe_paragon().c_str());
  return 0;
}

}  // namespace margay::command
