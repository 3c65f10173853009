// Tasks: routines that continue after the call that started them has returned, such as a collective call that does not
// block, or an agreement. A task runs only after an event for which it waits. So the cost of a progress round depends
// on the number of events, not on the number of tasks under way.
//
// All functions require the process lock.
#pragma once

#include <cstdint>
#include <string>

namespace margay::mpi_adi {

struct Communicator;
class TaskQueue;

// A routine under way, from begin() until over(). The task is woken by descriptors and transmissions whose owner kind
// is kOwnerTask (device/match_bits), by the loss of a peer, and by wake().
class Task {
 public:
  // The threads that may run it. `program`: it calls functions of the program, so never the message coprocessor.
  enum class By : std::uint8_t { anybody, program };

  // `communicator`: the communicator whose messages the task moves while it is under way, for reports; may be null.
  // `queue` must outlive the task.
  Task(TaskQueue& queue, By by, const Communicator* communicator = nullptr);
  // Leaves the queue. Requires: it is not running.
  virtual ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Starts the task, which runs now, as far as it can. Requires: the task is not under way. On return the task may be
  // over, and its own over() may have deleted it.
  void begin();
  // Its name in reports, such as "MPI_Ibarrier, MPI_COMM_WORLD".
  [[nodiscard]] virtual std::string describe() const { return {}; }
  // Makes the task run in the next progress round, or later in this one. No effect if the task is already awake or not
  // under way.
  void wake();
  // The communicator given to the constructor, for reports and for Device::quiet(): a communicator with a task is not
  // quiet.
  [[nodiscard]] const Communicator* works_on() const { return communicator_; }

 private:
  friend class TaskQueue;
  // idle: not under way. asleep: waits. awake: queued to run. running_again: woken while it ran, so it runs once more.
  enum class State : std::uint8_t { idle, asleep, awake, running, running_again };

  // Runs as far as it can. May start sends and receives; must neither wait nor call progress(). Returns true at its
  // end, and over() is called next.
  [[nodiscard]] virtual bool go_on() = 0;
  // The last function called on the task; it may delete the task.
  virtual void over() = 0;

  // Constant; communicator_ may be null (works_on()).
  TaskQueue& queue_;
  const Communicator* const communicator_;
  // Link of the queue of awake tasks; meaningless in other states.
  Task* next_awake_ = nullptr;
  // Links of the list of tasks under way.
  Task* next_ = nullptr;
  Task* previous_ = nullptr;
  By by_;
  State state_ = State::idle;
};

// The tasks of one device: a doubly linked list of all tasks under way, and a singly linked queue of the awake tasks.
class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // Tested in each progress round; nearly always false.
  [[nodiscard]] bool any_awake() const { return first_awake_ != nullptr; }
  // Whether the coprocessor would find a task to run. Tested at the end of each MPI call.
  [[nodiscard]] bool any_awake_for_coprocessor() const { return awake_ != awake_for_program_; }
  // Runs the awake tasks that `who` may run. Runs at most as many tasks as are awake at the call, so a round ends even
  // if two tasks wake each other. Returns whether a task ran, which counts as progress.
  enum class Runner : std::uint8_t { program, coprocessor };
  bool run(Runner who);
  // Wakes all tasks, when a peer is lost: each may have waited for it.
  void wake_all();
  // Visits the tasks under way, the latest first.
  template <typename Function>
  void for_each(Function&& function) const {
    for (const Task* task = first_; task != nullptr; task = task->next_) function(*task);
  }

 private:
  friend class Task;
  // Runs one task, and lists it again if it was woken while it ran.
  void run(Task& task);
  // list() and unlist() maintain the list of tasks under way.
  void list(Task& task);
  void unlist(Task& task);
  // append() and take_out() maintain the queue of awake tasks and both counts. take_out() searches the queue.
  void append(Task& task);
  void take_out(Task& task);
  // The first awake task that `who` may run; nullptr if there is none.
  [[nodiscard]] Task* first_for(Runner who) const;

  Task* first_ = nullptr;  // of the tasks under way, the latest
  // The queue of the awake tasks, in the order in which they were woken.
  Task* first_awake_ = nullptr;
  Task* last_awake_ = nullptr;
  std::uint64_t awake_ = 0;              // tasks in the queue
  std::uint64_t awake_for_program_ = 0;  // tasks in the queue that the coprocessor may not run
};

}  // namespace margay::mpi_adi
