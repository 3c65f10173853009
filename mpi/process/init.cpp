// The beginning and end of the world model (MPI 4.0, chapter 11.2).
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "collectives/comm/connect.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/call/fatal_error.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi/process/leaks.hpp"
#include "mpi/process/machine.hpp"
#include "mpi_adi/protocol/buffered.hpp"
#include "mpi_adi/rank/call_trace.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/boot/last_second.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

// Connects a spawned process to its parents, which accept at the port whose name they gave to the launcher. A process
// that a library has started has none.
void connect_to_parents(Call& call) {
  MpiRank& rank = call.rank();
  std::string port;
  bool found = false;
  if (const auto status = rank.process().job().pmi->lookup(margay::sim::kParentPortKey, port, found); !status.ok()) {
    return call.error(MPI_ERR_OTHER, "cannot find the parents that spawned this process: " + status.sentence());
  }
  if (!found) return;
  const Connected made = connect_group(rank, rank.worlds().world(), 0, port, call.name());
  if (made.communicator == nullptr) {
    return call.error(MPI_ERR_OTHER, "cannot connect to the parents that spawned this process: " +
                                         port_error_text(made.result, made.why));
  }
  made.communicator->name = "MPI_COMM_PARENT";
  rank.worlds().set_parent(*made.communicator);
}

// MPI_Init and MPI_Init_thread. A failure to join the job ends the process, as there is no handler yet.
int begin(const Invocation& of, int thread_level) {
  // A process initializes the world model only once, and not again after MPI_Finalize (MPI 4.0, 11.2.1).
  if (current_process().init_state() != InitState::before) {
    EarlyCall call(of);
    call.error(MPI_ERR_OTHER,
               std::string("called ") +
                   (current_process().init_state() == InitState::running ? "twice" : "after MPI_Finalize") +
                   "; a process initializes MPI once");
    return call.failed();
  }
  // With SERIALIZED, calls come from several threads, so the process lock must work between threads.
  const auto status = acquire_machine(thread_level >= MPI_THREAD_SERIALIZED);
  if (!status.ok()) exit_by_failure(of.name, "failed: " + status.sentence());
  MpiRank* const rank = current_rank();
  set_thread_rank(rank);
  // Before the state changes, which other threads read (MPI_Initialized).
  rank->begin_world(thread_level);
  current_process().set_init_state(InitState::running);
  if (!rank->process().job().spawned) return MPI_SUCCESS;
  Call call(of);
  connect_to_parents(call);
  return call.done();
}

// For calls that any thread may make at any level while MPI runs. While MPI does not run, the process ends, as with any
// Call.
MpiRank& running_rank(const CallName& name, EarlyCall& call) {
  return call.rank() != nullptr ? *call.rank() : Call(name).rank();
}

// Enters the rank, and returns whether it could. Gives up if another thread's call keeps the process lock, and at once
// in a signal handler that interrupted a call of this thread: the handler would wait for that call forever.
bool enters_soon(MpiRank& rank) {
  // 10 ms in all: most calls have left the lock by then, and an abort is not delayed noticeably.
  constexpr int kTries = 100;
  constexpr useconds_t kBetweenTriesUs = 100;
  for (int i = 0; i < kTries; ++i) {
    if (rank.lock().try_enter()) return true;
    if (rank.lock().interrupted()) return false;
    usleep(kBetweenTriesUs);
  }
  return false;
}

// The name of an invalid communicator in MPI_Abort, which ends the job nevertheless.
std::string abort_of_none(MPI_Comm comm) {
  return comm == MPI_COMM_NULL ? "MPI_COMM_NULL" : in_hex(comm) + ", which is not a valid communicator,";
}

}  // namespace

// The arguments are not read: options of `margay run` travel in the environment, so argc and argv are the program's
// own.
extern "C" int PMPI_Init(int* /*argc*/, char*** /*argv*/) {
  return begin(call_name<"MPI_Init">, MPI_THREAD_SINGLE);
}
MARGAY_ALIAS(Init)

extern "C" int PMPI_Init_thread(int* /*argc*/, char*** /*argv*/, int required, int* provided) {
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) {
    EarlyCall call(call_name<"MPI_Init_thread">);
    call.error(MPI_ERR_ARG, "required is " + std::to_string(required) +
                                ", no thread level (MPI_THREAD_SINGLE, 0, to MPI_THREAD_MULTIPLE, 3)");
    return call.failed();
  }
  const int result = begin(call_name<"MPI_Init_thread">, required);
  // All four levels are supported, so the program gets the one that it requires.
  if (provided != nullptr && result == MPI_SUCCESS) *provided = required;
  return result;
}
MARGAY_ALIAS(Init_thread)

extern "C" int PMPI_Initialized(int* flag) {
  if (flag == nullptr) return null_argument(call_name<"MPI_Initialized">, "flag");
  *flag = current_process().init_state() != InitState::before ? 1 : 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Initialized)

extern "C" int PMPI_Finalized(int* flag) {
  if (flag == nullptr) return null_argument(call_name<"MPI_Finalized">, "flag");
  *flag = current_process().init_state() == InitState::finalized ? 1 : 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Finalized)

extern "C" int PMPI_Query_thread(int* provided) {
  EarlyCall call(call_name<"MPI_Query_thread">);
  MpiRank& rank = running_rank(call_name<"MPI_Query_thread">, call);
  call.not_null(provided, "provided");
  if (call.ok()) *provided = rank.worlds().thread_level();
  return call.done();
}
MARGAY_ALIAS(Query_thread)

extern "C" int PMPI_Is_thread_main(int* flag) {
  EarlyCall call(call_name<"MPI_Is_thread_main">);
  MpiRank& rank = running_rank(call_name<"MPI_Is_thread_main">, call);
  call.not_null(flag, "flag");
  if (call.ok()) *flag = rank.worlds().on_main_thread() ? 1 : 0;
  return call.done();
}
MARGAY_ALIAS(Is_thread_main)

// All messages of all ranks are sent and received before any rank leaves (paper 001 has no finalize; MPI 4.0, 11.2.2).
extern "C" int PMPI_Finalize() {
  {
    Call call(call_name<"MPI_Finalize">);
    MpiRank& rank = call.rank();
    // First, while everything still works: the program's own actions at the end (MPI 4.0, 11.2.4).
    delete_attributes_at_end(call, rank.worlds().self());
    delete_attributes_at_end(call, rank.worlds().world());
    report_leaks(rank, {.session = 0, .last = is_machine_used_once()});
    if (!end_communication(call)) return call.failed();
    // Tested again, because the last session may have ended meanwhile.
    if (is_machine_used_once() && rank.buffered().drained()) rank.buffered().abandon();
    rank.end_world();
  }
  // After the Call has left the rank, which release_machine() enters again.
  set_thread_rank(nullptr);
  release_machine(User::world);
  current_process().set_init_state(InitState::finalized);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Finalize)

// The call may be in a signal handler, and the interrupted code may hold a lock that the message needs: of memory, or
// of the names of locations. So the board has a short message first, and the time is limited.
extern "C" int PMPI_Abort(MPI_Comm comm, int errorcode) {
  // Prints the message of a call outside MPI, and ends the process.
  if (current_rank() == nullptr) const Call ends_the_process(call_name<"MPI_Abort">);
  MpiRank& rank = *current_rank();
  if (margay::sim::CallObserver* const observer = rank.process().call_observer(); observer != nullptr)
    observer->begin_call();
  std::array<char, 64> brief{};
  std::snprintf(brief.data(), brief.size(), "MPI_Abort with code %d", errorcode);
  rank.process().announce_abort(errorcode, brief.data());
  // Outside of a handler more than the longest search for a location's name.
  constexpr unsigned kPatienceSeconds = 15;
  constexpr unsigned kHandlerSeconds = 3;
  const margay::sim::LastSecond last(rank.process().signed_off() ? margay::sim::LastSecond::kKill
                                     : (errorcode & 0xff) != 0   ? errorcode
                                                                 : 1,
                                     rank.lock().interrupted() ? kHandlerSeconds : kPatienceSeconds);
  std::string where = "a communicator";
  if (enters_soon(rank)) {
    margay::sim::Recorder& recorder = rank.process().recorder();
    if (recorder.on()) rank.call_trace().enter(recorder, "MPI_Abort", __builtin_return_address(0));
    const Communicator* communicator = rank.communicator(comm);
    if (communicator == nullptr) {
      where = abort_of_none(comm);
    } else if (!communicator->name.empty()) {
      where = communicator->name;
    }
  } else if (comm == MPI_COMM_WORLD) {
    where = "MPI_COMM_WORLD";
  }
  rank.process().abort(
      errorcode, "MPI_Abort" + rank.process().source_lines().location_suffix_soon(margay::sim::call_from_program()) +
                     " with code " + std::to_string(errorcode) + " on " + where);
}
MARGAY_ALIAS(Abort)
