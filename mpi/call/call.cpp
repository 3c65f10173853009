#include "mpi/call/call.hpp"

#include <cstdio>
#include <ctime>

#include "mpi/call/fatal_error.hpp"
#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/op/operation.hpp"
#include "mpi_adi/rank/call_trace.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/origins.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"
#include "sim/trace/event.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::mpi {

namespace {

// A window's communicator is known to the program as the window.
std::string name_of(const Communicator& communicator) {
  if (!communicator.name.empty()) return communicator.name;
  return object_type(communicator.handle) == ObjectType::window ? "the window" : "the communicator";
}

std::string ranks_of(const Communicator& communicator) {
  return std::to_string(0) + " to " + std::to_string(communicator.peer_count() - 1);
}

// Delays an abort that a lost peer caused. The launcher detects the dead rank within milliseconds, and reports the
// signal that killed it as the cause of the job's end; a survivor that aborted first would be reported instead. A rank
// that lost its peers by a failure of its own is the cause itself, and does not wait.
void let_the_launcher_speak(const sim::Kernel& kernel) {
  for (std::uint32_t rank = 0; rank < kernel.ranks(); ++rank) {
    // For example a failed connection of this process.
    if (kernel.initiator().is_unreachable(rank) && sim::is_own_failure(kernel.initiator().loss(rank))) return;
  }
  // Half a second: much longer than the launcher needs, and short for a person who waits for the message.
  constexpr timespec kPatience{0, 500'000'000};
  nanosleep(&kPatience, nullptr);
}

// Whether the handler ends the job; null is MPI_ERRORS_ARE_FATAL. MPI_ERRORS_ABORT, too, ends the whole job.
bool is_fatal(const ErrorHandlerPtr& handler) {
  if (handler != nullptr && handler->function != nullptr) return false;  // its handle is not read: a thread may free it
  const MPI_Errhandler which = handler == nullptr ? MPI_ERRORS_ARE_FATAL : handler->handle;
  return which == MPI_ERRORS_ARE_FATAL || which == MPI_ERRORS_ABORT;
}

// Calls the program's handler, outside the rank, because the handler may call MPI or never return. Returns the code,
// which the handler may have changed.
int ask_handler(const ErrorHandler& handler, int handle, int code, const CallName& name) {
  if (handler.function == nullptr) return code;
  if (handler.cxx_caller != nullptr) {
    // A handler of a C++ program is called through MPICH's C++ library.
    handler.cxx_caller(kCxxKindCommunicator, &handle, &code, handler.function);
    return code;
  }
  // The standard's two arguments, then the function's name: the standard leaves further ones to the implementation.
  auto* users = reinterpret_cast<MPI_Comm_errhandler_function*>(handler.function);
  users(&handle, &code, name.text);
  return code;
}

}  // namespace

int raise_outside(MpiRank& rank, const CallName& name, int error_class, const std::string& sentence) {
  const int code = rank.errors().make(error_class, std::string(name.text) + ": " + sentence);
  // The handler has a lock of its own, because this thread is outside the rank.
  const Worlds::FallbackHandler found = rank.worlds().fallback_handler();
  if (is_fatal(found.handler)) {
    const char* const where = found.communicator == MPI_COMM_SELF ? " on MPI_COMM_SELF" : " on MPI_COMM_WORLD";
    abort_outside(rank, name, error_class, where, rank.errors().text_of(code));
  }
  return ask_handler(*found.handler, found.communicator, code, name);
}

std::string in_hex(int handle) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
  return text;
}

// Without a rank there is no error handler to call.
void Call::not_running() const {
  exit_by_error(name_, sim::Finding::mpi_error, no_rank_text());
}

void Call::wait_long(const Request& request) {
  // Each round takes at most one message of each wire, so a complete receive returns before the messages behind its own
  // are handled.
  wait_until(
      *rank_, [&request] { return request.complete; }, 1);
}

// Runs only while a trace or a check is enabled: one test in every call decides that.
void Call::record_enter(const void* returns_to) {
  if (sim::CallObserver* const observer = rank_->process().call_observer(); observer != nullptr) observer->begin_call();
  // In a Fortran program the caller is a Fortran binding; the line is that of the binding's caller.
  const void* const caller = rank_->process().source_lines().skip_bindings(returns_to);
  rank_->set_caller(caller);
  sim::Recorder& recorder = rank_->process().recorder();
  if (recorder.on()) rank_->call_trace().enter(recorder, name_.text, caller);
  // Records the call as the creator of the objects that it makes.
  if (rank_->handles().origins() != nullptr) rank_->handles().origins()->enter(name_.text, caller);
  if (TypeCheck* const check = device().type_check(); check != nullptr) {
    check->begin_call(name_.text, caller);
  }
}

void Call::record_leave() {
  sim::Recorder& recorder = rank_->process().recorder();
  if (recorder.on()) rank_->call_trace().leave(recorder, name_.text, error_class_);
  if (rank_->handles().origins() != nullptr) {
    rank_->handles().origins()->leave();
    // Empties the free list, so that the next request is made by the slow path, which records its creator. The fast
    // path then needs no test for that.
    rank_->handles().hide_free_requests();
  }
  if (sim::CallObserver* const observer = rank_->process().call_observer(); observer != nullptr) observer->end_call();
}

// Distinguishes the usual mistakes: MPI_COMM_NULL, a world that does not exist at the moment, and a freed communicator.
Communicator* Call::bad_communicator(MPI_Comm handle, const Communicator* found) {
  if (found == nullptr) {
    error(MPI_ERR_COMM,
          handle == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL"
          : handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF
              ? std::string(current_process().init_state() == InitState::finalized ? "MPI was finalized"
                                                                                   : "MPI was not initialized") +
                    ": MPI_COMM_WORLD and MPI_COMM_SELF are there from MPI_Init to MPI_Finalize, not in sessions"
              : "communicator " + in_hex(handle) + " is not a valid communicator (freed, or never created)");
  }
  return nullptr;
}

Communicator* Call::refused_inter() {
  error(MPI_ERR_COMM, "the communicator is an intercommunicator; the call takes intracommunicators only");
  return nullptr;
}

void Call::no_datatype(MPI_Datatype handle, const Datatype* found) {
  if (found != nullptr) return;
  error(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                          ? "the datatype is MPI_DATATYPE_NULL"
                          : "datatype " + in_hex(handle) + " is not a valid datatype (freed, or never created)");
}

void Call::bad_datatype(MPI_Datatype handle, const Datatype* found) {
  no_datatype(handle, found);
  error(MPI_ERR_TYPE, "datatype " + in_hex(handle) + " is not committed; call MPI_Type_commit first");
}

// Only a null handle is accepted for an empty buffer; other invalid handles are errors there, too.
Datatype* Call::datatype_of_none(MPI_Datatype handle, std::int64_t count, const Datatype* found) {
  if (ok() && handle == MPI_DATATYPE_NULL && count == 0) return rank_->handles().datatype(MPI_BYTE);
  bad_datatype(handle, found);
  return nullptr;
}

UserRequest* Call::bad_request(MPI_Request handle, const UserRequest* found) {
  if (found == nullptr) {
    error(MPI_ERR_REQUEST,
          handle == MPI_REQUEST_NULL
              ? "the request is MPI_REQUEST_NULL"
              : "request " + in_hex(handle) + " is not a valid request (complete, freed, or never created)");
  }
  return nullptr;
}

void Call::bad_count(std::int64_t count, const char* what) {
  error(MPI_ERR_COUNT, std::string(what) + " is " + std::to_string(count) + ", below 0");
}

void Call::bad_elements(std::int64_t count, const Datatype& type) {
  if (count < 0) return bad_count(count, "count");
  error(MPI_ERR_COUNT, "count is " + std::to_string(count) + "; as many elements of " + std::to_string(type.size) +
                           " bytes exceed 2^63 bytes");
}

namespace {

std::string tag_text(int tag) {
  const std::string text = "tag " + std::to_string(tag) + " is ";
  return text + (tag < 0 ? "below 0" : "above " + std::to_string(kUserTagMax) + ", the attribute MPI_TAG_UB");
}

}  // namespace

void Call::bad_send_tag(int tag) {
  error(MPI_ERR_TAG, tag_text(tag) + (tag == MPI_ANY_TAG ? " (MPI_ANY_TAG is for receives)" : ""));
}

void Call::bad_receive_tag(int tag) {
  error(MPI_ERR_TAG, tag_text(tag) + (tag < 0 ? " and is not MPI_ANY_TAG" : ""));
}

void Call::bad_destination(const Communicator* communicator, int rank) {
  error(MPI_ERR_RANK, "destination " + std::to_string(rank) + " is not a rank of " + name_of(*communicator) + " (" +
                          ranks_of(*communicator) + ", or MPI_PROC_NULL)");
}

void Call::bad_source(const Communicator* communicator, int rank) {
  error(MPI_ERR_RANK, "source " + std::to_string(rank) + " is not a rank of " + name_of(*communicator) + " (" +
                          ranks_of(*communicator) + ", MPI_ANY_SOURCE or MPI_PROC_NULL)");
}

void Call::bad_root(const Communicator* communicator, int rank) {
  // Valid, and rare: checked here instead of in every call.
  if (communicator->is_inter() && (rank == MPI_ROOT || rank == MPI_PROC_NULL)) return;
  error(MPI_ERR_ROOT, "root " + std::to_string(rank) + " is not a rank of " + name_of(*communicator) + " (" +
                          ranks_of(*communicator) + ")");
}

void Call::bad_buffer(const void* address, std::int64_t count, const Datatype* type, const char* what,
                      std::int64_t displacement) {
  // Without bytes to move any address is valid.
  if (!ok() || type == nullptr || count == 0 || type->size == 0) return;
  if (address == MPI_IN_PLACE)
    return error(MPI_ERR_BUFFER, std::string(what) + " is MPI_IN_PLACE, which is not valid here");
  // The address of the first byte, if `address` is MPI_BOTTOM. Nothing valid lies in the first page.
  constexpr std::uint64_t kFirstPageBytes = 4096;
  const auto low = static_cast<std::uint64_t>(type->definition->true_bounds.lower);
  if (low + static_cast<std::uint64_t>(displacement) >= kFirstPageBytes) return;
  error(MPI_ERR_BUFFER, std::string(what) + " is a null pointer, with " + std::to_string(count) + " elements");
}

void Call::null_argument(const char* what) {
  error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
}

// Errors of communicators concern both parts of a call.
void Call::append_part_to_error(const char* part) {
  // The first addition counts: a later check of the other part changes nothing.
  if (error_class_ == MPI_ERR_COMM || failure_->text.find(" (of the ") != std::string::npos) return;
  failure_->text += std::string(" (") + part + ")";
}

void Call::append_communicator_argument(const char* argument) {
  if (error_class_ != MPI_ERR_COMM || failure_->text.find(" (argument ") != std::string::npos) return;
  failure_->text += std::string(" (argument ") + argument + ")";
}

// The first error counts, as later ones are often its consequences.
void Call::error(int error_class, std::string sentence) {
  if (!ok()) return;
  error_class_ = error_class;
  // A general message for the class.
  if (sentence.empty()) sentence = error_class_text(error_class);
  failure().text = std::move(sentence);
}

Failure& Call::failure() {
  if (failure_ == nullptr) failure_ = std::make_unique<Failure>();
  return *failure_;
}

// Records the error for the launcher, makes a code with the message, and calls the handler.
int Call::failed() {
  MpiRank& rank = *rank_;
  sim::BoardBlock& board = rank.process().board();
  std::memcpy(board.failed_call.data(), name_.board, sizeof name_.board);
  const std::string_view class_name = error_class_name(error_class_);
  // For the launcher: if MPI_Finalize fails, the rank ends without being finalized, and this is the reported reason.
  sim::set_text(
      board.message,
      (class_name.empty() ? "error " + std::to_string(error_class_) : std::string(class_name)) + ": " + failure_->text);
  const Communicator& communicator = handler_of_ != nullptr ? *handler_of_ : rank.worlds().fallback_communicator();
  // A code that a callback returned is passed on unchanged; the message set here is for fatal errors only.
  const bool as_it_is =
      error_origin_ == ErrorOrigin::program || (class_name.empty() && rank.errors().is_code(error_class_));
  const int code =
      !as_it_is ? rank.errors().make(error_class_, std::string(name_.text) + ": " + failure_->text) : error_class_;
  return hand_over(communicator, code);
}

// Order: everything that needs the rank comes before leave(); the handler, which may call MPI, comes last.
int Call::hand_over(const Communicator& communicator, int code) {
  // Copies: the communicator may be freed once the rank is left.
  const ErrorHandlerPtr handler = communicator.error_handler;
  const int handle = communicator.handle;
  if (is_fatal(handler)) {
    const int error_class = rank_->errors().class_of(code);
    if (error_class == MPIX_ERR_PROC_FAILED || error_origin_ == ErrorOrigin::peer) {
      let_the_launcher_speak(rank_->process().kernel());
    }
    sim::Recorder& recorder = rank_->process().recorder();
    // The trace gets the end of the call here, because the process does not return from it.
    if (recorder.on()) rank_->call_trace().leave_by_fatal_error(recorder, name_.text, error_class);
    const bool by_program = error_origin_ == ErrorOrigin::program || error_origin_ == ErrorOrigin::program_class;
    const int found = status_class_ != MPI_SUCCESS ? status_class_ : error_class;
    abort_by_error(*rank_, name_, error_class, by_program ? sim::Finding::mpi_error : finding_of_error(found),
                   " on " + name_of(communicator),
                   error_origin_ == ErrorOrigin::program ? failure_->text : rank_->errors().text_of(code),
                   failure().record(handler_of_));
  }
  // Before leave(): references change under the process lock.
  if (owns_reference_) rank_->device().drop_reference(*handler_of_);
  leave();
  return ask_handler(*handler, handle, code, name_);
}

// The board shows no MPI call while the program's function runs.
void Call::step_out() {
  inside_ = false;
  rank_->process().board().mpi_call[0] = '\0';
  rank_->leave();
  if (sim::CallObserver* const observer = rank_->process().call_observer(); observer != nullptr) observer->end_call();
}

void Call::step_in() {
  if (sim::CallObserver* const observer = rank_->process().call_observer(); observer != nullptr) observer->begin_call();
  rank_->enter();
  inside_ = true;
  std::memcpy(rank_->process().board().mpi_call.data(), name_.board, sizeof name_.board);
}

void look_once(Call& call) {
  sim::Process& process = call.rank().process();
  process.polls().begin(process.clock());
  if (sim::CallObserver* const observer = process.call_observer(); observer != nullptr) observer->begin_test();
  // Bounded, so that a test returns also while messages keep arriving.
  static_cast<void>(call.device().progress(Device::kMessagesPerLook));
}

void yield_processor(Call& call) {
  MpiRank& rank = call.rank();
  sim::Process& process = rank.process();
  process.kernel().count_empty_poll();
  if (process.wait_means().policy != sim::WaitPolicy::yield && rank.threaded() &&
      rank.wait_room().should_yield_after_poll(rank.lock().turns())) {
    rank.yield();
  }
  process.polls().found_nothing(process.kernel(), process.clock(), process.wait_means());
}

void report_nonportable(TypeCheck& check, MPI_Op op, MPI_Datatype type) {
  if (is_nonportable(op, type)) check.nonportable(operation_text(op) + " on " + type_text(type), "6.9.2");
}

UserRequest* add_request_handle(Call& call, Communicator& communicator) {
  UserRequest* const made = call.rank().handles().add_request(nullptr, communicator);
  if (made == nullptr) call.error(MPI_ERR_OTHER, "too many requests are alive (2^18); complete or free some first");
  return made;
}

}  // namespace margay::mpi
