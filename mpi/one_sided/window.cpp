// Creation and release of windows, the fence, and attached memory (MPI 4.0, 12.2 and 12.5.1).

#include "collectives/comm/window.hpp"
#include "collectives/select/perform.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi/info/table.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/object/info.hpp"
#include "mpi_adi/rma/epoch.hpp"

using namespace margay::mpi;

namespace {

struct WindowArguments {
  MPI_Aint size;
  MPI_Aint unit;
  MPI_Info info;
  MPI_Comm comm;
};

// Checks the arguments, those of one binding only by `check_more`, and returns the communicator; nullptr after an
// error.
template <typename CheckMore>
Communicator* check_window(Call& call, const WindowArguments& arguments, const MPI_Win* win, Info& hints,
                           CheckMore check_more) {
  Communicator* const communicator = call.intracommunicator(arguments.comm);
  call.not_null(win, "win");
  if (arguments.size < 0) call.error(MPI_ERR_SIZE, "size is " + std::to_string(arguments.size) + ", below 0");
  if (arguments.unit <= 0) {
    call.error(MPI_ERR_DISP, "disp_unit is " + std::to_string(arguments.unit) + "; it is above 0");
  }
  // A copy, as the program may free the object.
  std::optional<Info> given = arguments.info == MPI_INFO_NULL ? Info{} : copy_of_info(arguments.info);
  if (!given) call.error(MPI_ERR_INFO, bad_info_text(arguments.info));
  check_more();
  if (!call.ok()) return nullptr;
  hints = std::move(*given);
  check_call(call, *communicator);
  return communicator;
}

// Ends a collective construction: passes the window to the program, or raises the error.
int give_window(Call& call, const MadeWindow& made, Info hints, MPI_Win* win) {
  if (made.window == nullptr) {
    *win = MPI_WIN_NULL;
    switch (made.error_class) {
      case MPI_ERR_OTHER:
        call.error(MPI_ERR_OTHER, "too many windows or communicators are alive; free some first");
        break;
      case MPI_ERR_NO_MEM:
        call.error(MPI_ERR_NO_MEM, "out of memory for the window on a member");
        break;
      case MPI_ERR_RMA_SHARED:
        call.error(MPI_ERR_RMA_SHARED,
                   "the members share no memory: they are not all on one node, or the node has no memory to share "
                   "(MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators whose members do)");
        break;
      default:
        record_error(call, made.error_class);
    }
    return call.done();
  }
  made.window->info = std::move(hints);
  call.rank().handles().record_origin(made.window->handle);
  *win = made.window->handle;
  return call.done();
}

// MPI_Win_create: a window over the program's memory.
int create(const Invocation& name, void* base, const WindowArguments& arguments, MPI_Win* win) {
  Call call(name);
  Info hints;
  Communicator* const communicator = check_window(call, arguments, win, hints, [&] {
    if (base != nullptr || arguments.size == 0) return;
    call.error(MPI_ERR_BASE, "base is a null pointer, and size is " + std::to_string(arguments.size));
  });
  if (communicator == nullptr) return call.failed();
  return give_window(
      call, make_window(call.rank(), *communicator, {MPI_WIN_FLAVOR_CREATE, base, arguments.size, arguments.unit}),
      std::move(hints), win);
}

// The body of MPI_Win_allocate and MPI_Win_allocate_shared, which allocate the window's memory.
int allocate(const Invocation& name, int flavor, const WindowArguments& arguments, void* baseptr, MPI_Win* win) {
  Call call(name);
  Info hints;
  Communicator* const communicator =
      check_window(call, arguments, win, hints, [&] { call.not_null(baseptr, "baseptr"); });
  if (communicator == nullptr) return call.failed();
  const std::string* const apart = hints.find("alloc_shared_noncontig");
  Exposed exposed{.flavor = flavor, .size = arguments.size, .unit = arguments.unit};
  exposed.alignment = memory_alignment(hints);
  exposed.contiguous = apart == nullptr || *apart != "true";
  const MadeWindow made = make_window(call.rank(), *communicator, exposed);
  if (made.window != nullptr) *static_cast<void**>(baseptr) = made.window->base;
  return give_window(call, made, std::move(hints), win);
}

}  // namespace

MARGAY_TWINS(Win_create,
             (void* base, MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win), {
               return create(called, base, {size, disp_unit, info, comm}, win);
             })

MARGAY_TWINS(Win_allocate,
             (MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win), {
               return allocate(called, MPI_WIN_FLAVOR_ALLOCATE, {size, disp_unit, info, comm}, baseptr, win);
             })

MARGAY_TWINS(Win_allocate_shared,
             (MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win), {
               return allocate(called, MPI_WIN_FLAVOR_SHARED, {size, disp_unit, info, comm}, baseptr, win);
             })

extern "C" int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  Call call(call_name<"MPI_Win_create_dynamic">);
  Info hints;
  Communicator* const communicator = check_window(call, {0, 1, info, comm}, win, hints, [] {});
  if (communicator == nullptr) return call.failed();
  return give_window(call, make_window(call.rank(), *communicator, {MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1}),
                     std::move(hints), win);
}
MARGAY_ALIAS(Win_create_dynamic)

extern "C" int PMPI_Win_free(MPI_Win* win) {
  Call call(call_name<"MPI_Win_free">);
  call.not_null(win, "win");
  Window* const window = call.ok() ? checked_window(call, *win) : nullptr;
  if (window != nullptr) wrong_epoch(call, check_free(*window));
  if (!call.ok()) return call.failed();
  // Before any other effect: the window stays if an attribute's delete function fails.
  if (!delete_attributes(call, *window->communicator)) return call.failed();
  flush_all(call, *window);
  // A barrier: all members have ended their accesses before any member's memory is freed.
  record_error(call, perform(collectives_of(call), *window->communicator, BarrierCall{}));
  // If a member is dead, others may still access this memory: it is not reused.
  if (!call.ok() || window->error_class == MPIX_ERR_PROC_FAILED) keep_memory(*window);
  report_errors(call, *window);
  MpiRank& rank = call.rank();
  *win = MPI_WIN_NULL;
  if (call.ok()) {
    destroy_window(rank, *window);
    return call.done();
  }
  const int code = call.failed();  // calls the error handler of the window's communicator, which is freed afterwards
  rank.enter();
  destroy_window(rank, *window);
  rank.leave();
  return code;
}
MARGAY_ALIAS(Win_free)

extern "C" int PMPI_Win_fence(int assert, MPI_Win win) {
  Call call(call_name<"MPI_Win_fence">);
  Window* const window = checked_window(call, win);
  constexpr int kAllowed = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  if ((assert & ~kAllowed) != 0) {
    call.error(MPI_ERR_ASSERT, "assert is " + std::to_string(assert) + ", with assertions that a fence does not take");
  }
  if (window != nullptr) wrong_epoch(call, check_fence(*window));
  if (!call.ok()) return call.failed();
  // If the epoch had no access, there is nothing to complete.
  if (window->fence == Window::Fence::used) flush_all(call, *window);
  record_error(call, perform(collectives_of(call), *window->communicator, BarrierCall{}));
  // After the barrier: all accesses before the fence are announced and complete.
  if (window->check != nullptr) window->check->announced.end_fence(++window->check->fences);
  // The new epoch begins with the first access (MPI 4.0, 12.5.1).
  window->fence = (assert& MPI_MODE_NOSUCCEED) != 0 ? Window::Fence::none : Window::Fence::open;
  call.rank().rma().record_synchronisation(*window, margay::sim::TraceSync::fence);
  report_errors(call, *window);
  return call.done();
}
MARGAY_ALIAS(Win_fence)

extern "C" int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  Call call(call_name<"MPI_Win_attach">);
  Window* const window = checked_window(call, win);
  if (size < 0) call.error(MPI_ERR_SIZE, "size is " + std::to_string(size) + ", below 0");
  if (window != nullptr && !window->memory.dynamic()) {
    call.error(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic: it takes no more memory");
  }
  if (base == nullptr && size > 0) call.error(MPI_ERR_BASE, "base is a null pointer");
  if (!call.ok()) return call.failed();
  if (!window->memory.attach(base, static_cast<std::uint64_t>(size))) {
    call.error(MPI_ERR_RMA_ATTACH, "a part of the memory is attached already");
  }
  return call.done();
}
MARGAY_ALIAS(Win_attach)

extern "C" int PMPI_Win_detach(MPI_Win win, const void* base) {
  Call call(call_name<"MPI_Win_detach">);
  Window* const window = checked_window(call, win);
  if (window != nullptr && !window->memory.dynamic()) {
    call.error(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic: it has no attached memory");
  }
  if (!call.ok()) return call.failed();
  if (!window->memory.detach(base)) {
    call.error(base == nullptr ? MPI_ERR_BASE : MPI_ERR_RMA_ATTACH,
               std::string(base == nullptr ? "base is a null pointer, and" : "base") + " is not an attached address");
  }
  return call.done();
}
MARGAY_ALIAS(Win_detach)

// The address of another member's memory in a shared window (MPI 4.0, 12.2.3).

using namespace margay::mpi;

namespace {

// For MPI_PROC_NULL: the first member with memory.
int member_of(const Window& window, int rank) {
  if (rank != MPI_PROC_NULL) return rank;
  for (int member = 0; member < window.members(); ++member) {
    if (window.targets[static_cast<std::size_t>(member)].bytes != 0) return member;
  }
  return 0;
}

// Only for shared windows, all of whose memory is mapped here.
template <typename Unit>
int query(const Invocation& name, MPI_Win win, int rank, MPI_Aint* size, Unit* unit, void* baseptr) {
  Call call(name);
  Window* const window = checked_window(call, win);
  call.not_null(size, "size");
  call.not_null(unit, "disp_unit");
  call.not_null(baseptr, "baseptr");
  if (window != nullptr && window->flavor != MPI_WIN_FLAVOR_SHARED) {
    call.error(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_allocate_shared");
  }
  if (rank != MPI_PROC_NULL && !checked_target(call, window, rank)) return call.done();
  if (!call.ok()) return call.failed();
  const WindowTarget& target = window->target(member_of(*window, rank));
  *size = static_cast<MPI_Aint>(target.bytes);
  *unit = static_cast<Unit>(target.unit);
  // A member without memory has an address between its neighbors', as MPI_Win_allocate_shared returned it.
  *static_cast<void**>(baseptr) = target.base;
  return call.done();
}

}  // namespace

MARGAY_TWINS(Win_shared_query, (MPI_Win win, int rank, MPI_Aint* size, Displacement* disp_unit, void* baseptr),
             { return query(called, win, rank, size, disp_unit, baseptr); })
