// The frame of a call of an MPI function: enters the rank, checks arguments, leaves, and passes an error to the
// communicator's handler.
//
//   int PMPI_X(..., MPI_Comm comm) {
//     Call call(call_name<"MPI_X">);
//     Communicator* c = call.communicator(comm);
//     call.count(count);
//     if (!call.ok()) return call.failed();
//     ...
//     return call.done();
//   }
//
// The first check that fails sets the error; later checks see !ok() and do nothing. Checks accept the nullptr of a
// failed lookup, so a binding tests ok() once, after all its checks.
//
// The checks are inline, and their failures out of line: a correct call pays a few compare instructions for them.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "mpi/call/call_name.hpp"
#include "mpi/call/failure.hpp"
#include "mpi/layers.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

namespace margay::mpi {

// Formats a handle for messages, with eight digits: 0x44000000.
[[nodiscard]] std::string in_hex(int handle);

// One call of the calling thread. Holds the process lock from construction to failed(), done() with an error, or
// destruction. Lives on the binding's stack.
class Call {
 public:
  // Takes the process lock. While MPI does not run (neither the world model nor a session uses it), it prints a message
  // and ends the process with status 1.
  explicit Call(const Invocation& of) : Call(of, current_rank()) {}
  // The same for a given rank, which may be dormant: no world or session refers to the job.
  Call(const Invocation& of, MpiRank& rank) : Call(of, &rank) {}
  // A call without an error leaves the rank here, after the binding has written its results.
  ~Call() {
    if (inside_) leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The calling rank and its device, under the process lock. Not after failed() or hand_over(), which leave the rank.
  [[nodiscard]] MpiRank& rank() { return *rank_; }
  [[nodiscard]] Device& device() { return rank_->device(); }
  // Whether no error is set.
  [[nodiscard]] bool ok() const { return error_class_ == MPI_SUCCESS; }

  // Lookups. Each returns nullptr after an error, its own or an earlier one. After the lookup of a communicator,
  // failed() calls the error handler of that communicator; after the lookup of a request, the handler of the request's
  // communicator. Other lookups do not change the handler. Errors are MPI_ERR_COMM, MPI_ERR_TYPE and MPI_ERR_REQUEST. A
  // lookup adds no reference: the program may free the object while the call is outside the rank (step_out(), a wait).
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) {
    Communicator* const found = rank_->communicator(handle);
    if (found == nullptr || !ok()) [[unlikely]]
      return bad_communicator(handle, found);
    handler_of_ = found;
    return found;
  }
  // The same; an intercommunicator is an error.
  [[nodiscard]] Communicator* intracommunicator(MPI_Comm handle) {
    Communicator* const found = communicator(handle);
    return found == nullptr || !found->is_inter() ? found : refused_inter();
  }
  // A committed type, for communication.
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle) {
    Datatype* const found = rank_->handles().datatype(handle);
    if (found == nullptr || !ok() || !found->committed) [[unlikely]] {
      bad_datatype(handle, found);
      return nullptr;  // here: the compiler then infers that `found` is not null below
    }
    return found;
  }
  // The same for `count` elements. If count is 0, MPI_DATATYPE_NULL is accepted, as by MPICH, and counts as MPI_BYTE.
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle, std::int64_t count) {
    Datatype* const found = rank_->handles().datatype(handle);
    if (found == nullptr || !ok() || !found->committed) [[unlikely]]
      return datatype_of_none(handle, count, found);
    return found;
  }
  // Any type, committed or not: for constructors and inquiries.
  [[nodiscard]] Datatype* any_datatype(MPI_Datatype handle) {
    Datatype* const found = rank_->handles().datatype(handle);
    if (found == nullptr || !ok()) [[unlikely]] {
      no_datatype(handle, found);
      return nullptr;
    }
    return found;
  }
  // A living request; MPI_REQUEST_NULL is an error.
  [[nodiscard]] UserRequest* request(MPI_Request handle) {
    UserRequest* const found = rank_->handles().request(handle);
    if (found == nullptr || !ok()) [[unlikely]]
      return bad_request(handle, found);
    handler_of_ = found->communicator;
    return found;
  }
  // Checks of arguments, with the standard's names in the messages. `what`: the argument's name. Errors are
  // MPI_ERR_COUNT, MPI_ERR_TAG, MPI_ERR_RANK, MPI_ERR_ROOT, MPI_ERR_BUFFER and MPI_ERR_ARG.
  void count(std::int64_t count, const char* what = "count") {
    if (count < 0) [[unlikely]]
      bad_count(count, what);
  }
  // Tags: from 0 to MPI_TAG_UB; for receives also MPI_ANY_TAG.
  void send_tag(int tag) {
    if (!is_user_tag(tag)) [[unlikely]]
      bad_send_tag(tag);
  }
  void receive_tag(int tag) {
    if (!is_user_tag(tag) && tag != MPI_ANY_TAG) [[unlikely]]
      bad_receive_tag(tag);
  }
  // Peers: ranks of the communicator (of the remote group of an intercommunicator), or MPI_PROC_NULL; for receives also
  // MPI_ANY_SOURCE.
  void destination(const Communicator* communicator, int rank) {
    if (!is_member(communicator, rank) && rank != MPI_PROC_NULL) [[unlikely]]
      bad_destination(communicator, rank);
  }
  void source(const Communicator* communicator, int rank) {
    if (!is_member(communicator, rank) && rank != MPI_PROC_NULL && rank != MPI_ANY_SOURCE) [[unlikely]]
      bad_source(communicator, rank);
  }
  // Roots: also MPI_ROOT and MPI_PROC_NULL on an intercommunicator.
  void root(const Communicator* communicator, int rank) {
    if (!is_member(communicator, rank)) [[unlikely]]
      bad_root(communicator, rank);
  }
  // Checks that `count` is not negative and that its elements have at most 2^63 - 1 bytes. Returns whether it is valid.
  bool elements(std::int64_t count, const Datatype& type) {
    // One comparison refuses negative counts, too.
    if (static_cast<std::uint64_t>(count) <= type.count_max) [[likely]]
      return true;
    bad_elements(count, type);
    return false;
  }
  // Checks the count and the address of a buffer. If there are bytes to move, the address must be neither MPI_IN_PLACE
  // nor null. MPI_BOTTOM, which is the null pointer, is valid if the offsets of the datatype, or `displacement` (in
  // bytes), are absolute addresses. address() is buffer() without the check of the count.
  void buffer(const void* address, std::int64_t count, const Datatype* type, const char* what = "the buffer",
              std::int64_t displacement = 0) {
    if (type != nullptr) static_cast<void>(elements(count, *type));
    this->address(address, count, type, what, displacement);
  }
  void address(const void* address, std::int64_t count, const Datatype* type, const char* what = "the buffer",
               std::int64_t displacement = 0) {
    if (address == nullptr || address == MPI_IN_PLACE) [[unlikely]]
      bad_buffer(address, count, type, what, displacement);
  }
  // Checks that a status is not a null pointer. MPI_STATUS_IGNORE has another value.
  void status(const MPI_Status* status, const char* what = "status") { not_null(status, what); }
  // MPI_ERR_ARG for a null pointer.
  void not_null(const void* address, const char* what) {
    if (address == nullptr) [[unlikely]]
      null_argument(what);
  }

  // Sets the call's error, unless it has one. `error_class` may also be an error code, for example one that a program's
  // callback returned; the call then returns this code unchanged. An empty `sentence`: the class's general message.
  [[gnu::noinline]] void error(int error_class, std::string sentence);
  // The origin of the error, which its class alone does not give.
  enum class ErrorOrigin : std::uint8_t {
    // The call itself.
    call,
    // A lost peer, whatever the class is: a fatal error first waits for the launcher's report.
    peer,
    // A function of the program returned this number: the call returns it unchanged.
    program,
    // The program gave the class, by a callback or as an argument: the call makes an error code of this class.
    program_class,
  };
  // Sets the origin of the error; may be called before or after error(). `peer` delays a fatal error; with `program`
  // the call returns the function's own number.
  void set_error_origin(ErrorOrigin origin) { error_origin_ = origin; }
  // The origin that was set last.
  [[nodiscard]] ErrorOrigin error_origin() const { return error_origin_; }
  // Sets the class of the first failed request, in addition to the error MPI_ERR_IN_STATUS. A fatal error records the
  // finding of this class.
  void status_class(int error_class) { status_class_ = error_class; }
  [[nodiscard]] Failure& failure();  // the error's details, which may be set before or after error()
  // For calls that have the same argument twice: appends to the error's message the part of the call to which the
  // argument belongs, such as "of the send". Does nothing without an error, for an error of the communicator (which
  // both parts share), and if a part was appended before.
  void append_part(const char* part) {
    if (!ok()) [[unlikely]]
      append_part_to_error(part);
  }
  // Appends the argument's name to the message of a communicator's error, in calls with two communicators.
  void append_communicator_argument(const char* argument);
  // Sets the communicator whose handler is called, if it is not the one looked up last.
  void on(Communicator& communicator) { handler_of_ = &communicator; }
  // The same for a communicator that may be freed before the call fails. The call takes over the caller's reference,
  // and drops it after it has copied the handler and before it calls the handler. Requires: an error is set next,
  // because only a failed call drops the reference.
  void adopt(Communicator& communicator) {
    on(communicator);
    owns_reference_ = true;
  }

  // Leave and enter the rank around a function of the program, which may call MPI or run for long. Objects looked up
  // before may be gone afterwards, unless the caller holds a reference. Between the two the process lock is free and
  // the board shows no call. Requires for step_out(): the rank is entered; for step_in(): step_out() was called.
  void step_out();
  void step_in();

  // The end of the call. failed() raises the error that was set. done() does so if there is one; otherwise it returns
  // MPI_SUCCESS. Both return the binding's result.
  [[nodiscard, gnu::noinline]] int failed();
  // Ends the call and passes `code`, whose origin set_error_origin() has set, to the communicator's handler. The
  // handler runs outside the rank, because a function of the program may call MPI or never return. Does not return if
  // the handler is fatal. Returns the code, which the handler may change. Afterwards the call is over: it neither uses
  // the rank nor ends with done().
  int hand_over(const Communicator& communicator, int code);
  // The function's name.
  [[nodiscard]] const char* name() const { return name_.text; }
  // The usual end: without an error it costs one test, and the destructor leaves the rank.
  [[nodiscard]] int done() { return ok() ? MPI_SUCCESS : failed(); }

  // Waits until `request` is complete. A failed request is complete, too; the caller reads its error class. A complete
  // request costs one test. Otherwise progress rounds follow, between which other threads may enter the rank.
  void wait(const Request& request) {
    if (!request.complete) wait_long(request);
  }

 private:
  // Enters the rank `asked`, which is null while MPI does not run. Writes the call's name to the board, where the
  // launcher reads it if the process dies.
  Call(const Invocation& of, MpiRank* asked) : rank_(asked), name_(of.name) {
    if (rank_ == nullptr) [[unlikely]]
      not_running();
    // A local reference, because the compiler reads a member again after each store.
    MpiRank& rank = *rank_;
    rank.enter();
    inside_ = true;
    sim::BoardBlock& board = rank.board();
    ++board.calls;
    std::memcpy(board.mpi_call.data(), name_.board, sizeof name_.board);
    if (rank.recorder().observing()) [[unlikely]]
      record_enter(of.caller);
  }
  // Whether `rank` is a member. True without a communicator, whose failed lookup has set the error.
  [[nodiscard]] static bool is_member(const Communicator* communicator, int rank) {
    // One comparison: without its sign a negative rank is a large number.
    return communicator == nullptr || static_cast<unsigned>(rank) < static_cast<unsigned>(communicator->peer_count());
  }
  // The slow paths of the checks: each sets the error, unless one is set. Those with a result return nullptr, except
  // datatype_of_none() for a valid argument.
  [[gnu::noinline]] Communicator* bad_communicator(MPI_Comm handle, const Communicator* found);
  // An intercommunicator where only intracommunicators are valid.
  [[gnu::noinline]] Communicator* refused_inter();
  // An invalid handle; bad_datatype() also: a type that is not committed.
  [[gnu::noinline]] void no_datatype(MPI_Datatype handle, const Datatype* found);
  [[gnu::noinline]] void bad_datatype(MPI_Datatype handle, const Datatype* found);
  // An invalid handle, except that MPI_DATATYPE_NULL is valid if `count` is 0; then it returns MPI_BYTE's type.
  [[gnu::noinline]] Datatype* datatype_of_none(MPI_Datatype handle, std::int64_t count, const Datatype* found);
  [[gnu::noinline]] UserRequest* bad_request(MPI_Request handle, const UserRequest* found);
  [[gnu::noinline]] void bad_count(std::int64_t count, const char* what);
  [[gnu::noinline]] void bad_elements(std::int64_t count, const Datatype& type);
  [[gnu::noinline]] void bad_send_tag(int tag);
  [[gnu::noinline]] void bad_receive_tag(int tag);
  [[gnu::noinline]] void bad_destination(const Communicator* communicator, int rank);
  [[gnu::noinline]] void bad_source(const Communicator* communicator, int rank);
  // Accepts MPI_ROOT and MPI_PROC_NULL on an intercommunicator.
  [[gnu::noinline]] void bad_root(const Communicator* communicator, int rank);
  // Accepts any address if there are no bytes to move, and MPI_BOTTOM if the type's offsets or `displacement` are
  // absolute addresses.
  [[gnu::noinline]] void bad_buffer(const void* address, std::int64_t count, const Datatype* type, const char* what,
                                    std::int64_t displacement);
  [[gnu::noinline]] void null_argument(const char* what);
  [[gnu::noinline]] void append_part_to_error(const char* part);
  // Prints the message of a call outside MPI_Init and MPI_Finalize, and ends the process.
  [[noreturn, gnu::noinline]] void not_running() const;
  // The slow path of wait(): rounds of progress.
  [[gnu::noinline]] void wait_long(const Request& request);
  // Notify the trace and the checks that observe every call.
  [[gnu::noinline]] void record_enter(const void* returns_to);
  [[gnu::noinline]] void record_leave();
  // Leaves the rank: notifies traces and checks, clears the board, unlocks.
  void leave() {
    inside_ = false;
    MpiRank& rank = *rank_;
    if (rank.recorder().observing()) [[unlikely]]
      record_leave();
    rank.board().mpi_call[0] = '\0';
    rank.leave();
  }

  // Not null: not_running() ends the process otherwise.
  MpiRank* rank_;
  // A constant of static lifetime.
  const CallName& name_;
  // The communicator whose handler failed() calls; null: the handler for errors without an object is called.
  Communicator* handler_of_ = nullptr;
  // The class of the first error, or the code that a function of the program returned.
  int error_class_ = MPI_SUCCESS;
  // See status_class(). MPI_SUCCESS: the error is not that of a request.
  int status_class_ = MPI_SUCCESS;
  // The origin of the error.
  ErrorOrigin error_origin_ = ErrorOrigin::call;
  // The process lock is held.
  bool inside_ = false;
  // This call owns a reference to handler_of_.
  bool owns_reference_ = false;
  // The error's details. A pointer, which is cheaper to construct and destroy in every call.
  std::unique_ptr<Failure> failure_;
};

// Raises an error of a call that must not enter the rank (Call::failed() is for calls inside it). May be called by any
// thread. Returns the code, which the handler may change. Does not write the failed call to the board, whose fields
// belong to the threads inside the rank. Calls the world's handler, or the handler of MPI_COMM_SELF if the program has
// set only that handler. A fatal handler ends the job.
int raise_outside(MpiRank& rank, const CallName& name, int error_class, const std::string& sentence);

// The single round of progress of a call that does not wait (MPI_Test, MPI_Iprobe). It takes at most
// Device::kMessagesPerLook messages of each wire, so the call also returns while messages keep arriving.
// yield_processor() may follow.
void look_once(Call& call);
// Yields the processor after a call that found nothing, in two cases: the rank makes only such calls and another rank
// needs the processor; or other threads of the rank are in MPI. A loop around MPI_Test must starve neither the peer nor
// these threads.
void yield_processor(Call& call);

// Findings of --check-types: uses that margay and MPICH accept and the standard does not define.
// Records the finding if the standard does not define `op` on `type` (MPI 4.0, 6.9.2). Only for check_portability():
// out of line, because the check is usually disabled.
void report_nonportable(TypeCheck& check, MPI_Op op, MPI_Datatype type);

// Reports the use of `op` on elements of `type` if the standard does not define it. Requires: predefined_combine() has
// the pair, or the operation is MPI_REPLACE or MPI_NO_OP.
inline void check_portability(Call& call, MPI_Op op, MPI_Datatype type) {
  if (TypeCheck* const check = call.device().type_check(); check != nullptr) [[unlikely]]
    report_nonportable(*check, op, type);
}

// A new request handle whose errors go to the handler of `communicator`; nullptr, with MPI_ERR_OTHER set, if 2^18
// requests are alive. The caller attaches the request itself (`device`, or `upper` for a persistent one).
[[nodiscard]] UserRequest* add_request_handle(Call& call, Communicator& communicator);

}  // namespace margay::mpi
