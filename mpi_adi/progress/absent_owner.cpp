#include "mpi_adi/progress/progress.hpp"

namespace margay::mpi_adi {

bool progress_for_absent_owner(DeviceParts& parts, int messages) {
  const bool moved = progress(parts, messages);
  TaskQueue& tasks = parts.tasks;
  const bool ran = tasks.any_awake_for_coprocessor() && tasks.run(TaskQueue::Who::coprocessor);
  sim::Kernel& kernel = parts.kernel;
  if (kernel.target().serves_while_away()) {
    for (Unexpected* const heap : parts.heaps) heap->relieve_absent(kernel.target().take_longest_hold(heap->portal()));
    parts.relieving = true;
  }
  return moved || ran || tasks.any_awake_for_coprocessor();
}

}  // namespace margay::mpi_adi
