// Access to performance variables through the handles of a pvar session.
#include <algorithm>

#include "mpi/tool/variable/tool.hpp"

namespace margay::mpi {

namespace {

// The most messages that are received from each wire before a level is read, so that the level counts all that have
// arrived. A wire holds fewer short messages than this.
constexpr int kArrivalsMax = 1 << 16;

const PerformanceVariable& variable_of(const PerformanceHandle& handle) {
  return performance_variables()[handle.index];
}

// Reads the library's own figures. Without a rank: 0 before MPI_Init, the last figures after MPI_Finalize.
int look(Tool& tool, const PerformanceHandle& handle, std::vector<Word>& now) {
  const PerformanceVariable& variable = variable_of(handle);
  now.assign(handle.sums.elements(), 0);
  if (tool.rank == nullptr) {
    if (variable.of_communicator) return MPI_T_ERR_INVALID_HANDLE;
    if (variable.without_rank) {
      variable.read({}, variable.which, now);
    } else if (!tool.last_values.empty()) {
      now[0] = tool.last_values[handle.index];
    }
    return MPI_SUCCESS;
  }
  const RankVisit visit(tool.rank);
  if (variable.var_class == MPI_T_PVAR_CLASS_LEVEL) tool.rank->device().progress(kArrivalsMax);
  Reading reading{tool.rank, nullptr};
  if (variable.of_communicator) {
    reading.communicator = tool.rank->communicator(handle.communicator);
    if (reading.communicator == nullptr || reading.communicator->context != handle.context)
      return MPI_T_ERR_INVALID_HANDLE;  // freed meanwhile
  }
  variable.read(reading, variable.which, now);
  return MPI_SUCCESS;
}

void store(const PerformanceHandle& handle, std::span<const Word> values, void* out) {
  const ValueType type = variable_of(handle).type;
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_word(type, values[i], static_cast<char*>(out) + i * element_bytes(type));
  }
}

// Replaces the library's figures by the handle's sums, if the variable adds up.
void show(const PerformanceHandle& handle, std::vector<Word>& now) {
  if (!variable_of(handle).adds_up()) return;
  std::vector<Word> shown(now.size());
  handle.sums.read(now, shown);
  now = shown;
}

}  // namespace

// The communicator of a bound variable is identified by its handle and context. When it is freed, the new handle
// becomes invalid.
int allocate_performance(Tool& tool, PerformanceSession& session, int index, const void* object, ToolHandle& handle,
                         int& count) {
  PerformanceHandle made;
  made.index = static_cast<std::size_t>(index);
  const PerformanceVariable& variable = variable_of(made);
  count = 1;
  if (variable.of_communicator) {
    if (object == nullptr || tool.rank == nullptr) return MPI_T_ERR_INVALID;
    const RankVisit visit(tool.rank);
    made.communicator = *static_cast<const MPI_Comm*>(object);
    const Communicator* const communicator = tool.rank->communicator(made.communicator);
    if (communicator == nullptr) return MPI_T_ERR_INVALID;
    // A later communicator may get the same handle, but has another context.
    made.context = communicator->context;
    count = variable.elements(communicator);
  }
  // A new handle is stopped, with sums of 0 (MPI 4.0, 15.3.7).
  made.sums = Accumulator(static_cast<std::size_t>(count));
  handle = ++tool.last_handle;
  session.handles.emplace(handle, std::move(made));
  return MPI_SUCCESS;
}

// Reads the library's figures as the handle's new beginning.
int start_performance(Tool& tool, PerformanceHandle& handle) {
  if (!variable_of(handle).adds_up()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  std::vector<Word> now;
  if (const int error = look(tool, handle, now); error != MPI_SUCCESS) return error;
  handle.sums.start(now);
  return MPI_SUCCESS;
}

int stop_performance(Tool& tool, PerformanceHandle& handle) {
  if (!variable_of(handle).adds_up()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  std::vector<Word> now;
  if (const int error = look(tool, handle, now); error != MPI_SUCCESS) return error;
  handle.sums.stop(now);
  return MPI_SUCCESS;
}

int read_performance(Tool& tool, PerformanceHandle& handle, void* out) {
  std::vector<Word> now;
  if (const int error = look(tool, handle, now); error != MPI_SUCCESS) return error;
  show(handle, now);
  store(handle, now, out);
  return MPI_SUCCESS;
}

int write_performance(Tool& tool, PerformanceHandle& handle, const void* in) {
  const PerformanceVariable& variable = variable_of(handle);
  if (!variable.adds_up()) return MPI_T_ERR_PVAR_NO_WRITE;
  std::vector<Word> now;
  if (const int error = look(tool, handle, now); error != MPI_SUCCESS) return error;
  std::vector<Word> values(now.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load_word(variable.type, static_cast<const char*>(in) + i * element_bytes(variable.type));
  }
  handle.sums.write(now, values);
  return MPI_SUCCESS;
}

int reset_performance(Tool& tool, PerformanceHandle& handle) {
  if (!variable_of(handle).adds_up()) return MPI_T_ERR_PVAR_NO_WRITE;
  std::vector<Word> now;
  if (const int error = look(tool, handle, now); error != MPI_SUCCESS) return error;
  handle.sums.reset(now);
  return MPI_SUCCESS;
}

int read_and_reset_performance(Tool& tool, PerformanceHandle& handle, void* out) {
  if (!variable_of(handle).adds_up()) return MPI_T_ERR_PVAR_NO_ATOMIC;
  std::vector<Word> now;
  if (const int error = look(tool, handle, now); error != MPI_SUCCESS) return error;
  std::vector<Word> shown = now;
  show(handle, shown);
  store(handle, shown, out);
  // Resets by the same reading, because an event between two readings would be lost.
  handle.sums.reset(now);
  return MPI_SUCCESS;
}

}  // namespace margay::mpi
