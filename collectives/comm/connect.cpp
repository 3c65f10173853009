#include "collectives/comm/connect.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/comm/several_jobs.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::Meeting;
using mpi_adi::MpiRank;
using mpi_adi::NamedWait;
using mpi_adi::PortName;
using mpi_adi::PortResult;

namespace {

// The wait of a root for the other root. `needs_message`: see NamedWait.
template <typename Done>
void wait_in(MpiRank& rank, const char* function, std::int32_t peer, bool needs_message, Done done) {
  const NamedWait named{.call = function,
                        .peer = peer,
                        .needs_message = needs_message,
                        .returns_to = sim::function_called_by_program().returns_to};
  mpi_adi::wait_until(rank, done, mpi_adi::Device::kMessagesPerRound, &named);
}

// Keeps the place of the other root from the meeting on until both groups are joined.
using KeepsOther = std::optional<sim::Guests::Keep>;

// The root's part of accept_group().
Meeting accept_caller(MpiRank& rank, std::string_view port_name, const char* function, KeepsOther& keep) {
  mpi_adi::Ports& ports = rank.ports();
  PortName name;
  std::string why;
  if (const PortResult found = ports.find_own(port_name, name, why); found != PortResult::met)
    return {found, 0, 0, why};
  std::optional<mpi_adi::PortCaller> caller;
  // Never part of a proof of a deadlock, because the caller may be a process that does not run yet. Another thread may
  // close the port meanwhile.
  wait_in(rank, function, -1, false,
          [&] { return (caller = ports.next_caller(name.key)) || !ports.is_open(name.key); });
  if (!caller) return {PortResult::not_open};
  keep.emplace(rank.process().guests());
  return ports.accept(*caller);
}

// The place of the process of another job that has opened the port becomes name.place.
PortResult find_in_other_job(MpiRank& rank, PortName& name, std::string& why) {
  if (name.address.empty()) {
    why = "port_name was opened by a process of another job that accepts no connections";
    // The reason often holds for this process, too: the user's folder, for example.
    const portals::Status own = rank.process().open_guests();
    if (!own.ok()) why += "; neither does this process: " + own.sentence();
    return PortResult::unreachable;
  }
  const sim::Endpoint owner{name.job, name.place};
  const std::string card = mpi_adi::card_of_port_address(name.address);
  if (reach(rank, owner, card, name.place, why)) return PortResult::met;
  why = "the job of port_name cannot be connected with this one: " + why;
  return PortResult::unreachable;
}

// The root's part of connect_group().
Meeting call_port(MpiRank& rank, std::string_view port_name, const char* function, KeepsOther& keep) {
  keep.emplace(rank.process().guests());
  mpi_adi::Ports& ports = rank.ports();
  PortName name;
  std::string why;
  PortResult found = ports.find_other(port_name, name, why);
  if (found == PortResult::other_job) found = find_in_other_job(rank, name, why);
  if (found != PortResult::met) return {found, 0, 0, why};
  sim::Process& process = rank.process();
  // Nothing reports the end of a process that shares memory with this one, if it ends in order.
  if (process.is_absent(name.place)) return {PortResult::owner_lost};
  std::unique_ptr<mpi_adi::PortCall> call = ports.call(name);
  // A guest that ends in order is not reported as lost either.
  wait_in(rank, function, static_cast<std::int32_t>(name.place), true, [&] {
    return call->request->complete || process.is_absent(name.place) || process.guests().has_left(name.place);
  });
  if (!call->request->complete) rank.device().cancel(*call->request);
  mpi_adi::wait_until(rank, [&call] { return call->request->complete; });
  Meeting meeting = ports.end(std::move(call));
  const std::string loss = process.kernel().initiator().loss(name.place);
  if (meeting.result == PortResult::owner_lost && process.is_guest(name.place) && !loss.empty()) {
    meeting.result = PortResult::unreachable;
    meeting.why =
        "the process of another job that opened port_name, at " + name.address + ", cannot be reached: " + loss;
  }
  return meeting;
}

// The other group may be of another job, whose processes publish no processor here. Ended after the meeting if it is of
// this job.
using WaitsForUnseen = std::optional<sim::Company::Unseen>;

// Joins the groups of two roots that have met. The root broadcasts the result of the meeting first, so that all members
// of its group end with the same error.
Connected join_after(MpiRank& rank, Communicator& local, int root, const Meeting& meeting, WaitsForUnseen& unseen) {
  const std::uint64_t other_job = rank.process().is_guest(meeting.place) ? 1 : 0;
  std::array<std::uint64_t, 4> words{static_cast<std::uint64_t>(meeting.result), meeting.place, meeting.tag, other_job};
  Collective collective(rank, local, by_tree(Operation::bcast, root, sizeof words));
  run(bcast_tree(collective, root, portals::Region(words.data(), sizeof words)));
  if (collective.error_class() != MPI_SUCCESS) return {{nullptr, collective.error_class()}};
  // Out of range only if a member made another call.
  const bool known = words[0] <= static_cast<std::uint64_t>(PortResult::owner_lost);
  const PortResult result = known ? static_cast<PortResult>(words[0]) : PortResult::malformed;
  if (result != PortResult::met) return {{nullptr, MPI_ERR_PORT, meeting.why}, result};
  if (words[3] == 0) unseen.reset();
  const bool leads = local.rank() == root;
  return {join_groups(rank, local, root, leads ? &rank.ports().places_for(meeting.place) : nullptr,
                      static_cast<int>(words[1]), static_cast<int>(words[2]))};
}

}  // namespace

Connected accept_group(MpiRank& rank, Communicator& local, int root, std::string_view port_name, const char* function) {
  const ForgetsFormerGuests forgets(rank);
  WaitsForUnseen unseen(std::in_place, rank.process().wait_means().company);
  KeepsOther keep;
  const bool leads = local.rank() == root;
  return join_after(rank, local, root, leads ? accept_caller(rank, port_name, function, keep) : Meeting{}, unseen);
}

Connected connect_group(MpiRank& rank, Communicator& local, int root, std::string_view port_name,
                        const char* function) {
  const ForgetsFormerGuests forgets(rank);
  WaitsForUnseen unseen(std::in_place, rank.process().wait_means().company);
  KeepsOther keep;
  const bool leads = local.rank() == root;
  return join_after(rank, local, root, leads ? call_port(rank, port_name, function, keep) : Meeting{}, unseen);
}

std::string port_error_text(PortResult result, const std::string& why) {
  switch (result) {
    case PortResult::met:
      return {};
    case PortResult::malformed:
      return why.empty() ? "the port_name or the info at the root is invalid; the root's own error names the reason"
                         : why;
    case PortResult::other_job:
      return "port_name is a port of another job";
    case PortResult::unreachable:
      return why.empty()
                 ? "the root cannot reach the process of another job that opened port_name; its error names the "
                   "reason"
                 : why;
    case PortResult::other_process:
      return "port_name was opened by another process; only the process that opened it can accept there";
    case PortResult::own:
      return "port_name was opened by the root of this call itself; the groups of an intercommunicator are disjoint";
    case PortResult::not_open:
      return "port_name is not open: it was closed (MPI_Close_port)";
    case PortResult::owner_lost:
      return "the process that opened port_name has ended";
  }
  return {};
}

}  // namespace margay::collectives
