#include "mpi/one_sided/fast_path.hpp"

#include <cstring>

#include "mpi_adi/rma/elements.hpp"
#include "sim/machine/process.hpp"
#include "sim/shm/atomic_elements.hpp"

namespace margay::mpi {

namespace {

// A scope inside the calling thread's rank. rank() is nullptr, and the rank is not entered, if the thread has no rank,
// or if a trace or a check observes the rank's calls.
class RankScope {
 public:
  RankScope() : rank_(current_rank()) {
    if (rank_ == nullptr || rank_->process().recorder().observing()) [[unlikely]] {
      rank_ = nullptr;
      return;
    }
    rank_->enter();
  }
  ~RankScope() {
    if (rank_ != nullptr) rank_->leave();
  }
  RankScope(const RankScope&) = delete;
  RankScope& operator=(const RankScope&) = delete;

  [[nodiscard]] MpiRank* rank() const { return rank_; }

 private:
  MpiRank* rank_;
};

// Writes the call's name to the board while the program's memory is accessed: if that ends the process, the launcher
// reports the call.
class CallOnBoard {
 public:
  CallOnBoard(MpiRank& rank, const CallName& name) : board_(rank.process().board()) {
    ++board_.calls;
    std::memcpy(board_.mpi_call.data(), name.board, sizeof name.board);
  }
  ~CallOnBoard() { board_.mpi_call[0] = '\0'; }
  CallOnBoard(const CallOnBoard&) = delete;
  CallOnBoard& operator=(const CallOnBoard&) = delete;

 private:
  sim::BoardBlock& board_;
};

struct TargetRange {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

// Whether an access may begin at once: an epoch is open, and its lock, if one was requested, is held.
bool is_open(const Window& window, const WindowTarget& target) {
  if (target.lock != LockKind::none) return target.locked || !target.lock_requested;
  return window.fence == Window::Fence::used || (window.starts && target.in_start);
}

// Looks up a window and its member `target`. Sets `window`. Returns nullptr if one is invalid, or if --check-rma checks
// the window.
WindowTarget* target_of(MpiRank& rank, MPI_Win handle, int target, Window*& window) {
  window = rank.handles().windows().find(handle);
  if (window == nullptr || window->check != nullptr) return nullptr;
  return static_cast<unsigned>(target) < static_cast<unsigned>(window->members()) ? &window->target(target) : nullptr;
}

// The access's elements in the target's memory; null if the full path has to perform the access.
TargetRange range_of(MpiRank& rank, const AccessArguments& arguments) {
  // Products of two numbers below this do not overflow.
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 31;
  Window* window = nullptr;
  const WindowTarget* const to = target_of(rank, arguments.window, arguments.target, window);
  if (to == nullptr || to->method != WindowMethod::direct || window->memory.dynamic() || !is_open(*window, *to))
    return {};
  if (arguments.origin_type != arguments.target_type || arguments.origin_count != arguments.target_count ||
      arguments.origin == nullptr || arguments.origin == MPI_IN_PLACE) {
    return {};
  }
  const Datatype* const type = rank.handles().datatype(arguments.target_type);
  const auto count = static_cast<std::uint64_t>(arguments.target_count);
  const auto displacement = static_cast<std::uint64_t>(arguments.displacement);
  if (type == nullptr || !type->committed || !type->dense()) return {};
  if (count >= kEnd || type->size >= kEnd || displacement >= kEnd || to->unit >= kEnd) return {};
  const std::uint64_t offset = displacement * to->unit;
  const std::uint64_t bytes = count * type->size;
  if (bytes == 0 || offset > to->bytes || bytes > to->bytes - offset) return {};
  return {to->base + offset, static_cast<std::size_t>(bytes)};
}

// Updates one element atomically. `Word` is unsigned also for signed types: sums wrap to the same bits.
template <typename Word>
void update(Word* at, const void* operand, MPI_Op op, void* result) {
  Word with = 0;
  if (op != MPI_NO_OP) std::memcpy(&with, operand, sizeof with);
  const Word before = op == MPI_SUM       ? sim::fetch_add(at, with)
                      : op == MPI_REPLACE ? sim::swap_element(at, with)
                                          : sim::load_element(at);
  if (result != nullptr) std::memcpy(result, &before, sizeof before);
}

template <typename Word>
void swap(Word* at, const void* operand, const void* compare, void* result) {
  Word with, expected;
  std::memcpy(&with, operand, sizeof with);
  std::memcpy(&expected, compare, sizeof expected);
  const Word before = sim::compare_and_swap(at, expected, with);
  std::memcpy(result, &before, sizeof before);
}

// The address of an integer of 4 or 8 bytes that the processor updates atomically.
TargetRange word_of(MpiRank& rank, const AccessArguments& arguments) {
  if (!is_integer_word(arguments.target_type)) return {};
  const TargetRange range = range_of(rank, arguments);
  const bool is_one = range.bytes == basic_size_bytes(arguments.target_type);
  return is_one && sim::is_atomic_element(range.at, range.bytes) ? range : TargetRange{};
}

// Calls `change` with the word of the access. Returns false, without an effect, if there is none.
template <typename Change>
bool change_word(const CallName& name, const AccessArguments& arguments, Change change) {
  const RankScope scope;
  if (scope.rank() == nullptr) return false;
  const TargetRange range = word_of(*scope.rank(), arguments);
  if (range.at == nullptr) return false;
  const CallOnBoard on_board(*scope.rank(), name);
  scope.rank()->rma().count(sim::CountedAccess::accumulate, WindowMethod::direct, range.bytes);
  if (range.bytes == sizeof(std::uint64_t)) {
    change(reinterpret_cast<std::uint64_t*>(range.at));
  } else {
    change(reinterpret_cast<std::uint32_t*>(range.at));
  }
  return true;
}

}  // namespace

// Copies between two pieces of mapped memory, and counts the access as the full path would.
bool try_fast_access(const CallName& name, Direction direction, const AccessArguments& arguments) {
  const RankScope scope;
  if (scope.rank() == nullptr) return false;
  const TargetRange range = range_of(*scope.rank(), arguments);
  if (range.at == nullptr) return false;
  const CallOnBoard on_board(*scope.rank(), name);
  // The cast is safe: a put only reads this memory.
  auto* const here = static_cast<std::byte*>(const_cast<void*>(arguments.origin));
  const bool put = direction == Direction::put;
  scope.rank()->rma().count(put ? sim::CountedAccess::put : sim::CountedAccess::get, WindowMethod::direct, range.bytes);
  portals::copy_bytes(put ? range.at : here, put ? here : range.at, range.bytes);
  return true;
}

bool try_fast_update(const CallName& name, const AccessArguments& arguments, MPI_Op op, void* result) {
  if (op != MPI_SUM && op != MPI_REPLACE && (op != MPI_NO_OP || result == nullptr)) return false;
  return change_word(name, arguments, [&](auto* word) { update(word, arguments.origin, op, result); });
}

bool try_fast_swap(const CallName& name, const AccessArguments& arguments, const void* compare, void* result) {
  if (compare == nullptr || compare == MPI_IN_PLACE || result == nullptr || result == MPI_IN_PLACE) return false;
  return change_word(name, arguments, [&](auto* word) { swap(word, arguments.origin, compare, result); });
}

// Nothing to wait for: no puts without a flush, no answers outstanding, no error to report.
bool try_fast_flush(int target, MPI_Win handle) {
  const RankScope scope;
  if (scope.rank() == nullptr) return false;
  MpiRank& rank = *scope.rank();
  Window* window = nullptr;
  const WindowTarget* const to = target_of(rank, handle, target, window);
  if (to == nullptr || (to->lock == LockKind::none && !window->lock_all)) return false;
  if (to->unflushed || !rank.rma().locally_complete(*to) || window->error_class != MPI_SUCCESS) return false;
  // A dead target fails the epoch; the whole call reports it.
  if (rank.device().kernel().initiator().is_unreachable(to->world_rank)) return false;
  // Last, because it counts the call, and a call that takes the full path must not be counted twice.
  return rank.rma().may_skip_progress();
}

}  // namespace margay::mpi
