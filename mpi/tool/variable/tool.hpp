// The state of the tool interface (MPI_T). It exists before MPI_Init and after MPI_Finalize, so it belongs to the
// process, not to the rank.
//
// Every function of the interface locks `mutex`, then (if it reads the rank) the rank's locks; no thread locks them in
// the other order. A handle is a number that is never used twice, so a freed one is detected.
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

// The number behind a handle of the interface; 0: none.
using ToolHandle = std::uintptr_t;

// A handle of a performance variable, with its own sums.
struct PerformanceHandle {
  // The variable's place in performance_variables().
  std::size_t index = 0;
  // The communicator, if the variable is bound to one.
  MPI_Comm communicator = MPI_COMM_NULL;
  // The communicator's context, because a later communicator may have the same handle.
  ContextId context = 0;
  // Used for variables that add up only.
  Accumulator sums{1};
};

// A pvar session: its handles.
struct PerformanceSession {
  std::map<ToolHandle, PerformanceHandle> handles;
};

// The state, made when it is first used.
struct Tool final : ProcessPart {
  static constexpr PartSlot kSlot = PartSlot::tool;
  std::mutex mutex;
  // The mutex guards all fields below. Calls of MPI_T_init_thread without their MPI_T_finalize.
  int users = 0;
  // The rank while the world model or a session refers to the job, else null.
  MpiRank* rank = nullptr;
  // The last number that was used for a handle.
  ToolHandle last_handle = 0;
  // Handles of control variables, with their places in control_variables().
  std::map<ToolHandle, std::size_t> control_handles;
  // Pvar sessions by handle.
  std::map<ToolHandle, PerformanceSession> sessions;
  // Values written while MPI does not run, by index of the control variable. They are set when the rank begins, unless
  // its options then exclude them.
  std::map<std::size_t, Word> wanted;
  std::map<std::size_t, std::string> wanted_texts;
  // The values of unbound performance variables when the last user of the job left; empty before, and while MPI runs.
  // Tools read them after MPI_Finalize.
  std::vector<Word> last_values;
};
// The state of the calling thread's process.
[[nodiscard]] Tool& tool();

// tool_rank_begins() is called when the first user (MPI_Init or a session) refers to the job: it sets the rank, and the
// values that were written before. tool_rank_ends() is called when the last user leaves: it keeps the last values and
// clears the rank. Requires: the calling thread has not locked the process lock.
void tool_rank_begins(MpiRank& rank);
void tool_rank_ends();

// Holds the process lock for its lifetime, if there is a rank.
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
  // Null: there is nothing to lock.
  MpiRank* rank_;
};

// The bodies of the bindings. Each returns MPI_SUCCESS or an MPI_T_ERR_ class. Requires: the mutex is held, and the
// interface initialized; indices are valid, pointers are not null.

// Control variables: allocate a handle, read and write through it. A write before MPI_Init takes effect in MPI_Init.
[[nodiscard]] int allocate_control(Tool& tool, int index, ToolHandle& handle, int& count);
[[nodiscard]] int read_control(Tool& tool, ToolHandle handle, void* out);
[[nodiscard]] int write_control(Tool& tool, ToolHandle handle, const void* in);

// `object`: the address of the communicator's handle, if the variable is bound to one. Sets `count` to the handle's
// elements.
[[nodiscard]] int allocate_performance(Tool& tool, PerformanceSession& session, int index, const void* object,
                                       ToolHandle& handle, int& count);
// Counting through a handle. Start and stop fail with MPI_T_ERR_PVAR_NO_STARTSTOP for variables that do not add up,
// write and reset with MPI_T_ERR_PVAR_NO_WRITE, and reading with a reset with MPI_T_ERR_PVAR_NO_ATOMIC.
[[nodiscard]] int start_performance(Tool& tool, PerformanceHandle& handle);
[[nodiscard]] int stop_performance(Tool& tool, PerformanceHandle& handle);
// Reads the present value. Before a level is read, the messages that have arrived are received.
[[nodiscard]] int read_performance(Tool& tool, PerformanceHandle& handle, void* out);
[[nodiscard]] int write_performance(Tool& tool, PerformanceHandle& handle, const void* in);
[[nodiscard]] int reset_performance(Tool& tool, PerformanceHandle& handle);
// Reads and resets in one step, so that nothing counted in between is lost.
[[nodiscard]] int read_and_reset_performance(Tool& tool, PerformanceHandle& handle, void* out);

}  // namespace margay::mpi
