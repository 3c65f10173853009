// The runner's part for orders of ranks: programs that they start, and processes that they end, while the job runs.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "command/run/runner.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/shm/published.hpp"

namespace margay::command {

std::string Runner::refusal_of(std::uint32_t rank) const {
  if (plan_.process_ranks > 1) return "a job of threads (margay run --threads) cannot start or end programs";
  if (monitor_.cause().kind != CauseKind::none) return "the job is ending";
  if (drained_ == rank || monitor_.ended(rank)) return "the process has ended";
  return {};
}

std::string Runner::carry_out(std::uint32_t rank, const PmiOutcome& outcome) {
  if (outcome.spawn) return start_world(rank, *outcome.spawn);
  if (outcome.guest) return admit(rank, *outcome.guest);
  if (outcome.gone_guest) {
    const bool is_known = guests_.release(*outcome.gone_guest, rank);
    return guest_answer(*outcome.gone_guest, is_known ? "" : "the process has no guest in this place");
  }
  std::string refusal = refusal_of(rank);
  for (const std::uint32_t place : outcome.kill) {
    if (refusal.empty() && place >= places_.used()) {
      refusal = "place " + std::to_string(place) + " has had no process";
    }
  }
  if (refusal.empty()) end_places(outcome.kill);
  return kill_answer(refusal);
}

// The board's count of guests grows before any process can address the guest: from then on no deadlock is proven.
std::string Runner::admit(std::uint32_t rank, const sim::Endpoint& guest) {
  std::string refusal = refusal_of(rank);
  if (refusal.empty() && !plan_.no_empty_places.empty()) {
    refusal = "the job was started with " + plan_.no_empty_places + "; start it without this option";
  }
  if (refusal.empty() && guest.job == memory_.board().header().job_id) refusal = "the process belongs to this job";
  if (!refusal.empty()) return guest_answer(0, refusal);
  const std::optional<std::uint32_t> place = guests_.find(guest, rank);
  if (!place) {
    return guest_answer(0, "all places of the job are taken; start it with more (margay run --places " +
                               std::to_string(2 * plan_.places()) + ")");
  }
  sim::publish_number(memory_.board().header().guests, memory_.board().header().guests + 1);
  return guest_answer(*place, {});
}

// A process that has ended meanwhile needs no signal. The others treat it as lost, so it has no successor.
void Runner::end_places(const std::vector<std::uint32_t>& places) {
  std::vector<int> pids;
  for (const std::uint32_t place : places) {
    if (monitor_.ended(place)) {
      places_.retire(place);
      continue;
    }
    monitor_.on_kill(place);
    pids.push_back(pids_[place]);
  }
  signal_ranks(pids, SIGKILL);
}

std::string Runner::start_world(std::uint32_t rank, const SpawnOrder& order) {
  std::string error = refusal_of(rank);
  // Ends that wait in the operating system may free places. reap() does not come back here: it reads the last lines of
  // processes that have ended, whose orders are refused.
  if (error.empty()) {
    reap();
    error = refusal_of(rank);
  }
  if (error.empty() && !plan_.no_empty_places.empty()) {
    error = "the job was started with " + plan_.no_empty_places + "; start it without this option";
  }
  std::vector<SpawnPart> parts;
  bool lacks_places = false;
  if (error.empty()) error = plan_spawn(order, places_.free(), std::getenv("PATH"), parts, lacks_places).sentence();
  std::vector<std::uint32_t> places;
  if (error.empty()) error = start_parts(parts, order.preput, places).sentence();
  // A started process that runs may be about to end, and leave its place.
  const bool again = lacks_places && places_.some_may_end();
  if (!error.empty()) return spawn_answer(std::vector<int>(order.processes(), -1), {}, error, again);
  std::vector<int> codes;
  for (const SpawnPart& part : parts) {
    codes.insert(codes.end(), part.program.ranks, 0);
    codes.insert(codes.end(), part.requested - part.program.ranks, -1);
  }
  return spawn_answer(codes, places, {});
}

Status Runner::start_parts(const std::vector<SpawnPart>& parts, const SpawnPairs& preput,
                           std::vector<std::uint32_t>& places) {
  PmiWorld world;
  for (std::uint32_t appnum = 0; appnum < parts.size(); ++appnum) {
    world.appnums.insert(world.appnums.end(), parts[appnum].program.ranks, appnum);
  }
  if (world.appnums.empty()) return {};
  const int no_input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (no_input < 0) return Status::error(std::string("cannot open /dev/null: ") + std::strerror(errno));
  places = world.places = places_.take(static_cast<std::uint32_t>(world.appnums.size()));
  for (const std::uint32_t place : places) world.nodes.push_back(plan_.node_of_place[place]);
  world.preput = preput;
  server_.begin_world(world);
  // Parents in MPI_Comm_spawn have left the name of their port.
  const bool is_awaited =
      std::ranges::any_of(preput, [](const auto& pair) { return pair.first == sim::kParentPortKey; });
  memory_.begin_world(places, ++worlds_started_, is_awaited);
  Status status;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    monitor_.on_start(places[i]);
    const SpawnPart& part = parts[world.appnums[i]];
    Start start{&part.program, part.path, {}, no_input};
    RankIdentity& identity = start.identity;
    identity = {.place = places[i],
                .world_rank = i,
                .world_size = static_cast<std::uint32_t>(places.size()),
                .appnum = world.appnums[i],
                .program_ranks = part.program.ranks,
                .local_rank = 0,
                .local_size = 0,
                .spawned = true};
    for (std::uint32_t other = 0; other < places.size(); ++other) {
      if (world.nodes[other] != world.nodes[i]) continue;
      ++identity.local_size;
      identity.local_rank += other < i ? 1 : 0;
    }
    int exit_status = 0;
    // After a failure the remaining processes are not started, and those that run are ended.
    if (status.ok()) status = start_process(start, exit_status);
    if (status.ok()) continue;
    pids_[places[i]] = 0;
    monitor_.on_kill(places[i]);
    monitor_.on_end(places[i], {}, signed_monotonic_ns());
    places_.on_end(places[i], false);
  }
  ::close(no_input);
  if (!status.ok()) end_places(places);
  return status;
}

// A successor continues the channels of the process in shared memory, which are in order only if the process has ended
// in order. Connections between nodes cannot be continued, nor can the file of a trace.
bool Runner::may_be_succeeded(std::uint32_t rank, const RankEnd& end) const {
  const bool in_order =
      !end.by_signal && !end.aborting && !monitor_.killed(rank) && end.called_init == end.called_finalize;
  return in_order && plan_.node_count == 1 && plan_.ways == 1 && !are_traced_;
}

}  // namespace margay::command
