// The beginning and end of sessions (MPI 4.0, 11.3.1).
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collectives/comm/window.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/call/fatal_error.hpp"
#include "mpi/call/session_arguments.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi/info/table.hpp"
#include "mpi/process/leaks.hpp"
#include "mpi/process/machine.hpp"
#include "mpi_adi/protocol/buffered.hpp"
#include "mpi_adi/rank/unreceived.hpp"
#include "mpi_adi/rank/wait.hpp"

using namespace margay::mpi;

namespace {

constexpr char kSingle[] = "MPI_THREAD_SINGLE";

// Whether a session needs MPI_THREAD_MULTIPLE: true unless it requests MPI_THREAD_SINGLE (see thread_level in
// README.md).
bool requests_threads(MPI_Info info) {
  const std::optional<Info> hints = info == MPI_INFO_NULL ? std::nullopt : copy_of_info(info);
  const std::string* const level = hints ? hints->find("thread_level") : nullptr;
  return level == nullptr || *level != kSingle;
}

// Reports a failure that occurs before there is a rank: calls the program's handler, or ends the process.
int refuse(MPI_Errhandler errhandler, const std::string& sentence) {
  const ErrorHandlerPtr handler = process_error_handlers().find(errhandler);
  const bool returns = handler != nullptr && (errhandler == MPI_ERRORS_RETURN || handler->of == ObjectType::session);
  if (!returns) exit_by_failure(call_name<"MPI_Session_init">, "failed: " + sentence);
  std::fprintf(stderr, "margay: MPI_Session_init failed: %s\n", sentence.c_str());
  MPI_Session none = MPI_SESSION_NULL;
  int code = MPI_ERR_OTHER;
  if (handler->function != nullptr) {
    reinterpret_cast<MPI_Session_errhandler_function*>(handler->function)(&none, &code, "MPI_Session_init");
  }
  return code;
}

// Makes the session. Errors go to the handler that the program passed.
int begin_session(const Invocation& of, MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  Call call(of);
  Communicator raises;
  raises.name = "the new session";
  raises.error_handler = checked_handler(call, errhandler, ObjectType::session);
  if (call.ok()) call.on(raises);
  if (info != MPI_INFO_NULL && !copy_of_info(info)) call.error(MPI_ERR_INFO, bad_info_text(info));
  call.not_null(session, "session");
  if (!call.ok()) return call.failed();
  Info used;
  used.set("thread_level", call.rank().threaded() ? "MPI_THREAD_MULTIPLE" : kSingle);
  const Session* const made = call.rank().tables().sessions.add(raises.error_handler, std::move(used));
  if (made == nullptr) {
    call.error(MPI_ERR_OTHER, "too many sessions are alive (262,144); finalize some first");
    return call.failed();
  }
  call.rank().handles().record_origin(made->raises.handle);
  *session = made->raises.handle;
  return MPI_SUCCESS;
}

// Ends a session: completes its communication and frees its communicators.
int end_session(const Invocation& of, MPI_Session* handle) {
  Call call(of);
  call.not_null(handle, "session");
  if (!call.ok()) return call.failed();
  Session* const session = checked_session(call, *handle);
  if (session == nullptr) return call.failed();
  MpiRank& rank = call.rank();
  const std::uint32_t number = session->number;
  for (Communicator* communicator : rank.handles().communicators_of(number)) {
    // If an attribute's delete function fails, the session stays open.
    if (!delete_attributes(call, *communicator)) return call.failed();
  }
  report_leaks(rank, {.session = number, .last = is_machine_used_once()});
  // First waits for the operations that will end by themselves, because only receives without a message and sends to
  // this process may be cancelled.
  wait_until(rank, [&rank, number] { return rank.device().quiet_but_unmatched(number); });
  // Sends to other processes are not cancelled: these may still receive the messages.
  rank.device().give_up_sends(number, Device::Receivers::remain);
  rank.device().give_up_receives(number);
  // The last user waits for all communication of the process. Each test determines anew whether this is the last user,
  // because another thread may begin a session meanwhile.
  wait_until(rank, [&rank, number] {
    if (!is_machine_used_once()) return rank.device().quiet(number);
    return rank.device().quiet() && rank.buffered().drained();
  });
  destroy_windows(rank, number);
  const std::vector<Communicator*> communicators = rank.handles().communicators_of(number);
  report_given_back(rank.receiving_side(), communicators);
  for (Communicator* communicator : communicators) rank.free_communicator(*communicator);
  rank.tables().sessions.remove(*session);
  *handle = MPI_SESSION_NULL;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  if (const auto status = acquire_machine(requests_threads(info)); !status.ok()) {
    return refuse(errhandler, status.sentence());
  }
  const int code = begin_session(call_name<"MPI_Session_init">, info, errhandler, session);
  // The session does not exist, so it does not refer to the job.
  if (code != MPI_SUCCESS) release_machine(User::session);
  return code;
}
MARGAY_ALIAS(Session_init)

extern "C" int PMPI_Session_finalize(MPI_Session* session) {
  const int code = end_session(call_name<"MPI_Session_finalize">, session);
  if (code == MPI_SUCCESS) release_machine(User::session);
  return code;
}
MARGAY_ALIAS(Session_finalize)
