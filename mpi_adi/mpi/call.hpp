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
#include <string>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "mpi_adi/rank/wait.hpp"

namespace margay::mpi_adi {

// A function's name in the board's 32 bytes, so that noting the call in progress is one copy of two words.
struct CallName {
  alignas(32) char text[32] = {};
  template <std::size_t N>
  consteval CallName(const char (&name)[N]) {  // NOLINT(google-explicit-constructor): a literal is what is meant
    static_assert(N <= sizeof text);
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

// call_name<"MPI_Send"> lives as long as the program.
template <CallName Name>
inline constexpr CallName call_name = Name;

class Call {
 public:
  // Before MPI_Init and after MPI_Finalize: prints a sentence and ends the process.
  explicit Call(const CallName& name);
  ~Call() { leave(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] MpiRank& rank() { return *rank_; }
  [[nodiscard]] Device& device() { return rank_->device(); }
  [[nodiscard]] bool ok() const { return error_class_ == MPI_SUCCESS; }

  // Lookups: nullptr after an error.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle);
  // A committed type, for communication.
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle);
  // Any type, for a constructor or an inquiry.
  [[nodiscard]] Datatype* any_datatype(MPI_Datatype handle);
  // A request that is not MPI_REQUEST_NULL.
  [[nodiscard]] UserRequest* request(MPI_Request handle);
  // Checks of arguments; the words are the standard's.
  void count(std::int64_t count, const char* what = "count");
  void send_tag(int tag);
  void receive_tag(int tag);
  void destination(const Communicator* communicator, int rank);
  void source(const Communicator* communicator, int rank);
  void root(const Communicator* communicator, int rank);
  // A buffer that is not null where there are bytes to move.
  void buffer(const void* address, std::int64_t count, const Datatype* type);
  void not_null(const void* address, const char* what);

  // Notes an error, unless there was one already.
  void error(int error_class, std::string sentence);
  // The communicator whose handler is asked, when it is another than the one looked up last.
  void on(Communicator& communicator) { handler_of_ = &communicator; }

  // The call's end. failed(): raises what was noted; done(): the same, or MPI_SUCCESS.
  [[nodiscard]] int failed();
  [[nodiscard]] int done() { return ok() ? MPI_SUCCESS : failed(); }

  // Until `request` is complete.
  void wait(Request& request) {
    wait_until(*rank_, [&request] { return request.complete; });
  }

 private:
  void leave();

  MpiRank* rank_;
  const CallName& name_;
  Communicator* handler_of_ = nullptr;
  int error_class_ = MPI_SUCCESS;
  bool inside_ = false;
  std::string sentence_;  // empty unless there is an error: no allocation
};

// A call that found nothing to report gives its processor away when ranks outnumber processors: a loop around MPI_Test
// or MPI_Iprobe must not keep the peer from running.
void give_way(Call& call);

// Raises an error outside a Call: prints, or returns the code, as `communicator`'s handler says.
[[nodiscard]] int raise_error(MpiRank& rank, const Communicator& communicator, const char* function, int error_class,
                              std::string sentence);

}  // namespace margay::mpi_adi
