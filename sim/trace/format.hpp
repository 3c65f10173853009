// The layout of a trace file (docs/trace_format.md): one header page, a table of names, the definitions, a ring of
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
// Changes when an old reader would misread a new file.
inline constexpr std::uint32_t kTraceVersion = 4;
// A page, so that the parts behind it are aligned.
inline constexpr std::uint64_t kTraceHeaderBytes = 4096;
// 4 GiB a rank.
inline constexpr std::uint64_t kMaxTraceEvents = std::uint64_t{1} << 26;
// The table of the names of calls.
inline constexpr std::uint32_t kMaxTraceNames = 1024;
// A name's place in the table, with at least one zero at the end.
inline constexpr std::uint64_t kTraceNameBytes = 32;
// Positions and sizes of the file's parts, in their order.
inline constexpr std::uint64_t kTraceNamesOffset = kTraceHeaderBytes;
inline constexpr std::uint64_t kTraceDefinitionsOffset = kTraceNamesOffset + kMaxTraceNames * kTraceNameBytes;
inline constexpr std::uint64_t kTraceDefinitionsBytes = std::uint64_t{512} * 1024;
inline constexpr std::uint64_t kTraceEventsOffset = kTraceDefinitionsOffset + kTraceDefinitionsBytes;
static_assert(kTraceDefinitionsOffset % alignof(DefinitionHead) == 0);
static_assert(kTraceEventsOffset % 4096 == 0);

// close() was reached, so events that are missing were never recorded.
inline constexpr std::uint32_t kTraceFlagClosed = 1;
// The file has kernel_pass events.
inline constexpr std::uint32_t kTraceFlagWalks = 2;

// The greatest distance between two anchors, in ticks: distances grow up to it. Only the newest event may lie farther
// behind the latest anchor.
inline constexpr std::uint64_t kMostAnchorDistance = std::uint64_t{1} << 30;
// The stored anchors: the first, and the latest two in turn, so that a crash while writing one leaves the other.
inline constexpr std::size_t kTraceAnchors = 3;
[[nodiscard]] constexpr std::size_t anchor_slot(std::uint64_t number) {
  return number == 0 ? 0 : static_cast<std::size_t>(1 + number % 2);
}

// The end of a rank that had not closed its file.
enum class TraceEnd : std::uint32_t {
  none,
  // The rank was killed; end_value: the signal.
  signal,
  // It exited without closing its file; end_value: its status.
  exit_status,
  // By a signal that the launcher sent when it ended the job; end_value: stop_value().
  stopped,
};
// Whether a signal ended the rank.
[[nodiscard]] constexpr bool was_killed(TraceEnd end) {
  return end == TraceEnd::signal || end == TraceEnd::stopped;
}
// The reason why the launcher ended the job.
enum class TraceStop : std::uint8_t { other, rank, timeout, deadlock, interrupt };
// The end_value of a rank that the launcher stopped: the signal, and the reason above it.
[[nodiscard]] constexpr std::uint32_t stop_value(std::uint32_t signal, TraceStop why) {
  return (signal & 0xffU) | static_cast<std::uint32_t>(why) << 8U;
}

// The file's first page. Fields are grouped by their writer.
struct TraceHeader {
  // Constant once the file exists under its name.
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
  // Events in the ring, a power of two. Constant, so a reader masks positions by it.
  std::uint64_t capacity;
  // CLOCK_REALTIME when opened; for people.
  std::uint64_t started_realtime_ns;
  // The host's boot identity: files with the same one have one scale of ticks.
  std::array<std::uint8_t, 16> host;
  std::uint64_t definitions_offset;
  // Size of their region.
  std::uint64_t definitions_bytes;
  // Readers omit events that are older than this before the run's last one; 0: none.
  std::uint64_t keep_ns;
  // The same in all files of a run; 0: unknown.
  std::uint64_t job;
  // TraceChecksum's, in a file that its rank closed; otherwise 0.
  std::uint64_t checksum;
  // Written while recording.
  // Events ever recorded; counted after the event is in the ring.
  std::uint64_t written;
  std::uint64_t anchor_count;
  // By anchor_slot().
  std::array<ClockAnchor, kTraceAnchors> anchors;
  // Names that are complete; they do not change afterwards.
  std::uint32_t name_count;
  // kTraceFlagClosed, kTraceFlagWalks.
  std::uint32_t flags;
  // Bytes; counted after the definition is complete.
  std::uint32_t definitions_used;
  // Definitions for which there was no room.
  std::uint32_t definitions_lost;
  // Written by the launcher when the rank ended without closing the file, in this order: end_value, end, checksum.
  // TraceChecksum's of the rank's data; 0: none.
  std::uint64_t launcher_checksum;
  // `none` while the rank runs, or when it closed the file.
  TraceEnd end;
  // The signal, the exit status, or stop_value().
  std::uint32_t end_value;
};
static_assert(std::is_trivially_copyable_v<TraceHeader>);
static_assert(offsetof(TraceHeader, names_offset) == 40 && offsetof(TraceHeader, host) == 72);
static_assert(offsetof(TraceHeader, definitions_offset) == 88);
static_assert(offsetof(TraceHeader, written) == 128 && offsetof(TraceHeader, anchors) == 144);
static_assert(offsetof(TraceHeader, name_count) == 192 && offsetof(TraceHeader, launcher_checksum) == 208);
static_assert(sizeof(TraceHeader) == 224);
// Header bytes that the rank writes, and that its checksum covers when it closes the file.
inline constexpr std::size_t kRanksHeaderBytes = offsetof(TraceHeader, launcher_checksum);

}  // namespace margay::sim
