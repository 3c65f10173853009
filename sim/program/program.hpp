// A program on portals: one process of a job, for programs that set up portal tables, match lists and memory
// descriptors themselves. Start it with `margay run -n N PROGRAM`; alone, it is rank 0 of 1.
//
//   std::unique_ptr<Program> program;
//   if (Status status = Program::start(program); !status.ok()) ...
//   program->table().attach(4, block, options);    // portal numbers, lists and descriptors are the program's own
//   program->barrier();                            // no process sends before every table is ready
//   program->put({.destination = 1, .portal = 4}, Region(data, bytes));
//   program->wait_until([&] { return block.messages() == 1; });
//   program->finish();
//
// Messages move only while the program is in one of the calls below, or inside compute(). So nothing changes between
// the calls, and tables, lists, descriptors and counters may be read and changed freely. Inside compute() they belong
// to the message coprocessor, and no call below may be made. Threads: one thread makes every call. One Program per
// process.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/base/status.hpp"
#include "portals/portal_table.hpp"
#include "sim/kernel/decision_log.hpp"
#include "sim/machine/process.hpp"
#include "sim/program/explain.hpp"
#include "sim/program/portals_in_trace.hpp"
#include "sim/program/sending.hpp"

namespace margay::sim {

// The portal of barrier() and settle(); the others are the program's.
inline constexpr portals::PortalIndex kControlPortal = portals::kPortalCount - 1;
// The value of `limit_ns` for a wait without a limit.
inline constexpr std::uint64_t kNoLimitNs = ~std::uint64_t{0};
// The time for which barrier(), settle() and finish() wait while a portal holds messages.
inline constexpr std::uint64_t kHoldLimitNs = 10'000'000'000;

struct ControlMeans;  // sim/program/control

// This process in its job. Owns its wires, kernel and coprocessor. The user's code owns the lists and descriptors that
// it attaches.
class Program {
 public:
  // Joins the job and starts the message coprocessor. After a failure the process is in no job.
  [[nodiscard]] static portals::Status start(std::unique_ptr<Program>& out);
  // Without finish(), the launcher counts the rank as lost, and ends the job. Attached lists and descriptors may be
  // destroyed before or after.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // This process's rank, and the number of ranks.
  [[nodiscard]] portals::Rank rank() const { return process_->rank(); }
  [[nodiscard]] std::uint32_t size() const { return process_->job().world_size(); }
  // This process's portal table. Portal 63 (kControlPortal) is reserved.
  [[nodiscard]] portals::PortalTable& table() { return kernel().table(); }

  // Sends `body` with these values. Returns when the body's memory may be reused; the message may then still be in
  // flight. Fails for an invalid destination, portal or body, and for a lost receiver. All calls of a Program that
  // return a Status also fail inside compute() and after finish(). Other calls that use the kernel end the process
  // inside compute(); progress() does so after finish(), too.
  [[nodiscard]] portals::Status put(const HeaderValues& values, const portals::Region& body = {});
  // The same without waiting: `sending` reports when the memory is free, and whether the receiver is lost. Fails for
  // the other reasons of put(), and when sending is not done().
  [[nodiscard]] portals::Status start_put(const HeaderValues& values, const portals::Region& body, Sending& sending);
  // Stops a put whose receiver does not need the remainder (according to its acknowledgment). The sending becomes
  // done() some time later.
  void stop(Sending& sending);
  // Requests `length` bytes of a read-only descriptor; they arrive as a reply at the return portal, which is required.
  [[nodiscard]] portals::Status get(const HeaderValues& values, std::uint64_t length);

  // Makes one round: sends continue, and arrived messages are delivered and answered. Returns whether anything moved.
  bool progress();
  // Makes progress until `done()`, which may read everything but make no call that waits. Spins, yields or sleeps as
  // appropriate. Fails when a process of the job is lost and done() does not hold (call progress() in a loop to
  // tolerate that), or after limit_ns. A wait without progress prints its state to stderr after 30 s (--stall), then
  // each time the wait is twice as long.
  template <class Done>
  [[nodiscard]] portals::Status wait_until(Done done, std::uint64_t limit_ns = kNoLimitNs);

  // Removes and returns the oldest element of the list of changed descriptors; nullptr when no descriptor has changed.
  [[nodiscard]] portals::Descriptor* changed() { return kernel().changed().take(); }
  // Enables backpressure: no_room and too_small on this portal leave the message, and its sender's later ones, on the
  // wire until there is room, instead of dropping it. Cannot be undone. Requires: portal < kControlPortal.
  void hold_when_no_room(portals::PortalIndex portal) {
    portals::require(portal < kControlPortal,
                     "hold_when_no_room() of a portal that is not a program's; choose 0 to 62");
    kernel().target().hold_when_no_room(portal);
  }

  // Application bypass: runs `work` while the coprocessor delivers and answers. `work` must make no call of this class,
  // see above.
  template <class Work>
  void compute(Work work) {
    leave_kernel();
    work();
    enter_kernel();
  }
  // false: the coprocessor's thread could not be created, and nothing moves inside compute(); start() reported it on
  // stderr.
  [[nodiscard]] bool has_bypass() const { return has_bypass_; }

  // A barrier: returns when all processes have called. Collective. Messages sent before may still be in flight: see
  // settle(). Fails when a process is lost. Fails also when this process has held another one's messages for
  // kHoldLimitNs (hold_when_no_room), because all later messages of that process wait behind them: make room before the
  // barrier.
  [[nodiscard]] portals::Status barrier();
  // Returns when all processes have called, and every message that any of them sent is answered and delivered or
  // dropped. The job is then at rest: by the registers of all processes, for each pair, sent = delivered + dropped.
  // Collective. Fails as barrier(), after a wait of limit_ns for another process, and when messages are left that have
  // not moved for limit_ns or kHoldLimitNs, whichever is less. Another settle() may follow, on all processes.
  [[nodiscard]] portals::Status settle(std::uint64_t limit_ns = kNoLimitNs);
  // The orderly end: settle(), and the sign-off at the launcher. Collective; the last call that moves messages. Fails
  // as settle(); the process has left the job in any case.
  [[nodiscard]] portals::Status finish();
  // Ends the whole job with this exit status; `message` is for the user. Never returns.
  [[noreturn]] void abort(int code, const std::string& message) { process_->abort(code, message); }

  // Messages sent, delivered, and dropped by reason, for each peer. Messages of barrier() and settle() are counted too.
  [[nodiscard]] const Registers& registers() const { return process_->kernel().registers(); }
  // Messages dropped for this reason since the start.
  [[nodiscard]] std::uint64_t drops(portals::DropReason reason) const {
    return registers().drops()[static_cast<std::size_t>(reason)];
  }
  // Whether `rank` is lost, so that no message comes from it any more, and the reason.
  [[nodiscard]] bool lost(portals::Rank rank) const { return process_->kernel().initiator().is_lost(rank); }
  [[nodiscard]] std::string loss(portals::Rank rank) const { return process_->kernel().initiator().loss(rank); }
  // The wire that reaches `rank`: self, shm or tcp.
  [[nodiscard]] WireId wire_to(portals::Rank rank) const { return process_->kernel().route(rank).id(); }
  // The process's clock.
  [[nodiscard]] std::uint64_t now_ns() const { return process_->clock().now_ns(); }

  // Keeps the latest `limit` decisions of this process's kernel, with the walk of each; 0, the default: none.
  void keep_decisions(std::size_t limit) { kernel().target().decisions().keep(limit); }
  // Removes and returns the oldest kept decision. Decisions about messages of barrier() and settle() are not kept.
  [[nodiscard]] std::optional<Decision> take_decision() { return kernel().target().decisions().take(); }
  // Decisions that can be taken now.
  [[nodiscard]] std::size_t decisions_kept() { return kernel().target().decisions().kept(); }
  // Sets the name of an entry or a portal for explain() and traces. An entry's name belongs to its address.
  void name(const portals::MatchEntry& entry, std::string name) {
    names_.set(entry, std::move(name));
    if (portals_in_trace_ != nullptr) portals_in_trace_->named(entry);
  }
  void name(portals::PortalIndex portal, std::string name);
  // The decision as text, a line for each stop of the walk and one for the verdict.
  [[nodiscard]] std::string explain(const Decision& decision) const { return margay::sim::explain(decision, names_); }

  // The process below, for services that are not here.
  [[nodiscard]] Process& process() { return *process_; }
  [[nodiscard]] Kernel& kernel() {
    require_inside();
    return process_->kernel();
  }

 private:
  friend class ProgramWait;
  Program();
  // One round of progress; returns whether anything moved. Under the process lock, of the program's thread or the
  // coprocessor's.
  bool round();
  [[nodiscard]] portals::Status check(const HeaderValues& values, const portals::Region& body) const;
  // Whether the program may now make a call that moves messages.
  [[nodiscard]] portals::Status check_call() const;
  // Ends the process when it is inside compute().
  void require_inside() const {
    portals::require(
        process_->lock().owner_inside(),
        "inside compute() tables, lists, descriptors and messages are the coprocessor's; make the call before "
        "compute(), or after");
  }
  // Sends a message and waits until its body's memory is free.
  [[nodiscard]] portals::Status send(const portals::Header& header, const portals::Region& body);
  [[nodiscard]] ControlMeans control_means();
  [[nodiscard]] static portals::Header header_of(portals::Kind kind, const HeaderValues& values, std::uint64_t length);
  void start_sending(const portals::Header& header, const portals::Region& body, Sending& sending);
  // Records that `peer` may owe an answer.
  void asked(portals::Rank peer);
  // The failure that names a lost peer.
  [[nodiscard]] portals::Status lost_peer(portals::Rank peer) const;
  // Make the kernel expect answers from all ranks that may owe one, and undo that.
  void expect_answers();
  void stop_expecting();
  // The two ends of compute().
  void leave_kernel();
  void enter_kernel();
  // Writes the program's count of puts to the job board.
  void publish_puts();

  std::unique_ptr<Process> process_;
  std::uint64_t stall_report_ns_ = 0;
  std::unique_ptr<class Control> control_;
  Names names_;
  // nullptr: no trace.
  std::unique_ptr<PortalsInTrace> portals_in_trace_;
  // By rank: whether it was sent a message that may be answered.
  std::vector<bool> asked_;
  // The same ranks, in the order of the first such message.
  std::vector<portals::Rank> asked_list_;
  // Number of ranks of asked_list_ from which the kernel expects answers.
  std::size_t expected_ = 0;
  bool has_bypass_ = false;
  bool finished_ = false;
};

// One wait of a program, on the stack of wait_until(). Waits may be nested only through put().
class ProgramWait {
 public:
  // Events that end the wait with a failure, beside its limit.
  enum class FailureCause : std::uint8_t { nothing, losses, losses_and_holds };
  // `call`: the name in the launcher's reports; `peer`: the rank for which the program waits; -1: none in particular.
  ProgramWait(Program& program, const char* call, std::int32_t peer, std::uint64_t limit_ns,
              FailureCause failure_cause);
  // Takes the wait off the board, and undoes expected answers.
  ~ProgramWait();
  ProgramWait(const ProgramWait&) = delete;
  ProgramWait& operator=(const ProgramWait&) = delete;
  // To be called after each round. Fails as Program::wait_until().
  [[nodiscard]] portals::Status after_round(bool moved);

 private:
  // The checks that are made now and then: the limit, lost ranks, held messages.
  [[nodiscard]] portals::Status look_around();
  [[nodiscard]] portals::Status check_others() const;
  // Shows a long wait to the launcher, and after the limit of `--stall` to the user.
  void write_board(std::uint64_t idle_ns);
  // Prints the state of a stalled wait.
  void report() const;
  // Takes the wait off the board.
  void clear();

  Program& program_;
  std::int32_t peer_;
  bool on_board_ = false;
  const char* call_;
  // Whether this wait has written its call's name to the board.
  bool named_ = false;
  Waiter waiter_;
  std::uint64_t limit_ns_;
  std::uint64_t began_ns_ = 0;
  std::uint64_t next_report_ns_;
  std::uint32_t rounds_ = 0;
  FailureCause failure_cause_;
  // This wait has made the kernel expect answers.
  bool expects_ = false;
};

template <class Done>
portals::Status Program::wait_until(Done done, std::uint64_t limit_ns) {
  if (portals::Status status = check_call(); !status.ok()) return status;
  if (done()) return {};
  ProgramWait wait(*this, "Program::wait_until", -1, limit_ns, ProgramWait::FailureCause::losses);
  for (;;) {
    const bool moved = progress();
    if (done()) return {};
    if (portals::Status status = wait.after_round(moved); !status.ok()) return status;
  }
}

}  // namespace margay::sim
