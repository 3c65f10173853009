// The job board: one memory file per job, which the launcher makes and every rank maps. In it, the launcher gives the
// ranks the job's data, and the ranks report their state. Layout:
//
//   BoardHeader | node_of_rank: u32 x size | BoardPlace x size | (page) | rank 0's region | rank 1's region | ...
//   a rank's region, page-aligned:  BoardBlock | sent: u64 x pairs | delivered: u64 x pairs | dropped: u64 x pairs x 9
//
// where pairs = size x ways: the counts of the accounting law for each peer and way (BoardHeader::ways).
//
// `size` is the number of the job's places. The ranks that begin with the job have the first places; a place that no
// process has had yet costs addresses only. The launcher starts programs in further places while the job runs, the
// lowest first, so the places in use are those below BoardHeader::used. Here and in all reports the number of a place
// is its process's rank. Its rank in MPI_COMM_WORLD is BoardPlace::world_rank.
//
// Fields are grouped by writer. The launcher writes the header, all of it before any rank runs except `question`,
// `stall`, `cycle`, `used`, `guests` and the places. It also clears the block of a place before it starts a process
// there. Each rank writes its own region only. While a rank runs, the launcher and `margay top` read its region for
// display only (BoardReader); the launcher reads it for sums only after the rank has ended.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "portals/base/status.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/arrived_message.hpp"
#include "sim/base/accounting.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/message_number.hpp"
#include "sim/base/poll_setting.hpp"
#include "sim/base/wire_kind.hpp"
#include "sim/boot/measured_rates.hpp"

namespace margay::sim {

inline constexpr std::uint64_t kBoardMagic = 0x3144'5241'4f42'474d;  // "MGBOARD1" read as little-endian
// Changes with each change of this layout.
inline constexpr std::uint32_t kBoardVersion = 22;
inline constexpr std::size_t kBoardPageBytes = 4096;
// Bytes of a call's name, with a zero at the end if it is shorter; set_name() and name_in() write and read it. The
// longest names of MPI have 32 characters.
inline constexpr std::size_t kCallNameBytes = 32;
// Drops are counted by portals::DropReason.
inline constexpr std::size_t kDropReasons = portals::kDropReasonCount;
static_assert(kDropReasons == 9);

// The state of a rank's process in the job, written by the rank. `aborting`: the block's message has the reason.
enum class RankState : std::uint32_t { started, initialized, finalized, aborting };

// The protocols by which the board counts messages.
enum class CountedProtocol : std::uint32_t {
  short_,
  long_matched,
  long_pulled,
  synchronous_short,
  synchronous_long,
  ready,
  buffered,
  collective,
  // Data that other ranks read in shared memory, without a message.
  collective_shared,
  put,
  get,
  reply,
  acknowledgment,
  count
};
// Accesses of windows, and the methods by which they reach their target (mpi_adi/rma).
enum class CountedAccess : std::uint32_t { put, get, accumulate, count };
// The number of these methods, as in mpi_adi.
inline constexpr std::size_t kCountedMethods = 3;
inline constexpr std::size_t kCountedAccesses = static_cast<std::size_t>(CountedAccess::count) * kCountedMethods;
// The index in BoardBlock::by_access.
[[nodiscard]] constexpr std::size_t index_of(CountedAccess access, std::size_t method) {
  return static_cast<std::size_t>(access) * kCountedMethods + method;
}

// The count of one kind of message.
using BoardCount = WireCounts;

// The wait of a blocked rank; printed when the job makes no progress. `peer` -1: any rank, or none in particular.
struct BoardWait {
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  // The communicator's context identifier.
  std::uint32_t context = 0;
  // 1 once the rank has waited so long that it reports the wait, until it continues.
  std::uint32_t is_waiting = 0;
  std::uint64_t posted_receives = 0;
  std::uint64_t unexpected_messages = 0;
  // The launcher's latest question after which the rank polled all its wires and nothing moved.
  std::uint32_t answered = 0;
  // 1: only a message can end the wait, not another thread or a function of the program.
  std::uint32_t needs_message = 0;
  // Sends and receives that are not complete.
  std::uint32_t requests = 0;
  // The communicator's name, zero-terminated; empty: no send or receive is in progress.
  std::array<char, 64> communicator{};
  // When something moved last (CLOCK_MONOTONIC).
  std::uint64_t since_ns = 0;
  // Descriptions of unexpected messages that differ from the awaited one in one property, zero-terminated.
  std::array<char, 320> near_misses{};
  // The waiting call and its location in the program, both of the thread that polls; empty: unknown. The location is
  // zero-terminated and has source_question()'s form.
  std::array<char, kCallNameBytes> call{};
  std::array<char, 288> location{};
  // Messages that lack room and are held on their wires, with their portals, zero-terminated; empty: none.
  std::array<char, 256> held{};
};

// A counter of a communication library, by its name (zero-terminated; empty: not in use).
struct BoardCounter {
  std::array<char, 24> name{};
  std::uint64_t count = 0;
};

// A communication library that has joined the rank (libraries/host): its name, zero-terminated, and its counters, which
// are current at any time. The name stays after the library's end. An empty name: none.
inline constexpr std::size_t kBoardCounters = 16;
struct BoardLibrary {
  std::array<char, 16> name{};
  std::array<BoardCounter, kBoardCounters> counters{};
  // 1 from the library's join to its end.
  std::uint32_t is_open = 0;
  // By counter: the index, plus 1, of the counter whose sum over all ranks must be equal at the end; 0: none.
  std::array<std::uint8_t, kBoardCounters> equals{};
  // The indices of two counters whose quotient the statistics have, too. Equal: none.
  std::uint8_t dividend = 0, divisor = 0;
};
inline constexpr std::size_t kBoardLibraries = 3;

// The polling of a wire, by the wire's name (zero-terminated unless it fills the field; empty: not in use). The counts
// of a wire that is polled in each round are brought up to date when it brings a message and in long waits.
struct BoardPolling {
  std::array<char, 16> wire{};
  PollCounts counts;
};
inline constexpr std::size_t kBoardPolledWires = 6;

// A rank's state, written by that rank only. Nearly all fields are stored plainly, without memory orders, so a reader
// of a running rank may see a mixture of old and new fields. Exceptions are `pid` (claim_for_process), `wait.answered`,
// `processor` and `thread_ended`.
struct BoardBlock {
  RankState state = RankState::started;
  std::int32_t abort_code = 0;
  // The process that took the rank's place (MPI_Init); 0: none yet. Only one process can take the place. A process has
  // several places if its ranks are threads (`margay run --threads`).
  std::int32_t pid = 0;
  // Sessions that the process left open at its exit, after MPI_Finalize or without MPI_Init. Written at the exit.
  std::uint32_t open_sessions = 0;
  // Name of the call in progress; empty outside of the library.
  std::array<char, kCallNameBytes> mpi_call{};
  // Calls of MPI so far. Each call writes its name to the same cache line anyway, so counting costs an increment.
  std::uint64_t calls = 0;
  // Name of the latest MPI call that returned an error; empty: none.
  std::array<char, kCallNameBytes> failed_call{};
  // One line with the reason why the rank aborts, or why failed_call failed; zero-terminated.
  std::array<char, 2048> message{};
  BoardWait wait;
  // Grows whenever a message moves; readers only test whether it has changed.
  std::uint64_t progress = 0;
  // Entries that walks visited, and the most bytes that the heap of unexpected messages held.
  std::uint64_t entries_walked = 0;
  std::uint64_t heap_high_water_bytes = 0;
  // Messages and bytes, by protocol.
  std::array<BoardCount, static_cast<std::size_t>(CountedProtocol::count)> by_protocol{};
  // Findings so far; class Findings counts them.
  std::uint32_t findings = 0;
  // 1: a program on portals, without MPI.
  std::uint32_t on_portals = 0;
  // Start time of the process `pid` (ProcessIdentity): if that process has ended, another may have its number.
  std::uint64_t start_ticks = 0;
  std::array<BoardCount, kCountedAccesses> by_access{};
  // See RankProcessors (sim/shm/rank_processors.hpp).
  std::uint32_t processor = 0;
  // The finding of the fatal error by which the rank aborts (Finding); 0: none, as after MPI_Abort.
  std::uint32_t abort_finding = 0;
  // If the rank is a thread: its number in the operating system (gettid); 0: the rank has its process for itself.
  std::int32_t thread = 0;
  // Not 0 once the rank's thread has returned from the program: the rank will never begin MPI again. `thread_status` is
  // the status that it returned. Published by publish_number() after `thread_status`.
  std::uint32_t thread_ended = 0;
  std::int32_t thread_status = 0;
  // 1 once the process has called MPI_Init: a library or a session begins without it.
  std::uint32_t has_begun_world = 0;
  // These counters are current at any time, because the counting objects have pointers to them instead of counters of
  // their own (Initiator::count_wires_in, Device::count_in). The counters that an expected message touches are in one
  // line.
  // By WireId.
  alignas(64) std::array<BoardCount, kWireCount> by_wire{};
  std::uint64_t posted_receives = 0;
  portals::ArrivalCounts unexpected;
  std::array<BoardLibrary, kBoardLibraries> libraries{};
  std::array<BoardPolling, kBoardPolledWires> polling{};
};
static_assert(std::is_trivially_copyable_v<BoardBlock>);
static_assert(offsetof(BoardBlock, mpi_call) == 16 && offsetof(BoardBlock, calls) == 48);
static_assert(offsetof(BoardBlock, failed_call) == 56 && offsetof(BoardBlock, message) == 88);
static_assert(offsetof(BoardBlock, wait) == 2136 && offsetof(BoardBlock, progress) == 3152);
static_assert(offsetof(BoardBlock, by_protocol) == 3176 && offsetof(BoardBlock, findings) == 3384);
static_assert(offsetof(BoardBlock, on_portals) == 3388 && offsetof(BoardBlock, start_ticks) == 3392 &&
              offsetof(BoardBlock, by_access) == 3400 && offsetof(BoardBlock, processor) == 3544 &&
              offsetof(BoardBlock, abort_finding) == 3548 && offsetof(BoardBlock, thread) == 3552 &&
              offsetof(BoardBlock, thread_status) == 3560 && offsetof(BoardBlock, has_begun_world) == 3564 &&
              offsetof(BoardBlock, by_wire) == 3584 && offsetof(BoardBlock, unexpected) == 3688 &&
              offsetof(BoardBlock, libraries) == 3704 && offsetof(BoardBlock, polling) == 5360 &&
              sizeof(BoardBlock) == 5696);

// The launcher's finding about the progress of the whole job. stall: every rank waits and nothing moves. deadlock:
// moreover, only messages could end the waits, and none is in flight.
enum class BoardStall : std::uint32_t { none, stall, deadlock };

// The use of a place, written by the launcher only: before it starts a process there.
struct BoardPlace {
  // The number of its process's world, which is the set of processes that were started together: 0 for the ranks that
  // began with the job.
  std::uint32_t world = 0;
  // The process's rank in its world.
  std::uint32_t world_rank = 0;
  // Processes that were started here so far; 0: an empty place.
  std::uint32_t starts = 0;
  // 1: MPI_Comm_spawn has started the process, and waits until it calls MPI_Init.
  std::uint32_t is_awaited = 0;
};
static_assert(std::is_trivially_copyable_v<BoardPlace> && sizeof(BoardPlace) == 16);

// The job's data, written by the launcher only. Constant while ranks run, except `question`, `stall`, `cycle`,
// `used` and `guests`.
struct BoardHeader {
  // Written last.
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  // Places of the job.
  std::uint32_t size = 0;
  // Nodes of the job; a table after the header assigns the ranks to them.
  std::uint32_t node_count = 0;
  // Grows while ranks run: the launcher asks waiting ranks whether anything moves.
  std::uint32_t question = 0;
  std::uint64_t job_id = 0;
  // Size of the file, which the header's `size` determines.
  std::uint64_t total_bytes = 0;
  // Size of the largest node's segment.
  std::uint64_t segment_bytes = 0;
  // Job::secret.
  std::array<std::byte, 32> secret{};
  // Job::crowded.
  std::uint32_t crowded = 0;
  // Job::processors, in hundredths.
  std::uint32_t processor_hundredths = 0;
  // Job::rates_given, and Job::rates, zero-terminated.
  std::uint32_t rates_given = 0;
  std::array<char, kRatesTextMax + 12> rates{};
  // For observers (`margay top`): the launcher's process, and the job's start (CLOCK_MONOTONIC). 0: unknown.
  std::int32_t launcher_pid = 0;
  // BoardStall; published by publish_number() after `cycle`.
  std::uint32_t stall = 0;
  std::uint64_t launcher_ticks = 0;
  std::uint64_t started_ns = 0;
  // The cycle of waits in a stall or a deadlock: "0 -> 1 -> 0", zero-terminated; empty: none was found.
  std::array<char, 128> cycle{};
  // Ways of each pair that the regions count: 1, or kWayCodes if the job has further ways (`--way`).
  std::uint32_t ways = 1;
  // Ranks that began with the job.
  std::uint32_t first_ranks = 0;
  // Places that have, or had, a process: 0 to used - 1. Grows while the job runs; published by publish_number() after
  // the places.
  std::uint32_t used = 0;
  // Requests for places of guests, which are processes of other jobs, that the launcher granted; published. While it is
  // 0, all messages of the job come from the job.
  std::uint32_t guests = 0;
};
static_assert(std::is_trivially_copyable_v<BoardHeader>);
static_assert(offsetof(BoardHeader, job_id) == 24 && offsetof(BoardHeader, secret) == 48 &&
              offsetof(BoardHeader, launcher_pid) == 488 && offsetof(BoardHeader, ways) == 640 &&
              offsetof(BoardHeader, used) == 648 && sizeof(BoardHeader) == 656);

// A mapped board. Movable; its destructor unmaps. The descriptor stays the caller's. Copies would unmap twice, so there
// are none.
class Board {
 public:
  Board() = default;
  Board(Board&& other) noexcept { swap(other); }
  Board& operator=(Board&& other) noexcept {
    swap(other);
    return *this;
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  // The size of a board for `size` ranks with `ways` ways of each pair.
  [[nodiscard]] static std::uint64_t bytes_for(std::uint32_t size, std::uint32_t ways = 1);
  // The position of a rank's block in the file. Requires: rank < size.
  [[nodiscard]] static std::uint64_t block_offset(std::uint32_t rank, std::uint32_t size, std::uint32_t ways = 1);
  // Maps an existing board, and checks its magic, its version, and its number of ranks against the file's size. On
  // failure `out` is unchanged.
  [[nodiscard]] static portals::Status attach(int descriptor, Board& out);
  // Maps a fresh file of bytes_for(size) bytes, and fills in version, size, first_ranks, used and total_bytes of the
  // header, as if each place had a rank that begins with the job. The caller fills in the other fields, the node map
  // and the places.
  [[nodiscard]] static portals::Status create(int descriptor, std::uint32_t size, Board& out, std::uint32_t ways = 1);
  // Makes the board visible to attach(); the maker's last step.
  void publish() { header().magic = kBoardMagic; }

  // Whether a board is mapped. Required by all functions below.
  [[nodiscard]] bool attached() const { return base_ != nullptr; }
  // Places of the job.
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // Places that have, or had, a process; at most size(). Only these are shown and checked.
  [[nodiscard]] std::uint32_t used() const;
  // Ways of each pair that are counted.
  [[nodiscard]] std::uint32_t ways() const { return ways_; }
  // The index of a peer and way in the counts below. Requires: peer < size(), way < ways().
  [[nodiscard]] std::size_t pair(std::uint32_t peer, WayCode way = kUsualWay) const {
    return std::size_t{way} * size_ + peer;
  }
  [[nodiscard]] BoardHeader& header() const { return *reinterpret_cast<BoardHeader*>(base_); }
  // [rank]: its node.
  [[nodiscard]] std::uint32_t* node_of_rank() const;
  // Requires: rank < size().
  [[nodiscard]] BoardPlace& place(std::uint32_t rank) const;
  // Requires: rank < size().
  [[nodiscard]] BoardBlock& block(std::uint32_t rank) const;
  // [pair(peer, way)]: messages that `rank` gave to the wire for peer.
  [[nodiscard]] std::uint64_t* sent(std::uint32_t rank) const;
  // [pair(peer, way)]: messages of peer that `rank` delivered.
  [[nodiscard]] std::uint64_t* delivered(std::uint32_t rank) const;
  // [pair(peer, way) * kDropReasons + reason]: messages of peer that `rank` dropped.
  [[nodiscard]] std::uint64_t* dropped(std::uint32_t rank) const;

 private:
  void swap(Board& other) noexcept;
  // The first byte of a rank's region. Requires: rank < size().
  [[nodiscard]] std::byte* region(std::uint32_t rank) const;

  // The mapping: its address and length, and the number of ranks in it.
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t ways_ = 1;
};

// Writes a name, which may fill the whole field, without a zero. A name that is too long is cut.
template <std::size_t N>
void set_name(std::array<char, N>& field, std::string_view name) {
  const std::string_view fits = name.substr(0, N);
  std::fill(std::copy(fits.begin(), fits.end(), field.begin()), field.end(), '\0');
}
// The name that set_name() wrote; refers to the field.
template <std::size_t N>
[[nodiscard]] std::string_view name_in(const std::array<char, N>& field) {
  return {field.data(), static_cast<std::size_t>(std::find(field.begin(), field.end(), '\0') - field.begin())};
}

// Writes a zero-terminated text. A text that is too long is cut after a word and ends with "...".
template <std::size_t N>
void set_text(std::array<char, N>& field, std::string_view text) {
  constexpr std::string_view kCut = " ...";
  static_assert(N > 2 * kCut.size());
  std::string_view end;
  if (text.size() >= N) {
    end = kCut;
    text = text.substr(0, N - kCut.size());  // with the character after it, which may be a space
    const std::size_t space = text.rfind(' ');
    text = text.substr(0, space == std::string_view::npos ? text.size() - 1 : space);
  }
  char* const behind = std::copy(text.begin(), text.end(), field.begin());
  *std::copy(end.begin(), end.end(), behind) = '\0';
}

}  // namespace margay::sim
