// A rank's objects that no message needs: error handlers, attribute keys, memory that MPI gave out; and what the
// predefined attributes tell.
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

// The values of the predefined attributes of MPI_COMM_WORLD; callers get their addresses (MPI 4.0, 9.1.2 and 11.10).
struct Inquiries {
  Inquiries() = default;
  explicit Inquiries(const sim::Job& job);
  // The value under a predefined key; nullptr when there is none. `last_used_code`: the attribute's value now.
  [[nodiscard]] int* find(int keyval, int last_used_code);

  int tag_upper_bound = 0, host = 0, io = 0, time_is_global = 0, universe_size = -1, appnum = 0, last_code = 0;
};

// The error handlers of the calling thread's process: a program makes them before its first session and frees them
// after its last one (MPI 4.0, 11.4.1).
[[nodiscard]] ErrorHandlers& process_error_handlers();

struct ObjectTables {
  ObjectTables(ErrorHandlerPtr initial, const sim::Job& job) : initial_handler(std::move(initial)), inquiries(job) {}

  ErrorHandlers& error_handlers = process_error_handlers();
  // What MPI_COMM_WORLD and MPI_COMM_SELF begin with.
  ErrorHandlerPtr initial_handler;
  // What files begin with: MPI_FILE_NULL's (MPI 4.0, 14.7).
  ErrorHandlerPtr file_handler = error_handlers.find(MPI_ERRORS_RETURN);
  SessionTable sessions;
  KeyvalTable keyvals;
  Inquiries inquiries;
  // MPI_Alloc_mem's blocks. They are the program's: what it never gave back stays.
  std::unordered_set<const void*> memory;
  // MPIX_Grequest_class_create's; a handle is one more than the place here. Nothing frees them.
  std::vector<RequestClass> request_classes;
  std::uint32_t extended_requests = 0;  // alive, with functions to poll or to wait with: calls that end requests ask
};

}  // namespace margay::mpi_adi
