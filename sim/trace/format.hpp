// The bytes of a trace file (docs/trace_format.md): one header page, a table of names, the definitions, a ring of
// events. Little-endian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sim/base/clock.hpp"
#include "sim/trace/definition.hpp"
#include "sim/trace/event.hpp"

namespace margay::sim {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian and written as it lies in memory");

inline constexpr std::uint64_t kTraceMagic = 0x6563'6172'7467'726d;  // "mrgtrace"
inline constexpr std::uint32_t kTraceVersion = 4;
inline constexpr std::uint64_t kTraceHeaderBytes = 4096;
inline constexpr std::uint64_t kMaxTraceEvents = std::uint64_t{1} << 26;  // 4 GiB a rank
inline constexpr std::uint32_t kMaxTraceNames = 1024;
inline constexpr std::uint64_t kTraceNameBytes = 32;  // with at least one zero at the end
inline constexpr std::uint64_t kTraceNamesOffset = kTraceHeaderBytes;
inline constexpr std::uint64_t kTraceDefinitionsOffset = kTraceNamesOffset + kMaxTraceNames * kTraceNameBytes;
inline constexpr std::uint64_t kTraceDefinitionsBytes = std::uint64_t{512} * 1024;
inline constexpr std::uint64_t kTraceEventsOffset = kTraceDefinitionsOffset + kTraceDefinitionsBytes;
static_assert(kTraceDefinitionsOffset % alignof(DefinitionHead) == 0);
static_assert(kTraceEventsOffset % 4096 == 0);

inline constexpr std::uint32_t kTraceFlagClosed = 1;  // close() was reached: what is missing was never recorded
inline constexpr std::uint32_t kTraceFlagWalks = 2;   // kernel_pass events are there

// Anchors come ever more rarely, at most so many ticks apart: no event but the newest lies farther behind the latest.
inline constexpr std::uint64_t kMostAnchorDistance = std::uint64_t{1} << 30;
// The first anchor, and the latest two in turn: a crash in the middle of writing one leaves the other.
inline constexpr std::size_t kTraceAnchors = 3;
[[nodiscard]] constexpr std::size_t anchor_slot(std::uint64_t number) {
  return number == 0 ? 0 : static_cast<std::size_t>(1 + number % 2);
}

// How a rank ended that had not closed its file.
enum class TraceEnd : std::uint32_t {
  none,
  signal,
  exit_status,
  stopped,  // by a signal that the launcher sent as it ended the job; end_value: stop_value()
};
[[nodiscard]] constexpr bool was_killed(TraceEnd end) {
  return end == TraceEnd::signal || end == TraceEnd::stopped;
}
// Why the launcher ended the job.
enum class TraceStop : std::uint8_t { other, rank, timeout, deadlock, interrupt };
[[nodiscard]] constexpr std::uint32_t stop_value(std::uint32_t signal, TraceStop why) {
  return (signal & 0xffU) | static_cast<std::uint32_t>(why) << 8U;
}

struct TraceHeader {
  // Constant once the file has its name.
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t header_bytes;  // kTraceHeaderBytes
  std::uint32_t event_bytes;   // kTraceEventBytes
  ClockKind clock;
  std::uint32_t rank;
  std::uint32_t size;
  std::uint32_t node;
  std::uint32_t process_id;
  std::uint64_t names_offset;
  std::uint64_t events_offset;
  std::uint64_t capacity;             // events in the ring, a power of two
  std::uint64_t started_realtime_ns;  // CLOCK_REALTIME when opened; for people
  std::array<std::uint8_t, 16> host;  // the host's boot identity: ticks of files with the same one are one scale
  std::uint64_t definitions_offset;
  std::uint64_t definitions_bytes;  // their room
  std::uint64_t keep_ns;            // older events than this before the run's last one are to be left out; 0: none
  std::uint64_t job;                // the same in all files of a run; 0: not known
  std::uint64_t checksum;           // TraceChecksum's, of a file that its rank closed; 0: it did not
  // Written while recording.
  std::uint64_t written;  // events ever recorded; counted after the event lies in the ring
  std::uint64_t anchor_count;
  std::array<ClockAnchor, kTraceAnchors> anchors;
  std::uint32_t name_count;
  std::uint32_t flags;
  std::uint32_t definitions_used;  // bytes; counted after the definition lies there
  std::uint32_t definitions_lost;  // for which there was no room
  // Written by the launcher of a rank that is gone without having closed it, in this order: end_value, end, checksum.
  std::uint64_t launcher_checksum;  // TraceChecksum's of what the rank left; 0: there is none
  TraceEnd end;
  std::uint32_t end_value;  // the signal, the exit status, or stop_value()
};
static_assert(std::is_trivially_copyable_v<TraceHeader>);
static_assert(offsetof(TraceHeader, names_offset) == 40 && offsetof(TraceHeader, host) == 72);
static_assert(offsetof(TraceHeader, definitions_offset) == 88);
static_assert(offsetof(TraceHeader, written) == 128 && offsetof(TraceHeader, anchors) == 144);
static_assert(offsetof(TraceHeader, name_count) == 192 && offsetof(TraceHeader, launcher_checksum) == 208);
static_assert(sizeof(TraceHeader) == 224);
// Of the header, what its rank writes: what the checksum of a file is about that the rank closed.
inline constexpr std::size_t kRanksHeaderBytes = offsetof(TraceHeader, launcher_checksum);

}  // namespace margay::sim
