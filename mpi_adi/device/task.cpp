#include "mpi_adi/device/task.hpp"

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

Task::Task(TaskQueue& queue, By by, const Communicator* communicator)
    : queue_(queue), communicator_(communicator), by_(by) {}

Task::~Task() {
  MARGAY_ASSERT(state_ != State::running && state_ != State::running_again);
  // A task may be deleted while it is awake; the queue must then not contain it any more.
  if (state_ == State::awake) queue_.take_out(*this);
  if (state_ != State::idle) queue_.unlist(*this);
}

// No effect on an awake task, because it will run anyway, nor on an idle task, which a late event may still reach.
void Task::wake() {
  if (state_ == State::asleep) {
    state_ = State::awake;
    queue_.append(*this);
  } else if (state_ == State::running) {
    state_ = State::running_again;
  }
}

void Task::begin() {
  MARGAY_ASSERT(state_ == State::idle);
  // Listed before it runs, because it may end within run(), which unlists it.
  queue_.list(*this);
  queue_.run(*this);
}

void TaskQueue::list(Task& task) {
  task.previous_ = nullptr;
  task.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &task;
  first_ = &task;
}

void TaskQueue::unlist(Task& task) {
  (task.previous_ == nullptr ? first_ : task.previous_->next_) = task.next_;
  if (task.next_ != nullptr) task.next_->previous_ = task.previous_;
}

void TaskQueue::append(Task& task) {
  task.next_awake_ = nullptr;
  (last_awake_ == nullptr ? first_awake_ : last_awake_->next_awake_) = &task;
  last_awake_ = &task;
  ++awake_;
  if (task.by_ == Task::By::program) ++awake_for_program_;
}

void TaskQueue::take_out(Task& task) {
  Task* before = nullptr;
  // The queue is short, and nearly always the task is its first.
  for (Task* at = first_awake_; at != &task; at = at->next_awake_) before = at;
  (before == nullptr ? first_awake_ : before->next_awake_) = task.next_awake_;
  if (last_awake_ == &task) last_awake_ = before;
  --awake_;
  if (task.by_ == Task::By::program) --awake_for_program_;
}

Task* TaskQueue::first_for(Runner who) const {
  Task* task = first_awake_;
  while (task != nullptr && who == Runner::coprocessor && task->by_ == Task::By::program) task = task->next_awake_;
  return task;
}

// Runs as many tasks as were awake at the start. A task that calls a function of the program gives up the process lock
// meanwhile, and another thread may enter here. So nothing is kept across go_on() except the task itself, which no
// other thread runs.
bool TaskQueue::run(Runner who) {
  bool ran = false;
  for (std::uint64_t left = awake_; left != 0; --left) {
    Task* const task = first_for(who);
    if (task == nullptr) break;
    take_out(*task);
    run(*task);
    ran = true;
  }
  return ran;
}

void TaskQueue::run(Task& task) {
  task.state_ = Task::State::running;
  const bool over = task.go_on();
  // Read before over(), which may delete the task.
  const bool again = task.state_ == Task::State::running_again;
  if (over) {
    task.state_ = Task::State::idle;
    unlist(task);
    task.over();
    return;
  }
  // An event during go_on() may have occurred after the task tested for it, so the task must run once more.
  task.state_ = Task::State::asleep;
  if (again) task.wake();
}

void TaskQueue::wake_all() {
  for (Task* task = first_; task != nullptr; task = task->next_) task->wake();
}

}  // namespace margay::mpi_adi
