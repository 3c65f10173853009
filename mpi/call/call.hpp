// One call of an MPI function, from its first line to its return: enters the rank, checks arguments, leaves, and hands
// an error to the communicator's handler.
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
// The first check that fails words the error; later checks see !ok() and say nothing. A check given the nullptr of a
// failed lookup is harmless.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "mpi/call/call_name.hpp"
#include "mpi/layers.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "mpi_adi/request/own_request.hpp"

namespace margay::mpi {

// A handle's value, as sentences name it: 0x44000000.
[[nodiscard]] std::string in_hex(int handle);

class Call {
 public:
  // Takes the process lock. Before MPI_Init and after MPI_Finalize: prints a sentence and ends the process.
  explicit Call(const Invocation& of) : Call(of, current_rank()) {}
  // For the rank, whether anybody still holds MPI or not.
  Call(const Invocation& of, MpiRank& rank) : Call(of, &rank) {}
  ~Call() {
    if (inside_) leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] MpiRank& rank() { return *rank_; }
  [[nodiscard]] Device& device() { return rank_->device(); }
  [[nodiscard]] bool ok() const { return error_class_ == MPI_SUCCESS; }

  // Lookups: nullptr after an error.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) {
    Communicator* const found = rank_->communicator(handle);
    if (found == nullptr || !ok()) [[unlikely]]
      return bad_communicator(handle, found);
    handler_of_ = found;
    return found;
  }
  // One that is no intercommunicator.
  [[nodiscard]] Communicator* intracommunicator(MPI_Comm handle) {
    Communicator* const found = communicator(handle);
    return found == nullptr || !found->is_inter() ? found : refused_inter();
  }
  // A committed type, for communication.
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle) {
    Datatype* const found = rank_->handles().datatype(handle);
    if (found == nullptr || !ok() || !found->committed) [[unlikely]] {
      bad_datatype(handle, found);
      return nullptr;  // here and not there, so that the compiler need not look again
    }
    return found;
  }
  // The same, for `count` elements: of none, MPI_DATATYPE_NULL will do, as with MPICH. It counts as MPI_BYTE.
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle, std::int64_t count) {
    Datatype* const found = rank_->handles().datatype(handle);
    if (found == nullptr || !ok() || !found->committed) [[unlikely]]
      return datatype_of_none(handle, count, found);
    return found;
  }
  // Any type, for a constructor or an inquiry.
  [[nodiscard]] Datatype* any_datatype(MPI_Datatype handle) {
    Datatype* const found = rank_->handles().datatype(handle);
    if (found == nullptr || !ok()) [[unlikely]] {
      no_datatype(handle, found);
      return nullptr;
    }
    return found;
  }
  // A request that is not MPI_REQUEST_NULL.
  [[nodiscard]] UserRequest* request(MPI_Request handle) {
    UserRequest* const found = rank_->handles().request(handle);
    if (found == nullptr || !ok()) [[unlikely]]
      return bad_request(handle, found);
    handler_of_ = found->communicator;
    return found;
  }
  // Checks of arguments; the words are the standard's.
  void count(std::int64_t count, const char* what = "count") {
    if (count < 0) [[unlikely]]
      bad_count(count, what);
  }
  void send_tag(int tag) {
    if (!is_user_tag(tag)) [[unlikely]]
      bad_send_tag(tag);
  }
  void receive_tag(int tag) {
    if (!is_user_tag(tag) && tag != MPI_ANY_TAG) [[unlikely]]
      bad_receive_tag(tag);
  }
  void destination(const Communicator* communicator, int rank) {
    if (!is_member(communicator, rank) && rank != MPI_PROC_NULL) [[unlikely]]
      bad_destination(communicator, rank);
  }
  void source(const Communicator* communicator, int rank) {
    if (!is_member(communicator, rank) && rank != MPI_PROC_NULL && rank != MPI_ANY_SOURCE) [[unlikely]]
      bad_source(communicator, rank);
  }
  void root(const Communicator* communicator, int rank) {
    if (!is_member(communicator, rank)) [[unlikely]]
      bad_root(communicator, rank);
  }
  // A count that is neither negative nor of more than 2^63 - 1 bytes. False: not so.
  bool elements(std::int64_t count, const Datatype& type) {
    if (static_cast<std::uint64_t>(count) <= type.count_max) [[likely]]
      return true;
    bad_elements(count, type);
    return false;
  }
  // The same, and a buffer that is neither null, where there are bytes to move, nor MPI_IN_PLACE. It may be MPI_BOTTOM,
  // where the datatype or the displacement, in bytes, has the address.
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
  // Where the call writes a status: MPI_STATUS_IGNORE is no null pointer.
  void status(const MPI_Status* status, const char* what = "status") { not_null(status, what); }
  void not_null(const void* address, const char* what) {
    if (address == nullptr) [[unlikely]]
      null_argument(what);
  }

  // Notes an error, unless there was one already. A code that is more than a class, as a user's callback may return,
  // stays what it is.
  [[gnu::noinline]] void error(int error_class, std::string sentence);
  // Where the error that is noted came from, beside what it is.
  enum class Blame : std::uint8_t {
    call,
    peer,     // a lost one, whatever the class is: a fatal error waits for the launcher's word
    program,  // a function of its own returned this very number: the call returns it, too
  };
  void blame(Blame whom) { blame_ = whom; }
  [[nodiscard]] Blame blamed() const { return blame_; }
  // Adds to an error's sentence, in calls that take the same argument twice, whose it is: "of the send". Nothing
  // without an error. The communicator is both's.
  void whose(const char* part) {
    if (!ok()) [[unlikely]]
      add_whose(part);
  }
  // The same of a communicator, where a call takes two.
  void whose_communicator(const char* argument);
  // The communicator whose handler is asked, when it is another than the one looked up last.
  void on(Communicator& communicator) { handler_of_ = &communicator; }
  // The same of one that may go while functions of the program's run: the caller's reference keeps it until its handler
  // was asked. Requires: an error is noted next.
  void hold(Communicator& communicator) {
    on(communicator);
    holds_ = true;
  }

  // Around a function of the user's, which may call MPI and may do so for long: outside the rank, and inside again.
  // What was looked up before may be gone afterwards, unless the caller holds a reference.
  void step_out();
  void step_in();

  // The call's end. failed(): raises what was noted; done(): the same, or MPI_SUCCESS.
  [[nodiscard, gnu::noinline]] int failed();
  // Ends the call and hands `code` to the communicator's handler, outside the rank: the user's function may call MPI,
  // or not return at all. Does not return when the handler is fatal. The code as the handler leaves it.
  int hand_over(const Communicator& communicator, int code);
  // Of the function.
  [[nodiscard]] const char* name() const { return name_.text; }
  [[nodiscard]] int done() { return ok() ? MPI_SUCCESS : failed(); }

  // Until `request` is complete.
  void wait(const Request& request) {
    if (!request.complete) wait_long(request);
  }

 private:
  Call(const Invocation& of, MpiRank* asked) : rank_(asked), name_(of.name) {
    if (rank_ == nullptr) [[unlikely]]
      not_running();
    // Through one pointer: the compiler reads a member anew after each store.
    MpiRank& rank = *rank_;
    rank.enter();
    inside_ = true;
    sim::BoardBlock& board = rank.board();
    ++board.calls;
    std::memcpy(board.mpi_call.data(), name_.board, sizeof name_.board);
    if (rank.recorder().watched()) [[unlikely]]
      watch_enter(of.caller);
  }
  // True without a communicator: its lookup failed, and that was told.
  [[nodiscard]] static bool is_member(const Communicator* communicator, int rank) {
    return communicator == nullptr || static_cast<unsigned>(rank) < static_cast<unsigned>(communicator->peer_count());
  }
  // What the checks say when they fail; each does nothing after the first error. Those of communicators and
  // requests return what is to be returned.
  [[gnu::noinline]] Communicator* bad_communicator(MPI_Comm handle, const Communicator* found);
  [[gnu::noinline]] Communicator* refused_inter();
  [[gnu::noinline]] void no_datatype(MPI_Datatype handle, const Datatype* found);
  [[gnu::noinline]] void bad_datatype(MPI_Datatype handle, const Datatype* found);
  [[gnu::noinline]] Datatype* datatype_of_none(MPI_Datatype handle, std::int64_t count, const Datatype* found);
  [[gnu::noinline]] UserRequest* bad_request(MPI_Request handle, const UserRequest* found);
  [[gnu::noinline]] void bad_count(std::int64_t count, const char* what);
  [[gnu::noinline]] void bad_elements(std::int64_t count, const Datatype& type);
  [[gnu::noinline]] void bad_send_tag(int tag);
  [[gnu::noinline]] void bad_receive_tag(int tag);
  [[gnu::noinline]] void bad_destination(const Communicator* communicator, int rank);
  [[gnu::noinline]] void bad_source(const Communicator* communicator, int rank);
  [[gnu::noinline]] void bad_root(const Communicator* communicator, int rank);
  [[gnu::noinline]] void bad_buffer(const void* address, std::int64_t count, const Datatype* type, const char* what,
                                    std::int64_t displacement);
  [[gnu::noinline]] void null_argument(const char* what);
  [[gnu::noinline]] void add_whose(const char* part);
  [[noreturn, gnu::noinline]] void not_running() const;
  [[gnu::noinline]] void wait_long(const Request& request);
  // For a trace, and for what else looks at each call.
  [[gnu::noinline]] void watch_enter(const void* returns_to);
  [[gnu::noinline]] void watch_leave();
  void leave() {
    inside_ = false;
    MpiRank& rank = *rank_;
    if (rank.recorder().watched()) [[unlikely]]
      watch_leave();
    rank.board().mpi_call[0] = '\0';
    rank.leave();
  }

  MpiRank* rank_;
  const CallName& name_;
  Communicator* handler_of_ = nullptr;
  int error_class_ = MPI_SUCCESS;
  Blame blame_ = Blame::call;
  bool inside_ = false;
  bool holds_ = false;                     // a reference to handler_of_
  std::unique_ptr<std::string> sentence_;  // of an error; a pointer, because each call makes and unmakes it
};

// Ends the job because the call `name` failed and its error handler is fatal: records the finding of `error_class` and
// reports "MPI_Recv (ring.c:41) failed on MPI_COMM_WORLD: MPI_ERR_TRUNCATE: ...". `where` begins with a space, or is
// empty; `text` explains the error, with or without the function's name.
[[noreturn]] void abort_by_error(MpiRank& rank, const CallName& name, int error_class, const std::string& where,
                                 std::string text);

// Raises an error of a call that may not enter the rank, as Call::failed() would. (The board's failed call is of those
// inside.)
int raise_outside(MpiRank& rank, const CallName& name, int error_class, const std::string& sentence);

// The one round of progress of a call that does not wait. It may be followed by give_way().
void look_once(Call& call);
// A call that found nothing to report gives its processor up when such calls are all that the rank does and another
// rank needs it, or when other threads of its rank are in MPI: a loop around MPI_Test or MPI_Iprobe must not keep them,
// or the peer, from running.
void give_way(Call& call);

// Reports, for --check-types, uses that margay and MPICH take and that the standard does not define.

void report_nonportable(TypeCheck& check, MPI_Op op, MPI_Datatype type);

// The call applies `op` to elements of `type`. Requires: predefined_combine() has the two, or the operation is
// MPI_REPLACE or MPI_NO_OP.
inline void note_operation(Call& call, MPI_Op op, MPI_Datatype type) {
  if (TypeCheck* const check = call.device().type_check(); check != nullptr) [[unlikely]]
    report_nonportable(*check, op, type);
}

// Giving a request of mpi_adi/request a handle.

// nullptr, and an error: too many requests are alive.
[[nodiscard]] UserRequest* add_own_request(Call& call, Communicator& communicator);

}  // namespace margay::mpi
