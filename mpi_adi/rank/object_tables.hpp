// A rank's objects that no message needs: error handlers, attribute keys, sessions, memory from MPI_Alloc_mem, and the
// values of the predefined attributes.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "mpi_adi/object/attribute.hpp"
#include "mpi_adi/object/error_handler.hpp"
#include "mpi_adi/object/session.hpp"
#include "mpi_adi/object/user_functions.hpp"
#include "sim/boot/job.hpp"

namespace margay::mpi_adi {

// The values of the predefined attributes of MPI_COMM_WORLD. MPI_Comm_get_attr returns their addresses (MPI 4.0, 9.1.2
// and 11.10), so they live as long as the rank.
struct Inquiries {
  Inquiries() = default;
  explicit Inquiries(const sim::Job& job);
  // The address of a predefined key's value; nullptr for another key, or a value that is unknown. `last_used_code`: the
  // present value of MPI_LASTUSEDCODE.
  [[nodiscard]] int* find(int keyval, int last_used_code);

  // -1 of universe_size: unknown.
  int tag_upper_bound = 0, host = 0, io = 0, time_is_global = 0, universe_size = -1, appnum = 0, last_code = 0;
};

// The error handlers of the calling thread's process. They belong to the process and not to a rank, because a program
// may make handlers before its first session and free them after its last session (MPI 4.0, 11.4.1).
[[nodiscard]] ErrorHandlers& process_error_handlers();

// The tables behind MpiRank::tables(). Under the process lock, except for error_handlers, which has a lock of its own
// because programs use it outside MPI's life too.
struct ObjectTables {
  ObjectTables(ErrorHandlerPtr initial, const sim::Job& job) : initial_handler(std::move(initial)), inquiries(job) {}

  ErrorHandlers& error_handlers = process_error_handlers();
  // The initial handler of MPI_COMM_WORLD and MPI_COMM_SELF.
  ErrorHandlerPtr initial_handler;
  // The handler of new files: that of MPI_FILE_NULL (MPI 4.0, 14.7).
  ErrorHandlerPtr file_handler = error_handlers.find(MPI_ERRORS_RETURN);
  // Sessions of this rank that the program has not finalized.
  SessionTable sessions;
  // The program's keys of MPI_Comm_create_keyval and its variants for types and windows. The values of predefined keys
  // are in `inquiries`.
  KeyvalTable keyvals;
  Inquiries inquiries;
  // The blocks of MPI_Alloc_mem. They belong to the program; a block that it never frees stays.
  std::unordered_set<const void*> memory;
  // The classes of MPIX_Grequest_class_create. A handle is the index here plus one. Nothing frees them.
  std::vector<RequestClass> request_classes;
  // Living generalized requests with a function to poll or wait; calls that complete requests test it.
  std::uint32_t extended_requests = 0;
};

}  // namespace margay::mpi_adi
