// Tasks: run when woken and at no other time; the program's own never by the coprocessor.
#include "mpi_adi/device/task.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

namespace margay::mpi_adi {
namespace {

using Who = TaskQueue::Who;

struct CountingTask final : Task {
  explicit CountingTask(TaskQueue& queue, By by = By::anybody) : Task(queue, by) {}
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
  std::unique_ptr<CountingTask>* owner = nullptr;  // it goes away once it is over
  bool ends = false;
  int runs = 0;
  int overs = 0;
};

}  // namespace

TEST_CASE("a task runs once for all that woke it, in the order in which they were woken") {
  TaskQueue queue;
  CountingTask first(queue);
  CountingTask second(queue);
  std::vector<int> order;
  first.step = [&] { order.push_back(1); };
  second.step = [&] { order.push_back(2); };
  CHECK_FALSE(queue.any_awake());
  CHECK_FALSE(queue.run(Who::program));
  CHECK(order.empty());
  second.wake();
  first.wake();
  second.wake();
  CHECK(queue.any_awake());
  CHECK_FALSE(queue.run(Who::program));
  CHECK(order == std::vector<int>{2, 1});
  CHECK_FALSE(queue.any_awake());
  queue.wake_all();
  CHECK_FALSE(queue.run(Who::coprocessor));
  CHECK(first.runs == 2);
  CHECK(second.runs == 2);
}

TEST_CASE("what is woken in a round, itself or another, runs in the next one") {
  TaskQueue queue;
  CountingTask one(queue);
  CountingTask other(queue);
  one.step = [&] {
    one.wake();
    other.wake();
  };
  one.wake();
  CHECK_FALSE(queue.run(Who::program));
  CHECK(one.runs == 1);
  CHECK(other.runs == 0);
  CHECK_FALSE(queue.run(Who::program));
  CHECK(one.runs == 2);
  CHECK(other.runs == 1);
}

TEST_CASE("a task that runs the program's functions waits for the program") {
  TaskQueue queue;
  CountingTask own(queue, Task::By::program);
  CountingTask any(queue);
  own.wake();
  any.wake();
  CHECK_FALSE(queue.run(Who::coprocessor));
  CHECK(own.runs == 0);
  CHECK(any.runs == 1);
  CHECK(queue.any_awake());
  CHECK_FALSE(queue.run(Who::program));
  CHECK(own.runs == 1);
}

TEST_CASE("a task that is over may go away then; one that is awake may at any time") {
  TaskQueue queue;
  auto ends = std::make_unique<CountingTask>(queue);
  CountingTask* const task = ends.get();
  CountingTask stays(queue);
  auto awake = std::make_unique<CountingTask>(queue);
  task->ends = true;
  task->owner = &ends;
  task->wake();
  awake->wake();
  stays.wake();
  awake.reset();
  CHECK(queue.run(Who::program));
  CHECK(ends == nullptr);
  CHECK(stays.runs == 1);
  queue.wake_all();
  CHECK_FALSE(queue.run(Who::program));
  CHECK(stays.runs == 2);
}

TEST_CASE("begin() runs a task at once, awake or not") {
  TaskQueue queue;
  CountingTask task(queue);
  task.begin();
  CHECK(task.runs == 1);
  task.wake();
  task.begin();
  CHECK(task.runs == 2);
  CHECK_FALSE(queue.any_awake());
  task.step = [&] { task.wake(); };
  task.begin();
  CHECK(queue.any_awake());
  task.step = {};
  task.ends = true;
  CHECK(queue.run(Who::program));
  CHECK(task.overs == 1);
}

}  // namespace margay::mpi_adi
