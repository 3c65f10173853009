#include "collectives/comm/construct.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "collectives/algorithm/bcast_tree.hpp"
#include "collectives/algorithm/gather_tree.hpp"
#include "collectives/algorithm/reduce_tree.hpp"
#include "collectives/op/operation.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::ContextId;
using mpi_adi::MpiRank;

namespace {

constexpr int kPairsPerWord = 64;

struct Choice {
  int color;
  int key;
};

std::vector<Choice> everyones_choice(MpiRank& rank, Communicator& parent, Choice mine) {
  std::vector<Choice> all(static_cast<std::size_t>(parent.size()));
  {
    Collective collective(rank, parent);
    gather_tree(collective, 0, portals::Region(&mine, sizeof mine), sizeof mine,
                reinterpret_cast<std::byte*>(all.data()));
  }
  Collective collective(rank, parent);
  bcast_tree(collective, 0, portals::Region(all.data(), all.size() * sizeof(Choice)));
  return all;
}

// Bitwise and over all members; the result is everybody's.
void everywhere(MpiRank& rank, Communicator& parent, std::vector<std::uint64_t>& words) {
  auto* bytes = reinterpret_cast<std::byte*>(words.data());
  {
    Collective collective(rank, parent);
    reduce_tree(collective, 0, bytes, words.size(), sizeof(std::uint64_t), predefined_combine(MPI_BAND, MPI_UINT64_T));
  }
  Collective collective(rank, parent);
  bcast_tree(collective, 0, portals::Region(bytes, words.size() * sizeof(std::uint64_t)));
}

}  // namespace

// Several threads may agree on several communicators at once, and must not end with the same pair: in each process one
// agreement at a time offers what is free, the one of the lowest parent context; the others offer nothing and, told so
// by the last word, try again. The lowest of all gets its turn everywhere, so somebody always goes on.
int agree_on_context(MpiRank& rank, Communicator& parent) {
  mpi_adi::ContextPool& pool = rank.contexts();
  const mpi_adi::ContextPool::Turn turn(pool, parent.context);
  for (;;) {
    const bool offers = turn.begin();
    std::vector<std::uint64_t> common(mpi_adi::ContextPool::kWords + 1, 0);
    if (offers) {
      std::copy(pool.free().begin(), pool.free().end(), common.begin());
      common.back() = 1;
    }
    everywhere(rank, parent, common);
    if (offers) turn.end();
    const bool all_offered = common.back() != 0;
    const auto word = std::find_if(common.begin(), common.end() - 1, [](std::uint64_t bits) { return bits != 0; });
    if (all_offered && word == common.end() - 1) return -1;
    if (!all_offered) continue;
    const int pair = static_cast<int>(word - common.begin()) * kPairsPerWord + std::countr_zero(*word);
    pool.take(pair);
    return 2 * pair;
  }
}

void return_context(MpiRank& rank, int context) {
  rank.contexts().give_back(context / 2);
}

Communicator* duplicate(MpiRank& rank, Communicator& parent) {
  const int context = agree_on_context(rank, parent);
  if (context < 0) return nullptr;
  Communicator* made = rank.add_communicator(parent.group, static_cast<ContextId>(context));
  if (made == nullptr) {
    return_context(rank, context);
    return nullptr;
  }
  made->error_handler = parent.error_handler;
  return made;
}

bool split(MpiRank& rank, Communicator& parent, int color, int key, Communicator*& made) {
  made = nullptr;
  const std::vector<Choice> choices = everyones_choice(rank, parent, {color, key});
  // One pair of contexts serves all the new communicators: they have no member in common.
  const int context = agree_on_context(rank, parent);
  if (context < 0) return false;
  if (color == MPI_UNDEFINED) {
    return_context(rank, context);
    return true;
  }
  std::vector<int> members;
  for (int member = 0; member < parent.size(); ++member) {
    if (choices[static_cast<std::size_t>(member)].color == color) members.push_back(member);
  }
  std::stable_sort(members.begin(), members.end(), [&choices](int a, int b) {
    return choices[static_cast<std::size_t>(a)].key < choices[static_cast<std::size_t>(b)].key;
  });
  auto group = std::make_shared<mpi_adi::Group>();
  for (std::size_t i = 0; i < members.size(); ++i) {
    group->world_ranks.push_back(parent.world_rank(members[i]));
    if (members[i] == parent.rank()) group->my_rank = static_cast<int>(i);
  }
  made = rank.add_communicator(std::move(group), static_cast<ContextId>(context));
  if (made == nullptr) {
    return_context(rank, context);
    return false;
  }
  made->error_handler = parent.error_handler;
  return true;
}

}  // namespace margay::collectives
