#include "collectives/portal/collective.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"

namespace margay::collectives {

namespace {

// A row longer than kHandshakeBytes is sent only when it is asked for, which no table does.
static_assert(kHandshakeBytes <= mpi_adi::kSourceMask >> mpi_adi::kSourceShift);
int row_stamp(std::uint64_t bytes) {
  return static_cast<int>(bytes);
}

// Most receivers have said by then that they are ready, and who yields between looks has not gone to sleep yet.
constexpr int kLooksBeforeOffer = 16;

}  // namespace

Awaited::~Awaited() {
  if (entry_.listed()) portal_->list_.remove(entry_);
}

FanIn::~FanIn() {
  if (entry_.listed()) portal_->list_.remove(entry_);
}

Collective::Collective(TreePortal& portal, mpi_adi::Communicator& communicator, const Shape& shape)
    : portal_(portal),
      kernel_(portal.host().kernel()),
      communicator_(communicator),
      call_{.communicator = communicator, .sequence = portal.notices().take_number(communicator), .shape = shape} {
  ++communicator_.references;
  portal_.notices().begin(call_);
}

Collective::Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const Shape& shape)
    : Collective(*static_cast<TreePortal*>(rank.collectives()), communicator, shape) {}

Collective::~Collective() {
  flush();
  portal_.notices().end(call_);
  if (call_.error_class != MPI_SUCCESS) [[unlikely]]
    communicator_.contexts_spent = true;
  if (gone_wrong()) [[unlikely]]
    portal_.forget_call(communicator_, call_.sequence);
  portal_.host().release(communicator_);
}

void Collective::tell_ready(int source) {
  ++portal_.sent_.messages;
  portal_.notices().tell(call_, source, ready_word());
}

void Collective::expect(Awaited& awaited, int source, const portals::Region& landing) {
  awaited.portal_ = &portal_;
  awaited.source_ = source;
  awaited.landing_ = landing;
  const portals::Criteria criteria{.match_bits = bits(source)};
  // "it checks whether the message has arrived in the message heap. If it hasn't, then the child sets up the single
  // block buffer for the message that will be arriving." No round of progress lies between: nothing can slip through.
  awaited.message_ = portal_.heap_.find(criteria);
  if (awaited.message_ != nullptr) return;
  portals::Descriptor* memory = nullptr;
  if (landing.contiguous()) {
    memory = &awaited.single_.emplace(landing.single());
  } else {
    memory = &awaited.combined_.emplace(landing);
  }
  memory->set_owner(nullptr, mpi_adi::kOwnerOthers);
  awaited.entry_.set(criteria, *memory, {.save = portals::Save::body});
  portal_.list_.insert_before(portal_.catch_all_, awaited.entry_);
  if (!asks(landing.bytes())) return;
  awaited.asked_for_ = true;
  tell_ready(source);
  kernel_.expect_answer(communicator_.world_rank(source));
}

void Collective::finish(Awaited& awaited) {
  if (awaited.message_ == nullptr) await_deposit(awaited);
  if (awaited.message_ == nullptr) return;
  // Asked for anew each time: a message whose sender is lost before its body is here goes away.
  portals::DynamicBlock& heap = portal_.heap_;
  const portals::Criteria criteria{.match_bits = awaited.message_->header.match_bits};
  portals::ArrivedMessage* message = nullptr;
  wait([&] { return (message = heap.find(criteria)) == nullptr || message->complete; });
  if (message == nullptr) return fail(MPIX_ERR_PROC_FAILED);
  if (message->body.bytes == awaited.landing_.bytes()) {
    portals::copy(awaited.landing_, portals::Region(message->body));
  } else {
    other_length(awaited);
  }
  heap.release(*message);
}

// Who takes the call for a short one may wait for this rank in a way of its own.
void Collective::other_length(const Awaited& awaited) {
  fail(MPI_ERR_TRUNCATE);
  if (asks(awaited.landing_.bytes())) portal_.notices().find_wrong(call_);
}

// Until the block has it, or, because it is larger than the block, the heap; or nobody will send it any more.
void Collective::await_deposit(Awaited& awaited) {
  const portals::Descriptor& memory = awaited.single_ ? static_cast<portals::Descriptor&>(*awaited.single_)
                                                      : static_cast<portals::Descriptor&>(*awaited.combined_);
  portals::DynamicBlock& heap = portal_.heap_;
  const portals::Criteria criteria = awaited.entry_.criteria();
  const int source = awaited.source_;
  wait([&] {
    if (memory.messages() > 0) return true;
    if (heap.queued() > 0) awaited.message_ = heap.find(criteria);
    if (awaited.message_ != nullptr || lost(source)) return true;
    // What was asked for may be on its way: only its sender can say that it is not.
    return call_.has_said(source, Word::refuse) || (call_.wrong && !awaited.asked_for_);
  });
  leave(memory, awaited.entry_);
  if (memory.messages() == 0 && awaited.message_ == nullptr) {
    fail(any_lost() ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
  } else if (awaited.message_ == nullptr && memory.bytes() != awaited.landing_.bytes()) {
    other_length(awaited);
  }
  if (awaited.asked_for_) kernel_.answered(communicator_.world_rank(source));
}

void Collective::expect(FanIn& fan, std::span<const int> members, const portals::Region& table, std::uint64_t bytes) {
  fan.portal_ = &portal_;
  fan.table_ = table;
  fan.bytes_ = bytes;
  fan.members_ = members;
  portals::Descriptor& memory = fan.single_.emplace(table.single());
  memory.set_owner(nullptr, mpi_adi::kOwnerOthers);
  const portals::Criteria criteria{.match_bits = bits(row_stamp(bytes))};
  fan.entry_.set(criteria, memory, {.save = portals::Save::body, .offset_by = portals::OffsetBy::sender});
  portal_.list_.insert_before(portal_.catch_all_, fan.entry_);
  if (!asks(bytes)) return;
  for (const int member : members) {
    if (member != rank()) tell_ready(member);
  }
}

// Messages that lie in the heap came before the call, or their rows have another length than the table's.
void Collective::take_from_heap(FanIn& fan) {
  portals::DynamicBlock& heap = portal_.heap_;
  portals::Criteria of_any_length = fan.entry_.criteria();
  of_any_length.ignore_bits = mpi_adi::kSourceMask;
  while (portals::ArrivedMessage* const message = heap.find(of_any_length)) {
    if (!message->complete) return;
    const std::uint64_t offset = message->header.offset;
    if (message->body.bytes == fan.bytes_ && offset <= fan.table_.bytes() - fan.bytes_) {
      portals::copy(fan.table_.slice(offset, fan.bytes_), portals::Region(message->body));
    } else {
      fail(MPI_ERR_TRUNCATE);
    }
    ++fan.from_heap_;
    heap.release(*message);
  }
}

// No message begins to go there any more, and those that have are over: the memory is the caller's again.
void Collective::leave(const portals::Descriptor& memory, portals::MatchEntry& entry) {
  portal_.list_.remove(entry);
  wait([&] { return memory.under_way() == 0; });
}

void Collective::finish(FanIn& fan) {
  const portals::SingleBlock& memory = *fan.single_;
  const auto here = [&] { return memory.messages() + fan.from_heap_ >= fan.members_.size() - 1; };
  wait(
      [&] {
        if (portal_.heap_.queued() > 0) take_from_heap(fan);
        return here() || any_lost() || call_.wrong || call_.anybody_refuses();
      },
      mpi_adi::Device::kMessagesPerRound);
  leave(memory, fan.entry_);
  if (!here()) fail(any_lost() ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
}

void Collective::send(int destination, const portals::Region& body) {
  if (!may_send(destination, body.bytes())) return;
  transmit(header_to(destination, mpi_adi::kCollectiveTreePortal, body.bytes(), rank()), body);
}

void Collective::send_to_table(int destination, const portals::Region& body, std::uint64_t row) {
  if (!may_send(destination, body.bytes())) return;
  portals::Header header =
      header_to(destination, mpi_adi::kCollectiveTreePortal, body.bytes(), row_stamp(body.bytes()));
  header.offset = row * body.bytes();
  transmit(header, body);
}

void Collective::exchange(int destination, const portals::Region& body, int source, const portals::Region& landing) {
  Awaited awaited;
  // A long one must be asked for first, or both would wait for the other's word.
  const bool first = asks(landing.bytes()) || asks(body.bytes());
  if (first) expect(awaited, source, landing);
  send(destination, body);
  if (!first) expect(awaited, source, landing);
  finish(awaited);
}

void Collective::flush() {
  if (under_way_.empty()) [[likely]]
    return;
  wait([this] {
    // A wire may finish with one at once: it stays on the kernel's list of finished ones until that is drained.
    return std::all_of(under_way_.begin(), under_way_.end(),
                       [](const sim::Transmission& transmission) { return transmission.given_back; });
  });
  const bool failed = std::any_of(under_way_.begin(), under_way_.end(), [](const sim::Transmission& transmission) {
    return transmission.state == sim::Transmission::State::failed;
  });
  if (failed) fail(MPIX_ERR_PROC_FAILED);
  under_way_.clear();
}

portals::Header Collective::header_to(int destination, portals::PortalIndex portal, std::uint64_t bytes,
                                      int stamp) const {
  portals::Header header;
  header.destination = {0, communicator_.world_rank(destination)};
  header.portal = portal;
  header.match_bits = bits(stamp);
  header.length = bytes;
  return header;
}

bool Collective::lost(int rank) const {
  return kernel_.gone(communicator_.world_rank(rank));
}

bool Collective::any_lost() const {
  if (kernel_.losses() == 0) [[likely]]
    return false;
  const auto& members = communicator_.group->world_ranks;
  return std::any_of(members.begin(), members.end(), [this](std::uint32_t rank) { return kernel_.lost(rank); });
}

bool Collective::may_send(int destination, std::uint64_t bytes) {
  if (!gone_wrong() && (!asks(bytes) || await_ready(destination))) [[likely]]
    return true;
  if (gone_wrong()) {
    fail(MPI_ERR_TRUNCATE);
    portal_.notices().tell(call_, destination, Word::refuse);
  }
  return false;
}

bool Collective::await_ready(int destination) {
  int looks = 0;
  wait([&] {
    if (call_.has_said(destination, ready_word()) || call_.wrong || lost(destination)) return true;
    // It may never ask: when it takes the call for another one, in which nothing is asked for.
    if (++looks == kLooksBeforeOffer) portal_.notices().tell(call_, destination, Word::offer);
    return false;
  });
  if (call_.has_said(destination, ready_word())) [[likely]]
    return !gone_wrong();
  fail(any_lost() ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
  return false;
}

void Collective::transmit(const portals::Header& header, const portals::Region& body) {
  ++portal_.sent_.messages;
  portal_.sent_.bytes += header.length;
  if (kernel_.try_send(header, body)) return;
  sim::Transmission& transmission = under_way_.emplace_back();
  transmission.header = header;
  transmission.body = body;
  transmission.owner_kind = mpi_adi::kOwnerOthers;
  kernel_.send(transmission);
}

}  // namespace margay::collectives
