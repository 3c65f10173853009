// A virtual machine for whole MPI programs: every rank is a thread with an MPI rank of its own over one VirtualNetwork.
// One of them runs at a time. A rank that waits, or asks in vain, gives its turn up; whose turn is next, and when a
// frame arrives, is drawn from the seed. So a run is the same each time, and any rank may be far ahead of any other.
#pragma once

#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mpi_adi/rank/rank.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::testing {

class VirtualMachine;

// A turn that is handed on. Not the standard library's semaphore: who waits there gives its processor up four times
// before it sleeps, and beside busy programs each of these takes milliseconds.
class Turn {
 public:
  Turn() { sem_init(&semaphore_, 0, 0); }
  ~Turn() { sem_destroy(&semaphore_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void give() { sem_post(&semaphore_); }
  void await() {
    while (sem_wait(&semaphore_) != 0) {  // a signal came
    }
  }

 private:
  sem_t semaphore_{};
};

// One rank's place: its thread, and its MPI between MPI_Init and the end of the run.
class Seat final : public sim::Rest {
 public:
  Seat(VirtualMachine& machine, std::uint32_t rank) : machine_(machine), rank_(rank) {}

  // Called by this seat's thread, in a wait: returns when it has the turn again.
  void rest(std::uint64_t ns) override;

  // The calling thread's seat.
  [[nodiscard]] static Seat& mine();

  // MPI_Init: makes the rank. Error: a sentence.
  [[nodiscard]] portals::Status begin(int thread_level);
  void end() { finalized_ = true; }
  [[nodiscard]] bool begun() const { return mpi_ != nullptr; }
  [[nodiscard]] bool finalized() const { return finalized_; }
  [[nodiscard]] mpi_adi::MpiRank& mpi() { return *mpi_; }

 private:
  friend class VirtualMachine;
  // Makes the process, before anybody sends to it.
  void plug_in();

  VirtualMachine& machine_;
  const std::uint32_t rank_;
  Turn turn_;
  std::unique_ptr<sim::Process> process_;  // until MPI_Init, which takes it
  std::unique_ptr<mpi_adi::MpiRank> mpi_;
  bool finalized_ = false;
  bool over_ = false;  // its program has returned
  int status_ = -1;    // what main returned
};

class VirtualMachine {
 public:
  VirtualMachine(std::uint32_t ranks, std::uint64_t seed);

  // Runs `program(rank)` on each rank to its end; what it returns is an exit status. A machine runs once. The value
  // says what went wrong, empty: nothing. When all ranks wait for what cannot come, it ends the process with a
  // sentence.
  [[nodiscard]] std::string run(const std::function<int(std::uint32_t rank)>& program);
  // How long the run was: the same numbers whenever it is the same run.
  [[nodiscard]] std::string measure() const;

 private:
  friend class Seat;

  [[nodiscard]] sim::Job job_of(std::uint32_t rank) const;
  // Whose turn is next; the network may advance before. nullptr: all programs have returned.
  [[nodiscard]] Seat* choose();
  void look_for_rest();
  void pass_turn(Seat& from);
  void settle();
  [[nodiscard]] std::string judge();

  std::mt19937_64 random_;
  sim::VirtualNetwork network_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::uint32_t nodes_;
  sim::SharedTable node_of_rank_;
  sim::SharedTable everybody_;
  Seat* slow_ = nullptr;  // gets few turns for a while
  std::uint32_t turns_ = 0;
  std::uint64_t sent_ = 0;        // of the network, when something last happened
  std::uint32_t idle_turns_ = 0;  // since then
  Turn all_over_;
};

}  // namespace margay::testing
