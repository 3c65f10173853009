#include "collectives/comm/window.hpp"

#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "mpi_adi/rma/window_method.hpp"
#include "sim/base/resources.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

using mpi_adi::choose_window_method;
using mpi_adi::Communicator;
using mpi_adi::MethodFacts;
using mpi_adi::MpiRank;
using mpi_adi::Window;
using mpi_adi::WindowControl;
using mpi_adi::WindowMethod;
using mpi_adi::WindowTarget;

namespace {

// Alignment of members' parts of a shared window.
constexpr std::size_t kPageBytes = 4096;

// One member's facts, which all members exchange. A HeapAddress leads into the heap that the member's node shares; if
// it has 0 bytes, the memory is not in that heap.
struct Card {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unit = 1;
  sim::HeapAddress memory;
  sim::HeapAddress control;
  std::int32_t error_class = 0;  // this member's failure
  std::uint32_t writable = 0;    // 1: the program's own memory, all of which may be read and written
};

// Exchanges all members' cards, in the order of ranks.
int exchange_cards(MpiRank& rank, Communicator& members, const Card& mine, std::vector<Card>& cards) {
  cards.resize(static_cast<std::size_t>(members.size()));
  Card copy = mine;
  int error_class = MPI_SUCCESS;
  {
    Collective collective(rank, members, by_tree(Operation::gather, 0, sizeof copy));
    run(gather_tree(collective,
                    {0, portals::Region(&copy, sizeof copy), sizeof copy, reinterpret_cast<std::byte*>(cards.data())}));
    error_class = collective.error_class();
  }
  Collective collective(rank, members, by_tree(Operation::bcast, 0, cards.size() * sizeof(Card)));
  run(bcast_tree(collective, 0, portals::Region(cards.data(), cards.size() * sizeof(Card))));
  return error_class != MPI_SUCCESS ? error_class : collective.error_class();
}

bool on_one_node(MpiRank& rank, const Communicator& members) {
  const auto& node_of = rank.process().job().node_of_rank;
  for (int member = 0; member < members.size(); ++member) {
    if (node_of[members.world_rank(member)] != rank.process().job().node) return false;
  }
  return true;
}

// Allocates this member's memory of a window that has its own; `shared`: from the node's heap.
int allocate(MpiRank& rank, Window& window, std::uint64_t bytes, std::size_t alignment, bool shared) {
  if (bytes == 0) return MPI_SUCCESS;
  sim::RankMemory& memory = rank.process().memory();
  const portals::Status status =
      shared ? memory.allocate_shared(bytes, kPageBytes, window.base) : memory.allocate(bytes, alignment, window.base);
  window.owns_memory = status.ok();
  if (status.ok()) return MPI_SUCCESS;
  return shared && !memory.has_heap() ? MPI_ERR_RMA_SHARED : MPI_ERR_NO_MEM;
}

sim::HeapAddress heap_address(MpiRank& rank, const void* memory, std::uint64_t bytes) {
  sim::NodeHeap* const heap = rank.process().node_heap();
  return heap == nullptr ? sim::HeapAddress{} : heap->find(memory, bytes).value_or(sim::HeapAddress{});
}

// Chooses the method by which this process reaches a member's memory; maps it if it is in the node's heap.
void choose_method(MpiRank& rank, const Window& window, int member, const Card& card, WindowTarget& target) {
  target.bytes = card.bytes;
  target.unit = card.unit;
  if (window.by_messages) return;
  const sim::NodeMemory* const node = rank.process().node_memory();
  if (member == window.rank()) {
    target.control = window.control;
    target.local_rank = node == nullptr ? 0 : node->local_rank(target.world_rank);
    target.method = choose_window_method({.is_dynamic = window.memory.dynamic(), .is_own = true}).method;
    if (target.method == WindowMethod::direct) target.base = static_cast<std::byte*>(window.base);
    return;
  }
  if (node == nullptr) return;
  target.local_rank = node->local_rank(target.world_rank);
  if (target.local_rank == sim::NodeMemory::kNotHere) return;
  sim::NodeHeap& heap = *rank.process().node_heap();
  std::byte* mapped = nullptr;
  // The card comes from another process, so a control block with too few bytes is ignored.
  if (card.control.bytes >= WindowControl::bytes_for(static_cast<std::size_t>(window.members())) &&
      heap.map(target.local_rank, card.control, mapped).ok()) {
    target.control = WindowControl(mapped, static_cast<std::size_t>(window.members()));
  }
  // A window in one piece is mapped already (share_one_piece()).
  if (window.memory.dynamic() || card.bytes == 0 || target.method == WindowMethod::direct) return;
  MethodFacts facts{.is_on_node = true};
  facts.is_mapped = card.memory.bytes >= card.bytes && heap.map(target.local_rank, card.memory, mapped).ok();
  facts.reads_others = !facts.is_mapped && node->reads_others() == true;
  target.method = choose_window_method(facts).method;
  if (facts.is_mapped) {
    target.base = mapped;
  } else if (target.method == WindowMethod::process) {
    target.base = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(card.address));
    target.writable = card.writable == 1;
  }
}

// The first error of any member.
int error_of(const std::vector<Card>& cards) {
  for (const Card& card : cards) {
    if (card.error_class != MPI_SUCCESS) return card.error_class;
  }
  return MPI_SUCCESS;
}

// Allocates one piece for all members in the first one's heap: each member's memory begins where the previous one's
// ends.
int share_one_piece(MpiRank& rank, Window& window, std::vector<Card>& cards) {
  std::uint64_t bytes = 0;
  for (const Card& card : cards) {
    if (__builtin_add_overflow(bytes, card.bytes, &bytes)) return MPI_ERR_NO_MEM;
  }
  Card mine;
  std::byte* memory = nullptr;
  if (window.rank() == 0 && bytes != 0) {
    mine.error_class = allocate(rank, window, bytes, kPageBytes, window.members() > 1);
    mine.memory = heap_address(rank, window.base, bytes);
    memory = static_cast<std::byte*>(window.base);
  }
  std::vector<Card> first;
  if (const int failed = exchange_cards(rank, *window.communicator, mine, first); failed != MPI_SUCCESS) return failed;
  if (const int failed = error_of(first); failed != MPI_SUCCESS) return failed;
  if (window.rank() != 0 && bytes != 0) {
    const std::uint32_t holder = rank.process().node_memory()->local_rank(window.target(0).world_rank);
    sim::NodeHeap& heap = *rank.process().node_heap();
    if (first[0].memory.bytes < bytes) return MPI_ERR_RMA_SHARED;
    // If the holder's arena is open here, mapping fails only for lack of address space.
    if (!heap.map(holder, first[0].memory, memory).ok())
      return heap.is_open(holder) ? MPI_ERR_NO_MEM : MPI_ERR_RMA_SHARED;
  }
  for (int member = 0; member < window.members(); ++member) {
    Card& card = cards[static_cast<std::size_t>(member)];
    WindowTarget& target = window.target(member);
    target.method = WindowMethod::direct;
    target.base = memory;
    if (member == window.rank()) window.base = memory;
    memory += card.bytes;
    card.memory = {};
  }
  return MPI_SUCCESS;
}

// Allocates the window's control block. If this fails, the window has none, and its creation fails on all members.
void make_control(MpiRank& rank, Window& window) {
  const auto members = static_cast<std::size_t>(window.members());
  const portals::Status status =
      rank.process().memory().allocate(WindowControl::bytes_for(members), sim::kCacheLineBytes, window.control_memory);
  if (status.ok()) window.control = WindowControl(static_cast<std::byte*>(window.control_memory), members);
}

// Makes the window object with its communicator; nothing is exposed yet.
std::unique_ptr<Window> begin_window(MpiRank& rank, Communicator& own, const Exposed& exposed) {
  auto window = std::make_unique<Window>();
  window->handle = rank.handles().windows().add(*window);
  if (window->handle == 0) return nullptr;
  // duplicate() has copied the parent's topology, which is not a property of a window's group.
  own.topology = nullptr;
  window->communicator = &own;
  window->communicator_handle = own.handle;
  window->by_messages = exposed.of_1996;
  if (!exposed.of_1996) {
    own.error_handler = nullptr;  // MPI_ERRORS_ARE_FATAL (MPI 4.0, 9.3)
    own.handle = window->handle;
  }
  window->flavor = exposed.flavor;
  window->base = exposed.base;
  window->size = exposed.size;
  window->unit = exposed.unit;
  window->unit_int = static_cast<int>(exposed.unit);
  window->targets.resize(static_cast<std::size_t>(own.size()));
  for (int member = 0; member < own.size(); ++member) window->target(member).world_rank = own.world_rank(member);
  make_control(rank, *window);
  if (rank.process().job().options.text("check_rma") == "1" && !exposed.of_1996) {
    window->check = std::make_shared<mpi_adi::WindowCheck>();
    window->check->open.resize(window->targets.size());
  }
  return window;
}

// Exchanges error classes, so that a failure of one member fails on all.
int agreed(MpiRank& rank, Window& window, int error_class) {
  Card mine;
  mine.error_class = error_class;
  std::vector<Card> cards;
  const int failed = exchange_cards(rank, *window.communicator, mine, cards);
  return failed != MPI_SUCCESS ? failed : error_of(cards);
}

// The collective part of making a window. On failure the caller destroys it.
int expose(MpiRank& rank, Window& window, const Exposed& exposed) {
  const bool shared = exposed.flavor == MPI_WIN_FLAVOR_SHARED;
  const bool one_piece = shared && exposed.contiguous;
  Card mine;
  mine.bytes = static_cast<std::uint64_t>(exposed.size);
  mine.unit = static_cast<std::uint64_t>(exposed.unit);
  if (!window.control.here()) mine.error_class = MPI_ERR_NO_MEM;
  if (shared && !on_one_node(rank, *window.communicator)) mine.error_class = MPI_ERR_RMA_SHARED;
  if (mine.error_class == MPI_SUCCESS && (exposed.flavor == MPI_WIN_FLAVOR_ALLOCATE || (shared && !one_piece))) {
    mine.error_class = allocate(rank, window, mine.bytes, exposed.alignment, shared && window.members() > 1);
  }
  mine.address = reinterpret_cast<std::uintptr_t>(window.base);
  mine.memory = heap_address(rank, window.base, mine.bytes);
  if (exposed.flavor == MPI_WIN_FLAVOR_CREATE && mine.memory.bytes == 0 && rank.process().node_memory() != nullptr) {
    mine.writable = sim::is_writable_memory(window.base, mine.bytes) ? 1 : 0;
  }
  mine.control =
      heap_address(rank, window.control_memory, WindowControl::bytes_for(static_cast<std::size_t>(window.members())));
  const bool is_dynamic = exposed.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  if (is_dynamic) window.memory.make_dynamic();
  std::vector<Card> cards;
  // Attached before the exchange: a member that has this member's card may send at once. The memory of a window in one
  // piece (share_one_piece()) is known only after a second exchange. A window that fails here receives nothing.
  const bool exposes = mine.error_class == MPI_SUCCESS;
  if (exposes && !one_piece) window.memory.expose(static_cast<std::byte*>(window.base), mine.bytes);
  if (exposes) rank.rma().attach(window);
  if (const int failed = exchange_cards(rank, *window.communicator, mine, cards); failed != MPI_SUCCESS) return failed;
  if (const int failed = error_of(cards); failed != MPI_SUCCESS) return failed;
  int failed = one_piece ? share_one_piece(rank, window, cards) : MPI_SUCCESS;
  for (int member = 0; failed == MPI_SUCCESS && member < window.members(); ++member) {
    WindowTarget& target = window.target(member);
    choose_method(rank, window, member, cards[static_cast<std::size_t>(member)], target);
    if (shared && target.bytes != 0 && target.method != WindowMethod::direct) failed = MPI_ERR_RMA_SHARED;
  }
  // In other windows a member's memory that cannot be mapped is reached by another method.
  return shared ? agreed(rank, window, failed) : failed;
}

}  // namespace

MadeWindow make_window(MpiRank& rank, Communicator& parent, const Exposed& exposed) {
  const Made made = duplicate(rank, parent);
  if (made.communicator == nullptr) return {nullptr, made.error_class};
  std::unique_ptr<Window> window = begin_window(rank, *made.communicator, exposed);
  if (window == nullptr) {
    rank.free_communicator(*made.communicator);
    return {nullptr, MPI_ERR_OTHER};
  }
  if (const int failed = expose(rank, *window, exposed); failed != MPI_SUCCESS) {
    destroy_window(rank, *window.release());
    return {nullptr, failed};
  }
  return {window.release(), MPI_SUCCESS};
}

void destroy_window(MpiRank& rank, Window& window) {
  rank.rma().detach(window);
  rank.handles().windows().remove(window.handle);
  sim::RankMemory& memory = rank.process().memory();
  if (window.owns_memory) memory.free(window.base);
  if (window.control_memory != nullptr) memory.free(window.control_memory);
  window.communicator->handle = window.communicator_handle;
  rank.free_communicator(*window.communicator);
  delete &window;
}

void keep_memory(Window& window) {
  window.owns_memory = false;
  window.control_memory = nullptr;
}

void destroy_windows(MpiRank& rank, std::uint32_t session) {
  std::vector<Window*> windows;
  for (const Communicator* communicator : rank.handles().communicators_of(session)) {
    Window* const window = rank.rma().window_of(*communicator);
    if (window != nullptr) windows.push_back(window);
  }
  for (Window* window : windows) destroy_window(rank, *window);
}

}  // namespace margay::collectives
