#include "collectives/portal/tree_portal.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// Messages that come before their call: at most kHandshakeBytes each. What finds no room waits on its wire.
constexpr std::uint64_t kTreeHeapBytes = 16ULL << 20;
constexpr std::uint64_t kReadyHeapBytes = 1ULL << 20;

constexpr portals::MatchBits kAll = ~portals::MatchBits{0};

}  // namespace

TreePortal::Side::Side(std::uint64_t heap_bytes) : memory(heap_bytes), heap(memory.buffer()) {
  heap.set_owner(nullptr, mpi_adi::kOwnerOthers);
}

TreePortal::TreePortal(std::unique_ptr<Host> host)
    : host_(std::move(host)), tree_(kTreeHeapBytes), ready_(kReadyHeapBytes) {
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

portals::MatchBits TreePortal::bits(std::uint64_t sequence, int source, mpi_adi::ContextId context) {
  return mpi_adi::envelope_bits(static_cast<int>(static_cast<std::uint32_t>(sequence)), source, context);
}

}  // namespace margay::collectives
