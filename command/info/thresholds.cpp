#include "command/info/info.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sim/base/limits.hpp"
#include "sim/shm/cell_data.hpp"
#include "sim/shm/shared_body.hpp"
#include "sim/wire/frame.hpp"
#include "sim/wire/shm/shm_body.hpp"
#include "sim/wire/tcp/tcp_frame.hpp"
#include "sim/wire/tcp/tcp_sender.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::command {
namespace {

std::string row(std::string_view what, const std::string& value, std::string_view reason) {
  return fmt::format("  {:<46} {:<12} {}", what, value, reason);
}

// The longest body that is copied in one chunk. Determined by a search, so that it always agrees with BodyChunks.
std::uint64_t unshared_bytes() {
  std::uint64_t bytes = sim::kReadBodyMinBytes;
  while (sim::BodyChunks(bytes + 1).count() == 1) ++bytes;
  return bytes;
}

}  // namespace

// Values come from the constants themselves, so they cannot become stale; the reasons are measurements.
std::vector<std::string> describe_thresholds() {
  constexpr std::uint64_t kLong = std::uint64_t{64} << 20;
  constexpr double kNsPerUs = 1e3;
  constexpr double kNsPerMs = 1e6;
  return {
      "thresholds inside a node (constants; figures are one way between two processors without a common cache)",
      row("a body inside its cell, up to", bytes_text(sim::kCacheLineBytes - sim::kFrameHeadMinBytes),
          fmt::format("a cache line minus the head of a standard send; {} behind a head with all user data",
                      bytes_text(sim::kShortPutBodyBytes))),
      row("cells of a channel", std::to_string(sim::kCellCount), "with three lines of counters, two pages"),
      row("byte ring of a channel", bytes_text(sim::kByteRingBytes), "eight of the longest whole bodies"),
      row("a body written before its cell, up to", bytes_text(sim::kWholeBodyBytes),
          "16 KiB: 2.31 us whole, 2.87 us in chunks of 8 KiB"),
      row("a body carried by the receiver alone, up to", bytes_text(unshared_bytes()),
          "64 KiB: 4.4 us in two chunks, 5.8 us in four"),
      row("a chunk that one side carries, at most", bytes_text(sim::BodyChunks(kLong).bytes(0)),
          "4 MiB: 222 us in chunks of 512 KiB, 256 us of 256 KiB"),
      "thresholds of tcp",
      row("a frame with a whole body, up to", bytes_text(sim::kWholeBytes), "a short message fits a frame"),
      row("a segment of a long body", bytes_text(sim::kSegmentBytes),
          "an eighth of the cache: the copy after the checksum reads from the cache"),
      row("queued bodies copied into a batch, up to", bytes_text(sim::kGatherCopyBytes),
          "longer ones are sent from the program's memory"),
      row("a burst leaves after messages", std::to_string(sim::TcpWire::kBurstMessages),
          "6 % faster than 63; 16 cost more calls"),
      row("a burst leaves after bytes", bytes_text(sim::TcpWire::kBurstBytes),
          "the peer works on them while this rank makes more"),
      "thresholds of waiting",
      row("rings a peer that may be computing after",
          fmt::format("{:g} us", static_cast<double>(sim::kNudgeAfterNs) / kNsPerUs),
          "a peer that is inside MPI has answered by then"),
      row("sleeps after", fmt::format("{:g} ms", static_cast<double>(sim::kSleepAfterNs) / kNsPerMs),
          "a wake-up is less than a hundredth of the wait then"),
  };
}

}  // namespace margay::command
