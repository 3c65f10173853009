// MPI_Comm_spawn, MPI_Comm_spawn_multiple (MPI 4.0, 11.8.2 and 11.8.3). The launcher starts the processes; parents and
// children then connect at a port of the parents' root (docs/spawn.md).
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "collectives/comm/connect.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/dynamic/spawn_request.hpp"
#include "sim/boot/job.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;
using margay::sim::Spawned;
using margay::sim::SpawnLines;

namespace {

// The result of the root's request, which it shares with all members of the communicator.
struct Started {
  int error_class = MPI_SUCCESS;
  // Why nothing was started.
  std::string why;
  // One for each requested process: MPI_SUCCESS or MPI_ERR_SPAWN.
  std::vector<int> codes;

  [[nodiscard]] bool any() const { return std::ranges::find(codes, MPI_SUCCESS) != codes.end(); }
};

// The time for which a spawn waits for places of processes that are about to end: a child that has disconnected from
// its parents needs some milliseconds, or more on a busy machine.
constexpr std::uint64_t kPlacesPatienceNs = 5'000'000'000;
constexpr std::uint64_t kBetweenTriesNs = 1'000'000;

// Sends the request to the launcher, again and again while places may become free. The launcher grants all places or
// none, so requests that compete never hold places that another one needs. Progress goes on meanwhile, because
// processes that end may still send; so do other threads, which may have to disconnect from them first.
margay::portals::Status request_processes(Call& call, const SpawnLines& request, Spawned& answer) {
  margay::sim::Process& process = call.rank().process();
  const std::uint64_t begin = process.clock().now_ns();
  for (;;) {
    margay::portals::Status status = process.job().pmi->spawn(request, answer);
    if (status.ok() || !answer.may_try_again) return status;
    if (process.clock().now_ns() - begin > kPlacesPatienceNs) {
      return margay::portals::Status::error(status.sentence() +
                                            ". Processes that were started before still run after " +
                                            std::to_string(kPlacesPatienceNs / 1'000'000'000) + " s");
    }
    while (call.device().progress()) continue;
    // Otherwise the job board shows the call.
    const bool steps_out = call.rank().threaded();
    if (steps_out) call.step_out();
    margay::sim::give_processor_up(kBetweenTriesNs);
    if (steps_out) call.step_in();
  }
}

// Adds a code for each requested process, until it runs: MPI_ERR_SPAWN. The launcher refuses more processes than the
// bound, which keeps this process's memory small.
void add_codes(int processes, std::vector<int>& codes) {
  constexpr std::size_t kCodesMost = 65'536;
  if (processes > 0)
    codes.resize(std::min(codes.size() + static_cast<std::size_t>(processes), kCodesMost), MPI_ERR_SPAWN);
}

void give_up(Started& started, int error_class, std::string why) {
  started.error_class = error_class;
  started.why = std::move(why);
}

// Sends the request to the launcher. `port`: the name of the port at which the new processes find their parents.
// Requires: `started` has a code for each process.
void start(Call& call, SpawnLines& request, const std::string& port, Started& started) {
  request.preput.emplace_back(margay::sim::kParentPortKey, port);
  Spawned answer;
  const margay::portals::Status status = request_processes(call, request, answer);
  for (std::size_t i = 0; status.ok() && i < std::min(answer.codes.size(), started.codes.size()); ++i) {
    if (answer.codes[i] == 0) started.codes[i] = MPI_SUCCESS;
  }
  if (!status.ok()) started.why = "the launcher started no process: " + status.sentence();
  if (status.ok() && !started.any())
    started.why = "no process was requested; ask for at least one by maxprocs and the info key soft";
  if (!started.any()) started.error_class = MPI_ERR_SPAWN;
}

// Broadcasts `bytes` from the root. Returns an error class, which is not yet the call's, because the root takes part
// even if its arguments are wrong.
int share(Call& call, Communicator& local, int root, void* data, std::size_t bytes) {
  return perform(collectives_of(call), local, BcastCall{root, margay::portals::Region(data, bytes)});
}

// All members get the root's result. The lengths of its parts go first.
int share(Call& call, Communicator& local, int root, Started& started) {
  std::array<std::int32_t, 3> words{started.error_class, static_cast<std::int32_t>(started.codes.size()),
                                    static_cast<std::int32_t>(started.why.size())};
  int error_class = share(call, local, root, words.data(), sizeof words);
  if (error_class != MPI_SUCCESS) return error_class;
  started.error_class = words[0];
  started.codes.resize(static_cast<std::size_t>(std::max(words[1], 0)));
  started.why.resize(static_cast<std::size_t>(std::max(words[2], 0)));
  if (!started.codes.empty()) {
    error_class = share(call, local, root, started.codes.data(), started.codes.size() * sizeof(int));
  }
  if (error_class != MPI_SUCCESS || started.why.empty()) return error_class;
  return share(call, local, root, started.why.data(), started.why.size());
}

// The root's part before the processes run: its arguments, the port, the request. An error of the arguments, which is
// the call's, is shared, too, because the other members wait for the result.
template <typename Commands>
Started request_at_root(Call& call, const Commands& commands, std::string& port) {
  Started started;
  SpawnLines request;
  commands(request, started.codes);
  if (!call.ok()) {
    give_up(started, MPI_ERR_ARG, "the root's arguments are wrong; its own error names them");
    return started;
  }
  if (std::string why = why_no_spawn(call.rank().process().job()); !why.empty()) {
    give_up(started, MPI_ERR_SPAWN, std::move(why));
    return started;
  }
  const std::optional<PortName> opened = call.rank().ports().open();
  if (!opened) {
    const std::string most = std::to_string(kOpenPortsMax);
    give_up(started, MPI_ERR_SPAWN, "too many ports are open (" + most + "); close some first");
    return started;
  }
  port = port_name_text(*opened);
  start(call, request, port, started);
  return started;
}

// `commands`: adds the commands to a request, and a code for each process, also if an argument is wrong; significant at
// the root.
template <typename Commands>
int spawn(Call& call, const Commands& commands, int root, MPI_Comm comm, MPI_Comm* intercomm, int* codes) {
  Communicator* const local = call.intracommunicator(comm);
  call.root(local, root);
  call.not_null(intercomm, "intercomm");
  if (!call.ok()) return call.failed();
  check_call(call, *local, {.root = root});
  // The other members need not keep the processors on which the launcher and the new processes start.
  const margay::sim::Company::Unseen unseen(call.rank().process().wait_means().company);
  Started started;
  std::string port;
  if (local->rank() == root) started = request_at_root(call, commands, port);
  const int shared = share(call, *local, root, started);
  if (call.ok()) record_error(call, shared);
  if (codes != MPI_ERRCODES_IGNORE) std::ranges::copy(started.codes, codes);
  if (call.ok() && started.error_class != MPI_SUCCESS) call.error(started.error_class, started.why);
  Connected made;
  if (call.ok()) made = accept_group(call.rank(), *local, root, port, call.name());
  std::string why;
  if (!port.empty()) static_cast<void>(call.rank().ports().close(port, why));
  if (call.ok() && made.result != PortResult::met) {
    call.error(MPI_ERR_SPAWN, "the new processes did not connect: " + port_error_text(made.result, made.why));
  }
  return call.ok() ? give_communicator(call, made, intercomm) : call.failed();
}

}  // namespace

extern "C" int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                               MPI_Comm* intercomm, int array_of_errcodes[]) {
  Call call(call_name<"MPI_Comm_spawn">);
  const auto commands = [&](SpawnLines& request, std::vector<int>& codes) {
    add_codes(maxprocs, codes);
    add_command(call, {command, argv, maxprocs, info}, request);
  };
  return spawn(call, commands, root, comm, intercomm, array_of_errcodes);
}
MARGAY_ALIAS(Comm_spawn)

extern "C" int PMPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                                        const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                                        MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  Call call(call_name<"MPI_Comm_spawn_multiple">);
  const auto commands = [&](SpawnLines& request, std::vector<int>& codes) {
    if (count < 1) call.error(MPI_ERR_COUNT, "count is " + std::to_string(count) + "; at least one command is needed");
    call.not_null(array_of_commands, "array_of_commands");
    call.not_null(array_of_maxprocs, "array_of_maxprocs");
    call.not_null(array_of_info, "array_of_info");
    for (int i = 0; i < count && array_of_maxprocs != nullptr; ++i) add_codes(array_of_maxprocs[i], codes);
    for (int i = 0; i < count && call.ok(); ++i) {
      char* const* const argv = array_of_argv == MPI_ARGVS_NULL ? MPI_ARGV_NULL : array_of_argv[i];
      add_command(call, {array_of_commands[i], argv, array_of_maxprocs[i], array_of_info[i]}, request);
    }
  };
  return spawn(call, commands, root, comm, intercomm, array_of_errcodes);
}
MARGAY_ALIAS(Comm_spawn_multiple)
