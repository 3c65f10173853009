#include "collectives/comm/several_jobs.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/rank/ports.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::MpiRank;

namespace {

// A member of a group, as its own process describes it: words of a message.
struct MemberRecord {
  std::uint64_t job = 0;
  std::uint64_t place = 0;
  // The card of its TCP wire, with zeros behind it. Empty: it accepts no connections.
  std::array<char, 80> card{};

  [[nodiscard]] std::string_view card_text() const { return {card.data(), strnlen(card.data(), card.size())}; }
};
constexpr std::size_t kRecordWords = sizeof(MemberRecord) / sizeof(std::uint64_t);
static_assert(sizeof(MemberRecord) % sizeof(std::uint64_t) == 0);

// The records of all members of the group, at its leader. `mine`: this process's.
int gather_records(MpiRank& rank, const Leaders& leaders, MemberRecord mine, std::vector<std::uint64_t>& all) {
  all.resize(static_cast<std::size_t>(leaders.local.size()) * kRecordWords);
  Collective collective(rank, leaders.local, by_tree(Operation::gather, leaders.local_leader, sizeof mine));
  run(gather_tree(collective, {leaders.local_leader, portals::Region(&mine, sizeof mine), sizeof mine,
                               reinterpret_cast<std::byte*>(all.data())}));
  return collective.error_class();
}

int broadcast(MpiRank& rank, const Leaders& leaders, std::vector<std::uint64_t>& words) {
  const std::size_t bytes = words.size() * sizeof(std::uint64_t);
  Collective collective(rank, leaders.local, by_tree(Operation::bcast, leaders.local_leader, bytes));
  run(bcast_tree(collective, leaders.local_leader, portals::Region(words.data(), bytes)));
  return collective.error_class();
}

// The other group's records, on all members. Empty if the other leader is lost.
int exchange_records(MpiRank& rank, const Leaders& leaders, const std::vector<std::uint64_t>& ours,
                     std::vector<std::uint64_t>& theirs) {
  const std::size_t most = rank.process().kernel().ranks() * kRecordWords;
  std::vector<std::uint64_t> count(1);
  if (leaders.peer != nullptr) {
    const int failed = exchange_with_leader(rank, leaders, ours, theirs, most);
    count[0] = failed == MPI_SUCCESS ? theirs.size() : 0;
  }
  if (const int failed = broadcast(rank, leaders, count); failed != MPI_SUCCESS) return failed;
  if (count[0] == 0) return MPIX_ERR_PROC_FAILED;
  if (count[0] > most || count[0] % kRecordWords != 0) return MPI_ERR_GROUP;
  theirs.resize(count[0]);
  return broadcast(rank, leaders, theirs);
}

}  // namespace

bool has_guests(MpiRank& rank, const mpi_adi::Group& group) {
  const sim::Process& process = rank.process();
  return std::ranges::any_of(group.world_ranks, [&](std::uint32_t member) { return process.is_guest(member); });
}

bool reach(MpiRank& rank, const sim::Endpoint& endpoint, std::string_view card, std::uint32_t& place,
           std::string& why) {
  sim::Process& process = rank.process();
  if (endpoint.job == process.job().job_id) {
    place = sim::rank_of_endpoint_place(endpoint.place);
    if (place < process.size()) return true;
    why = "this job has no process " + std::to_string(place);
    return false;
  }
  portals::Status status = process.open_guests();
  if (status.ok()) status = process.guests().find(endpoint, card, place);
  why = status.sentence();
  return status.ok();
}

void forget_former_guests(MpiRank& rank) {
  mpi_adi::Handles& handles = rank.handles();
  const auto has = [](const mpi_adi::GroupPtr& group, std::uint32_t place) {
    return group != nullptr && std::ranges::find(group->world_ranks, place) != group->world_ranks.end();
  };
  const auto released = rank.process().guests().release_unused([&](std::uint32_t place) {
    const auto communicators = handles.living_communicators();
    const auto groups = handles.groups().living();
    return std::ranges::any_of(
               communicators,
               [&](const Communicator* each) { return has(each->group, place) || has(each->remote, place); }) ||
           std::ranges::any_of(groups, [&](const auto& each) { return has(each.second, place); });
  });
  for (const std::uint32_t place : released) rank.ports().forget(place);
}

ForgetsFormerGuests::ForgetsFormerGuests(MpiRank& rank) : rank_(rank) {
  rank.device().round_observers().push_back(this);
  forget_former_guests(rank);
}

ForgetsFormerGuests::~ForgetsFormerGuests() {
  std::erase(rank_.device().round_observers(), this);
}

void ForgetsFormerGuests::notify() {
  if (rank_.process().guests().is_release_due()) forget_former_guests(rank_);
}

int learn_members_of_jobs(MpiRank& rank, const Leaders& leaders, std::vector<std::uint64_t>& theirs, std::string& why) {
  sim::Process& process = rank.process();
  const portals::Status opened = process.open_guests();
  MemberRecord mine{process.job().job_id, process.guests().self().place, {}};
  const std::string card = process.guests().address();
  std::copy_n(card.begin(), std::min(card.size(), mine.card.size()), mine.card.begin());
  std::vector<std::uint64_t> ours;
  std::vector<std::uint64_t> records;
  int error_class = gather_records(rank, leaders, mine, ours);
  const int exchanged = exchange_records(rank, leaders, ours, records);
  if (error_class == MPI_SUCCESS) error_class = exchanged;
  theirs.clear();
  bool all_reached = opened.ok();
  why = opened.sentence();
  for (std::size_t at = 0; error_class == MPI_SUCCESS && all_reached && at < records.size(); at += kRecordWords) {
    MemberRecord member;
    std::memcpy(&member, &records[at], sizeof member);
    std::uint32_t place = 0;
    all_reached = reach(rank, {member.job, static_cast<std::uint32_t>(member.place)}, member.card_text(), place, why);
    theirs.push_back(place);
  }
  std::array<std::uint64_t, 1> words{all_reached ? ~std::uint64_t{0} : 0};
  const int agreed = and_with_leaders(rank, leaders, words);
  if (error_class == MPI_SUCCESS) error_class = agreed;
  if (error_class != MPI_SUCCESS) return error_class;
  if (words[0] == 0) return MPI_ERR_PORT;
  // Connects with all of them, because nothing else reports the end of a process of another job.
  for (const std::uint64_t place : theirs) {
    if (process.is_guest(static_cast<std::uint32_t>(place)))
      process.kernel().monitor(static_cast<std::uint32_t>(place));
  }
  return MPI_SUCCESS;
}

}  // namespace margay::collectives
