#include "command/trace/names/end_words.hpp"

#include <fmt/core.h>

#include <cstring>
#include <string_view>

#include "sim/base/text.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kMostNamed = 8;

std::string signal_text(std::uint32_t signal) {
  // Real-time signals have no abbreviation.
  const char* name = sigabbrev_np(static_cast<int>(signal));
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} (SIG{})", signal, name);
}

// The launcher's reason to end the job; "": not known.
std::string_view stop_text(std::uint32_t why) {
  switch (static_cast<sim::TraceStop>(why)) {
    case sim::TraceStop::rank:
      return " after another rank's failure";
    case sim::TraceStop::timeout:
      return " (--timeout)";
    case sim::TraceStop::deadlock:
      return " (--deadlock abort)";
    case sim::TraceStop::interrupt:
      return " (it was interrupted)";
    case sim::TraceStop::other:
      break;
  }
  return "";
}

}  // namespace

// The launcher's record is the only source: a killed rank wrote nothing.
std::string end_text(const TraceFile& file) {
  switch (file.end) {
    // The launcher seals the file of a rank whose end it did not see, because a process that it had not started wrote
    // it.
    case sim::TraceEnd::none:
      return file.sealed && !file.closed ? "ended in a way that its launcher did not see, and did not close its trace"
                                         : "";
    case sim::TraceEnd::signal:
      return (file.closed ? "closed its trace, and was killed later by " : "was killed by ") +
             signal_text(file.end_value);
    case sim::TraceEnd::stopped:
      return fmt::format("{} by {}, which margay run sent as it ended the job{}",
                         file.closed ? "closed its trace, and was killed later" : "was killed",
                         // The lowest byte is the signal, the others the reason.
                         signal_text(file.end_value & 0xffU), stop_text(file.end_value >> 8U));
    case sim::TraceEnd::exit_status:
      return file.closed ? fmt::format("closed its trace, and ended with exit status {}", file.end_value)
                         : fmt::format("ended with exit status {} and did not close its trace", file.end_value);
  }
  return "ended in a way that this margay does not know";
}

// Without a checksum only invalid fields are noticed, not changed ones.
std::string unsealed_text(const std::vector<TraceFile>& files) {
  std::size_t count = 0;
  std::string ranks;
  for (const TraceFile& file : files) {
    if (file.sealed || file.closed) continue;
    if (++count <= kMostNamed) ranks += fmt::format("{}{}", count == 1 ? "" : ", ", file.rank);
  }
  if (count == 0) return "";
  if (count > kMostNamed) ranks += fmt::format(" and {} more", count - kMostNamed);
  return fmt::format(
      "not closed: the {0} of {1} {2} (the job still runs; or its launcher was killed too, did not find {3}, "
      "or reported why {3} cannot be closed), so damage in {3} cannot be detected",
      sim::noun(count, "file"), sim::noun(count, "rank"), ranks, sim::noun(count, "it", "them"));
}

}  // namespace margay::command
