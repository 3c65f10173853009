#include "collectives/portal/tree_portal.hpp"

#include <bit>
#include <new>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// Messages that come before their call: CallNumber::kGateCalls of at most kHandshakeBytes from each child, for each
// communicator that somebody runs ahead on. Room for all of them is reserved as far as there is address space; pages
// come when touched, from the lowest on.
constexpr std::size_t kTreeHeapBytes = std::size_t{1} << 30;
constexpr std::size_t kTreeHeapBytesMin = std::size_t{16} << 20;

constexpr portals::MatchBits kAll = ~portals::MatchBits{0};

mpi_adi::HeapMemory reserve(std::size_t bytes, std::size_t least_bytes) {
  for (; bytes > least_bytes; bytes /= 2) {
    try {
      return mpi_adi::HeapMemory(bytes);
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
  return mpi_adi::HeapMemory(least_bytes);
}

}  // namespace

TreePortal::TreePortal(std::unique_ptr<Host> host)
    : host_(std::move(host)),
      memory_(reserve(kTreeHeapBytes, kTreeHeapBytesMin)),
      heap_(memory_.buffer()),
      notices_(*host_) {
  heap_.set_owner(static_cast<mpi_adi::Listener*>(this), mpi_adi::kOwnerListener);
  catch_all_.set({.match_bits = 0, .ignore_bits = kAll}, heap_, {.save = portals::Save::both});
  list_.append(catch_all_);
  sim::Kernel& kernel = host_->kernel();
  const bool attached = kernel.table().attach(mpi_adi::kCollectiveTreePortal, list_).ok();
  MARGAY_ASSERT(attached);
  kernel.hold_when_no_room(mpi_adi::kCollectiveTreePortal);
}

TreePortal::~TreePortal() {
  host_->kernel().table().detach(mpi_adi::kCollectiveTreePortal);
  list_.remove(catch_all_);
}

void TreePortal::told() {
  order_.wake_begun();
}

// One whose body is still coming stays: its sender is in the middle of it.
void TreePortal::forget(const portals::Criteria& criteria) {
  for (portals::ArrivedMessage* message = heap_.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = heap_.next(*message);
    const portals::MatchBits differ = message->header.match_bits ^ criteria.match_bits;
    if ((differ & ~criteria.ignore_bits) == 0 && message->complete) heap_.release(*message);
    message = next;
  }
}

void TreePortal::forget_messages(const mpi_adi::Communicator& communicator) {
  // Of both contexts: agreements of some members have the other one (comm/agree).
  constexpr portals::MatchBits kWhich = portals::MatchBits{1} << mpi_adi::kContextShift;
  forget({.match_bits = mpi_adi::envelope_bits(0, 0, communicator.collective_context),
          .ignore_bits = ~mpi_adi::kContextMask | kWhich});
  notices_.forget(communicator);
}

void TreePortal::forget_call(const mpi_adi::Communicator& communicator, CallNumber number) {
  forget({.match_bits = bits(number, 0, communicator.collective_context),
          .ignore_bits = mpi_adi::kSourceMask | mpi_adi::kTypeMask});
}

portals::PortalIndex TreePortal::take_stream() {
  const int free = std::countr_one(streams_in_use_);
  if (free >= static_cast<int>(mpi_adi::kCollectiveStreams)) return mpi_adi::kCollectiveTreePortal;
  streams_in_use_ |= std::uint32_t{1} << free;
  return mpi_adi::collective_stream(static_cast<std::uint32_t>(free));
}

void TreePortal::give_back_stream(portals::PortalIndex portal) {
  streams_in_use_ &= ~(std::uint32_t{1} << mpi_adi::index_of_stream(portal));
}

portals::MatchBits TreePortal::bits(CallNumber number, int source, mpi_adi::ContextId context) {
  return mpi_adi::envelope_bits(static_cast<int>(number.word()), source, context);
}

}  // namespace margay::collectives
