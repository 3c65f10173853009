// The communicators that a rank has from its start, the contexts of all others, and the state of the world model. From
// MPI_Init to MPI_Finalize the program has MPI_COMM_WORLD and MPI_COMM_SELF, a main thread and a thread level.
#pragma once

#include <cstdint>
#include <mutex>
#include <thread>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {
struct Job;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct ObjectTables;  // mpi_adi/rank/object_tables

// The worlds and the free contexts of one rank. Under the process lock, except where noted.
class Worlds {
 public:
  // `tables` must outlive it; its initial handler is set.
  Worlds(const sim::Job& job, const ObjectTables& tables);
  Worlds(const Worlds&) = delete;
  Worlds& operator=(const Worlds&) = delete;

  // All processes of the job, and this one alone. They exist always; outside the world model the library alone uses
  // them.
  [[nodiscard]] Communicator& world() { return world_; }
  [[nodiscard]] Communicator& self() { return self_; }
  // All processes too, for the library's own messages (Group::kNoSession), with the contexts of world().
  [[nodiscard]] Communicator& own_world() { return own_world_; }
  // The program's world of this handle; nullptr for any other handle, or outside the world model.
  [[nodiscard]] Communicator* find(MPI_Comm handle) {
    if (handle == world_handle_) return &world_;
    return handle == self_handle_ ? &self_ : nullptr;
  }

  // Begin and end the world model. The calling thread of begin() is the main thread.
  void begin(int thread_level);
  void end();
  // Any thread may ask.
  [[nodiscard]] int thread_level() const { return thread_level_.get(); }
  // MPI_Is_thread_main.
  [[nodiscard]] bool on_main_thread() const { return std::this_thread::get_id() == main_thread_.get(); }

  // Sets a world's error handler, and with it the handler of errors without a communicator.
  void set_error_handler(Communicator& communicator, ErrorHandlerPtr handler);
  // The communicator whose handler takes errors that belong to none: the world (paper 002, section 7.2). MPI 4.0
  // assigns them to MPI_COMM_SELF, whose handler is taken if the program set that one only.
  [[nodiscard]] const Communicator& fallback_communicator() const;
  // A copy of that handler, which any thread may read, inside the rank or not: calls outside MPI's life raise errors
  // too.
  struct FallbackHandler {
    ErrorHandlerPtr handler;
    MPI_Comm communicator = MPI_COMM_WORLD;
  };
  [[nodiscard]] FallbackHandler fallback_handler() const;

  // The free contexts of this process; those of the worlds are taken.
  [[nodiscard]] ContextPool& contexts() { return contexts_; }
  // Gives a communicator its contexts. Requires: it had kNoContext.
  static void set_context(Communicator& communicator, const AgreedContext& agreed);
  // A number for a communicator that this process makes together with others. No process of the job ever offers the
  // same one twice.
  [[nodiscard]] std::uint64_t next_generation();

 private:
  // Constant.
  const ObjectTables& tables_;
  std::uint32_t rank_;
  // The handles that find() accepts; outside the world model an invalid value. So a look-up needs no test for the
  // phase.
  static constexpr MPI_Comm kNoHandle = 0x3fffffff;
  static_assert(handle_kind(kNoHandle) == HandleKind::invalid);
  MPI_Comm world_handle_ = kNoHandle;
  MPI_Comm self_handle_ = kNoHandle;
  // Objects, not table entries: they exist before any handle and for as long as the rank.
  Communicator world_;
  Communicator self_;
  // Beside world_, so that the program's error handler, name and attributes do not apply to the library's messages.
  Communicator own_world_;
  ContextPool contexts_;
  // Numbers of next_generation() so far.
  std::uint32_t generations_ = 0;
  // Both keep their values after end().
  sim::Published<int> thread_level_{MPI_THREAD_MULTIPLE};
  sim::Published<std::thread::id> main_thread_{std::this_thread::get_id()};
  // Guards fallback_, which threads outside the rank read.
  mutable std::mutex fallback_mutex_;
  FallbackHandler fallback_;
};

}  // namespace margay::mpi_adi
