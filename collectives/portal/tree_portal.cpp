#include "collectives/portal/tree_portal.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "collectives/portal/call_check.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/options.hpp"
#include "portals/base/assert.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::collectives {

namespace {

// The least size of the heap of early messages. Each child may have CallNumber::kGateCalls messages of up to
// kHandshakeBytes here, for each communicator on which it runs ahead. Address space is reserved as far as available;
// pages are allocated when touched, from the lowest on. No heap has room for all communicators at once, so a message
// without room is held on its wire until a second heap is opened (mpi_adi/device/unexpected).
constexpr std::size_t kTreeHeapBytesMin = std::size_t{16} << 20;

mpi_adi::Unexpected::Setup setup_of(const TreePortal::Limits& limits, std::uint32_t ranks, mpi_adi::Listener& owner) {
  return {.heap_bytes = limits.heap_bytes,
          .heap_bytes_min = std::min(limits.heap_bytes, kTreeHeapBytesMin),
          .spill_bytes =
              limits.spill_bytes != 0 ? limits.spill_bytes : std::max(limits.heap_bytes, mpi_adi::memory_share(ranks)),
          .catch_alls = mpi_adi::Unexpected::CatchAlls::one,
          .portal = mpi_adi::kCollectiveTreePortal,
          .owner = &owner,
          .owner_tag_kind = mpi_adi::kOwnerListener};
}

}  // namespace

TreePortal::TreePortal(std::unique_ptr<Host> host) : TreePortal(std::move(host), Limits{}) {}

TreePortal::TreePortal(std::unique_ptr<Host> host, const Limits& limits)
    : host_(std::move(host)),
      heap_(setup_of(limits, host_->kernel().ranks(), *this), list_),
      notices_(*host_, limits.early_notices) {
  sim::Kernel& kernel = host_->kernel();
  const bool attached = kernel.table().attach(mpi_adi::kCollectiveTreePortal, list_).ok();
  MARGAY_ASSERT(attached);
  kernel.target().hold_when_no_room(mpi_adi::kCollectiveTreePortal);
  host_->extensible_heaps().push_back(&heap_);
}

TreePortal::~TreePortal() {
  std::erase(host_->extensible_heaps(), &heap_);
  host_->kernel().table().detach(mpi_adi::kCollectiveTreePortal);
}

void TreePortal::check_calls(sim::Findings& findings, sim::SourceLines& lines) {
  check_ = std::make_unique<CallCheck>(*host_, sent_, findings, lines);
}

// The list is emptied first, because a woken call may register again.
void TreePortal::notify() {
  for (const portals::Header& header : std::exchange(remainders_, {})) notices_.wake(header);
  heap_.for_each_new([this](const portals::ArrivedMessage& message) { notices_.wake(message.header); });
}

// A message whose body is still arriving stays, because its wire writes to it.
void TreePortal::discard(const portals::Criteria& criteria) {
  for (portals::ArrivedMessage* message = heap_.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = heap_.next(*message);
    const portals::MatchBits differ = message->header.match_bits ^ criteria.match_bits;
    if ((differ & ~criteria.ignore_bits) == 0 && message->complete) heap_.release(*message);
    message = next;
  }
}

void TreePortal::discard_messages(const mpi_adi::Communicator& communicator) {
  // In both contexts of the pair: agreements of some members use the point-to-point context (comm/agree).
  constexpr portals::MatchBits kWhich = portals::MatchBits{1} << mpi_adi::kContextShift;
  discard({.match_bits = mpi_adi::envelope_bits(0, 0, communicator.collective_context),
           .ignore_bits = ~mpi_adi::kContextMask | kWhich});
  notices_.discard(communicator);
}

void TreePortal::discard_call(const mpi_adi::Communicator& communicator, CallNumber number) {
  discard({.match_bits = bits(number, 0, communicator.collective_context),
           .ignore_bits = mpi_adi::kSourceMask | mpi_adi::kTypeMask});
}

portals::PortalIndex TreePortal::take_stream() {
  // The lowest free portal; if none is free, the tree portal.
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
