// Findings: what margay reports about a program, each kind under a stable id, and the record by which a rank hands one
// to the launcher. The texts behind the ids are in command/info/findings.
//
// With `margay run --report` all ranks inherit one memory file (MARGAY_FINDINGS_FD), to which each appends records of
// one size. The kernel makes an append atomic, so ranks need no lock and the launcher has all records of a killed rank.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "sim/boot/job.hpp"

namespace margay::sim {

enum class Finding : std::uint32_t {
  // Ends of a job, seen by the launcher.
  rank_died,
  no_finalize,
  no_init,
  aborted,
  second_program,
  timeout,
  deadlock,
  stalled,
  interrupted,
  output_closed,
  launch_protocol,
  accounting_mismatch,
  // Mistakes of the program, seen by a rank.
  unreceived_message,
  dropped_ready_send,
  leaked_handle,
  rma_conflict,
};
inline constexpr std::uint32_t kFindingCount = 16;

// "rank-died". Requires: a value of the enumeration.
[[nodiscard]] std::string_view finding_id(Finding finding);

// One record of the memory file. Texts are zero-terminated, empty where unknown; a message that is too long is cut.
struct FindingRecord {
  std::uint32_t finding = 0;
  std::uint32_t rank = 0;
  std::int32_t peer = -1;  // rank in the communicator; -1: unknown
  std::int32_t tag = -1;   // -1: unknown
  std::uint64_t bytes = 0;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::array<char, 32> call{};
  std::array<char, 256> site{};  // place in the program, "ring.c:41"
  std::array<char, 160> communicator{};
  std::array<char, 544> message{};
};
static_assert(std::is_trivially_copyable_v<FindingRecord> && sizeof(FindingRecord) == 1024);

// Appends the record, with the job's rank and the time, to the launcher's memory file. No effect without --report.
void record_finding(const Job& job, Finding finding, FindingRecord record, std::string_view message);

}  // namespace margay::sim
