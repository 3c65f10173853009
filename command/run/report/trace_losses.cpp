#include "command/run/report/trace_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "command/trace/read/reader.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

namespace {

// In a job with thousands of ranks, eight sentences suffice to show the problem.
constexpr std::size_t kReportedMax = 8;

// Whether wanted events were lost: with --trace-last the ring may have been too small even for the end.
bool has_lost(const TraceCounts& counts) {
  return counts.lost != 0 && (counts.keep_ns == 0 || counts.held_ns < counts.keep_ns);
}

std::string seconds(std::uint64_t ns) {
  return fmt::format("{:.3g} s", static_cast<double>(ns) / 1e9);
}

std::string sentence_of(std::size_t rank, const TraceCounts& counts) {
  if (counts.keep_ns == 0) {
    return fmt::format("trace: rank {}: the first {} of its {} events were overwritten", rank, counts.lost,
                       counts.written);
  }
  return fmt::format("trace: rank {}: of the last {} only {} are there; {} of its {} events were overwritten", rank,
                     seconds(counts.keep_ns), seconds(counts.held_ns), counts.lost, counts.written);
}

// The number of events that would keep everything wanted, assuming a constant event rate.
std::uint64_t wanted_events(const TraceCounts& counts) {
  if (counts.keep_ns == 0 || counts.held_ns == 0) return counts.written;
  const double times = static_cast<double>(counts.keep_ns) / static_cast<double>(counts.held_ns);
  const double events = times * static_cast<double>(counts.capacity);
  return events < static_cast<double>(counts.written) ? static_cast<std::uint64_t>(events) : counts.written;
}

// The cure fits the rank with the highest need.
std::string cure(std::uint64_t most, bool keeps_end) {
  // A ring's capacity is a power of two.
  const std::uint64_t enough = most > sim::kMaxTraceEvents ? 0 : std::bit_ceil(most);
  if (enough == 0) {
    return keeps_end ? "trace: too many events for a file; ask for fewer seconds"
                     : "trace: too many events for a file; --trace-last S keeps only the last seconds";
  }
  return fmt::format("trace: --trace-events {} keeps {}, {} KiB a rank{}", enough, keeps_end ? "so much" : "them all",
                     (sim::kTraceEventsOffset + enough * sim::kTraceEventBytes) >> 10U,
                     keeps_end ? "" : "; --trace-last S keeps only the last seconds");
}

}  // namespace

std::vector<std::string> trace_losses(const std::vector<std::string>& files, std::uint64_t job) {
  std::vector<std::string> sentences;
  std::vector<std::string> names;
  std::size_t ranks = 0;
  std::uint64_t most = 0;
  bool keeps_end = false;
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    TraceCounts counts;
    // A folder may still contain the file of an earlier run, whose losses are not this job's.
    if (files[rank].empty() || !read_trace_counts(files[rank], counts).ok() || counts.job != job) continue;
    if (counts.definitions_lost != 0 && names.size() < kReportedMax) {
      names.push_back(fmt::format("trace: rank {}: {}", rank, sim::lost_definitions_text(counts.definitions_lost)));
    }
    if (!has_lost(counts)) continue;
    most = std::max(most, wanted_events(counts));
    keeps_end = counts.keep_ns != 0;
    if (++ranks <= kReportedMax) sentences.push_back(sentence_of(rank, counts));
  }
  if (ranks > kReportedMax) sentences.push_back(fmt::format("trace: and those of {} more ranks", ranks - kReportedMax));
  if (ranks != 0) sentences.push_back(cure(most, keeps_end));
  sentences.insert(sentences.end(), names.begin(), names.end());
  return sentences;
}

}  // namespace margay::command
