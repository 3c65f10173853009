#include "mpi_adi/progress/progress.hpp"

namespace margay::mpi_adi {

// The coprocessor's round. It differs from the owner's in two points: tasks that call functions of the program do not
// run, and the second heap opens only if other ranks depend on this process's windows. Without windows the sender of a
// held message waits for the program, which bounds the memory.
bool progress_for_absent_owner(DeviceParts& parts, int messages) {
  const bool moved = progress(parts, messages);
  TaskQueue& tasks = parts.tasks;
  const bool ran = tasks.any_awake_for_coprocessor() && tasks.run(TaskQueue::Runner::coprocessor);
  sim::Kernel& kernel = parts.kernel;
  if (kernel.target().serves_while_away()) {
    for (Unexpected* const heap : parts.heaps) heap->relieve_absent(kernel.target().take_longest_hold(heap->portal()));
    // Makes the owner's next rounds examine the heaps: they return to the first heap when they can.
    parts.relieving = true;
  }
  // If tasks have woken other tasks, the coprocessor must not sleep yet.
  return moved || ran || tasks.any_awake_for_coprocessor();
}

}  // namespace margay::mpi_adi
