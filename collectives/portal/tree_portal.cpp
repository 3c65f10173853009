#include "collectives/portal/tree_portal.hpp"

#include <new>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// Messages that come before their call: kGateCalls of at most kHandshakeBytes from each child, for each communicator
// that somebody runs ahead on. Room for all of them is reserved as far as there is address space; pages come when
// touched, from the lowest on.
constexpr std::size_t kTreeHeapBytes = std::size_t{1} << 30;
constexpr std::size_t kTreeHeapBytesMin = std::size_t{16} << 20;
constexpr std::size_t kReadyHeapBytes = std::size_t{16} << 20;

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

TreePortal::Side::Side(std::size_t bytes, std::size_t least_bytes)
    : memory(reserve(bytes, least_bytes)), heap(memory.buffer()) {
  heap.set_owner(nullptr, mpi_adi::kOwnerOthers);
}

// One whose body is still coming stays: its sender is in the middle of it.
void TreePortal::Side::forget(const portals::Criteria& criteria) {
  for (portals::ArrivedMessage* message = heap.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = heap.next(*message);
    const portals::MatchBits differ = message->header.match_bits ^ criteria.match_bits;
    if ((differ & ~criteria.ignore_bits) == 0 && message->complete) heap.release(*message);
    message = next;
  }
}

TreePortal::TreePortal(std::unique_ptr<Host> host)
    : host_(std::move(host)),
      tree_(kTreeHeapBytes, kTreeHeapBytesMin),
      ready_(kReadyHeapBytes, kReadyHeapBytes),
      notices_(*host_, ready_.list) {
  const portals::Criteria any{.match_bits = 0, .ignore_bits = kAll};
  sim::Kernel& kernel = host_->kernel();
  tree_.catch_all.set(any, tree_.heap, {.save = portals::Save::both});
  tree_.list.append(tree_.catch_all);
  ready_.catch_all.set(any, ready_.heap, {.save = portals::Save::header});
  ready_.list.append(ready_.catch_all);
  const bool attached = kernel.table().attach(mpi_adi::kCollectiveTreePortal, tree_.list).ok() &&
                        kernel.table().attach(mpi_adi::kCollectiveReadyPortal, ready_.list).ok();
  MARGAY_ASSERT(attached);
  kernel.hold_when_no_room(mpi_adi::kCollectiveTreePortal);
  kernel.hold_when_no_room(mpi_adi::kCollectiveReadyPortal);
}

TreePortal::~TreePortal() {
  sim::Kernel& kernel = host_->kernel();
  kernel.table().detach(mpi_adi::kCollectiveTreePortal);
  kernel.table().detach(mpi_adi::kCollectiveReadyPortal);
  tree_.list.remove(tree_.catch_all);
  ready_.list.remove(ready_.catch_all);
}

void TreePortal::forget_messages(const mpi_adi::Communicator& communicator) {
  const portals::Criteria of_context{.match_bits = mpi_adi::envelope_bits(0, 0, communicator.collective_context),
                                     .ignore_bits = ~mpi_adi::kContextMask};
  tree_.forget(of_context);
  ready_.forget(of_context);
  notices_.forget(communicator);
}

void TreePortal::forget_call(const mpi_adi::Communicator& communicator, std::uint64_t sequence) {
  const portals::Criteria of_call{.match_bits = bits(sequence, 0, communicator.collective_context),
                                  .ignore_bits = mpi_adi::kSourceMask | mpi_adi::kTypeMask};
  tree_.forget(of_call);
  ready_.forget(of_call);
}

portals::MatchBits TreePortal::bits(std::uint64_t sequence, int source, mpi_adi::ContextId context) {
  return mpi_adi::envelope_bits(static_cast<int>(static_cast<std::uint32_t>(sequence)), source, context);
}

}  // namespace margay::collectives
