// A simulated run: all ranks of an MPI program as fibers of one thread, over one network with the times of a machine.
//
// Each rank has a clock of its own. The world runs the rank whose time is the earliest. A rank that runs continues
// until it waits, sleeps, or polls at a time at which a message of an earlier rank could have arrived: no message is
// faster than the machine's least latency, so ranks need not run in the exact order of their times (conservative
// parallel discrete-event simulation; Chandy and Misra). So a poll finds exactly the messages that have arrived by its
// time. Everything else is the code of real runs: the library, its protocols, its collective algorithms.
//
// Costs: a switch between ranks takes about 0.1 us and the copies of the program's variables (program/image); a message
// takes about two switches.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sim/base/peer_table.hpp"
#include "sim/boot/job.hpp"
#include "sim/shm/published.hpp"
#include "virtual_machine/model/faults.hpp"
#include "virtual_machine/model/link_loads.hpp"
#include "virtual_machine/model/machine.hpp"
#include "virtual_machine/model/network_model.hpp"
#include "virtual_machine/model/run_report.hpp"
#include "virtual_machine/model/settings.hpp"
#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/program.hpp"
#include "virtual_machine/world/fiber.hpp"
#include "virtual_machine/world/schedule.hpp"
#include "virtual_machine/world/virtual_rank.hpp"
#include "virtual_machine/world/way_networks.hpp"
#include "virtual_machine/world/wildcards.hpp"

namespace margay::virtual_machine {

class World final : public RankWorld, public WayTiming, public Hooks {
 public:
  // `wildcards`: of an exploration; otherwise empty.
  World(const Settings& settings, const Machine& machine, const WayPlan& plan, const Program& program,
        const Faults& faults, std::optional<Wildcards> wildcards);

  // Runs the program in all ranks to its end. Returns the exit status: that of the first rank whose status is not 0; 1
  // if the accounting law does not hold; otherwise 0. A deadlock or an error ends the process instead.
  [[nodiscard]] int run();

  // --- RankWorld ---
  [[nodiscard]] std::uint64_t read_clock(VirtualRank& rank) override;
  void wait(VirtualRank& rank) override;
  void pause(VirtualRank& rank, std::uint64_t ns) override;
  void begin_call(VirtualRank& rank) override;
  void end_call(VirtualRank& rank) override;
  void begin_test(VirtualRank& rank) override;

  // --- WayTiming ---
  [[nodiscard]] std::uint64_t arrival_ns(std::size_t way, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                         bool begins) override;
  void sent(std::size_t way, std::uint32_t to, std::uint64_t at_ns) override;
  void taken(std::size_t way, std::uint32_t by, std::uint32_t from, bool begins) override;
  [[nodiscard]] std::uint64_t begin_poll(std::size_t way, std::uint32_t rank, bool is_new) override;
  [[nodiscard]] std::uint64_t present_ns(std::uint32_t rank) const override { return time_of(*ranks_[rank]); }

  // --- Hooks: of the rank that runs ---
  // Inside a call of the library, replaced functions call libc's: the library may start a process, or end this one.
  [[nodiscard]] bool in_rank() override { return running_ != nullptr && running_->calls_ == 0; }
  void sleep_ns(std::uint64_t ns) override;
  [[nodiscard]] std::uint64_t now_ns() override { return read_clock(*running_); }
  [[noreturn]] void exit_rank(int status) override;
  // Writes the report and buffered output first.
  [[noreturn]] void end_process(int status) override;
  [[noreturn]] void fail(std::string message, int status) override;

 private:
  // No program begins at time 0, which parts of the library use for "never".
  static constexpr std::uint64_t kBeginNs = 1'000'000'000;

  [[nodiscard]] sim::Job job_of(std::uint32_t rank) const;
  // The body of a rank's fiber. Never returns.
  void run_rank(VirtualRank& rank);
  // Adds the rank's computation since begin_computation() to its time; begin_computation() begins the next measurement.
  void count_computation(VirtualRank& rank);
  void begin_computation();
  // The rank's present time: that of the message that its coprocessor handles, or its own.
  [[nodiscard]] static std::uint64_t time_of(const VirtualRank& rank);
  static void spend(VirtualRank& rank, std::uint64_t ns);
  // Suspends a rank until all ranks whose times are earlier by more than `lead_ns` have run.
  void wait_for_turn(VirtualRank& rank, std::uint64_t lead_ns);
  // Gives the coprocessor of a rank that computes something to do: a frame that arrives, or room for one to send.
  void add_work(VirtualRank& rank, std::uint64_t at_ns);
  [[nodiscard]] std::uint64_t receive_time_ns(std::size_t way, std::uint32_t by, std::uint32_t from) const;
  // The earliest arrival for a rank that no poll has reached; kNever: there is none.
  [[nodiscard]] static std::uint64_t next_arrival_ns(const VirtualRank& rank);
  // Removes the arrivals of a way that a poll at `now_ns` finds.
  static void remove_arrivals(VirtualRank& rank, std::size_t way, std::uint64_t now_ns);
  // Of a machine whose polls take time, by several wires (world_polls): begin_poll(), wait(), and the next events of a
  // rank that waits.
  [[nodiscard]] std::uint64_t begin_timed_poll(VirtualRank& rank, std::size_t way, bool is_new);
  void wait_by_polls(VirtualRank& rank);
  void expect_arrival(VirtualRank& rank, std::size_t way, std::uint64_t at_ns);
  [[nodiscard]] std::uint64_t idle_round_ns(const VirtualRank& rank) const;
  // Suspends a rank until it is to continue.
  void suspend(VirtualRank& rank);
  // Suspends a rank until no other rank can affect its state at its own time, and returns that time. If its coprocessor
  // handles a frame that arrives earlier, returns the time at which it begins; that is then the rank's time until it
  // polls again, waits or leaves the call.
  [[nodiscard]] std::uint64_t compute(VirtualRank& rank);
  // Whether no message that another rank has still to send can arrive by `at_ns`.
  [[nodiscard]] bool is_past(std::uint64_t at_ns);
  static void end_handling(VirtualRank& rank);
  // Ends a rank as by SIGKILL; the others lose it in their next polls. It is suspended, and stays so.
  void kill(VirtualRank& rank, std::uint64_t at_ns);
  // A rank loses another one: if it waits, it continues at this time.
  void wake(VirtualRank& rank, std::uint64_t at_ns);
  // The next rank to run; nullptr: all have ended.
  [[nodiscard]] VirtualRank* choose();
  // In an exploration, when nothing is scheduled: lets the ranks that poll continue, or a wildcard take a message.
  // False: neither is possible.
  [[nodiscard]] bool explore();
  // `waits_for_given`: set if a wildcard has messages, but not that of its given source.
  [[nodiscard]] bool choose_wildcard(bool& waits_for_given);
  // Makes each waiting rank poll once although nothing is in flight. False: enough of these rounds had no effect.
  [[nodiscard]] bool let_waiting_ranks_poll();
  [[noreturn]] void report_deadlock();
  // Writes the ranks' lines without an end.
  void write_partial_lines();
  // After the ends of all ranks: delivers what is in flight, and checks the accounting law.
  [[nodiscard]] bool settle_accounts();
  // The law for each ordered pair, by the kernels' counts. Requires: no message is lost or in flight.
  [[nodiscard]] bool are_registers_right() const;
  // Of all ranks: the latest time, since the start.
  [[nodiscard]] std::uint64_t elapsed_ns() const;
  void print_summary() const;
  // Whether the rank aborts; adds the finding to the report.
  [[nodiscard]] bool add_abort(VirtualRank& rank);
  // Writes the report of --report with this exit status. Returns it, or 1 in place of 0 if the report cannot be
  // written.
  [[nodiscard]] int write_report(int status);
  // Writes the loads of the networks, if the run has a trace.
  void write_loads() const;

  const Settings settings_;
  const Machine machine_;
  const Program program_;
  NetworkModel model_;
  // Of a run with a trace; otherwise nullptr.
  std::unique_ptr<LinkLoads> loads_;
  WayNetworks networks_;
  // Each poll of a wire takes its time. Without ways, and with a coprocessor, a poll that finds nothing is free.
  const bool polls_take_time_;
  Schedule schedule_;
  // The next rounds of waiting ranks for which no frame is due.
  Schedule retries_;
  Stacks stacks_;
  sim::SharedTable node_of_rank_;
  sim::SharedTable all_ranks_;
  std::uint32_t node_count_ = 1;
  // The user's or the machine's, as text.
  std::string rates_;
  bool rates_given_ = false;
  std::vector<std::unique_ptr<VirtualRank>> ranks_;
  // The fiber of the thread, which runs before the first rank and after the last one.
  Fiber own_fiber_;
  // The rank whose fiber runs; nullptr: the thread's own fiber runs, or the run ends.
  VirtualRank* running_ = nullptr;
  // Its number, for the watchdog's thread.
  sim::Published<std::uint32_t> running_number_;
  // The number of ranks whose programs have exited.
  std::uint32_t ended_ = 0;
  // Processor time when the rank that runs began to compute, and the shortest computation so far.
  std::uint64_t computes_since_ns_ = 0;
  std::uint64_t least_computation_ns_ = kNever;
  // No message arrives earlier than this after it was sent.
  std::uint64_t least_latency_ns_ = 0;
  // The same for messages between nodes.
  std::uint64_t least_network_latency_ns_ = 0;
  // Switches between ranks, for the summary.
  std::uint64_t switches_ = 0;
  // Rounds of all waiting ranks since the last frame, and the number of frames until then.
  std::uint32_t idle_rounds_ = 0;
  std::uint64_t sent_ = 0;
  // The delays of messages, Settings::delay_ns.
  std::mt19937_64 delays_;
  // In an exploration: the matches of wildcards. Rounds of the ranks that poll, since the last message or choice.
  std::optional<Wildcards> wildcards_;
  std::uint32_t poll_rounds_ = 0;
  std::uint64_t polled_sent_ = 0;
  // The latest first.
  std::vector<Death> deaths_;
  // Sent, of bodies.
  std::uint64_t bytes_ = 0;
  // Error and findings so far.
  RunReport report_;
  const pid_t process_ = ::getpid();
};

}  // namespace margay::virtual_machine
