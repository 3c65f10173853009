// What goes on by itself after the call that began it returned: a collective that does not block, an agreement. A task
// is touched when something that it waits for has come, and at no other time; with thousands of them under way a round
// of progress costs what has changed.
//
// Under the process lock, all of it.
#pragma once

#include <cstdint>
#include <string>

namespace margay::mpi_adi {

class TaskQueue;

// Who wakes it: descriptors and transmissions whose owner kind is kOwnerTask (device/portal_numbers), a lost peer, and
// whoever knows better.
class Task {
 public:
  // Who may run it. program: it calls functions of the program's, so never the message coprocessor.
  enum class By : std::uint8_t { anybody, program };

  Task(TaskQueue& queue, By by);
  virtual ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Runs it now, out of its turn. Requires: it is not running; nobody deletes it here but over().
  void begin();
  // What is under way, for a report: "MPI_Ibarrier, MPI_COMM_WORLD". Empty: nothing.
  [[nodiscard]] virtual std::string under_way() const { return {}; }
  // It is to look again, in the next round of progress, or later in this one. No effect when that is so already.
  void wake();

 private:
  friend class TaskQueue;
  enum class State : std::uint8_t { asleep, awake, running, running_again };

  // Goes as far as it can; may start sends and receives, not wait or call progress(). true: over, and over() is next.
  [[nodiscard]] virtual bool go_on() = 0;
  // The last thing that is done with it: may delete it.
  virtual void over() = 0;

  TaskQueue& queue_;
  Task* next_awake_ = nullptr;
  Task* next_ = nullptr;  // in the list of all
  Task* previous_ = nullptr;
  By by_;
  State state_ = State::asleep;
};

class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // What each round asks: nearly always nobody is awake.
  [[nodiscard]] bool any_awake() const { return first_awake_ != nullptr; }
  // Runs those that are awake, of those that `who` may run. Those that wake each other meanwhile wait for the next
  // round. Returns whether one ended.
  enum class Who : std::uint8_t { program, coprocessor };
  bool run(Who who);
  // A peer is lost: anybody may have waited for it.
  void wake_all();
  template <typename Function>
  void for_each(Function&& function) const {
    for (const Task* task = first_; task != nullptr; task = task->next_) function(*task);
  }

 private:
  friend class Task;
  static bool run(Task& task);
  void append(Task& task);
  void take_out(Task& task);
  [[nodiscard]] Task* first_for(Who who) const;

  Task* first_ = nullptr;
  Task* first_awake_ = nullptr;
  Task* last_awake_ = nullptr;
  std::uint64_t awake_ = 0;
};

}  // namespace margay::mpi_adi
