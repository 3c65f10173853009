#include "mpi/process/machine.hpp"

#include <cstdint>
#include <optional>

#include "collectives/comm/window.hpp"
#include "collectives/select/perform.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi_adi/protocol/buffered.hpp"
#include "mpi_adi/rank/unreceived.hpp"
#include "mpi_adi/rank/wait.hpp"

namespace margay::mpi {

namespace {

constexpr int kLastRounds = 1'000;
constexpr std::uint32_t kWorldModel = Group::kWorldModel;

// The scope of the waits below. nullopt: all communication of the process, because only the world model uses MPI. While
// there are sessions, only the communication of the world, because sessions wait for their own. Each test of a wait
// calls this again, because another thread may begin a session meanwhile.
std::optional<std::uint32_t> wait_scope() {
  return is_machine_used_once() ? std::nullopt : std::optional<std::uint32_t>(kWorldModel);
}

// Receives all messages that have arrived on any wire: short ones that other ranks sent before their barrier, and those
// of this rank to itself. Bounded, because other sessions may continue to send.
void receive_arrived_messages(Device& device) {
  for (int round = 0; round < kLastRounds && device.progress(); ++round) continue;
}

bool pass_barrier(Call& call) {
  record_error(call, perform(collectives_of(call), call.rank().worlds().world(), BarrierCall{}));
  return call.ok();
}

}  // namespace

// Receives are abandoned last: they may still get messages until every send has its answer.
bool end_communication(Call& call) {
  MpiRank& rank = call.rank();
  Device& device = rank.device();
  // The barriers, and the messages before them, need each wire.
  rank.process().kernel().poll_all_wires();
  // The check and the barrier wait for other ranks, and make progress meanwhile. After the barrier no rank posts
  // another receive in the world, because all are in MPI_Finalize.
  check_last_call(call);
  if (!pass_barrier(call)) return false;
  // MPICH lets programs end with sends that nothing will match, and a wait for those would never end.
  device.give_up_sends(kWorldModel, Device::Receivers::leave);
  wait_until(rank, [&] { return device.sends_over(wait_scope()) && (wait_scope() || rank.buffered().drained()); });
  // A second barrier: ranks that still cancel a send need an answer from its receiver.
  if (!pass_barrier(call)) return false;
  destroy_windows(rank, kWorldModel);
  report_given_back(rank.receiving_side(), rank.handles().communicators_of(kWorldModel));
  receive_arrived_messages(device);
  device.give_up_receives(kWorldModel);
  wait_until(rank, [&] { return device.quiet(wait_scope()); });
  return true;
}

}  // namespace margay::mpi
