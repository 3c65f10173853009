#include "collectives/mpi/end_communication.hpp"

#include <cstdint>
#include <optional>

#include "collectives/mpi/arguments.hpp"
#include "collectives/select/perform.hpp"

namespace margay::collectives {

using mpi_adi::Device;
using mpi_adi::MpiRank;

namespace {

constexpr int kLastRounds = 1'000;

bool everybody_is_here(mpi_adi::Call& call) {
  note_error(call, perform_last_barrier(collectives_of(call), call.rank().world()));
  return call.ok();
}

}  // namespace

// Receives are given up last: until every send has its answer, they take what is on its way.
bool end_communication(mpi_adi::Call& call, bool alone) {
  MpiRank& rank = call.rank();
  Device& device = rank.device();
  const std::optional<std::uint32_t> session = alone ? std::nullopt : std::optional<std::uint32_t>(0);
  // Meanwhile, progress goes on with what is under way. From here on nobody posts a receive for the world any more.
  if (!everybody_is_here(call)) return false;
  device.give_up_sends(session, Device::Receivers::leave);
  wait_until(rank, [&] { return device.sends_over(session) && (!alone || rank.buffered().drained()); });
  // Whoever still asks a receiver whether it gives a message back has to be answered.
  if (!everybody_is_here(call)) return false;
  // Short messages that others sent before they came here.
  for (int round = 0; round < kLastRounds && device.progress(); ++round) continue;
  device.give_up_receives(session);
  wait_until(rank, [&] { return device.quiet(session); });
  return true;
}

}  // namespace margay::collectives
