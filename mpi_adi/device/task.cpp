#include "mpi_adi/device/task.hpp"

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

Task::Task(TaskQueue& queue, By by) : queue_(queue), by_(by) {
  next_ = queue.first_;
  if (next_ != nullptr) next_->previous_ = this;
  queue.first_ = this;
}

Task::~Task() {
  MARGAY_ASSERT(state_ != State::running && state_ != State::running_again);
  if (state_ == State::awake) queue_.take_out(*this);
  (previous_ == nullptr ? queue_.first_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void Task::wake() {
  if (state_ == State::asleep) {
    state_ = State::awake;
    queue_.append(*this);
  } else if (state_ == State::running) {
    state_ = State::running_again;
  }
}

void Task::begin() {
  if (state_ == State::awake) queue_.take_out(*this);
  TaskQueue::run(*this);
}

void TaskQueue::append(Task& task) {
  task.next_awake_ = nullptr;
  (last_awake_ == nullptr ? first_awake_ : last_awake_->next_awake_) = &task;
  last_awake_ = &task;
  ++awake_;
}

void TaskQueue::take_out(Task& task) {
  Task* before = nullptr;
  for (Task* at = first_awake_; at != &task; at = at->next_awake_) before = at;
  (before == nullptr ? first_awake_ : before->next_awake_) = task.next_awake_;
  if (last_awake_ == &task) last_awake_ = before;
  --awake_;
}

Task* TaskQueue::first_for(Who who) const {
  Task* task = first_awake_;
  while (task != nullptr && who == Who::coprocessor && task->by_ == Task::By::program) task = task->next_awake_;
  return task;
}

// A task that calls a function of the program's gives the process lock up meanwhile, and others come here: nothing is
// kept over go_on() but the task itself, which nobody else runs.
bool TaskQueue::run(Who who) {
  bool ended = false;
  for (std::uint64_t left = awake_; left != 0; --left) {
    Task* const task = first_for(who);
    if (task == nullptr) break;
    take_out(*task);
    ended |= run(*task);
  }
  return ended;
}

// Whether it is over.
bool TaskQueue::run(Task& task) {
  task.state_ = Task::State::running;
  const bool over = task.go_on();
  const bool again = task.state_ == Task::State::running_again;
  task.state_ = Task::State::asleep;
  if (over) {
    task.over();
  } else if (again) {
    task.wake();
  }
  return over;
}

void TaskQueue::wake_all() {
  for (Task* task = first_; task != nullptr; task = task->next_) task->wake();
}

}  // namespace margay::mpi_adi
