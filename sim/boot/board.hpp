// The job board: one memory file per job, made by the launcher, mapped by every rank. It tells the ranks what the job
// is and the launcher what became of each rank. Layout:
//
//   BoardHeader | node_of_rank: u32 x size | (page) | rank 0's region | rank 1's region | ...
//   a rank's region, page-aligned:  BoardBlock | sent: u64 x size | delivered: u64 x size | dropped: u64 x size x 12
//
// Fields are grouped by writer: the header by the launcher, before any rank runs but for its question; a region by its
// rank alone. While the rank runs, the launcher and `margay top` read a region only for display (BoardReader), and the
// launcher reads it for sums only after the rank has gone.
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
#include "sim/boot/measured_rates.hpp"

namespace margay::sim {

inline constexpr std::uint64_t kBoardMagic = 0x3144'5241'4f42'474d;  // "MGBOARD1" read as little-endian
inline constexpr std::uint32_t kBoardVersion = 12;
inline constexpr std::size_t kBoardPageBytes = 4096;
inline constexpr std::uint32_t kMaxRanks = 65536;
// Counted under portals::DropReason's values.
inline constexpr std::size_t kDropReasons = portals::kDropReasonCount;
static_assert(kDropReasons == 9);

enum class RankState : std::uint32_t { kStarted, kInitialized, kFinalized, kAborting };

enum class CountedProtocol : std::uint32_t {
  kShort,
  kLongMatched,
  kLongPulled,
  kSynchronousShort,
  kSynchronousLong,
  kReady,
  kBuffered,
  kCollective,
  kCollectiveShared,  // shown to others in memory: no message
  kPut,
  kGet,
  kReply,
  kAcknowledgment,
  kCount
};
enum class CountedWire : std::uint32_t { kSelf, kShm, kTcp, kCount };

// Accesses of windows, and how they reached their target (mpi_adi/rma).
enum class CountedAccess : std::uint32_t { kPut, kGet, kAccumulate, kCount };
inline constexpr std::size_t kCountedWays = 3;  // mpi_adi's
inline constexpr std::size_t kCountedAccesses = static_cast<std::size_t>(CountedAccess::kCount) * kCountedWays;
[[nodiscard]] constexpr std::size_t index_of(CountedAccess access, std::size_t way) {
  return static_cast<std::size_t>(access) * kCountedWays + way;
}

using BoardCount = WireCounts;

// What a blocked rank waits for; printed when the job makes no progress. `peer` -1: any rank or none in particular.
struct BoardWait {
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::uint32_t context = 0;     // communicator's context identifier
  std::uint32_t is_waiting = 0;  // 1 once the rank has waited so long that it reported it, until it goes on
  std::uint64_t posted_receives = 0;
  std::uint64_t unexpected_messages = 0;
  // The latest question of the launcher after which the rank has looked at all its wires and nothing moved.
  std::uint32_t answered = 0;
  std::uint32_t needs_message = 0;  // 1: nothing but a message can end the wait, no other thread, no program's function
  std::uint32_t requests = 0;       // sends and receives that are not complete
  std::array<char, 64> communicator{};  // its name, zero-terminated; empty: no send or receive is under way
  std::uint64_t since_ns = 0;           // when something moved last (CLOCK_MONOTONIC)
  // Unexpected messages that differ from the awaited one in one thing, in words, zero-terminated.
  std::array<char, 320> near_misses{};
  // The call that waits and where the program made it, both of the thread that looks, zero-terminated; empty: not
  // known. The place is what source_question() says.
  std::array<char, 32> call{};
  std::array<char, 288> place{};
};

struct BoardBlock {
  RankState state = RankState::kStarted;
  std::int32_t abort_code = 0;
  std::int32_t pid = 0;  // of the process that took the rank's place (MPI_Init); 0: nobody has, and one alone can
  // As the process exits: sessions that it left open, with MPI_Finalize behind it or MPI_Init never called.
  std::uint32_t open_sessions = 0;
  std::array<char, 32> mpi_call{};  // name of the call in progress, zero-terminated; empty outside of the library
  // Calls of MPI so far. In the line that each call writes its name to anyway: an increment more.
  std::uint64_t calls = 0;
  std::array<char, 32> failed_call{};  // name of the latest MPI call that returned an error; empty: none did
  std::array<char, 2048> message{};    // one line on why the rank aborts, or why failed_call failed; zero-terminated
  BoardWait wait;
  std::uint64_t progress = 0;  // grows whenever a message moved; compared, never interpreted
  std::uint64_t entries_walked = 0;
  std::uint64_t heap_high_water_bytes = 0;
  std::array<BoardCount, static_cast<std::size_t>(CountedProtocol::kCount)> by_protocol{};
  std::uint32_t findings = 0;     // what the checks have told so far; Process::found() counts them
  std::uint32_t on_portals = 0;   // 1: a program on portals, without MPI
  std::uint64_t start_ticks = 0;  // of the process `pid` (ProcessIdentity), which may be over and its number another's
  std::array<BoardCount, kCountedAccesses> by_access{};
  std::uint32_t processor = 0;  // see RankProcessors (sim/shm/rank_processors.hpp)
  // Counted here as messages come and go, not copied, so they are true at any time: who counts has a pointer to them in
  // place of numbers of its own (Initiator::count_wires_in, Device::count_in). What a message that is expected touches
  // is in one line.
  alignas(64) std::array<BoardCount, static_cast<std::size_t>(CountedWire::kCount)> by_wire{};
  std::uint64_t posted_receives = 0;
  portals::ArrivalCounts unexpected;
};
static_assert(std::is_trivially_copyable_v<BoardBlock>);
static_assert(offsetof(BoardBlock, mpi_call) == 16 && offsetof(BoardBlock, calls) == 48);
static_assert(offsetof(BoardBlock, failed_call) == 56 && offsetof(BoardBlock, message) == 88);
static_assert(offsetof(BoardBlock, wait) == 2136 && offsetof(BoardBlock, progress) == 2896);
static_assert(offsetof(BoardBlock, by_protocol) == 2920 && offsetof(BoardBlock, findings) == 3128);
static_assert(offsetof(BoardBlock, on_portals) == 3132 && offsetof(BoardBlock, start_ticks) == 3136 &&
              offsetof(BoardBlock, by_access) == 3144 && offsetof(BoardBlock, processor) == 3288 &&
              offsetof(BoardBlock, by_wire) == 3328 && offsetof(BoardBlock, unexpected) == 3384 &&
              sizeof(BoardBlock) == 3456);

// What the launcher sees of the job as a whole.
enum class BoardStall : std::uint32_t { kNone, kStall, kDeadlock };

struct BoardHeader {
  std::uint64_t magic = 0;  // written last
  std::uint32_t version = 0;
  std::uint32_t size = 0;
  std::uint32_t node_count = 0;
  std::uint32_t question = 0;  // grows while ranks run: the launcher asks who waits whether anything moves
  std::uint64_t job_id = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t segment_bytes = 0;  // of the largest node
  std::array<std::byte, 32> secret{};
  std::uint32_t crowded = 0;                     // Job::crowded
  std::uint32_t processor_hundredths = 0;        // Job::processors
  std::uint32_t rates_given = 0;                 // Job::rates_given
  std::array<char, kRatesTextMax + 12> rates{};  // Job::rates, zero-terminated
  // For who looks on (`margay top`): by which process, and since when (CLOCK_MONOTONIC) the job is run. 0: not told.
  std::int32_t launcher_pid = 0;
  std::uint32_t stall = 0;  // BoardStall; told by publish_number() after `cycle`
  std::uint64_t launcher_ticks = 0;
  std::uint64_t started_ns = 0;
  std::array<char, 128> cycle{};  // of a stall: "0 -> 1 -> 0", zero-terminated; empty: none was found
};
static_assert(std::is_trivially_copyable_v<BoardHeader>);
static_assert(offsetof(BoardHeader, job_id) == 24 && offsetof(BoardHeader, secret) == 48 &&
              offsetof(BoardHeader, launcher_pid) == 488 && sizeof(BoardHeader) == 640);

// A mapped board. Movable; unmaps at the end. The descriptor stays the caller's.
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

  [[nodiscard]] static std::uint64_t bytes_for(std::uint32_t size);
  // Where in the file a rank's block begins. Requires: rank < size.
  [[nodiscard]] static std::uint64_t block_offset(std::uint32_t rank, std::uint32_t size);
  // Maps an existing board; checks magic, version and every size against the file before it trusts one.
  [[nodiscard]] static portals::Status attach(int descriptor, Board& out);
  // Maps a fresh file of bytes_for(size) bytes and fills the header but for secret, node map and magic.
  [[nodiscard]] static portals::Status create(int descriptor, std::uint32_t size, Board& out);
  // The last step of the maker: others may attach now.
  void publish() { header().magic = kBoardMagic; }

  [[nodiscard]] bool attached() const { return base_ != nullptr; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] BoardHeader& header() const { return *reinterpret_cast<BoardHeader*>(base_); }
  [[nodiscard]] std::uint32_t* node_of_rank() const;
  // Requires: rank < size().
  [[nodiscard]] BoardBlock& block(std::uint32_t rank) const;
  [[nodiscard]] std::uint64_t* sent(std::uint32_t rank) const;       // [peer]: messages rank gave to the wire for peer
  [[nodiscard]] std::uint64_t* delivered(std::uint32_t rank) const;  // [peer]: messages of peer that rank delivered
  // [peer * kDropReasons + reason]: messages of peer that rank refused
  [[nodiscard]] std::uint64_t* dropped(std::uint32_t rank) const;

 private:
  void swap(Board& other) noexcept;
  [[nodiscard]] std::byte* region(std::uint32_t rank) const;

  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint32_t size_ = 0;
};

// Writes a zero-terminated text; one that is too long ends after a word, with "..." for who reads it to see.
template <std::size_t N>
void set_text(std::array<char, N>& field, std::string_view text) {
  constexpr std::string_view kCut = " ...";
  static_assert(N > 2 * kCut.size());
  std::string_view end;
  if (text.size() >= N) {
    end = kCut;
    text = text.substr(0, N - kCut.size());  // with the character behind it, which may be a space
    const std::size_t space = text.rfind(' ');
    text = text.substr(0, space == std::string_view::npos ? text.size() - 1 : space);
  }
  char* const behind = std::copy(text.begin(), text.end(), field.begin());
  *std::copy(end.begin(), end.end(), behind) = '\0';
}

}  // namespace margay::sim
