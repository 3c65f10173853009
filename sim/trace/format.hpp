// The layout of a trace file (docs/trace_format.md): a header page, a table of names, the definitions, and a ring of
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
// The format's version. Changes when an old reader would misread a new file.
inline constexpr std::uint32_t kTraceVersion = 4;
// The header has a page, so that the parts after it are aligned.
inline constexpr std::uint64_t kTraceHeaderBytes = 4096;
// The most events of a ring: 4 GiB for each rank.
inline constexpr std::uint64_t kMaxTraceEvents = std::uint64_t{1} << 26;
// The most names in the table, which has the names of calls.
inline constexpr std::uint32_t kMaxTraceNames = 1024;
// The length of a name in the table, with at least one zero at the end.
inline constexpr std::uint64_t kTraceNameBytes = 32;
// Positions and sizes of the file's parts, in their order.
inline constexpr std::uint64_t kTraceNamesOffset = kTraceHeaderBytes;
inline constexpr std::uint64_t kTraceDefinitionsOffset = kTraceNamesOffset + kMaxTraceNames * kTraceNameBytes;
inline constexpr std::uint64_t kTraceDefinitionsBytes = std::uint64_t{512} * 1024;
inline constexpr std::uint64_t kTraceEventsOffset = kTraceDefinitionsOffset + kTraceDefinitionsBytes;
static_assert(kTraceDefinitionsOffset % alignof(DefinitionHead) == 0);
static_assert(kTraceEventsOffset % 4096 == 0);

// Flags of a file. kTraceFlagClosed: the rank closed the file, so an event that is missing was never recorded.
inline constexpr std::uint32_t kTraceFlagClosed = 1;
// The file has kernel_pass events.
inline constexpr std::uint32_t kTraceFlagWalks = 2;
// The bits of the flags from this one on have the bound of the ranks' numbers, if it is above `size`, otherwise 0:
// ranks that started later than this one have numbers from `size` on. Written with `size`.
inline constexpr unsigned kTracePlacesShift = 8;

// The greatest distance between two anchors, in ticks; distances grow up to it. Only the newest event may be more
// than this after the latest anchor.
inline constexpr std::uint64_t kMostAnchorDistance = std::uint64_t{1} << 30;
// The number of stored anchors: the first one, and the latest two. The latest two are written in turn, so that a crash
// while one is being written leaves the other intact. anchor_slot(): the index of the anchor with number `number`, from
// 0.
inline constexpr std::size_t kTraceAnchors = 3;
[[nodiscard]] constexpr std::size_t anchor_slot(std::uint64_t number) {
  return number == 0 ? 0 : static_cast<std::size_t>(1 + number % 2);
}

// The end of a rank, as its launcher observed it. A rank that closed its file and exited with status 0 has `none`.
enum class TraceEnd : std::uint32_t {
  none,
  // A signal killed the rank; end_value: the signal.
  signal,
  // The rank exited; end_value: its exit status.
  exit_status,
  // A signal that the launcher sent, when it ended the job, killed the rank; end_value: stop_value().
  stopped,
};
// Whether a signal ended the rank.
[[nodiscard]] constexpr bool was_killed(TraceEnd end) {
  return end == TraceEnd::signal || end == TraceEnd::stopped;
}
// The reason why the launcher ended the job.
enum class TraceStop : std::uint8_t { other, rank, timeout, deadlock, interrupt };
// The end_value of a rank that the launcher stopped: the signal in bits 0 to 7, and the reason above.
[[nodiscard]] constexpr std::uint32_t stop_value(std::uint32_t signal, TraceStop why) {
  return (signal & 0xffU) | static_cast<std::uint32_t>(why) << 8U;
}

// The file's first page. Fields are grouped by their writer.
struct TraceHeader {
  // The fields from here to checksum are written once, when recording starts, magic last; checksum when the rank closes
  // the file.
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
  // CLOCK_REALTIME when the file was opened; for people.
  std::uint64_t started_realtime_ns;
  // host_identity(). Files with the same identity have the same scale of ticks.
  std::array<std::uint8_t, 16> host;
  std::uint64_t definitions_offset;
  // Size of the definitions' region.
  std::uint64_t definitions_bytes;
  // Readers omit events that precede the run's last event by more than this; 0: readers omit none.
  std::uint64_t keep_ns;
  // The run's identity, the same in all its files; 0: unknown.
  std::uint64_t job;
  // The rank's TraceChecksum in a file that the rank closed; otherwise 0.
  std::uint64_t checksum;
  // The fields from here to definitions_lost are written while recording.
  // The number of events ever recorded; an event is counted after it is in the ring.
  std::uint64_t written;
  std::uint64_t anchor_count;
  // By anchor_slot().
  std::array<ClockAnchor, kTraceAnchors> anchors;
  // The number of complete names, which do not change any more.
  std::uint32_t name_count;
  // kTraceFlagClosed, kTraceFlagWalks, and the places.
  std::uint32_t flags;
  // Bytes of the definitions; a definition is counted after it is complete.
  std::uint32_t definitions_used;
  // The number of definitions for which there was no room.
  std::uint32_t definitions_lost;
  // The launcher writes the other fields, if the rank ended without closing the file or did not end with exit status 0.
  // If the rank had not closed the file, the launcher writes launcher_checksum last.
  // The launcher's TraceChecksum: of the file, or of the header alone if the rank closed the file; 0: there is none.
  std::uint64_t launcher_checksum;
  // `none` while the rank runs, if nothing had to be written, or if the launcher does not observe the process itself.
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
// The number of header bytes that the rank writes. Its checksum covers these bytes.
inline constexpr std::size_t kRanksHeaderBytes = offsetof(TraceHeader, launcher_checksum);

}  // namespace margay::sim
