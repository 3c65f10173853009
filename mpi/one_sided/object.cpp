// A window as an object: its group, name, hints, error handler and attributes (MPI 4.0, 7.7.3, 7.8, 9.3, 12.2.6,
// 12.2.7). The window's own communicator keeps most of them.
#include <cstring>
#include <optional>

#include "mpi/call/binding.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/communicator/attribute_arguments.hpp"
#include "mpi/info/table.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/object/info.hpp"
#include "mpi_adi/rank/object_tables.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  Call call(call_name<"MPI_Win_get_group">);
  const Window* const window = checked_window(call, win);
  call.not_null(group, "group");
  if (!call.ok()) return call.failed();
  return give_group(call, window->communicator->group, group);
}
MARGAY_ALIAS(Win_get_group)

extern "C" int PMPI_Win_set_name(MPI_Win win, const char* win_name) {
  Call call(call_name<"MPI_Win_set_name">);
  const Window* const window = checked_window(call, win);
  call.not_null(win_name, "win_name");
  if (!call.ok()) return call.failed();
  // A longer name is truncated: with its zero it has at most MPI_MAX_OBJECT_NAME characters.
  window->communicator->name = std::string(win_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  // The trace gets the new name with the next event that refers to it.
  window->communicator->in_trace = false;
  return call.done();
}
MARGAY_ALIAS(Win_set_name)

extern "C" int PMPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  Call call(call_name<"MPI_Win_get_name">);
  const Window* const window = checked_window(call, win);
  call.not_null(win_name, "win_name");
  call.not_null(resultlen, "resultlen");
  if (!call.ok()) return call.failed();
  const std::string& name = window->communicator->name;
  std::memcpy(win_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return call.done();
}
MARGAY_ALIAS(Win_get_name)

namespace {

// The hints of MPI 4.0, 12.2.1, with their values if they are not set.
constexpr const char* kHints[][2] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
};

}  // namespace

extern "C" int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  Call call(call_name<"MPI_Win_set_info">);
  Window* const window = checked_window(call, win);
  const std::optional<Info> hints = copy_of_info(info);
  if (!hints) call.error(MPI_ERR_INFO, bad_info_text(info));
  if (!call.ok()) return call.failed();
  // Merged with earlier hints: a key that is not in `info` keeps its value.
  for (const auto& [key, value] : hints->pairs) window->info.set(key, value);
  return call.done();
}
MARGAY_ALIAS(Win_set_info)

extern "C" int PMPI_Win_get_info(MPI_Win win, MPI_Info* info_used) {
  Call call(call_name<"MPI_Win_get_info">);
  const Window* const window = checked_window(call, win);
  call.not_null(info_used, "info_used");
  if (!call.ok()) return call.failed();
  Info handed_out;
  // All hints of kHints are returned, also those that are not set; other hints that the program has set are not.
  for (const auto& [key, otherwise] : kHints) {
    const std::string* const set = window->info.find(key);
    handed_out.set(key, set != nullptr ? *set : otherwise);
  }
  if (window->flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    // The requested alignment if it can be used, otherwise margay's smallest.
    handed_out.set(kMemoryAlignmentHint, std::to_string(memory_alignment(window->info)));
  }
  // A new object, which the program frees.
  const MPI_Info made = add_info(std::move(handed_out));
  if (made == MPI_INFO_NULL) {
    call.error(MPI_ERR_OTHER, "too many info objects are alive (2^18); free some first");
  } else {
    *info_used = made;
  }
  return call.done();
}
MARGAY_ALIAS(Win_get_info)

extern "C" int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Win_create_errhandler">);
  call.not_null(reinterpret_cast<const void*>(win_errhandler_fn), "win_errhandler_fn");
  call.not_null(errhandler, "errhandler");
  if (!call.ok()) return call.failed();
  const MPI_Errhandler made = call.rank().tables().error_handlers.create(
      ObjectType::window, reinterpret_cast<HandlerFunction>(win_errhandler_fn));
  if (made == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    call.rank().handles().record_origin(made);
    *errhandler = made;
  }
  return call.done();
}
MARGAY_ALIAS(Win_create_errhandler)

extern "C" int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_Win_set_errhandler">);
  const Window* const window = checked_window(call, win);
  const ErrorHandlerPtr handler = checked_handler(call, errhandler, ObjectType::window);
  if (call.ok()) window->communicator->error_handler = handler;
  return call.done();
}
MARGAY_ALIAS(Win_set_errhandler)

extern "C" int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Win_get_errhandler">);
  const Window* const window = checked_window(call, win);
  call.not_null(errhandler, "errhandler");
  if (!call.ok()) return call.failed();
  ErrorHandlers& handlers = call.rank().tables().error_handlers;
  const ErrorHandlerPtr& handler = window->communicator->error_handler;
  // A new reference; null is MPI_ERRORS_ARE_FATAL, a window's first handler.
  const MPI_Errhandler handed_out = handlers.hand_out(handler == nullptr ? handlers.fatal() : handler);
  if (handed_out == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    *errhandler = handed_out;
  }
  return call.done();
}
MARGAY_ALIAS(Win_get_errhandler)

extern "C" int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
  Call call(call_name<"MPI_Win_call_errhandler">);
  const Window* const window = checked_window(call, win);
  if (call.ok() && !call.rank().errors().is_code(errorcode)) {
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is not an error code");
  }
  if (!call.ok()) return call.failed();
  // MPI_SUCCESS means that the handler was called; `errorcode` is not this call's error.
  call.set_error_origin(Call::ErrorOrigin::program_class);
  static_cast<void>(call.hand_over(*window->communicator, errorcode));
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Win_call_errhandler)

namespace {

// The communicator that has the window's attributes; nullptr after an error.
Communicator* attributes_of(Call& call, MPI_Win win) {
  const Window* const window = checked_window(call, win);
  return window == nullptr ? nullptr : &*window->communicator;
}

int set(Call& call, MPI_Win win, int keyval, AttributeValue value) {
  return set_attribute_of(call, attributes_of(call, win), ObjectType::window, keyval, value);
}

// MPI_WIN_BASE is an address; the other predefined attributes are numbers (MPI 4.0, 12.2.6).
int get(Call& call, MPI_Win win, int keyval, void* value, int* flag, AttributeKind reader) {
  Window* const window = checked_window(call, win);
  call.not_null(value, "attribute_val");
  call.not_null(flag, "flag");
  if (!call.ok()) return call.failed();
  // Predefined attributes are fields of the window, not entries of its table of attributes.
  switch (is_builtin(keyval) ? predefined_keyval(keyval) : MPI_KEYVAL_INVALID) {
    case MPI_WIN_BASE: {
      // Wrapped in an attribute, which converts the address for Fortran.
      Attribute base{nullptr, {window->base, AttributeKind::address}};
      return give_attribute(call, &base, reader, value, flag);
    }
    case MPI_WIN_SIZE:
      return give_number(call, &window->size, reader, value, flag);
    case MPI_WIN_DISP_UNIT:
      return give_number(call, &window->unit_int, reader, value, flag);
    case MPI_WIN_CREATE_FLAVOR:
      return give_number(call, &window->flavor, reader, value, flag);
    case MPI_WIN_MODEL:
      return give_number(call, &window->model, reader, value, flag);
    default:
      break;
  }
  return get_attribute_of(call, &*window->communicator, ObjectType::window, keyval, value, flag, reader);
}

}  // namespace

extern "C" int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  Call call(call_name<"MPI_Win_set_attr">);
  return set(call, win, win_keyval, {attribute_val, AttributeKind::address});
}
MARGAY_ALIAS(Win_set_attr)

extern "C" int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Win_get_attr">);
  return get(call, win, win_keyval, attribute_val, flag, AttributeKind::address);
}
MARGAY_ALIAS(Win_get_attr)

// For MPICH's Fortran library.
MARGAY_EXPORT int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, AttributeKind kind) {
  Call call(call_name<"MPI_Win_set_attr">);
  return set(call, win, keyval, {value, kind});
}

MARGAY_EXPORT int MPII_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag, AttributeKind kind) {
  Call call(call_name<"MPI_Win_get_attr">);
  return get(call, win, keyval, value, flag, kind);
}

extern "C" int PMPI_Win_delete_attr(MPI_Win win, int win_keyval) {
  Call call(call_name<"MPI_Win_delete_attr">);
  return delete_attribute_of(call, attributes_of(call, win), ObjectType::window, win_keyval);
}
MARGAY_ALIAS(Win_delete_attr)
