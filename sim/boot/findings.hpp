// Findings: mistakes of a program and ends of a job that margay reports. Each kind has a stable id; the texts of
// the ids are in command/info/findings. A rank passes a finding to the launcher as a record.
//
// With `margay run --report` all ranks inherit one memory file (MARGAY_FINDINGS_FD), to which each appends records of
// one size. A process that did not inherit it opens the launcher's (MARGAY_FINDINGS_PATH). The operating system makes
// an append atomic, so ranks need no lock, and the launcher has all records of a killed rank. The program inherits the
// file, too, and may write to it by mistake, so a record begins and ends with a mark by which the launcher finds it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/boot/job.hpp"

namespace margay::sim {

class Recorder;  // sim/trace/recorder

// The kinds of findings. Records and trace events carry the number, and users see the id.
enum class Finding : std::uint32_t {
  // Ends of a job, seen by the launcher. rank_died: a signal ended a rank's process.
  rank_died,
  // A rank exited after MPI_Init without MPI_Finalize.
  no_finalize,
  // A rank for which other ranks wait ended without MPI_Init.
  no_init,
  // MPI_Abort, or an error of a call with a fatal error handler.
  aborted,
  // A second MPI program started in a rank's place.
  second_program,
  // The time of --timeout has passed.
  timeout,
  // All ranks wait for messages, and none is in flight.
  deadlock,
  // No rank makes progress, but a deadlock is not proven.
  stalled,
  // A signal to the launcher ended the job.
  interrupted,
  // The job's output cannot be written any more.
  output_closed,
  // A rank sent a line that is not PMI-1.1.
  launch_protocol,
  // The accounting law does not hold at the end of the job.
  accounting_mismatch,
  // A rank has loaded another MPI library.
  other_mpi,
  // Mistakes of the program, seen by a rank. unreceived_message: a message was still in the heap when its communicator
  // ended.
  unreceived_message,
  // A ready send found no posted receive.
  dropped_ready_send,
  // An MPI object was neither freed nor completed.
  leaked_handle,
  // Two accesses to the same bytes of a window overlap in time, and one of them writes.
  rma_conflict,
  // The basic types of a receive are not those of its message.
  type_mismatch,
  // The standard does not define the call for this datatype.
  nonportable_type,
  // Members of a communicator made different collective calls.
  collective_mismatch,
  // Errors of MPI calls with a fatal error handler, seen by a rank; `aborted` follows. bad_argument: an error class
  // that MPI 4.0, section 9.4, explains as an invalid argument.
  bad_argument,
  // A message was longer than the buffer of its receive.
  truncation,
  out_of_memory,
  // The other rank failed or left before the message arrived.
  peer_failed,
  // Any other error class.
  mpi_error,
  // A call of a function that the library has by name only, with any error handler.
  unimplemented_function,
  // Results of an exploration (`margay simulate --explore`). wildcard_race: the result depends on the message that a
  // receive from MPI_ANY_SOURCE takes.
  wildcard_race,
  // The result depends on the schedule in another way.
  schedule_dependent,
  // A rank put a forwarded message to a rank that does not forward it for the sender.
  forward_refused,
};
inline constexpr std::uint32_t kFindingCount = 29;

// In the order of the enumeration.
inline constexpr std::array<std::string_view, kFindingCount> kFindingIds = {
    "rank-died",
    "no-finalize",
    "no-init",
    "aborted",
    "second-program",
    "timeout",
    "deadlock",
    "stalled",
    "interrupted",
    "output-closed",
    "launch-protocol",
    "accounting-mismatch",
    "other-mpi",
    "unreceived-message",
    "dropped-ready-send",
    "leaked-handle",
    "rma-conflict",
    "type-mismatch",
    "nonportable-type",
    "collective-mismatch",
    "bad-argument",
    "truncation",
    "out-of-memory",
    "peer-failed",
    "mpi-error",
    "unimplemented-function",
    "wildcard-race",
    "schedule-dependent",
    "forward-refused",
};
static_assert(static_cast<std::uint32_t>(Finding::forward_refused) + 1 == kFindingCount);
// "rank-died"; "unknown" for a number that is not a finding's.
[[nodiscard]] constexpr std::string_view finding_id(Finding finding) {
  const auto index = static_cast<std::uint32_t>(finding);
  return index < kFindingCount ? kFindingIds[index] : "unknown";
}

// " [rank-died]": ends the line on standard error that reports the finding. The line of a fatal error ends with the
// suffix of the error's finding; `aborted` then has no line of its own.
[[nodiscard]] std::string id_suffix(Finding finding);

// The memory file's name.
inline constexpr char kFindingsFileName[] = "margay-findings";

// The first and the last bytes of a record. No text contains them, because they are not characters.
inline constexpr std::uint64_t kFindingBegin = 0x01fe'4947'424e'4946;  // "FINBGI", 254, 1 read as little-endian
inline constexpr std::uint32_t kFindingEnd = 0x02fd'4e45;              // "EN", 253, 2

// One record of the memory file. Texts other than `call` are zero-terminated, empty where unknown; a message that is
// too long is cut. A record is 1 KiB: one append of it is atomic.
struct FindingRecord {
  // The rank that adds the finding.
  static constexpr std::uint32_t kThisRank = ~std::uint32_t{0};

  std::uint64_t begin = kFindingBegin;
  std::uint32_t finding = 0;
  std::uint32_t rank = kThisRank;
  std::int32_t peer = -1;  // rank in the communicator; -1: unknown
  std::int32_t tag = -1;   // -1: unknown
  std::uint64_t bytes = 0;
  std::uint64_t time_ns = 0;     // CLOCK_MONOTONIC
  std::array<char, 32> call{};   // as on the board: set_name()
  std::array<char, 256> site{};  // place in the program, "ring.c:41"
  std::array<char, 160> communicator{};
  std::array<char, 524> message{};
  std::uint32_t is_counted = 0;  // 1: the finding is in the rank's count on the board, too
  std::int32_t other_rank = -1;  // a second rank that the finding concerns; -1: none
  std::uint32_t end = kFindingEnd;
};
static_assert(std::is_trivially_copyable_v<FindingRecord> && sizeof(FindingRecord) == 1024);

// Fills in `record.site` from the result of SourceLines::location_suffix(), " (ring.c:41)" or nothing.
void set_site(FindingRecord& record, std::string_view location_suffix);

// The findings of one rank. Each finding is counted on the rank's board block and recorded for --report. The launcher
// reads the count: with --strict, a job that has findings ends with an error. Under the process lock.
class Findings {
 public:
  // `job`, `count` and `recorder` outlive the object.
  Findings(const Job& job, std::uint32_t& count, Recorder& recorder) : job_(job), count_(&count), recorder_(recorder) {}
  // Findings are counted in `count` from now on.
  void count_in(std::uint32_t& count) { count_ = &count; }

  // Counts the finding and appends `record`, with the job's rank if it has none, the time and `message`, to the memory
  // file. Without --report it only counts. A traced rank also records an event. add() reopens a suspended trace for the
  // event, and the caller suspends it again after its last finding.
  void add(Finding finding, const FindingRecord& record, std::string_view message);
  // Appends the record only, without a count. For a thread that must not lock the process lock and is about to end the
  // job. Needs no lock.
  void add_outside(Finding finding, const FindingRecord& record, std::string_view message) const;
  // Counts findings beyond the number that a check prints and records.
  void count(std::size_t more) { *count_ += static_cast<std::uint32_t>(more); }

 private:
  // The job's rank and options go into each record.
  const Job& job_;
  // The count; on the board from count_in() on.
  std::uint32_t* count_;
  Recorder& recorder_;
};

// Appends the record of a process that has no rank at the moment, before MPI_Init or after MPI_Finalize. No effect
// unless the process was started by `margay run --report`. `thread_rank`: as in join(); 0 without such ranks.
void record_without_rank(Finding finding, const FindingRecord& record, std::string_view message,
                         std::uint32_t thread_rank = 0);

}  // namespace margay::sim
