#include "sim/launch/report/trace_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/trace/format.hpp"
#include "sim/trace/reader.hpp"

namespace margay::sim {

std::vector<std::string> trace_losses(const std::vector<std::string>& files) {
  constexpr std::size_t kMostTold = 8;
  std::vector<std::string> sentences;
  std::size_t ranks = 0;
  std::uint64_t most = 0;
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    TraceCounts counts;
    if (!read_trace_counts(files[rank], counts).ok() || counts.written <= counts.capacity || counts.keep_ns != 0) {
      continue;
    }
    most = std::max(most, counts.written);
    if (++ranks > kMostTold) continue;
    sentences.push_back(fmt::format("trace: rank {}: the first {} of its {} events were overwritten", rank,
                                    counts.written - counts.capacity, counts.written));
  }
  if (ranks > kMostTold) sentences.push_back(fmt::format("trace: and those of {} more ranks", ranks - kMostTold));
  if (ranks == 0) return sentences;
  const std::uint64_t enough = std::bit_ceil(most);
  if (enough > kMaxTraceEvents) {
    sentences.emplace_back("trace: no file holds so many; --trace-last S keeps the last seconds alone");
  } else {
    sentences.push_back(
        fmt::format("trace: --trace-events {} keeps them all, {} KiB a rank; --trace-last S the last "
                    "seconds alone",
                    enough, (kTraceEventsOffset + enough * kTraceEventBytes) >> 10U));
  }
  return sentences;
}

}  // namespace margay::sim
