#include "mpi_adi/rank/handles.hpp"

#include "mpi_adi/rank/origins.hpp"
#include "portals/base/assert.hpp"
#include "sim/machine/guests.hpp"

namespace margay::mpi_adi {

namespace {

// The union of both groups of an intercommunicator, for the library's own messages. Each member computes the same
// order, also in another job: the first group is the one whose first process is the lower endpoint.
std::unique_ptr<Communicator> both_groups(Communicator& inter, const sim::Guests* guests) {
  const Group& mine = *inter.group;
  const Group& theirs = *inter.remote;
  const std::uint32_t my_first = mine.world_ranks.front();
  const std::uint32_t their_first = theirs.world_ranks.front();
  const bool mine_first = guests == nullptr ? my_first < their_first : guests->is_before(my_first, their_first);
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
  both->named_as = &inter;
  return both;
}

}  // namespace

void Handles::keep_origins() {
  origins_ = std::make_unique<Origins>();
}

void Handles::record_in_origins(Handle handle) {
  origins_->record(handle);
}

Handles::Handles(Device& device, Communicator& world) : device_(device) {
  // Slot 0 is reserved, so the handle of completed sends is a constant.
  sent_request_.communicator = &world;
  sent_request_.device = &device.sent();
  sent_request_.common = true;
  sent_request_.handle = requests_.insert_at(0, sent_request_);
}

Handles::~Handles() {
  for (Communicator* communicator : communicators_.alive()) delete communicator;
  for (Datatype* type : datatypes_.alive()) delete type;
  for (Operation* operation : operations_.alive()) delete operation;
}

Communicator* Handles::add_communicator(GroupPtr group, GroupPtr remote, const ErrorHandlerPtr& handler) {
  // Owned here, so that it is deleted if the table is full.
  auto communicator = std::make_unique<Communicator>();
  communicator->handle = communicators_.add(*communicator);
  if (communicator->handle == 0) return nullptr;
  record_origin(communicator->handle);
  communicator->context = kNoContext;
  communicator->set_groups(std::move(group), std::move(remote));
  communicator->error_handler = handler;
  if (communicator->is_inter()) communicator->both = both_groups(*communicator, guests_);
  return communicator.release();
}

Datatype* Handles::add_datatype(Datatype&& type) {
  auto added = std::make_unique<Datatype>(std::move(type));
  added->predefined = false;
  added->references = 1;
  added->handle = datatypes_.add(*added);
  if (added->handle == 0) return nullptr;
  record_origin(added->handle);
  return added.release();
}

void Handles::make_request() {
  // Requests that hide_free_requests() took off the list are free too.
  if (hidden_requests_ != nullptr) {
    free_requests_ = hidden_requests_;
    hidden_requests_ = hidden_requests_->next_free;
    free_requests_->next_free = nullptr;
  } else {
    request_pool_.push_back(std::make_unique<UserRequest>());
    free_requests_ = request_pool_.back().get();
  }
  // With origins, hide_free_requests() runs at each call, so every add_request() calls this function, which records the
  // maker.
  if (origins_ != nullptr) origins_->record(*free_requests_);
}

void Handles::hide_free_requests() {
  while (free_requests_ != nullptr) {
    UserRequest* const hidden = free_requests_;
    free_requests_ = hidden->next_free;
    hidden->next_free = hidden_requests_;
    hidden_requests_ = hidden;
  }
}

std::vector<Communicator*> Handles::communicators_of(std::uint32_t session) const {
  std::vector<Communicator*> found = communicators_.alive();
  std::erase_if(found, [session](const Communicator* one) { return one->group->session != session; });
  return found;
}

void Handles::free_datatype(Datatype& type) {
  datatypes_.remove(type.handle);
  release(type);
}

// The communicator of a freed request is not deleted before the end of the call, because a failed call may still need
// the communicator's error handler.
void Handles::free_request(UserRequest& request) {
  requests_.remove(request.handle);
  if (request.sent || request.persistent) device_.drop_reference(*request.communicator);
  if (request.persistent && request.call.type != nullptr) release(*request.call.type);
  request.next_free = free_requests_;
  free_requests_ = &request;
}

void Handles::release(Datatype& type) {
  MARGAY_ASSERT(type.references > 0);
  if (--type.references == 0 && !type.predefined) delete &type;
}

}  // namespace margay::mpi_adi
