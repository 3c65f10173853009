#include "mpi_adi/rank/rank.hpp"

#include <sched.h>

#include <cstdio>
#include <numeric>

#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/rank/device_options.hpp"
#include "mpi_adi/rank/unreceived.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

using portals::Status;

namespace {

constexpr ContextId kWorldContext = 0;
constexpr ContextId kSelfContext = 2;

// What lies there, nobody will receive.
void forget_messages(MpiRank& rank, const Communicator& communicator) {
  tell_unreceived(rank.receiving_side(), communicator, Sender::is_done);
  rank.device().forget_messages(communicator.context);
}

// The same of the world, and of what came for communicators after they were freed.
void forget_last_messages(MpiRank& rank) {
  forget_messages(rank, rank.world());
  for (const ContextId context : contexts_of_nobody(rank.receiving_side())) rank.device().forget_messages(context);
}

// Each member finds the same order by itself: first the group whose first process has the lower rank in the world.
std::unique_ptr<Communicator> both_groups(const Communicator& inter) {
  const Group& mine = *inter.group;
  const Group& theirs = *inter.remote;
  const bool mine_first = mine.world_ranks.front() < theirs.world_ranks.front();
  auto all = std::make_shared<Group>();
  all->session = mine.session;
  const Group& first = mine_first ? mine : theirs;
  const Group& second = mine_first ? theirs : mine;
  sim::SharedTable::Numbers members = first.world_ranks.numbers();
  members.insert(members.end(), second.world_ranks.begin(), second.world_ranks.end());
  all->my_rank = mine.my_rank + (mine_first ? 0 : theirs.size());
  all->world_ranks = std::move(members);
  auto both = std::make_unique<Communicator>();
  both->set_groups(std::move(all));
  return both;
}

}  // namespace

Status MpiRank::start_on(std::unique_ptr<sim::Process> process, MakeExtension make_extension,
                         std::unique_ptr<MpiRank>& out) {
  std::unique_ptr<MpiRank> rank(new MpiRank());
  rank->process_ = std::move(process);
  DeviceOptions options;
  if (Status status = device_options(rank->process_->job().options, options); !status.ok()) return status;
  const std::string initial = rank->process_->job().options.text("initial_errhandler");
  rank->tables_.initial_handler = rank->tables_.error_handlers.find(named_handler(initial));
  if (rank->tables_.initial_handler == nullptr) {
    return Status::error("MARGAY_INITIAL_ERRHANDLER=" + initial +
                         ": it is mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return");
  }
  rank->device_ = std::make_unique<Device>(rank->process_->kernel(), options);
  rank->buffered_ = std::make_unique<BufferedSends>(rank->device_->parts());
  rank->make_world();
  rank->sent_request_.device = &rank->device_->sent();
  rank->sent_request_.communicator = &rank->world_;
  rank->sent_request_.common = true;
  rank->sent_request_.handle = rank->requests_.place(0, rank->sent_request_);
  if (rank->process_->job().options.text("leaks") == "1") {
    rank->origins_ = std::make_unique<Origins>();
    rank->process_->recorder().watch();
  }
  if (rank->process_->job().options.text("check_types") == "1") {
    rank->device_->parts().type_check =
        std::make_unique<TypeCheck>(rank->process_->rank(), rank->process_->board().findings);
    rank->process_->recorder().watch();
  }
  rank->tables_.inquiries = Inquiries(rank->process_->job());
  rank->collectives_ = make_extension(*rank);
  rank->work();
  out = std::move(rank);
  return {};
}

void MpiRank::begin_world(int thread_level) {
  thread_level_.set(thread_level);
  if (thread_level >= MPI_THREAD_SERIALIZED) allow_threads();
  main_thread_.set(std::this_thread::get_id());
  world_handle_ = MPI_COMM_WORLD;
  self_handle_ = MPI_COMM_SELF;
}

void MpiRank::end_world() {
  world_handle_ = self_handle_ = kNoHandle;
  for (Communicator* communicator : {&self_, &world_}) set_error_handler(*communicator, tables_.initial_handler);
  for (Communicator* communicator : communicators_of(0)) free_communicator(*communicator);
  forget_messages(*this, self_);
  forget_last_messages(*this);
}

void MpiRank::allow_threads() {
  if (threaded()) return;
  if (on_lone_thread()) return begin_many();
  threads_.set(Threads::asked);
  process_->wake();  // it may sleep in a wait
}

void MpiRank::begin_many() {
  process_->share_waiting(outside_rest_);
  threads_.set(Threads::many);
}

void MpiRank::note_thread() {
  detail::thread_noted = true;
  if (process_->minds_threads()) sim::tell_thread_end(end_of_thread_);
}

// One that ends inside a call leaves the lock as it is.
void MpiRank::EndOfThread::thread_ends() {
  if (rank_.mutex_.mine()) return;
  rank_.enter();
  rank_.process_->thread_ends();
  rank_.process_->arm_coprocessor();
  rank_.leave();
  detail::thread_noted = false;  // what else ends with it may still make calls
}

void MpiRank::enter_beside_lone_thread() {
  sim::BiasedLock& lock = process_->lock();
  if (on_lone_thread()) {
    begin_many();
  } else {
    while (threads_.get() != Threads::many) {
      if (lock.try_enter_other()) {
        beside_lone_thread_ = true;
        process_->share_waiting(outside_rest_);
        return;
      }
      sched_yield();  // the lone thread is inside, and sees in its next round that it is not alone
    }
  }
  lock.owner_enter();
}

void MpiRank::leave_beside() {
  sim::BiasedLock& lock = process_->lock();
  if (!mutex_.mine()) {
    // The lone thread, which has come in without the threads' lock. From now on it takes that one, too.
    process_->share_waiting(outside_rest_);
    lock.owner_leave();
    threads_.set(Threads::many);
    return;
  }
  beside_lone_thread_ = false;
  lock.leave_other();
  mutex_.unlock();
}

bool MpiRank::try_enter() {
  sim::BiasedLock& lock = process_->lock();
  if (!threaded()) {
    if (!on_lone_thread() || lock.owner_inside()) return false;
    lock.owner_enter();
    return true;
  }
  if (!mutex_.try_lock()) return false;
  if (threads_.get() == Threads::many) {
    lock.owner_enter();
  } else if (!lock.try_enter_other()) {
    mutex_.unlock();
    return false;
  } else {
    beside_lone_thread_ = true;
  }
  return true;
}

void MpiRank::work() {
  lone_thread_.set(std::this_thread::get_id());
  process_->resume();
  Device* device = device_.get();
  const Status bypass = process_->start_coprocessor([device] { return device->progress_for_absent_owner(); });
  if (!bypass.ok()) std::fprintf(stderr, "margay: rank %u: %s\n", process_->rank(), bypass.sentence().c_str());
  process_->board().state = sim::RankState::kInitialized;
}

ReceivingSide MpiRank::receiving_side() {
  return {*process_, *device_, contexts_, world_, self_, origins_ != nullptr};
}

void MpiRank::rest() {
  publish_accounts();
  const sim::WireCounts& sent = collectives_->sent();
  process_->board().by_protocol[static_cast<std::size_t>(sim::CountedProtocol::kCollective)] = {sent.messages,
                                                                                                sent.bytes};
  process_->finish([this] { return device_->progress(); });
  forget_last_messages(*this);
  dropped_told_ = tell_dropped(receiving_side(), dropped_told_);
  device_->give_memory_back();
  process_->board().state = sim::RankState::kFinalized;
}

MpiRank::~MpiRank() {
  if (process_ != nullptr) process_->stop_coprocessor();
  collectives_.reset();
  for (Communicator* communicator : communicators_.alive()) delete communicator;
  for (Datatype* type : datatypes_.alive()) delete type;
  for (Operation* operation : operations_.alive()) delete operation;
}

namespace {

sim::SharedTable everybody(const sim::Job& job) {
  if (!job.everybody.empty()) return job.everybody;
  sim::SharedTable::Numbers all(job.size);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

void MpiRank::make_world() {
  contexts_.take(kWorldContext / 2);
  contexts_.take(kSelfContext / 2);
  auto everyone = std::make_shared<Group>();
  everyone->world_ranks = everybody(process_->job());
  everyone->my_rank = static_cast<int>(process_->rank());
  auto alone = std::make_shared<Group>();
  alone->world_ranks = {process_->rank()};
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
  own_world_.error_handler = tables_.error_handlers.find(MPI_ERRORS_RETURN);
  world_.name = "MPI_COMM_WORLD";
  self_.handle = MPI_COMM_SELF;
  self_.context = kSelfContext;
  self_.collective_context = kSelfContext + 1;
  self_.set_groups(alone);
  self_.name = "MPI_COMM_SELF";
  for (Communicator* communicator : {&self_, &world_}) set_error_handler(*communicator, tables_.initial_handler);
}

void MpiRank::set_error_handler(Communicator& communicator, ErrorHandlerPtr handler) {
  communicator.error_handler = std::move(handler);
  const Communicator& rest = raises_the_rest();
  const std::lock_guard guard(rest_mutex_);
  rest_ = {rest.error_handler, rest.handle};
}

const Communicator& MpiRank::raises_the_rest() const {
  const ErrorHandlerPtr& initial = tables_.initial_handler;
  return world_.error_handler == initial && self_.error_handler != initial ? self_ : world_;
}

MpiRank::HandlerOfTheRest MpiRank::handler_of_the_rest() const {
  const std::lock_guard guard(rest_mutex_);
  return rest_;
}

Communicator* MpiRank::add_communicator(GroupPtr group, GroupPtr remote) {
  auto communicator = std::make_unique<Communicator>();
  communicator->handle = communicators_.add(*communicator);
  if (communicator->handle == 0) return nullptr;
  note_origin(communicator->handle);
  communicator->context = kNoContext;
  communicator->set_groups(std::move(group), std::move(remote));
  communicator->error_handler = tables_.error_handlers.fatal();
  if (communicator->is_inter()) communicator->both = both_groups(*communicator);
  return communicator.release();
}

void MpiRank::set_context(Communicator& communicator, const AgreedContext& agreed) {
  communicator.context = static_cast<ContextId>(agreed.context);
  communicator.collective_context = static_cast<ContextId>(agreed.context + 1);
  communicator.generation = agreed.generation;
  if (communicator.both == nullptr) return;
  communicator.both->context = communicator.context;
  communicator.both->collective_context = communicator.collective_context;
  communicator.both->generation = communicator.generation;
}

// Mixed (the finalizer of SplitMix64, which maps no two numbers to one), as those of two processes may be combined.
std::uint64_t MpiRank::next_generation() {
  std::uint64_t x = std::uint64_t{++generations_} << 32 | process_->rank();
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9U;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebU;
  return x ^ (x >> 31);
}

Datatype* MpiRank::add_datatype(Datatype&& type) {
  auto added = std::make_unique<Datatype>(std::move(type));
  added->predefined = false;
  added->references = 1;
  added->handle = datatypes_.add(*added);
  if (added->handle == 0) return nullptr;
  note_origin(added->handle);
  return added.release();
}

void MpiRank::make_request() {
  if (hidden_requests_ != nullptr) {
    free_requests_ = hidden_requests_;
    hidden_requests_ = hidden_requests_->next_free;
    free_requests_->next_free = nullptr;
  } else {
    request_pool_.push_back(std::make_unique<UserRequest>());
    free_requests_ = request_pool_.back().get();
  }
  if (origins_ != nullptr) origins_->note(*free_requests_);
}

void MpiRank::hide_free_requests() {
  while (free_requests_ != nullptr) {
    UserRequest* const hidden = free_requests_;
    free_requests_ = hidden->next_free;
    hidden->next_free = hidden_requests_;
    hidden_requests_ = hidden;
  }
}

void MpiRank::free_communicator(Communicator& communicator) {
  communicators_.remove(communicator.handle);
  communicator.freed = true;
  release(communicator);
}

std::vector<Communicator*> MpiRank::communicators_of(std::uint32_t session) const {
  std::vector<Communicator*> found = communicators_.alive();
  std::erase_if(found, [session](const Communicator* one) { return one->group->session != session; });
  return found;
}

void MpiRank::free_datatype(Datatype& type) {
  datatypes_.remove(type.handle);
  release(type);
}

void MpiRank::free_request(UserRequest& request) {
  requests_.remove(request.handle);
  if (request.sent) {
    device_->drop_reference(*request.communicator);  // goes at the call's end: who failed may still ask its handler
  } else if (request.persistent) {
    release(*request.communicator);
    if (request.call.type != nullptr) release(*request.call.type);
  }
  request.next_free = free_requests_;
  free_requests_ = &request;
}

void MpiRank::release(Communicator& communicator) {
  MARGAY_ASSERT(communicator.references > 0);
  if (--communicator.references == 0 && communicator.freed) destroy(communicator);
}

void MpiRank::destroy(Communicator& communicator) {
  if (communicator.context != kNoContext) {
    forget_messages(*this, communicator);
    if (collectives_ != nullptr) collectives_->forget_messages(communicator);
    const bool spent = communicator.contexts_spent || (communicator.both && communicator.both->contexts_spent);
    if (!spent) contexts_.give_back(communicator.context / 2);
  }
  delete &communicator;
}

void MpiRank::destroy_unreferenced() {
  while (Communicator* last = device_->take_unreferenced()) destroy(*last);
}

void MpiRank::release(Datatype& type) {
  MARGAY_ASSERT(type.references > 0);
  if (--type.references == 0 && !type.predefined) delete &type;
}

void MpiRank::publish_accounts() {
  using sim::CountedProtocol;
  const ProtocolCounts& counts = device_->counts();
  sim::BoardBlock& board = process_->board();
  const auto put = [&board](CountedProtocol protocol, const ProtocolCounts::Count& count) {
    board.by_protocol[static_cast<std::size_t>(protocol)] = {count.messages, count.bytes};
  };
  board.heap_high_water_bytes = device_->heap_high_water_bytes();
  put(CountedProtocol::kShort, counts.short_);
  put(CountedProtocol::kLongMatched, counts.long_matched);
  put(CountedProtocol::kLongPulled, counts.long_pulled);
  put(CountedProtocol::kSynchronousShort, counts.synchronous_short);
  put(CountedProtocol::kSynchronousLong, {counts.synchronous_long.messages + counts.synchronous_long_pulled.messages,
                                          counts.synchronous_long.bytes + counts.synchronous_long_pulled.bytes});
  put(CountedProtocol::kReady, counts.ready);
  put(CountedProtocol::kBuffered, counts.buffered);
}

}  // namespace margay::mpi_adi
