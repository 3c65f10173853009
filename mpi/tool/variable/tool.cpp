#include "mpi/tool/variable/tool.hpp"

#include "mpi/tool/variable/control.hpp"

namespace margay::mpi {

Tool& tool() {
  return current_process().part<Tool>();
}

// The process lock is taken after the mutex, as everywhere in the interface.
void tool_rank_begins(MpiRank& rank) {
  Tool& state = tool();
  const std::lock_guard guard(state.mutex);
  state.rank = &rank;
  state.last_values.clear();
  const RankVisit visit(&rank);
  Settings settings = settings_of(&rank);
  settings.rank = nullptr;  // checked as when they were written: nothing waits or sends yet
  for (const auto& [index, value] : state.wanted) {
    const ControlVariable& variable = control_variables()[index];
    // The options may exclude the value by now, for example with a smaller heap.
    if (variable.check(settings, value) == MPI_SUCCESS) variable.write(rank, value);
  }
  state.wanted.clear();
  for (const auto& [index, value] : state.wanted_texts) {
    // The same for a string: what this rank cannot have stays as the options set it.
    static_cast<void>(control_variables()[index].write_text(rank, value));
  }
  state.wanted_texts.clear();
}

// Keeps the last values, because tools read them after MPI_Finalize. Values of a communicator are not kept, because it
// no longer exists then.
void tool_rank_ends() {
  Tool& state = tool();
  const std::lock_guard guard(state.mutex);
  const auto& variables = performance_variables();
  std::vector<Word> values(variables.size());
  {
    // The rank object stays, dormant, until the process exits.
    const RankVisit visit(state.rank);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (variables[i].of_communicator) continue;
      variables[i].read({state.rank, nullptr}, variables[i].which, {&values[i], 1});
    }
  }
  state.last_values = std::move(values);
  state.rank = nullptr;
}

}  // namespace margay::mpi
