// Tests of tasks: they run only when woken, and only between their beginning and their end. Tasks that call functions
// of the program never run in the coprocessor.
#include "mpi_adi/device/task.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

#include "mpi_adi/object/communicator.hpp"

namespace margay::mpi_adi {
namespace {

using Runner = TaskQueue::Runner;

struct CountingTask final : Task {
  explicit CountingTask(TaskQueue& queue, By by = By::anybody) : Task(queue, by) {}
  // A task that has begun.
  CountingTask(TaskQueue& queue, bool begun, By by = By::anybody) : Task(queue, by) {
    if (begun) begin();
    runs = 0;
  }
  bool go_on() override {
    ++runs;
    if (step) step();
    return ends;
  }
  void over() override {
    ++overs;
    if (owner != nullptr) owner->reset();
  }
  std::function<void()> step;
  std::unique_ptr<CountingTask>* owner = nullptr;  // the owner, through which the task deletes itself at its end
  bool ends = false;
  int runs = 0;
  int overs = 0;
};

int listed(const TaskQueue& queue) {
  int tasks = 0;
  queue.for_each([&](const Task&) { ++tasks; });
  return tasks;
}

}  // namespace

TEST_CASE("a task runs once for all its wakeups, in the order in which tasks were woken") {
  TaskQueue queue;
  CountingTask first(queue, true);
  CountingTask second(queue, true);
  std::vector<int> order;
  first.step = [&] { order.push_back(1); };
  second.step = [&] { order.push_back(2); };
  CHECK_FALSE(queue.any_awake());
  CHECK_FALSE(queue.run(Runner::program));
  CHECK(order.empty());
  second.wake();
  first.wake();
  second.wake();
  CHECK(queue.any_awake());
  CHECK(queue.run(Runner::program));
  CHECK(order == std::vector<int>{2, 1});
  CHECK_FALSE(queue.any_awake());
  queue.wake_all();
  CHECK(queue.run(Runner::coprocessor));
  CHECK(first.runs == 2);
  CHECK(second.runs == 2);
}

TEST_CASE("a task that is woken in a round, by itself or another, runs in the next one") {
  TaskQueue queue;
  CountingTask one(queue, true);
  CountingTask other(queue, true);
  one.step = [&] {
    one.wake();
    other.wake();
  };
  one.wake();
  CHECK(queue.run(Runner::program));
  CHECK(one.runs == 1);
  CHECK(other.runs == 0);
  CHECK(queue.run(Runner::program));
  CHECK(one.runs == 2);
  CHECK(other.runs == 1);
}

TEST_CASE("a task that runs the program's functions waits for the program") {
  TaskQueue queue;
  CountingTask own(queue, true, Task::By::program);
  CountingTask any(queue, true);
  own.wake();
  CHECK(queue.any_awake());
  CHECK_FALSE(queue.any_awake_for_coprocessor());
  any.wake();
  CHECK(queue.any_awake_for_coprocessor());
  CHECK(queue.run(Runner::coprocessor));
  CHECK(own.runs == 0);
  CHECK(any.runs == 1);
  CHECK(queue.any_awake());
  CHECK_FALSE(queue.any_awake_for_coprocessor());
  CHECK(queue.run(Runner::program));
  CHECK(own.runs == 1);
}

TEST_CASE("a task may be destroyed at its end, or at any time while it is awake") {
  TaskQueue queue;
  auto ends = std::make_unique<CountingTask>(queue, true);
  CountingTask* const task = ends.get();
  CountingTask stays(queue, true);
  auto awake = std::make_unique<CountingTask>(queue, true);
  task->ends = true;
  task->owner = &ends;
  task->wake();
  awake->wake();
  stays.wake();
  CHECK(listed(queue) == 3);
  awake.reset();
  CHECK(queue.run(Runner::program));
  CHECK(ends == nullptr);
  CHECK(listed(queue) == 1);
  CHECK(stays.runs == 1);
  queue.wake_all();
  CHECK(queue.run(Runner::program));
  CHECK(stays.runs == 2);
}

TEST_CASE("a task that is not in progress, before begin() and after its end, is never woken") {
  TaskQueue queue;
  CountingTask task(queue);
  const auto nobody_runs_it = [&] {
    const int before = task.runs;
    task.wake();
    queue.wake_all();
    CHECK_FALSE(queue.any_awake());
    CHECK_FALSE(queue.run(Runner::program));
    CHECK(task.runs == before);
    CHECK(listed(queue) == 0);
  };
  nobody_runs_it();
  task.begin();
  CHECK(task.runs == 1);
  CHECK(listed(queue) == 1);
  task.step = [&] { task.wake(); };
  task.ends = true;
  task.wake();
  CHECK(queue.run(Runner::program));
  CHECK(task.overs == 1);
  nobody_runs_it();
  task.begin();  // finished at once
  CHECK(task.overs == 2);
  nobody_runs_it();
  task.ends = false;
  task.step = {};
  task.begin();
  task.wake();
  CHECK(queue.any_awake());
}

}  // namespace margay::mpi_adi
