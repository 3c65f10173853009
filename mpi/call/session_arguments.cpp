#include "mpi/call/session_arguments.hpp"

#include <cstring>

#include "mpi/call/early_call.hpp"

namespace margay::mpi {

namespace {

std::string session_handle_text(const char* what, int handle) {
  return std::string(what) + " " + in_hex(handle);
}

}  // namespace

// The session's handler is called for all later errors of the call.
Session* checked_session(Call& call, MPI_Session handle) {
  if (!call.ok()) return nullptr;
  Session* const found = call.rank().tables().sessions.find(handle);
  if (found != nullptr) {
    call.on(found->raises);
    return found;
  }
  call.error(MPI_ERR_SESSION, handle == MPI_SESSION_NULL ? "the session is MPI_SESSION_NULL"
                                                         : session_handle_text("session", handle) +
                                                               " is not a valid session (finalized, or never created)");
  return nullptr;
}

void check_text(Call& call, const char* text, std::size_t limit, const char* what) {
  call.not_null(text, what);
  // The standard's limits include the zero, and the string is not read beyond it.
  if (text != nullptr && strnlen(text, limit) == limit) {
    call.error(MPI_ERR_ARG, std::string(what) + " is longer than " + std::to_string(limit - 1) + " bytes");
  }
}

}  // namespace margay::mpi
