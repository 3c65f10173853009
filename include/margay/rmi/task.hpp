// Parallel tasks (paper, 5): an algorithm as an object on each node. Part of margay/rmi.hpp.
//
//   struct Count final : margay::rmi::parallel_task {
//     void execute() override { async_rmi(0, this, &Count::add, 1); }   // `this` names the task of node 0
//     void add(int x) { total += x; }
//     int total = 0;
//   };
//   Count task;
//   execute_parallel_task(&task);                                       // collective; node 0 has the number of nodes
#pragma once

#include "margay/rmi/object.hpp"
#include "margay/rmi/synchronize.hpp"

namespace margay::rmi {

// The base class of an algorithm's object: execute() is the algorithm, which each node runs on its own object. Requests
// between the tasks name the destination's task by the caller's own `this`.
class parallel_task {
 public:
  virtual ~parallel_task() = default;
  virtual void execute() = 0;
};

// Registers the task of each node under one id, so that `this` names it towards any node, runs execute(), and ends its
// requests by a fence. Collective, outside of a method. `Task`: the class whose methods are called. The caller owns the
// task. Throws what execute() throws, without the fence: the other nodes then wait in theirs, unless all nodes threw.
// Cost: a registration and a fence.
template <class Task>
void execute_parallel_task(Task* task) {
  const rmi_object<Task> registered(*task);
  task->execute();
  rmi_fence();
}

}  // namespace margay::rmi
