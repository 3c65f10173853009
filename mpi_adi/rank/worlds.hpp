// The communicators that a rank has from its beginning, the contexts of all others, and the program's part in MPI: from
// MPI_Init to MPI_Finalize it has MPI_COMM_WORLD and MPI_COMM_SELF, a main thread and a thread level.
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

class Worlds {
 public:
  // `tables` outlive it; their initial handler is set.
  Worlds(const sim::Job& job, const ObjectTables& tables);
  Worlds(const Worlds&) = delete;
  Worlds& operator=(const Worlds&) = delete;

  // Of all processes of the job, and of this one: the library's own when the program has them not.
  [[nodiscard]] Communicator& world() { return world_; }
  [[nodiscard]] Communicator& self() { return self_; }
  // All processes too, for the library's own messages (Group::kNoSession).
  [[nodiscard]] Communicator& own_world() { return own_world_; }
  // The program's, by handle; nullptr when it is another one's handle, or the program has them not.
  [[nodiscard]] Communicator* find(MPI_Comm handle) {
    if (handle == world_handle_) return &world_;
    return handle == self_handle_ ? &self_ : nullptr;
  }

  // The program has them. The calling thread is the main one.
  void begin(int thread_level);
  void end();
  [[nodiscard]] int thread_level() const { return thread_level_.get(); }
  [[nodiscard]] bool on_main_thread() const { return std::this_thread::get_id() == main_thread_.get(); }

  void set_error_handler(Communicator& communicator, ErrorHandlerPtr handler);
  // Whose handler takes errors of no communicator: the world's (paper 002, section 7.2); MPI 4.0 gives them to
  // MPI_COMM_SELF, whose handler is asked when the program set that one alone.
  [[nodiscard]] const Communicator& raises_the_rest() const;
  // The same handler, for any thread, inside or not.
  struct HandlerOfTheRest {
    ErrorHandlerPtr handler;
    MPI_Comm communicator = MPI_COMM_WORLD;
  };
  [[nodiscard]] HandlerOfTheRest handler_of_the_rest() const;

  [[nodiscard]] ContextPool& contexts() { return contexts_; }
  // Gives a communicator its contexts. Requires: it had kNoContext.
  static void set_context(Communicator& communicator, const AgreedContext& agreed);
  // For a communicator that this process makes together with others: no process of the job ever offers the same twice.
  [[nodiscard]] std::uint64_t next_generation();

 private:
  const ObjectTables& tables_;
  std::uint32_t rank_;
  // By which the program has these two; while it has not, by what is no handle. So each call that looks one up is
  // spared to look whether it is there.
  static constexpr MPI_Comm kNoHandle = 0x3fffffff;
  static_assert(handle_kind(kNoHandle) == HandleKind::invalid);
  MPI_Comm world_handle_ = kNoHandle;
  MPI_Comm self_handle_ = kNoHandle;
  Communicator world_;
  Communicator self_;
  Communicator own_world_;
  ContextPool contexts_;
  std::uint32_t generations_ = 0;
  sim::Published<int> thread_level_{MPI_THREAD_MULTIPLE};
  sim::Published<std::thread::id> main_thread_{std::this_thread::get_id()};
  mutable std::mutex rest_mutex_;
  HandlerOfTheRest rest_;
};

}  // namespace margay::mpi_adi
