#include "collectives/comm/window.hpp"

#include <cstdlib>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::MpiRank;
using mpi_adi::Way;
using mpi_adi::Window;
using mpi_adi::WindowTarget;

namespace {

// What members tell each other.
struct Card {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unit = 1;
};

int exchange_cards(MpiRank& rank, Communicator& members, Card mine, std::vector<Card>& cards) {
  cards.resize(static_cast<std::size_t>(members.size()));
  int error_class = MPI_SUCCESS;
  {
    Collective collective(rank, members);
    run(gather_tree(collective, 0, portals::Region(&mine, sizeof mine), sizeof mine,
                    reinterpret_cast<std::byte*>(cards.data())));
    error_class = collective.error_class();
  }
  Collective collective(rank, members);
  run(bcast_tree(collective, 0, portals::Region(cards.data(), cards.size() * sizeof(Card))));
  return error_class != MPI_SUCCESS ? error_class : collective.error_class();
}

// How this process reaches a member's memory.
void choose_way(MpiRank& rank, const Window& window, int member, const Card& card, WindowTarget& target) {
  target.bytes = card.bytes;
  target.unit = card.unit;
  if (member == window.rank() && !window.memory.dynamic()) {
    target.way = Way::direct;
    target.base = static_cast<std::byte*>(window.base);
    return;
  }
  const sim::NodeMemory* const node = rank.process().node_memory();
  if (node == nullptr || window.memory.dynamic()) return;
  target.local_rank = node->local_rank(target.world_rank);
  if (target.local_rank == sim::NodeMemory::kNotHere || !node->reads_others()) return;
  target.way = Way::process;
  target.base = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(card.address));
}

}  // namespace

MadeWindow make_window(MpiRank& rank, Communicator& parent, const Exposed& exposed) {
  const Made made = duplicate(rank, parent);
  if (made.communicator == nullptr) return {nullptr, made.error_class};
  auto window = std::make_unique<Window>();
  window->handle = rank.handles().windows().add(*window);
  if (window->handle == 0) {
    rank.free_communicator(*made.communicator);
    return {nullptr, MPI_ERR_OTHER};
  }
  Communicator& own = *made.communicator;
  own.error_handler = nullptr;  // MPI_ERRORS_ARE_FATAL (MPI 4.0, 9.3)
  own.topology = nullptr;
  window->communicator = &own;
  window->communicator_handle = own.handle;
  own.handle = window->handle;
  window->flavor = exposed.flavor;
  window->base = exposed.base;
  window->size = exposed.size;
  window->unit = exposed.unit;
  window->unit_int = static_cast<int>(exposed.unit);
  if (exposed.flavor == MPI_WIN_FLAVOR_DYNAMIC) window->memory.make_dynamic();
  window->memory.expose(static_cast<std::byte*>(exposed.base), static_cast<std::uint64_t>(exposed.size));
  window->targets.resize(static_cast<std::size_t>(own.size()));
  for (int member = 0; member < own.size(); ++member) window->target(member).world_rank = own.world_rank(member);
  // Who has heard of this member's card may send at once.
  rank.rma().attach(*window);
  std::vector<Card> cards;
  const Card mine{reinterpret_cast<std::uintptr_t>(exposed.base), static_cast<std::uint64_t>(exposed.size),
                  static_cast<std::uint64_t>(exposed.unit)};
  if (const int failed = exchange_cards(rank, own, mine, cards); failed != MPI_SUCCESS) {
    destroy_window(rank, *window.release());
    return {nullptr, failed};
  }
  for (int member = 0; member < own.size(); ++member) {
    choose_way(rank, *window, member, cards[static_cast<std::size_t>(member)], window->target(member));
  }
  return {window.release(), MPI_SUCCESS};
}

void destroy_window(MpiRank& rank, Window& window) {
  rank.rma().detach(window);
  rank.handles().windows().remove(window.handle);
  if (window.owns_memory) std::free(window.base);
  window.communicator->handle = window.communicator_handle;
  rank.free_communicator(*window.communicator);
  delete &window;
}

}  // namespace margay::collectives
