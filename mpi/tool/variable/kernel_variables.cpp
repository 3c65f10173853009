// The rows of the message kernel: deliveries, drops by reason, matching, lost peers.
#include <array>

#include "mpi/tool/variable/performance.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

using portals::DropReason;

constexpr int kUserDetail = MPI_T_VERBOSITY_USER_DETAIL;
constexpr int kTuner = MPI_T_VERBOSITY_TUNER_BASIC;

sim::Kernel& kernel_of(const Reading& reading) {
  return reading.rank->process().kernel();
}

// `which`: the reason's number.
void dropped(const Reading& reading, std::uint32_t which, std::span<Word> out) {
  out[0] = kernel_of(reading).registers().drops()[which];
}

// Sums of the kernel's counts for each peer, by which accounts are balanced. A read takes a step for each rank of the
// job, so that messages need no second counter.
void sent(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  const sim::Registers& registers = kernel_of(reading).registers();
  out[0] = 0;
  for (std::uint32_t peer = 0; peer < registers.ranks(); ++peer) out[0] += registers.sent(peer);
}

void delivered(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  const sim::Registers& registers = kernel_of(reading).registers();
  out[0] = 0;
  for (std::uint32_t peer = 0; peer < registers.ranks(); ++peer) out[0] += registers.delivered(peer);
}

// Divided by messages_delivered it is the mean cost of matching.
void entries_walked(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = kernel_of(reading).target().entries_walked();
}

void peers_lost(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = kernel_of(reading).initiator().losses();
}

// Rows that add up, drops by reason, and levels.
constexpr PerformanceVariable counter(const char* name, const char* description, ReadWords read) {
  return {name, description, Category::kernel, kTuner, MPI_T_PVAR_CLASS_COUNTER, ValueType::count, read};
}

constexpr PerformanceVariable drop(DropReason reason, const char* name, const char* description) {
  PerformanceVariable row = counter(name, description, &dropped);
  row.which = static_cast<std::uint32_t>(reason);
  row.verbosity = kUserDetail;
  return row;
}

constexpr PerformanceVariable level(const char* name, const char* description, ReadWords read) {
  PerformanceVariable row = counter(name, description, read);
  row.var_class = MPI_T_PVAR_CLASS_LEVEL;
  return row;
}

constexpr std::array kRows{
    counter("messages_sent", "headers sent to all ranks", &sent),
    counter("messages_delivered", "headers from all ranks that were delivered here", &delivered),
    counter("entries_walked", "match entries that were looked at for arriving messages (by the index: few)",
            &entries_walked),
    drop(DropReason::no_such_portal, "dropped_no_such_portal", "messages to a portal that is not in use"),
    drop(DropReason::no_match, "dropped_no_match", "messages that no entry takes: ready sends without their receive"),
    drop(DropReason::no_room, "dropped_no_room", "messages without room where they match"),
    drop(DropReason::too_small, "dropped_too_small", "messages longer than the place that they match"),
    drop(DropReason::read_only, "dropped_read_only", "puts to a place that can only be read"),
    drop(DropReason::write_only, "dropped_write_only", "gets from a place that can only be written"),
    drop(DropReason::offset_out_of_range, "dropped_offset_out_of_range", "messages to an offset outside their place"),
    drop(DropReason::peer_lost, "dropped_peer_lost", "messages of a peer that was lost before their body was here"),
    level("peers_lost", "ranks that are no longer reachable", &peers_lost),
};
static_assert(kRows.size() == 4 + portals::kDropReasonCount - 1, "a row for each reason but none");

}  // namespace

std::span<const PerformanceVariable> kernel_variables() {
  return kRows;
}

}  // namespace margay::mpi
