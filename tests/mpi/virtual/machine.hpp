// A virtual machine for whole MPI programs: every rank is a thread with an MPI process of its own over one
// VirtualNetwork. One of them runs at a time. A rank that waits, sleeps, or asks in vain, gives its turn up; whose turn
// is next, and when a frame arrives, is drawn from the seed. Time is virtual for all of them. So a run is the same each
// time, and any rank may be far ahead of any other.
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

// The machine's time: the network's, and what passes without a frame. Looking takes time too, so who asks until it is
// later comes to an end.
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

// One rank's place: its thread, and its MPI.
class Seat final : public sim::YieldPolicy, public mpi_adi::ProcessStart {
 public:
  Seat(VirtualMachine& machine, std::uint32_t rank);

  // Called by this seat's thread, in a wait or when the program sleeps: returns when it has the turn again.
  void yield(std::uint64_t ns) override;
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out) override;

  // The calling thread's seat; nullptr: it has none.
  [[nodiscard]] static Seat* mine();

 private:
  friend class VirtualMachine;
  // Makes the process, before anybody sends to it.
  void plug_in();
  // What has joined the job here; nullptr: nothing.
  [[nodiscard]] mpi_adi::MpiRank* mpi();
  [[nodiscard]] bool napping() const { return nap_until_ns_ != 0; }

  VirtualMachine& machine_;
  const std::uint32_t rank_;
  Turn turn_;
  std::unique_ptr<sim::Process> process_;  // until MPI begins, which takes it
  mpi_adi::VirtualMpiProcess mpi_process_;
  std::uint64_t nap_until_ns_ = 0;
  bool over_ = false;  // its program has returned
  int status_ = -1;    // what main returned
};

// What a run of the machine does not leave to its seed.
struct VirtualWishes {
  std::uint32_t nodes = 0;  // 0: one or two, by the seed
  std::string collective;   // algorithms, as `margay run --collective` takes them
};

class VirtualMachine {
 public:
  VirtualMachine(std::uint32_t ranks, std::uint64_t seed, VirtualWishes wishes = {});

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
  [[nodiscard]] std::vector<Seat*> find_runnable_seats();
  void look_for_rest();
  void pass_turn(Seat& from);
  void settle();
  [[nodiscard]] std::string judge();

  std::mt19937_64 random_;
  sim::VirtualNetwork network_;
  MachineClock clock_{network_};
  std::vector<std::unique_ptr<Seat>> seats_;
  const VirtualWishes wishes_;
  std::uint32_t nodes_;
  sim::SharedTable node_of_rank_;
  sim::SharedTable all_ranks_;
  Seat* slow_ = nullptr;  // gets few turns for a while
  std::uint32_t turns_ = 0;
  std::uint64_t sent_ = 0;           // of the network, when something last happened
  std::uint32_t idle_turns_ = 0;     // since then
  std::uint32_t woken_in_turn_ = 0;  // when time last went on for who slept
  Turn all_over_;
};

}  // namespace margay::testing
