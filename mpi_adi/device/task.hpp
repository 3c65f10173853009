// What goes on by itself after the call that began it returned: a collective that does not block, an agreement. A task
// is touched when something that it waits for has come, and at no other time; with thousands of them under way a round
// of progress costs what has changed.
//
// Under the process lock, all of it.
#pragma once

#include <cstdint>
#include <string>

namespace margay::mpi_adi {

struct Communicator;
class TaskQueue;

// Under way from begin() until it is over. Who wakes it: descriptors and transmissions whose owner kind is kOwnerTask
// (device/match_bits), a lost peer, and whoever knows better.
class Task {
 public:
  // Who may run it. program: it calls functions of the program's, so never the message coprocessor.
  enum class By : std::uint8_t { anybody, program };

  // `communicator`: whose messages it moves, while it is under way; may be null.
  Task(TaskQueue& queue, By by, const Communicator* communicator = nullptr);
  virtual ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // It is under way, and runs now. Requires: it was not; nobody deletes it here but over().
  void begin();
  // For a report: "MPI_Ibarrier, MPI_COMM_WORLD".
  [[nodiscard]] virtual std::string describe() const { return {}; }
  // It is to look again, in the next round of progress, or later in this one. No effect when that is so already, or
  // when it is not under way.
  void wake();
  [[nodiscard]] const Communicator* works_on() const { return communicator_; }

 private:
  friend class TaskQueue;
  enum class State : std::uint8_t { idle, asleep, awake, running, running_again };

  // Goes as far as it can; may start sends and receives, not wait or call progress(). true: over, and over() is next.
  [[nodiscard]] virtual bool go_on() = 0;
  // The last thing that is done with it: may delete it.
  virtual void over() = 0;

  TaskQueue& queue_;
  const Communicator* const communicator_;
  Task* next_awake_ = nullptr;
  Task* next_ = nullptr;  // in the list of those under way
  Task* previous_ = nullptr;
  By by_;
  State state_ = State::idle;
};

class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // What each round asks: nearly always nobody is awake.
  [[nodiscard]] bool any_awake() const { return first_awake_ != nullptr; }
  // What each call asks as it leaves.
  [[nodiscard]] bool any_awake_for_coprocessor() const { return awake_ != awake_for_program_; }
  // Runs those that are awake, of those that `who` may run. Those that wake each other meanwhile wait for the next
  // round. Returns whether one ran: something has come for it.
  enum class Who : std::uint8_t { program, coprocessor };
  bool run(Who who);
  // A peer is lost: anybody may have waited for it.
  void wake_all();
  // Those under way.
  template <typename Function>
  void for_each(Function&& function) const {
    for (const Task* task = first_; task != nullptr; task = task->next_) function(*task);
  }

 private:
  friend class Task;
  void run(Task& task);
  void list(Task& task);
  void unlist(Task& task);
  void append(Task& task);
  void take_out(Task& task);
  [[nodiscard]] Task* first_for(Who who) const;

  Task* first_ = nullptr;
  Task* first_awake_ = nullptr;
  Task* last_awake_ = nullptr;
  std::uint64_t awake_ = 0;
  std::uint64_t awake_for_program_ = 0;  // of them, whom the coprocessor may not run
};

}  // namespace margay::mpi_adi
