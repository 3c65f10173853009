#include "mpi_adi/rank/mpi_process.hpp"

#include <type_traits>

#include "sim/boot/thread_ranks.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

namespace {

// The operating system's process. It needs neither construction nor destruction, because code may call it while the
// process exits, even in a program that never began MPI.
constinit MpiProcess own_process;
static_assert(std::is_trivially_destructible_v<MpiProcess>);

}  // namespace

namespace detail {

constinit thread_local MpiRank* thread_rank = nullptr;
constinit thread_local MpiProcess* thread_process = &own_process;
constinit thread_local bool thread_recorded = false;

MpiRank* rank_of_process() {
  return thread_process->rank();
}

}  // namespace detail

MpiProcess& system_process() {
  return own_process;
}

bool is_thread_without_rank() {
  std::uint32_t ranks = 1;
  return detail::thread_process == &own_process && sim::ranks_of_process(ranks).ok() && ranks > 1;
}

void set_thread_process(MpiProcess& process, MpiRank* rank) {
  detail::thread_process = &process;
  detail::thread_rank = rank;
}

void set_thread_rank(MpiRank* rank) {
  detail::thread_rank = rank;
}

portals::Status MpiProcess::start(std::unique_ptr<sim::Process>& out) {
  return start_ == nullptr ? sim::Process::start(out) : start_->start(out);
}

portals::Status ThreadMpiProcess::Start::start(std::unique_ptr<sim::Process>& out) {
  return sim::Process::start(out, thread_rank);
}

ProcessPart& MpiProcess::make_part(Slot& slot, NewPart make) {
  // Tested again under the lock: another thread may have made the part meanwhile.
  const std::lock_guard guard(making_);
  if (slot.get() == nullptr) slot.set(make());
  return *slot.get();
}

void MpiProcess::destroy_parts() {
  // One of the parts owns the rank (mpi/process/machine), so from now on no look-up may find the rank.
  rank_.set(nullptr);
  // Destroys the parts in the opposite order of the slots (PartSlot). A slot is emptied before its part is destroyed.
  for (std::size_t slot = parts_.size(); slot-- > 0;) {
    const std::unique_ptr<ProcessPart> last(parts_[slot].get());
    parts_[slot].set(nullptr);
  }
}

}  // namespace margay::mpi_adi
