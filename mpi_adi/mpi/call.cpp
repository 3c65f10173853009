#include "mpi_adi/mpi/call.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "mpi_adi/mpi/init_state.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

namespace {

constexpr int kNotRunningStatus = 1;

std::string name_of(const Communicator& communicator) {
  return communicator.name.empty() ? "the communicator" : communicator.name;
}

std::string ranks_of(const Communicator& communicator) {
  return std::to_string(0) + " to " + std::to_string(communicator.peer_count() - 1);
}

// The launcher sees a dead rank within milliseconds, knows its signal, and ends the job with that as the cause; a
// survivor that aborts first would hide it.
void let_the_launcher_speak() {
  constexpr timespec kPatience{0, 500'000'000};
  nanosleep(&kPatience, nullptr);
}

std::string hex(int handle) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
  return text;
}

}  // namespace

void Call::not_running() const {
  const bool finalized = init_state() == InitState::finalized;
  std::fprintf(stderr, "margay: %s was called %s\n", name_.text,
               finalized ? "after MPI_Finalize; no MPI communication is possible then"
                         : "before MPI_Init; call MPI_Init or MPI_Init_thread first");
  std::exit(kNotRunningStatus);
}

void Call::trace_enter() {
  rank_->call_trace().enter(rank_->process().recorder(), name_.text);
}

void Call::trace_leave() {
  rank_->call_trace().leave(rank_->process().recorder(), name_.text, error_class_);
}

Communicator* Call::bad_communicator(MPI_Comm handle, const Communicator* found) {
  if (found == nullptr) {
    error(MPI_ERR_COMM, handle == MPI_COMM_NULL
                            ? "the communicator is MPI_COMM_NULL"
                            : "communicator " + hex(handle) + " is no living communicator (freed, or never made)");
  }
  return nullptr;
}

Communicator* Call::refused_inter() {
  error(MPI_ERR_COMM,
        "the communicator is an intercommunicator; the call takes intracommunicators only (collective operations "
        "between two groups are not in this version)");
  return nullptr;
}

Datatype* Call::bad_datatype(MPI_Datatype handle, const Datatype* found) {
  if (found == nullptr) {
    error(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                            ? "the datatype is MPI_DATATYPE_NULL"
                            : "datatype " + hex(handle) + " is no living datatype (freed, or never made)");
  }
  return nullptr;
}

Datatype* Call::uncommitted(MPI_Datatype handle) {
  error(MPI_ERR_TYPE, "datatype " + hex(handle) + " is not committed; call MPI_Type_commit first");
  return nullptr;
}

UserRequest* Call::bad_request(MPI_Request handle, const UserRequest* found) {
  if (found == nullptr) {
    error(MPI_ERR_REQUEST, handle == MPI_REQUEST_NULL
                               ? "the request is MPI_REQUEST_NULL"
                               : "request " + hex(handle) + " is no living request (complete, freed, or never made)");
  }
  return nullptr;
}

void Call::bad_count(std::int64_t count, const char* what) {
  error(MPI_ERR_COUNT, std::string(what) + " is " + std::to_string(count) + ", below 0");
}

void Call::bad_send_tag(int tag) {
  error(MPI_ERR_TAG,
        "tag " + std::to_string(tag) + " is below 0" + (tag == MPI_ANY_TAG ? " (MPI_ANY_TAG is for receives)" : ""));
}

void Call::bad_receive_tag(int tag) {
  error(MPI_ERR_TAG, "tag " + std::to_string(tag) + " is below 0 and is not MPI_ANY_TAG");
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
  error(MPI_ERR_ROOT, "root " + std::to_string(rank) + " is not a rank of " + name_of(*communicator) + " (" +
                          ranks_of(*communicator) + ")");
}

// Of a type made by the program, the blocks may lie at absolute addresses.
void Call::null_buffer(std::int64_t count, const Datatype* type) {
  if (!ok() || type == nullptr || count == 0 || type->size == 0 || !type->predefined) return;
  error(MPI_ERR_BUFFER, "the buffer is a null pointer, with " + std::to_string(count) + " elements");
}

void Call::null_argument(const char* what) {
  error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
}

void Call::error(int error_class, std::string sentence) {
  if (!ok()) return;
  error_class_ = error_class;
  sentence_ = std::move(sentence);
}

int Call::failed() {
  Communicator& communicator = handler_of_ != nullptr ? *handler_of_ : rank_->world();
  MpiRank& rank = *rank_;
  const int code = raise_error(rank, communicator, name_.text, error_class_, std::move(sentence_));
  leave();
  return code;
}

void give_way(Call& call) {
  sim::Process& process = call.rank().process();
  if (process.wait_means().policy != sim::WaitPolicy::yield) return;
  sim::Waiter(process.kernel(), process.clock(), process.wait_means()).idle();
}

int raise_error(MpiRank& rank, const Communicator& communicator, const char* function, int error_class,
                std::string sentence) {
  if (sentence.empty()) sentence = error_class_text(error_class);
  const int code = rank.errors().make(error_class, std::string(function) + ": " + sentence);
  if (communicator.error_handler == MPI_ERRORS_RETURN) return code;
  if (error_class == MPIX_ERR_PROC_FAILED) let_the_launcher_speak();
  rank.process().abort(
      error_class, std::string(function) + " failed on " + name_of(communicator) + ": " + rank.errors().text_of(code));
}

}  // namespace margay::mpi_adi
