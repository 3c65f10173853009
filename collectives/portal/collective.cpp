#include "collectives/portal/collective.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"

namespace margay::collectives {

using mpi_adi::wait_until;

Awaited::~Awaited() {
  if (entry_.listed()) portal_->tree_.list.remove(entry_);
}

Collective::Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator)
    : rank_(rank),
      communicator_(communicator),
      portal_(*static_cast<TreePortal*>(rank.collectives())),
      sequence_(communicator.collective_sequence++) {
  ++communicator_.references;
}

Collective::~Collective() {
  flush();
  rank_.release(communicator_);
}

void Collective::expect(Awaited& awaited, int source, const portals::Region& landing) {
  awaited.portal_ = &portal_;
  awaited.landing_ = landing;
  const portals::MatchBits bits = TreePortal::bits(sequence_, source, communicator_.collective_context);
  const portals::Criteria criteria{.match_bits = bits};
  // "it checks whether the message has arrived in the message heap. If it hasn't, then the child sets up the single
  // block buffer for the message that will be arriving." No round of progress lies between: nothing can slip through.
  awaited.message_ = portal_.tree_.heap.find(criteria);
  if (awaited.message_ != nullptr) return;
  portals::Descriptor* memory = nullptr;
  if (landing.contiguous()) {
    memory = &awaited.single_.emplace(landing.single());
  } else {
    memory = &awaited.combined_.emplace(landing);
  }
  memory->set_owner(nullptr, mpi_adi::kOwnerOthers);
  awaited.entry_.set(criteria, *memory, {.save = portals::Save::body});
  portal_.tree_.list.insert_before(portal_.tree_.catch_all, awaited.entry_);
  if (landing.bytes() <= kHandshakeBytes) return;
  transmit(header_to(source, mpi_adi::kCollectiveReadyPortal, 0), {});
  rank_.process().kernel().expect_answer(communicator_.world_rank(source));
}

void Collective::finish(Awaited& awaited) {
  if (awaited.message_ == nullptr) await_deposit(awaited);
  if (awaited.message_ == nullptr) return;
  // Asked for anew each time: a message whose sender is lost before its body is here goes away.
  portals::DynamicBlock& heap = portal_.tree_.heap;
  const portals::Criteria criteria{.match_bits = awaited.message_->header.match_bits};
  portals::ArrivedMessage* message = nullptr;
  wait_until(rank_, [&] { return (message = heap.find(criteria)) == nullptr || message->complete; });
  if (message == nullptr) {
    error_class_ = MPIX_ERR_PROC_FAILED;
    return;
  }
  if (message->body.bytes == awaited.landing_.bytes()) {
    portals::copy(awaited.landing_, portals::Region(message->body));
  } else {
    error_class_ = MPI_ERR_TRUNCATE;
  }
  heap.release(*message);
}

// Until the block has it, or, because it is larger than the block, the heap; or nobody will send it any more.
void Collective::await_deposit(Awaited& awaited) {
  const portals::Descriptor& memory = awaited.single_ ? static_cast<portals::Descriptor&>(*awaited.single_)
                                                      : static_cast<portals::Descriptor&>(*awaited.combined_);
  portals::DynamicBlock& heap = portal_.tree_.heap;
  const portals::Criteria criteria = awaited.entry_.criteria();
  const int source = mpi_adi::source_of(criteria.match_bits);
  wait_until(rank_, [&] {
    if (memory.messages() > 0) return true;
    if (heap.queued() > 0) awaited.message_ = heap.find(criteria);
    return awaited.message_ != nullptr || lost(source);
  });
  portal_.tree_.list.remove(awaited.entry_);
  if (memory.messages() == 0 && awaited.message_ == nullptr) {
    error_class_ = MPIX_ERR_PROC_FAILED;
  } else if (awaited.message_ == nullptr && memory.bytes() != awaited.landing_.bytes()) {
    error_class_ = MPI_ERR_TRUNCATE;
  }
  if (awaited.landing_.bytes() > kHandshakeBytes) {
    rank_.process().kernel().answered(communicator_.world_rank(source));
  }
}

void Collective::send(int destination, const portals::Region& body) {
  if (body.bytes() > kHandshakeBytes && !await_ready(destination)) return;
  transmit(header_to(destination, mpi_adi::kCollectiveTreePortal, body.bytes()), body);
}

void Collective::flush() {
  wait_until(rank_, [this] {
    return std::all_of(under_way_.begin(), under_way_.end(), [](const sim::Transmission& transmission) {
      return transmission.state != sim::Transmission::State::queued;
    });
  });
  const bool failed = std::any_of(under_way_.begin(), under_way_.end(), [](const sim::Transmission& transmission) {
    return transmission.state == sim::Transmission::State::failed;
  });
  if (failed) error_class_ = MPIX_ERR_PROC_FAILED;
  under_way_.clear();
}

portals::Header Collective::header_to(int destination, portals::PortalIndex portal, std::uint64_t bytes) const {
  portals::Header header;
  header.destination = {0, communicator_.world_rank(destination)};
  header.portal = portal;
  header.match_bits = TreePortal::bits(sequence_, communicator_.rank(), communicator_.collective_context);
  header.length = bytes;
  return header;
}

bool Collective::lost(int rank) const {
  return rank_.process().kernel().lost(communicator_.world_rank(rank));
}

bool Collective::await_ready(int destination) {
  const portals::Criteria criteria{.match_bits =
                                       TreePortal::bits(sequence_, destination, communicator_.collective_context)};
  portals::ArrivedMessage* ready = nullptr;
  wait_until(rank_, [&] { return (ready = portal_.ready_.heap.find(criteria)) != nullptr || lost(destination); });
  if (ready == nullptr) {
    error_class_ = MPIX_ERR_PROC_FAILED;
    return false;
  }
  portal_.ready_.heap.release(*ready);
  return true;
}

void Collective::transmit(const portals::Header& header, const portals::Region& body) {
  ++portal_.sent_.messages;
  portal_.sent_.bytes += header.length;
  sim::Kernel& kernel = rank_.process().kernel();
  if (kernel.try_send(header, body)) return;
  sim::Transmission& transmission = under_way_.emplace_back();
  transmission.header = header;
  transmission.body = body;
  transmission.owner_kind = mpi_adi::kOwnerOthers;
  kernel.send(transmission);
}

}  // namespace margay::collectives
