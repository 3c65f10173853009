// The communicators that a rank has from its start, the contexts of all other communicators, and the state of the world
// model. From MPI_Init to MPI_Finalize the program has MPI_COMM_WORLD and MPI_COMM_SELF, a main thread and a thread
// level.
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

// The worlds and the free contexts of one rank. All functions require the process lock, except where noted.
class Worlds {
 public:
  // `tables` must outlive it; its initial handler is set.
  Worlds(const sim::Job& job, const ObjectTables& tables);
  Worlds(const Worlds&) = delete;
  Worlds& operator=(const Worlds&) = delete;

  // world() has all processes of the job, self() this process alone. They always exist; outside the world model only
  // the library uses them.
  [[nodiscard]] Communicator& world() { return world_; }
  [[nodiscard]] Communicator& self() { return self_; }
  // Another communicator of all processes, with the contexts of world(), for the library's own messages
  // (Group::kNoSession).
  [[nodiscard]] Communicator& own_world() { return own_world_; }
  // A communicator of all places of the job: a process's rank in it is its place. It carries messages between processes
  // that have no common communicator (mpi_adi/rank/ports), in contexts of its own.
  [[nodiscard]] Communicator& places() { return places_; }
  // The program's world of this handle; nullptr for any other handle, or outside the world model.
  [[nodiscard]] Communicator* find(MPI_Comm handle) {
    if (handle == world_handle_) return &world_;
    return handle == self_handle_ ? &self_ : nullptr;
  }

  // The intercommunicator to the processes that spawned this one (MPI_Comm_get_parent); nullptr: there is none, or the
  // program has freed it. forget() is called for each communicator that is freed.
  [[nodiscard]] Communicator* parent() const { return parent_; }
  void set_parent(Communicator& parent) { parent_ = &parent; }
  void forget(const Communicator& freed) {
    if (parent_ == &freed) parent_ = nullptr;
  }

  // Begin and end the world model. The calling thread of begin() is the main thread.
  void begin(int thread_level);
  void end();
  // Any thread may call.
  [[nodiscard]] int thread_level() const { return thread_level_.get(); }
  // MPI_Is_thread_main.
  [[nodiscard]] bool on_main_thread() const { return std::this_thread::get_id() == main_thread_.get(); }

  // Sets a world's error handler, and updates the handler of errors without a communicator.
  void set_error_handler(Communicator& communicator, ErrorHandlerPtr handler);
  // The communicator whose handler takes errors that belong to no communicator: MPI_COMM_WORLD (paper 002, section
  // 7.2). MPI 4.0 assigns such errors to MPI_COMM_SELF. So MPI_COMM_SELF is used if the program has set only its
  // handler.
  [[nodiscard]] const Communicator& fallback_communicator() const;
  // A copy of that handler. Any thread may call it, inside the rank or not, because calls before MPI begins and after
  // it ends raise errors, too.
  struct FallbackHandler {
    ErrorHandlerPtr handler;
    MPI_Comm communicator = MPI_COMM_WORLD;
  };
  [[nodiscard]] FallbackHandler fallback_handler() const;

  // The free contexts of this process, without the contexts of the worlds.
  [[nodiscard]] ContextPool& contexts() { return contexts_; }
  // Gives a communicator its contexts. Requires: it had kNoContext.
  static void set_context(Communicator& communicator, const AgreedContext& agreed);
  // A number for a communicator that this process makes together with others. It differs from every other number that a
  // process of the job has got.
  [[nodiscard]] std::uint64_t next_generation();

 private:
  // Constant.
  const ObjectTables& tables_;
  std::uint32_t rank_;
  // The handles that find() accepts. Outside the world model they have an invalid value, so a look-up needs no test for
  // the phase.
  static constexpr MPI_Comm kNoHandle = 0x3fffffff;
  static_assert(handle_kind(kNoHandle) == HandleKind::invalid);
  MPI_Comm world_handle_ = kNoHandle;
  MPI_Comm self_handle_ = kNoHandle;
  // Objects, not table entries: they exist before any handle and for as long as the rank.
  Communicator world_;
  Communicator self_;
  // Separate from world_, so that the program's error handler, name and attributes do not apply to the library's
  // messages.
  Communicator own_world_;
  Communicator places_;
  Communicator* parent_ = nullptr;
  ContextPool contexts_;
  // The number of calls of next_generation() so far.
  std::uint32_t generations_ = 0;
  // Both keep their values after end().
  sim::Published<int> thread_level_{MPI_THREAD_MULTIPLE};
  sim::Published<std::thread::id> main_thread_{std::this_thread::get_id()};
  // Guards fallback_, which threads outside the rank read.
  mutable std::mutex fallback_mutex_;
  FallbackHandler fallback_;
};

}  // namespace margay::mpi_adi
