#include "mpi_adi/rank/worlds.hpp"

#include <algorithm>
#include <numeric>

#include "mpi_adi/rank/object_tables.hpp"
#include "sim/boot/job.hpp"

namespace margay::mpi_adi {

namespace {

// The contexts of MPI_COMM_WORLD and MPI_COMM_SELF are constants, so no agreement is needed before the first message.
constexpr ContextId kWorldContext = 0;
constexpr ContextId kSelfContext = 2;
// The numbers of communicators that each of the processes that follow each other in a place may use. Beyond these
// bounds a number may be repeated, which matters only if a stale message meets it.
constexpr std::uint32_t kGenerationsOfEach = 1U << 20;
constexpr std::uint32_t kPredecessorsCounted = (1U << 12) - 1;
// The last pair, so that the contexts of a program's communicators begin at 4.
constexpr ContextId kPlacesContext = 2 * (ContextPool::kPairs - 1);

sim::SharedTable all_ranks(const sim::Job& job) {
  // A job may supply the list; otherwise its world has all places.
  if (!job.all_ranks.empty()) return job.all_ranks;
  sim::SharedTable::Numbers all(job.size);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

// The group of all places; `world`: that of the world, which is the same if all processes began together.
GroupPtr group_of_places(const sim::Job& job, const GroupPtr& world) {
  if (job.world_size() == job.size) return world;
  sim::SharedTable::Numbers all(job.size);
  std::iota(all.begin(), all.end(), 0U);
  auto places = std::make_shared<Group>(*world);
  places->world_ranks = std::move(all);
  places->my_rank = static_cast<int>(job.rank);
  return places;
}

}  // namespace

Worlds::Worlds(const sim::Job& job, const ObjectTables& tables) : tables_(tables), rank_(job.rank) {
  // Contexts go in pairs: the second of a pair is for collective calls.
  contexts_.take(kWorldContext / 2);
  contexts_.take(kSelfContext / 2);
  contexts_.take(kPlacesContext / 2);
  auto everyone = std::make_shared<Group>();
  everyone->world_ranks = all_ranks(job);
  const auto* const me = std::lower_bound(everyone->world_ranks.begin(), everyone->world_ranks.end(), job.rank);
  everyone->my_rank = static_cast<int>(me - everyone->world_ranks.begin());
  auto alone = std::make_shared<Group>();
  alone->world_ranks = {job.rank};
  alone->my_rank = 0;
  world_.handle = MPI_COMM_WORLD;
  world_.context = kWorldContext;
  world_.collective_context = kWorldContext + 1;
  world_.set_groups(everyone);
  auto own = std::make_shared<Group>(*everyone);
  own->session = Group::kNoSession;
  own_world_.context = world_.context;
  own_world_.collective_context = world_.collective_context;
  own_world_.set_groups(own);
  own_world_.name = "the library's world";
  own_world_.error_handler = tables.error_handlers.find(MPI_ERRORS_RETURN);
  places_.context = kPlacesContext;
  places_.collective_context = kPlacesContext + 1;
  places_.set_groups(group_of_places(job, own));
  places_.name = "the places of the job";
  places_.error_handler = own_world_.error_handler;
  // Numbers of the processes that had this one's place before are not repeated.
  generations_ = std::min(job.predecessors, kPredecessorsCounted) * kGenerationsOfEach;
  world_.name = "MPI_COMM_WORLD";
  self_.handle = MPI_COMM_SELF;
  self_.context = kSelfContext;
  self_.collective_context = kSelfContext + 1;
  self_.set_groups(alone);
  self_.name = "MPI_COMM_SELF";
  for (Communicator* communicator : {&self_, &world_}) set_error_handler(*communicator, tables.initial_handler);
}

void Worlds::begin(int thread_level) {
  thread_level_.set(thread_level);
  main_thread_.set(std::this_thread::get_id());
  world_handle_ = MPI_COMM_WORLD;
  self_handle_ = MPI_COMM_SELF;
  // In traces the library's messages then appear under the program's name of the world.
  own_world_.named_as = &world_;
}

void Worlds::end() {
  world_handle_ = self_handle_ = kNoHandle;
  own_world_.named_as = nullptr;
  for (Communicator* communicator : {&self_, &world_}) set_error_handler(*communicator, tables_.initial_handler);
}

void Worlds::set_error_handler(Communicator& communicator, ErrorHandlerPtr handler) {
  communicator.error_handler = std::move(handler);
  const Communicator& fallback = fallback_communicator();
  const std::lock_guard guard(fallback_mutex_);
  // A copy with a lock of its own, because threads outside the rank read it.
  fallback_ = {fallback.error_handler, fallback.handle};
}

const Communicator& Worlds::fallback_communicator() const {
  const ErrorHandlerPtr& initial = tables_.initial_handler;
  return world_.error_handler == initial && self_.error_handler != initial ? self_ : world_;
}

Worlds::FallbackHandler Worlds::fallback_handler() const {
  const std::lock_guard guard(fallback_mutex_);
  return fallback_;
}

void Worlds::set_context(Communicator& communicator, const AgreedContext& agreed) {
  communicator.context = static_cast<ContextId>(agreed.context);
  communicator.collective_context = static_cast<ContextId>(agreed.context + 1);
  communicator.generation = agreed.generation;
  // The union of an intercommunicator's groups has the same contexts, because it carries the collective messages of the
  // same communicator.
  if (communicator.both == nullptr) return;
  communicator.both->context = communicator.context;
  communicator.both->collective_context = communicator.collective_context;
  communicator.both->generation = communicator.generation;
}

// A count and this rank, mixed by the finalizer of SplitMix64. The finalizer is a bijection, so no two numbers are
// equal. They are mixed because the bitwise and of several processes' numbers may become a generation
// (object/context_agreement), and the bitwise and of unmixed counts would repeat.
std::uint64_t Worlds::next_generation() {
  std::uint64_t x = std::uint64_t{++generations_} << 32 | rank_;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9U;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebU;
  return x ^ (x >> 31);
}

}  // namespace margay::mpi_adi
