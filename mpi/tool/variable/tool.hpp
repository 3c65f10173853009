// The state of the tool interface (MPI_T). It lives before MPI_Init and after MPI_Finalize, so it cannot belong to the
// rank: it is the process's.
//
// Every function of the interface takes `mutex`, then (where it looks at the rank) the rank's locks; nobody takes them
// in the other order. A handle is a number that is never used twice, so a freed one is found to be none.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "mpi/tool/variable/accumulator.hpp"
#include "mpi/tool/variable/performance.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi {

using ToolHandle = std::uintptr_t;  // 0 is none

struct PerformanceHandle {
  std::size_t index = 0;  // in performance_variables()
  MPI_Comm communicator = MPI_COMM_NULL;
  ContextId context = 0;  // the communicator's: a later one may have the same handle
  Accumulator sums{1};
};

struct PerformanceSession {
  std::map<ToolHandle, PerformanceHandle> handles;
};

struct Tool final : ProcessPart {
  static constexpr PartSlot kSlot = PartSlot::tool;
  std::mutex mutex;
  // Guarded by it.
  int users = 0;            // MPI_T_init_thread without its MPI_T_finalize
  MpiRank* rank = nullptr;  // between MPI_Init and MPI_Finalize
  ToolHandle last_handle = 0;
  std::map<ToolHandle, std::size_t> control_handles;  // index in control_variables()
  std::map<ToolHandle, PerformanceSession> sessions;
  std::map<std::size_t, Word> wanted;  // control variables that were written before MPI_Init, by index
  std::vector<Word> last_values;       // of unbound performance variables, at MPI_Finalize; empty before
};
// The calling thread's process's.
[[nodiscard]] Tool& tool();

// MPI_Init and MPI_Finalize say that the rank is there now and will be gone. The first sets what was written before,
// the second keeps the last values. Requires: the process lock is not held by the caller.
void tool_rank_begins(MpiRank& rank);
void tool_rank_ends();

// Under the process lock as long as it lives, if there is a rank.
class RankVisit {
 public:
  explicit RankVisit(MpiRank* rank) : rank_(rank) {
    if (rank_ != nullptr) rank_->enter();
  }
  ~RankVisit() {
    if (rank_ != nullptr) rank_->leave();
  }
  RankVisit(const RankVisit&) = delete;
  RankVisit& operator=(const RankVisit&) = delete;

 private:
  MpiRank* rank_;
};

// --- What the bindings do; all with the mutex held, and initialized. They return MPI_SUCCESS or an MPI_T_ERR_ class.
// --- Requires: indices are those of variables, pointers are not null.

[[nodiscard]] int allocate_control(Tool& tool, int index, ToolHandle& handle, int& count);
[[nodiscard]] int read_control(Tool& tool, ToolHandle handle, void* out);
[[nodiscard]] int write_control(Tool& tool, ToolHandle handle, const void* in);

// `object`: the address of the communicator's handle, for a variable that is bound to one.
[[nodiscard]] int allocate_performance(Tool& tool, PerformanceSession& session, int index, const void* object,
                                       ToolHandle& handle, int& count);
[[nodiscard]] int start_performance(Tool& tool, PerformanceHandle& handle);
[[nodiscard]] int stop_performance(Tool& tool, PerformanceHandle& handle);
[[nodiscard]] int read_performance(Tool& tool, PerformanceHandle& handle, void* out);
[[nodiscard]] int write_performance(Tool& tool, PerformanceHandle& handle, const void* in);
[[nodiscard]] int reset_performance(Tool& tool, PerformanceHandle& handle);
// Both at once: nothing is counted between them.
[[nodiscard]] int read_and_reset_performance(Tool& tool, PerformanceHandle& handle, void* out);

}  // namespace margay::mpi
