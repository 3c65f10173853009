#include "collectives/mpi/end_communication.hpp"

#include <cstdint>
#include <optional>

#include "collectives/mpi/arguments.hpp"
#include "collectives/select/perform.hpp"

namespace margay::collectives {

using mpi_adi::Device;
using mpi_adi::MpiRank;

namespace {

bool everybody_is_here(mpi_adi::Call& call) {
  note_error(call, perform_last_barrier(collectives_of(call), call.rank().world()));
  return call.ok();
}

}  // namespace

bool end_communication(mpi_adi::Call& call, bool alone) {
  MpiRank& rank = call.rank();
  Device& device = rank.device();
  const std::optional<std::uint32_t> session = alone ? std::nullopt : std::optional<std::uint32_t>(0);
  // Meanwhile, progress goes on with what is under way. From here on nobody posts a receive any more.
  if (!everybody_is_here(call)) return false;
  constexpr auto kReceivers = Device::Receivers::leave;
  wait_until(rank, [&] { return device.quiet_but_unmatched(session, kReceivers); });
  device.give_up_unmatched(session, kReceivers);
  wait_until(rank, [&] { return device.quiet(session) && (!alone || rank.buffered().drained()); });
  // Whoever still asks a receiver whether it gives a message back has to be answered.
  return everybody_is_here(call);
}

}  // namespace margay::collectives
