#include "sim/boot/job_rates.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "sim/boot/measured_rates.hpp"

namespace margay::sim {
namespace {

using portals::Status;

// The user's own value is never passed over, and a mistake in it ends the job's start.
Status use_given_rates(std::string asked, JobRates& out) {
  out.given = true;
  if (asked.find('/') != std::string::npos) {
    if (Status status = read_rates_file(asked, out.measured); !status.ok()) {
      return Status::error("MARGAY_RATES, or --rates: " + status.sentence());
    }
    out.text = out.measured.rates;
    out.file = std::move(asked);
    return {};
  }
  if (asked.size() > kRatesTextMax) {
    return Status::error("MARGAY_RATES, or --rates, has " + std::to_string(asked.size()) + " characters; at most " +
                         std::to_string(kRatesTextMax) + " are allowed");
  }
  out.text = std::move(asked);
  return {};
}

// Reads a file if it exists. A file that cannot be used is added to `passed_over`.
bool take_file(const std::string& path, JobRates& out) {
  if (path.empty() || ::access(path.c_str(), F_OK) != 0) return false;
  MeasuredRates measured;
  if (const Status status = read_rates_file(path, measured); !status.ok()) {
    out.passed_over.push_back(status.sentence());
    return false;
  }
  // A home folder may be shared by different machines.
  if (measured.machine != this_machine()) {
    out.passed_over.push_back(path + " was measured on another machine: " + measured.machine);
    return false;
  }
  out.text = measured.rates;
  out.file = path;
  out.measured = std::move(measured);
  return true;
}

}  // namespace

Status find_job_rates(const Options& options, JobRates& out) {
  out = {};
  if (std::string asked = options.text("rates"); !asked.empty()) return use_given_rates(std::move(asked), out);
  if (!take_file(user_rates_file(), out)) static_cast<void>(take_file(installed_rates_file(), out));
  return {};
}

portals::Status take_rates(Job& job) {
  JobRates found;
  if (Status status = find_job_rates(job.options, found); !status.ok()) return status;
  for (const std::string& sentence : found.passed_over) {
    static_cast<void>(std::fprintf(stderr, "margay: %s; it is passed over\n", sentence.c_str()));
  }
  job.rates = std::move(found.text);
  job.rates_given = found.given;
  return {};
}

}  // namespace margay::sim
