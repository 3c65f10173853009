#include "libraries/zipcode/processes.hpp"

#include <vector>

#include "libraries/zipcode/error.hpp"

namespace margay::zipcode::core {

Group new_cohort(Session& session, int count, int node_bias, int pid, bool with_caller) {
  const Nodes nodes = session.nodes();
  const host::Rank& rank = session.rank;
  const int most = nodes.count_for(session.me(), with_caller);
  const bool may_start = session.me() == 0 && rank.places() > rank.size();
  if (count <= most || node_bias < 0 || !may_start)
    return make_cohort(nodes, session.me(), count, node_bias, pid, with_caller);
  Group group;
  if (with_caller) group.push_back({session.me(), pid});
  int made = 0;
  for (std::uint32_t place = rank.size(); place < rank.places() && made < count; ++place) {
    if (rank.has_process(place) || session.reserved.contains(place)) continue;
    group.push_back({place, pid, true});
    ++made;
  }
  if (made < count)
    fail("a cohort of " + std::to_string(count) + " processes, but the job has " + std::to_string(most) +
         " nodes for it, and " + std::to_string(made) +
         " empty places; start more processes (margay run -n), or the job with more places (margay run --places)");
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

std::string form_error(const Session& session, std::uint32_t peer, const std::string& form) {
  if (form == session.begun_by) return {};
  return "process " + std::to_string(peer) + " calls " + form + ", but process 0 " + session.begun_by +
         "; all processes call the same one";
}

namespace {

// Waits until the new processes have begun by the form of this one, and answers them.
void admit(Session& session, const char* call, const std::vector<portals::Rank>& places) {
  std::string verdict;
  for (const portals::Rank place : places) {
    session.post.await_system(call, Tag::form, place, [&](portals::Rank, Bytes body) {
      const std::string form(reinterpret_cast<const char*>(body.data()), body.size());
      if (verdict.empty()) verdict = form_error(session, place, form);
      return true;
    });
  }
  for (const portals::Rank place : places)
    session.post.send_system(place, Tag::form, std::as_bytes(std::span(verdict)));
  if (!verdict.empty()) fail(verdict);
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
    session.started.insert(places[i]);
  }
  admit(session, call, places);
}

void kill(Session& session, const Group& group) {
  std::vector<portals::Rank> places;
  for (const Member& each : group) {
    if (each.is_empty || each.rank < session.rank.size() || each.rank == session.me()) continue;
    if (session.me() != 0)
      fail("the process of node " + std::to_string(session.nodes().node_of(each.rank)) +
           " was started by zip_spawn(); only process 0, which has started it, ends it");
    if (session.started.contains(each.rank)) places.push_back(each.rank);
  }
  if (places.empty()) return;
  if (const portals::Status status = session.rank.end_processes(places); !status.ok()) fail(status.sentence());
  for (const portals::Rank place : places) {
    session.started.erase(place);
    session.post.add_ended(place);
  }
  for (std::uint32_t peer = 1; peer < session.rank.size(); ++peer)
    session.post.send_system(peer, Tag::ended, std::as_bytes(std::span(places)));
  for (const std::uint32_t peer : session.started)
    session.post.send_system(peer, Tag::ended, std::as_bytes(std::span(places)));
}

void check_running(Session& session, const Group& group) {
  for (const Member& each : group) {
    const std::string node = "node " + std::to_string(session.nodes().node_of(each.rank));
    if (each.is_empty)
      fail(node +
           " has no process yet; start it by zip_spawn(), which completes the group that it gets, but not copies");
    if (session.post.has_ended(each.rank)) fail("the process of " + node + " was ended by zip_kill()");
  }
}

}  // namespace margay::zipcode::core
