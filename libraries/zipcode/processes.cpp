#include "libraries/zipcode/processes.hpp"

#include <vector>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

Group new_cohort(Session& session, int count, int node_bias, int pid, bool with_caller) {
  const Nodes nodes = session.nodes();
  const host::Rank& rank = session.rank;
  const int most = nodes.count_for(session.me(), with_caller);
  if (count <= most || node_bias < 0 || rank.places() == rank.size())
    return make_cohort(nodes, session.me(), count, node_bias, pid, with_caller);
  Group group;
  if (with_caller) group.push_back({session.me(), pid});
  int made = 0;
  for (std::uint32_t place = rank.size(); place < rank.places() && made < count; ++place) {
    if (rank.has_process(place) || session.reserved.contains(place) || session.post.has_ended(place)) continue;
    group.push_back({place, pid, true});
    ++made;
  }
  if (made < count) {
    const std::size_t ended = session.post.ended_places().size();
    fail("a cohort of " + std::to_string(count) + " processes, but the job has " + std::to_string(most) +
         " nodes for it, and " + std::to_string(made) + " empty places" +
         (ended == 0 ? ""
                     : " besides " + std::to_string(ended) + " whose processes were ended, which are not used again") +
         "; start more processes (margay run -n), or the job with more places (margay run --places)");
  }
  for (const Member& each : group) {
    if (each.is_empty) session.reserved.insert(each.rank);
  }
  return group;
}

void give_back(Session& session, const Group& group) {
  for (const Member& each : group) {
    if (each.is_empty) session.reserved.erase(each.rank);
  }
}

namespace {

void end(Session& session, const std::vector<portals::Rank>& places) {
  if (const portals::Status status = session.rank.end_processes(places); !status.ok()) fail(status.sentence());
  session.registrar.add_ended(places);
}

// Waits until process 0 has admitted the new processes. If one of them does not begin, or by another form, all of them
// are ended, because the others would wait for it.
void await_admission(Session& session, const char* call, const std::vector<portals::Rank>& places) {
  session.registrar.add_started(places);
  std::string error;
  for (const portals::Rank place : places) {
    bool is_taken = false;
    std::string verdict;
    // The wait is for the new process, which reports name, because process 0 answers at once.
    static_cast<void>(host::wait_until(session.rank, {.call = shown_name(call), .peer = place}, [&] {
      session.post.sweep();
      is_taken = is_taken || session.registrar.take_admitted(place, verdict);
      return is_taken || session.rank.has_left(place) || session.post.has_ended(place);
    }));
    if (!is_taken) {
      const std::string loss = session.rank.loss(place);
      verdict = "process " + std::to_string(place) + ", which was started, has ended without " + session.begun_by +
                "()" + (loss.empty() ? "" : " (" + loss + ")");
    }
    if (error.empty()) error = verdict;
  }
  if (error.empty()) return;
  // Where the job is ending, the launcher does not end them for this process.
  static_cast<void>(session.rank.end_processes(places));
  session.registrar.add_ended(places);
  fail(error);
}

}  // namespace

void spawn(Session& session, const char* call, const std::string& program, Group& group) {
  std::vector<Member*> empty;
  for (Member& each : group) {
    if (each.is_empty) empty.push_back(&each);
  }
  if (empty.empty()) return;
  std::vector<portals::Rank> places;
  const portals::Status status =
      session.rank.start_processes(program, static_cast<std::uint32_t>(empty.size()), places);
  if (!status.ok()) fail(status.sentence());
  for (std::size_t i = 0; i < empty.size(); ++i) {
    session.reserved.erase(empty[i]->rank);
    *empty[i] = {places[i], empty[i]->pid};
  }
  await_admission(session, call, places);
}

void kill(Session& session, const Group& group) {
  std::vector<portals::Rank> places;
  for (const Member& each : group) {
    const bool is_later = !each.is_empty && each.rank >= session.rank.size() && each.rank != session.me();
    if (is_later && !session.post.has_ended(each.rank)) places.push_back(each.rank);
  }
  if (!places.empty()) end(session, places);
}

void check_running(Session& session, const Group& group) {
  for (const Member& each : group) {
    const std::string node = "node " + std::to_string(session.nodes().node_of(each.rank));
    if (each.is_empty) {
      fail(node +
           " has no process yet; start it by zip_spawn(), which completes the group that it gets, but not copies");
    }
    if (session.post.has_ended(each.rank)) fail("the process of " + node + " was ended by zip_kill()");
  }
}

}  // namespace margay::zipcode::core
