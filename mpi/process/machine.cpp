#include "mpi/process/machine.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/cost/facts.hpp"
#include "collectives/portal/rank_host.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/choose.hpp"
#include "mpi/info/table.hpp"
#include "mpi/process/leaks.hpp"
#include "mpi/tool/variable/tool.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/boot/last_second.hpp"

namespace margay::mpi {

using portals::Status;

namespace {

// Attempts to lock at exit, 100 us apart, 10 ms in all. An inquiry of another thread holds the lock for less than that.
// A thread that removes the last user keeps it until the wires are drained, so the attempts may fail.
constexpr int kLocksTried = 100;
constexpr useconds_t kBetweenLocksUs = 100;

// The process's part in the job. Owns the rank until the process exits, because its coprocessor and other threads'
// calls may still run.
struct Machine final : ProcessPart {
  static constexpr PartSlot kSlot = PartSlot::job;
  // Guards the fields below. Threads lock it inside the rank, too. This cannot deadlock, because a thread that has
  // locked it enters the rank only while there are no other users.
  std::mutex mutex;
  std::unique_ptr<MpiRank> rank;
  int users = 0;
  bool forwards = false;  // there are no users, and the rank still forwards messages of others
  bool over = false;      // the process exits: no new users
  pid_t process = 0;      // the process that joined; a forked child has no part in the job
};

Machine& the_machine() {
  return current_process().part<Machine>();
}

// The collectives' part of the rank; mpi_adi, which is below, gets it as a function.
std::unique_ptr<RankExtension> make_collectives(MpiRank& rank) {
  auto portal = std::make_unique<TreePortal>(std::make_unique<RankHost>(rank));
  const sim::Job& job = rank.process().job();
  if (job.options.text("check_types") == "1" && !job.spawned) {
    portal->check_calls(rank.process().findings(), rank.process().source_lines());
  }
  return portal;
}

// Writes without stdio, whose lock the interrupted code may hold.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

// Prints the leaks that `report` finds. `status`: the exit status if the report does not end within a second.
void report_at_exit(MpiRank& rank, int status, std::string (*report)(MpiRank&)) {
  // Without the lock there is no report: exit() must not wait.
  if (rank.handles().origins() == nullptr || !rank.lock().try_enter()) return;
  std::string text;
  {
    // The report allocates, and locks tables: the code that a signal interrupted may hold these locks.
    const sim::LastSecond last(status);
    text = report(rank);
  }
  rank.leave();
  write_all(text);
}

// The exit of a process whose part in the job still has users.
void leave_held(MpiRank& rank, int users, bool sessions_alone, bool signed_off) {
  sim::Process& process = rank.process();
  if (sessions_alone) process.board().open_sessions = static_cast<std::uint32_t>(users);
  report_at_exit(rank, signed_off ? sim::LastSecond::kKill : 1, &report_of_open_sessions);
  // A launcher that has accepted the goodbye takes any exit for a regular one, and the other ranks would wait forever.
  if (signed_off) {
    process.abort(1,
                  sessions_alone ? "it exits with a session that was never finalized" : "it exits without MPI_Finalize",
                  sim::Finding::no_finalize);
  }
}

// Locks the mutex of a process that exits; false: it is held for longer than an inquiry takes.
bool lock_at_exit(std::unique_lock<std::mutex>& lock) {
  for (int i = 0; i < kLocksTried && !lock.try_lock(); ++i) usleep(kBetweenLocksUs);
  return lock.owns_lock();
}

// Requires: the mutex is locked, and there are no users.
void make_dormant(MpiRank& rank) {
  // First: the coprocessor would otherwise enter the rank while the rank becomes dormant.
  rank.process().stop_coprocessor();
  rank.enter();
  // Inside the rank, because become_dormant() drains the wires, and no other thread may enter meanwhile.
  rank.become_dormant();
  rank.leave();
}

// Runs in exit(), after the program's exit handlers, which may still begin and end MPI: in any thread, while others
// run, or in a signal handler. It therefore waits for each lock for a short time only. The ranks that are threads end
// in mpi/process/threads.
[[gnu::destructor]] void end_machine() {
  end_forwarding_of(system_process());
  end_machine_of(system_process());
}

// Checks the rates. Rates that the user gave must be valid. An invalid calibration file does not end the job: it runs
// as if there were no file.
Status check_rates(const sim::Job& job) {
  Rates rates;
  Status status = parse_requested_rates(job.rates, rates);
  if (status.ok() || job.rates_given) return status;
  if (job.rank == 0) {
    static_cast<void>(std::fprintf(stderr, "margay: the rates that `margay calibrate` stored are passed over: %s\n",
                                   status.sentence().c_str()));
  }
  return {};
}

// Options and rates are checked before the rank is started, so that a mistake ends the job early on every rank.
Status join(Machine& machine) {
  try {
    std::unique_ptr<sim::Process> process;
    if (Status status = current_process().start(process); !status.ok()) return status;
    RequestedAlgorithms asked;
    if (Status status = parse_requested_algorithms(process->job().options.text("collective"), asked); !status.ok())
      return status;
    if (Status status = check_rates(process->job()); !status.ok()) return status;
    if (Status status = MpiRank::start_on(std::move(process), &make_collectives, machine.rank); !status.ok())
      return status;
  } catch (const std::bad_alloc&) {
    return Status::error(
        "not enough memory for a rank, most of it the heap of unexpected messages; raise ulimit -v, or reduce the "
        "heap with --heap");
  }
  // A child of fork() has a copy of this memory, and must not use the job.
  machine.process = getpid();
  // MPI_INFO_ENV then has the job's own facts.
  InfoAccess().record_job(machine.rank->process().job());
  return {};
}

}  // namespace

// The mutex is locked from beginning to end, so that two first users in two threads join once.
Status acquire_machine(bool threads) {
  Machine& machine = the_machine();
  const std::lock_guard guard(machine.mutex);
  if (machine.rank != nullptr && machine.process != getpid()) {
    return Status::error("the process was forked after its parent joined the job, and has no part in it");
  }
  if (machine.over) return Status::error("the process has left its job already, as it exits");
  // The first user joins; a later one resumes a dormant part.
  if (machine.rank == nullptr) {
    if (Status status = join(machine); !status.ok()) return status;
  } else if (machine.users == 0) {
    // resume() starts the coprocessor of a rank that only forwards again.
    if (std::exchange(machine.forwards, false)) machine.rank->process().stop_coprocessor();
    machine.rank->resume();
  }
  // A second user may call from another thread than the first, whatever its level.
  if (threads || (machine.users != 0 && !machine.rank->lock().on_lone_thread())) machine.rank->lock().allow_threads();
  if (machine.users++ == 0) {
    current_process().set_rank(machine.rank.get());
    tool_rank_begins(*machine.rank);
  }
  return {};
}

bool is_machine_held(MpiProcess& process) {
  auto* const machine = process.find_part<Machine>();
  if (machine == nullptr) return false;
  const std::lock_guard guard(machine->mutex);
  return machine->users != 0;
}

void end_forwarding_of(MpiProcess& process) {
  auto* const machine = process.find_part<Machine>();
  if (machine == nullptr) return;
  std::unique_lock lock(machine->mutex, std::defer_lock);
  if (!lock_at_exit(lock) || machine->process != getpid()) return;
  if (!std::exchange(machine->forwards, false)) return;
  // exit() may run in another thread than the last call of MPI.
  machine->rank->lock().begin_lone_thread();
  make_dormant(*machine->rank);
}

// A dormant part has sent its goodbye; the operating system frees the rest.
void end_machine_of(MpiProcess& process) {
  auto* const made = process.find_part<Machine>();
  if (made == nullptr) return;
  Machine& machine = *made;
  std::unique_lock lock(machine.mutex, std::defer_lock);
  if (!lock_at_exit(lock) || machine.process != getpid() || machine.over) return;
  if (const int users = machine.users; users != 0) {
    const bool signed_off = machine.rank->process().signed_off();
    lock.unlock();
    leave_held(*machine.rank, users, process.init_state() != InitState::running, signed_off);
  } else {
    // A later exit handler that begins MPI gets an error instead of a rank whose sockets are shut.
    machine.over = true;
    report_at_exit(*machine.rank, 1, &report_of_exit);
    machine.rank->process().shut();
  }
}

MpiRank* joined_rank(MpiProcess& process) {
  auto* const machine = process.find_part<Machine>();
  return machine == nullptr ? nullptr : machine->rank.get();
}

bool is_machine_used_once() {
  Machine& machine = the_machine();
  const std::lock_guard guard(machine.mutex);
  return machine.users <= 1;
}

// Sessions may follow: the rank becomes dormant, and is kept.
void release_machine(User user) {
  Machine& machine = the_machine();
  const std::lock_guard guard(machine.mutex);
  if (--machine.users > 0) return;
  MpiRank& rank = *machine.rank;
  if (rank.process().forwards_for_others()) {
    rank.enter();
    rank.forward_only(user != User::session);
    rank.leave();
    machine.forwards = true;
  } else {
    make_dormant(rank);
  }
  tool_rank_ends();
  // Last: other threads' inquiries find the rank until then.
  current_process().set_rank(nullptr);
}

}  // namespace margay::mpi
