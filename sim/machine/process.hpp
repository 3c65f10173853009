// One process of the simulated machine: its job, wires, kernel, trace, process lock and coprocessor. A program of the
// portals layer and an MPI library have one each. start_virtual() makes a process for `margay simulate` and for tests:
// the same kernel over a virtual wire, without a launcher, shared memory or a coprocessor.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"
#include "sim/boot/job.hpp"
#include "sim/kernel/coprocessor.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/machine/guests.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/machine/node_heap.hpp"
#include "sim/machine/node_memory.hpp"
#include "sim/machine/peer_monitor.hpp"
#include "sim/machine/rank_memory.hpp"
#include "sim/shm/biased_lock.hpp"
#include "sim/shm/published.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

class ForwardHops;
class ForwardRelay;
class ForwardWire;
class ShmWire;
class TcpWire;

// The interface through which a virtual machine observes a process's calls of MPI, between which the program computes.
class CallObserver {
 public:
  CallObserver() = default;
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;
  virtual ~CallObserver() = default;
  virtual void begin_call() = 0;
  virtual void end_call() = 0;
  // The call tests for messages once and returns, so its poll must find all that have arrived. Other calls continue to
  // poll until they wait.
  virtual void begin_test() = 0;
};

// A wire of a process on a virtual machine, one of several. It outlives the process.
struct VirtualWay {
  Wire* wire = nullptr;
  // By rank: whether the wire is the usual way to it, and whether it is a further one.
  std::vector<bool> usual;
  std::vector<bool> further;
};

// The configuration of a process on a virtual machine: identity, wire, yield policy, clock.
struct VirtualSettings {
  Job job;
  // Makes the wire, which puts finished transmissions on `finished`. The wire outlives the process.
  std::function<Wire&(TransmissionList& finished)> attach;
  // If not empty, used in place of `attach`: makes several wires, one of which is the usual way to each other rank.
  std::function<std::vector<VirtualWay>(TransmissionList& finished)> attach_ways = {};
  // Passes the turn to other processes of the virtual machine. Required; outlives the process.
  YieldPolicy* yield_policy = nullptr;
  // The virtual machine's clock; outlives the process.
  const Clock* clock = &real_clock();
  // Routes::pattern_of(job.size), which all processes of the virtual machine may share; nullptr: the process makes one.
  std::shared_ptr<const Routes::Numbers> route_pattern = nullptr;
  // Called at the beginning and the end of each call of MPI; outlives the process. nullptr: none.
  CallObserver* calls = nullptr;
};

// One process of the simulated machine: a process of the operating system, or one of its threads. The owner thread
// calls the functions that use the kernel or change the process, under lock(), unless a comment states otherwise.
class Process {
 public:
  // Joins the job (sim/boot), maps the node's segment, and opens the wires. With several nodes, and under a launcher
  // other than margay's, it exchanges values with all ranks through PMI, so all ranks must call it. A failure means
  // that the job cannot run. `thread_rank`: see join().
  [[nodiscard]] static portals::Status start(std::unique_ptr<Process>& out,
                                             std::optional<std::uint32_t> thread_rank = std::nullopt);
  // Makes a process on a virtual machine. It has a board of its own, no shared memory and no coprocessor. Its waits
  // pass the turn in each round.
  [[nodiscard]] static std::unique_ptr<Process> start_virtual(const VirtualSettings& settings);
  // Opens the trace that the job requests, if any. start() does this by itself; a virtual machine calls it before the
  // process's first message.
  [[nodiscard]] portals::Status open_trace();
  // Stops the coprocessor, and destroys kernel, wires and mappings; messages in flight are lost. An orderly end calls
  // finish() first.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Starts the message coprocessor, so that messages move while the program computes (application bypass). `round`: one
  // round of the program's progress. No effect on a virtual machine.
  [[nodiscard]] portals::Status start_coprocessor(Coprocessor::Round round);
  // See Coprocessor::arm().
  void arm_coprocessor() { coprocessor_.arm(); }

  // The process lock, which is locked during every call into the kernel or above it.
  [[nodiscard]] BiasedLock& lock() { return lock_; }

  // The parts of the process; they live as long as it does.
  [[nodiscard]] Kernel& kernel() { return *kernel_; }
  // The clock of all parts of this process.
  [[nodiscard]] const Clock& clock() const { return clock_; }
  // Open only while the job records a trace.
  [[nodiscard]] Recorder& recorder() { return recorder_; }
  // Names of locations in the program, for reports.
  [[nodiscard]] SourceLines& source_lines() { return source_lines_; }
  // The process's data about its job.
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] std::uint32_t rank() const { return job_.rank; }
  // Ranks of the job.
  [[nodiscard]] std::uint32_t size() const { return job_.size; }
  // The memory that the ranks of this node share beside their channels; nullptr: the node has no shared memory.
  [[nodiscard]] const NodeMemory* node_memory() const { return node_memory_ ? &*node_memory_ : nullptr; }
  // The heap from which the ranks of this node allocate memory for each other; nullptr: the node has no shared memory.
  [[nodiscard]] NodeHeap* node_heap() { return node_heap_ ? &*node_heap_ : nullptr; }
  // This rank's memory for windows and MPI_Alloc_mem, from node_heap() or private.
  [[nodiscard]] RankMemory& memory() { return memory_ ? *memory_ : memory_.emplace(node_heap()); }
  // The policy, bell and descriptors by which all waits of this process wait.
  [[nodiscard]] const WaitMeans& wait_means() const { return wait_means_; }
  // Declares that several threads, or several processes of a virtual machine, wait in turns from now on. From then on
  // no wait sleeps on the bell, because only one thread may sleep there, and waits yield by `yield_policy`, which lets
  // the others run. `yield_policy` outlives the process.
  void share_waiting(YieldPolicy& yield_policy) {
    wait_means_.may_sleep = false;
    wait_means_.yield_policy = &yield_policy;
  }
  // Yields the processor (in a virtual machine: the turn) for `ns` nanoseconds; 0: until others that are ready to run
  // have had a turn. Called without the lock.
  void yield_processor(std::uint64_t ns) {
    virtual_policy_ != nullptr ? virtual_policy_->yield(ns) : give_processor_up(ns);
  }

  // Called by each call of MPI while recorder().observing() holds; nullptr: none.
  [[nodiscard]] CallObserver* call_observer() const { return call_observer_; }
  // The streak of empty polls by the program (MPI_Test); see PollStreak.
  [[nodiscard]] PollStreak& polls() { return polls_; }

  // Processes of other jobs that are connected with this one. open_guests() opens their wire; no effect if it is open.
  // Called outside of a round of progress.
  [[nodiscard]] Guests& guests() { return guests_; }
  [[nodiscard]] portals::Status open_guests();
  // Whether the process in this place belongs to another job.
  [[nodiscard]] bool is_guest(std::uint32_t place) const { return guests_.contains(place); }

  // Makes a sleeping wait poll again. Any thread.
  void wake();

  // Sets the policy of later waits; called by the owner outside of any wait. WaitPolicy::automatic requires
  // may_wait_by_company().
  void wait_by(WaitPolicy policy) {
    wait_means_.policy = policy;
    wait_means_.reason = "set by the program";
  }
  // Whether the processors of other ranks are visible here.
  [[nodiscard]] bool may_wait_by_company() const { return wait_means_.company != nullptr; }

  // This rank's block of the job board; a private block if there is no job board.
  [[nodiscard]] BoardBlock& board() { return *board_block_; }
  // The number of the launcher's latest question whether any message moves; a rank answers in BoardWait::answered. 0:
  // there is none.
  [[nodiscard]] std::uint32_t question() const {
    return board_map_.attached() ? published_number(board_map_.header().question) : 0;
  }
  // Whether no process communicates at this place of the job: none has started there, or it has ended its
  // communication. False if there is no job board, or for a guest, whose connection reports its end.
  [[nodiscard]] bool is_absent(std::uint32_t place) const;
  // Whether the latest process there has ended its communication, or aborts. False if there is no job board.
  [[nodiscard]] bool has_left(std::uint32_t place) const;
  // Notes that the process of a place was ended on purpose: what it has sent is taken, and it is then lost. By TCP the
  // connection reports the end; if there is none yet, the attempt to open one does.
  void place_ended(std::uint32_t place);
  // The findings of the checks (leaks, types, ...). With --strict (MARGAY_STRICT=1) a job with findings ends with
  // kStatusFindings, if it would have ended with 0. Under the lock.
  [[nodiscard]] Findings& findings() { return findings_; }
  // Writes to the board this rank's counts of the accounting law for each peer, its counts by kind of message, and the
  // number of entries walked.
  void publish_accounts();

  // Ends the process's part in the job, after its last message: drains the wires for at most 10 s, and signs off at the
  // launcher. `round`: as for start_coprocessor(). Requires: the owner has locked the process lock, and the coprocessor
  // is stopped.
  void finish(const std::function<bool()>& round);
  // Whether this process forwards messages of other ranks of its node (`--forward node`). Such a process must continue
  // to do so after the end of its own communication, and calls finish() last.
  [[nodiscard]] bool forwards_for_others() const;
  // Whether each of these ranks has called finish() at least once, or is lost. Requires: forwards_for_others().
  [[nodiscard]] bool node_has_finished() const;
  // Undoes finish() for a process that will send again; a process cannot join a job twice. No effect before finish().
  void resume();
  // Whether a thread that ends must call thread_ends(). Called under the lock.
  [[nodiscard]] bool minds_threads() const { return tcp_ != nullptr || guests_.wire() != nullptr; }
  // Called in the ending thread, under the lock. Cancels the operations that the operating system carries out for this
  // thread. The next thread that polls submits these operations again.
  void thread_ends();
  // Stops the message coprocessor. Must precede finish().
  void stop_coprocessor() {
    coprocessor_.stop();
    coprocessor_round_ = {};
  }
  // Ends the streams of the sockets, after finish(), at the process's exit. Without it, closing a socket with unread
  // bytes could discard messages that this rank sent. Nothing can be sent or received afterwards.
  void shut();
  // Whether finish() signed off at a launcher other than margay's. Such a launcher (Hydra) accepts nothing more after
  // that, and regards every exit of the process as regular.
  [[nodiscard]] bool signed_off() const;

  // Writes to the board that the process aborts: the launcher reports `message` if the process ends before abort().
  // Neither allocates nor locks.
  void announce_abort(int code, std::string_view message, Finding finding = Finding::aborted);
  // Ends the whole job. Never returns. The launcher's line about the abort ends with the id of `finding`.
  [[noreturn]] void abort(int code, std::string_view message, Finding finding = Finding::aborted);

 private:
  explicit Process(const Clock& clock);
  // The steps of start(); open_wires() calls open_shm() and open_tcp().
  [[nodiscard]] portals::Status open_board();
  [[nodiscard]] portals::Status open_wires();
  [[nodiscard]] portals::Status open_shm();
  // Continue the counts of the processes that had this one's place before, as the board has them. The first returns, by
  // index in `peers`, the messages that these processes have answered.
  [[nodiscard]] std::vector<std::uint64_t> received_by_predecessors(const std::vector<std::uint32_t>& peers) const;
  void resume_registers();
  // `reached`: by rank, whether TCP reaches it.
  [[nodiscard]] portals::Status open_tcp(const std::vector<bool>& reached);
  // Makes the parts by which messages are forwarded; the kernel gets them by connect_forwarding().
  void open_forward();
  void connect_forwarding();
  // Takes part in the exchange of cards without a card, because TCP reaches no rank from here.
  [[nodiscard]] portals::Status skip_tcp();
  // Prints and counts a refused frame of forwarding.
  void report_refused(const std::string& line);
  // Whether finish() has nothing left to wait for.
  [[nodiscard]] bool is_drained();
  // The routes over wires_: by rank its usual wire, and by wire the ranks that it reaches, which is used up.
  [[nodiscard]] Routes routes_of(const std::vector<WireId>& usual,
                                 std::array<std::vector<bool>, kWireCount>& reached) const;
  // Routes the messages to a guest, and places it on a node of its own.
  void admit(std::uint32_t place, Wire& wire);
  // Counts this rank as in company while the ranks and the guests of this host outnumber its processors.
  void count_guests();
  // Has the board count the polls of a wire, if it has room.
  void count_polls_on_board(const PolledWire& row);
  // Makes the eventfd that wakes an owner that sleeps on its sockets when a rank of its node rings the bell.
  void open_wake_descriptor();
  // Writes the counts of the accounting law for one peer and way to the board.
  void publish_pair(std::uint32_t peer, WayCode way);
  // Sets the polling of wires by the option skip_poll.
  [[nodiscard]] portals::Status set_polling();
  // Chooses the yield policy from the options, the processors and the ranks of this host.
  void choose_waiting();
  // Finds the words in which the ranks of this host publish their processors, and makes company_ from these words.
  void look_for_company();
  // Requires: all wires are open. The set of wires must not change afterwards.
  void make_kernel(Routes routes);

  // Destroyed last, because all parts refer to it.
  Job job_;
  const Clock& clock_;
  Recorder recorder_;
  SourceLines source_lines_;
  Board board_map_;
  // This rank's block if there is no job board.
  BoardBlock own_board_;
  BoardBlock* board_block_ = &own_board_;
  Findings findings_{job_, own_board_.findings, recorder_};
  // The process lock.
  BiasedLock lock_;
  // The mapping of the node's segment; empty for a rank that is alone on its node.
  Mapping segment_;
  std::optional<NodeMemory> node_memory_;
  std::optional<NodeHeap> node_heap_;
  // Made at its first use.
  std::optional<RankMemory> memory_;
  // The finished transmissions: the wires fill the list, and the kernel drains it. Declared before both, because both
  // refer to it.
  TransmissionList finished_;
  std::vector<std::unique_ptr<Wire>> wires_;
  // One of wires_; nullptr: the rank shares no memory.
  ShmWire* shm_ = nullptr;
  // Monitors the node's ranks under launchers that do not.
  PeerMonitor peer_monitor_;
  // One of wires_; nullptr: no message takes TCP.
  TcpWire* tcp_ = nullptr;
  // Has a wire of its own, which the kernel uses like wires_.
  Guests guests_;
  // Declared before the wires' users. nullptr: no message is forwarded. The wire is one of wires_.
  std::unique_ptr<ForwardHops> hops_;
  ForwardWire* forward_ = nullptr;
  std::unique_ptr<ForwardRelay> relay_;
  std::unique_ptr<Kernel> kernel_;
  RankProcessors rank_processors_;
  // nullptr: the processors of other ranks are not visible.
  std::unique_ptr<Company> company_;
  // The processors that this process may use, by choose_waiting().
  double processors_ = 0;
  // See count_guests().
  std::optional<Company::Unseen> crowd_of_guests_;
  WaitMeans wait_means_;
  PollStreak polls_;
  BellData* bell_data_ = nullptr;
  // An eventfd that the coprocessor writes when the bell rings, because the owner may be sleeping on its sockets; -1:
  // there are no sockets.
  int wake_descriptor_ = -1;
  // nullptr: not on a virtual machine.
  YieldPolicy* virtual_policy_ = nullptr;
  CallObserver* call_observer_ = nullptr;
  // The round of the coprocessor; empty: it does not run.
  Coprocessor::Round coprocessor_round_;
  Coprocessor coprocessor_;
};

}  // namespace margay::sim
