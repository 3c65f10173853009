// A virtual machine for seeds.cpp: every rank is a thread with an MPI process of its own over one VirtualNetwork. One
// of them runs at a time. A rank that waits, sleeps, or polls without result yields its turn; the seed determines the
// next rank to run and the arrival of each frame. All ranks have one virtual time. So a run is reproducible, and any
// rank may be far ahead of any other.
//
// `margay simulate` runs programs whose ranks have their data for themselves. Here they share it, so that a ledger of
// all requests is exact at any time.
#pragma once

#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/machine/process.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::testing {

class VirtualMachine;

// A turn that is passed on. Not the standard library's semaphore, because it yields the processor four times before it
// sleeps, and beside busy programs each yield takes milliseconds.
class Turn {
 public:
  Turn() { sem_init(&semaphore_, 0, 0); }
  ~Turn() { sem_destroy(&semaphore_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void give() { sem_post(&semaphore_); }
  void await() {
    while (sem_wait(&semaphore_) != 0) {  // a signal arrived
    }
  }

 private:
  sem_t semaphore_{};
};

// The machine's time: the network's, plus time that passes without a frame. Each query advances it, so a rank that
// polls until a later time terminates.
class MachineClock final : public sim::Clock {
 public:
  explicit MachineClock(const sim::VirtualNetwork& network) : Clock(sim::ClockKind::virtual_ns), network_(network) {}
  [[nodiscard]] std::uint64_t now_ns() const override {
    passed_ns_ += kLookNs;
    return network_.now_ns() + passed_ns_;
  }
  [[nodiscard]] std::uint64_t ticks() const override { return now_ns(); }
  void pass(std::uint64_t ns) { passed_ns_ += ns; }
  void pass_until(std::uint64_t at_ns) {
    const std::uint64_t now = now_ns();
    if (at_ns > now) pass(at_ns - now);
  }

 private:
  static constexpr std::uint64_t kLookNs = 20;
  const sim::VirtualNetwork& network_;
  mutable std::uint64_t passed_ns_ = 1'000'000'000;  // no program begins at 0
};

// A rank's thread and its MPI process.
class Seat final : public sim::YieldPolicy, public mpi_adi::ProcessStart {
 public:
  Seat(VirtualMachine& machine, std::uint32_t rank);

  // Called by this seat's thread, in a wait or when the program sleeps: returns at its next turn.
  void yield(std::uint64_t ns) override;
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out) override;

  // The calling thread's seat; nullptr: it has none.
  [[nodiscard]] static Seat* mine();

 private:
  friend class VirtualMachine;
  // Creates the process, before another rank sends to it.
  void plug_in();
  // The MPI rank that has joined the job at this seat; nullptr: none.
  [[nodiscard]] mpi_adi::MpiRank* mpi();
  [[nodiscard]] bool napping() const { return nap_until_ns_ != 0; }

  VirtualMachine& machine_;
  const std::uint32_t rank_;
  Turn turn_;
  std::unique_ptr<sim::Process> process_;  // until MPI_Init takes it
  mpi_adi::VirtualMpiProcess mpi_process_;
  std::uint64_t nap_until_ns_ = 0;
  bool over_ = false;  // its program has returned
  int status_ = -1;    // main's exit status
};

class VirtualMachine {
 public:
  VirtualMachine(std::uint32_t ranks, std::uint64_t seed);

  // Runs `program(rank)`, which returns an exit status, on each rank to its end. A machine runs once. Returns the
  // failure; empty: none. If all ranks are deadlocked, ends the process with a message.
  [[nodiscard]] std::string run(const std::function<int(std::uint32_t rank)>& program);
  // The length of the run, which is the same whenever the run is reproduced.
  [[nodiscard]] std::string measure() const;

 private:
  friend class Seat;

  [[nodiscard]] sim::Job job_of(std::uint32_t rank) const;
  // The next rank to run; the network may advance before. nullptr: all programs have returned.
  [[nodiscard]] Seat* choose();
  [[nodiscard]] std::vector<Seat*> find_runnable_seats();
  void look_for_rest();
  void pass_turn(Seat& from);
  void settle();
  [[nodiscard]] std::string judge();

  std::mt19937_64 random_;
  sim::VirtualNetwork network_;
  MachineClock clock_{network_};
  std::vector<std::unique_ptr<Seat>> seats_;
  std::uint32_t nodes_;
  sim::SharedTable node_of_rank_;
  sim::SharedTable all_ranks_;
  Seat* slow_ = nullptr;  // gets few turns for a while
  std::uint32_t turns_ = 0;
  std::uint64_t sent_ = 0;           // by the network, at the last progress
  std::uint32_t idle_turns_ = 0;     // since then
  std::uint32_t woken_in_turn_ = 0;  // when time last advanced for a sleeper
  Turn all_over_;
};

}  // namespace margay::testing
