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

}  // namespace

int agree_on_context(MpiRank& rank, Communicator& parent) {
  // What is offered is held back, so that another thread's agreement on another communicator, in the rounds between the
  // look and the taking, cannot end with the same pair.
  std::vector<std::uint64_t>& free = rank.free_contexts();
  std::vector<std::uint64_t> common(free.size());
  common.swap(free);
  const std::vector<std::uint64_t> offered = common;
  const std::uint64_t bytes = common.size() * sizeof(std::uint64_t);
  auto* words = reinterpret_cast<std::byte*>(common.data());
  {
    Collective collective(rank, parent);
    reduce_tree(collective, 0, words, common.size(), sizeof(std::uint64_t), predefined_combine(MPI_BAND, MPI_UINT64_T));
  }
  {
    Collective collective(rank, parent);
    bcast_tree(collective, 0, portals::Region(words, bytes));
  }
  for (std::size_t word = 0; word < free.size(); ++word) free[word] |= offered[word];
  for (std::size_t word = 0; word < common.size(); ++word) {
    if (common[word] == 0) continue;
    const int bit = std::countr_zero(common[word]);
    free[word] &= ~(std::uint64_t{1} << bit);
    return 2 * (static_cast<int>(word) * kPairsPerWord + bit);
  }
  return -1;
}

void return_context(MpiRank& rank, int context) {
  const int pair = context / 2;
  rank.free_contexts()[static_cast<std::size_t>(pair / kPairsPerWord)] |= std::uint64_t{1} << (pair % kPairsPerWord);
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
