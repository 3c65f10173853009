// A program on portals: one process of a job, for whoever sets up portal tables, match lists and memory descriptors
// himself. Start it with `margay run -n N PROGRAM`; alone, it is rank 0 of 1.
//
//   std::unique_ptr<Program> program;
//   if (Status status = Program::start(program); !status.ok()) ...
//   program->table().attach(4, block, options);    // portal numbers, lists and descriptors are the program's own
//   program->barrier();                            // nobody sends before every table is ready
//   program->put({.destination = 1, .portal = 4}, Region(data, bytes));
//   program->wait_until([&] { return block.messages() == 1; });
//   program->finish();
//
// Messages move only while the program is in one of the calls below, or inside compute(). So between the calls nothing
// changes by itself, and tables, lists, descriptors and counters may be looked at and changed at will. Inside compute()
// they belong to the message coprocessor, and no call below may be made.
// Threads: one thread makes every call. One Program to a process.
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
inline constexpr std::uint64_t kNoLimitNs = ~std::uint64_t{0};
// How long barrier(), settle() and finish() bear it that a portal holds messages back.
inline constexpr std::uint64_t kHoldLimitNs = 10'000'000'000;

struct ControlMeans;  // sim/program/control

class Program {
 public:
  // Joins the job and starts the message coprocessor. Error: a sentence; the process is in no job.
  [[nodiscard]] static portals::Status start(std::unique_ptr<Program>& out);
  // Without finish() the launcher counts the rank as lost, and ends the job. Whatever is attached to the table may go
  // before or after.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] portals::Rank rank() const { return process_->rank(); }
  [[nodiscard]] std::uint32_t size() const { return process_->size(); }
  // This process's portal table. Portal 63 (kControlPortal) is taken.
  [[nodiscard]] portals::PortalTable& table() { return kernel().table(); }

  // Sends `body` with these values; returns when its memory may be used again, which says nothing about its arrival.
  // Error: a destination, a portal or a body that cannot be, a receiver that is lost, or a call inside compute() or
  // after finish(), as of all calls here that return a Status. The others end the process there, with a sentence.
  [[nodiscard]] portals::Status put(const HeaderValues& values, const portals::Region& body = {});
  // The same without waiting: `sending` tells when the memory is free. Error: as put(), or sending is not done().
  [[nodiscard]] portals::Status start_put(const HeaderValues& values, const portals::Region& body, Sending& sending);
  // The receiver does not want the remainder (its acknowledgment said so). The sending is done some time later.
  void stop(Sending& sending);
  // Asks for `length` bytes out of a read-only descriptor; they come as a reply to the return portal, which is needed.
  [[nodiscard]] portals::Status get(const HeaderValues& values, std::uint64_t length);

  // One round: sends go on, what has arrived is delivered and answered. Returns whether anything moved.
  bool progress();
  // Progress until `done()`, which may look at everything but make no call that waits. Spins, yields or sleeps, as
  // fits. Error: a process of the job is lost and done() does not hold (call progress() in a loop to live with that);
  // or limit_ns have passed. A wait without progress says on stderr, every 30 s or so, what it knows.
  template <class Done>
  [[nodiscard]] portals::Status wait_until(Done done, std::uint64_t limit_ns = kNoLimitNs);

  // The descriptor whose counters changed longest ago, each change once; nullptr when there is none.
  [[nodiscard]] portals::Descriptor* changed() { return kernel().changed().take(); }
  // "No room" and "too small" on this portal leave the message, and its sender's later ones, on the wire until there is
  // room, instead of dropping it. Not to be taken back.
  // Requires: portal < kControlPortal.
  void hold_when_no_room(portals::PortalIndex portal) {
    portals::require(portal < kControlPortal,
                     "hold_when_no_room() of a portal that is not a program's; choose 0 to 62");
    kernel().target().hold_when_no_room(portal);
  }

  // Application bypass: runs `work` while the coprocessor delivers and answers. See above for what `work` must not do.
  template <class Work>
  void compute(Work work) {
    leave_kernel();
    work();
    enter_kernel();
  }
  // false: the coprocessor's thread could not be made, and nothing moves inside compute(); start() said so on stderr.
  [[nodiscard]] bool has_bypass() const { return has_bypass_; }

  // Returns when all processes are here. Collective. Messages sent before may still be on their way: settle().
  // Error: a process is lost; or this one has held messages of another back for kHoldLimitNs, and with them whatever
  // else that one sends (hold_when_no_room): make room before the processes meet.
  [[nodiscard]] portals::Status barrier();
  // Returns when all processes are here and every message that any of them sent is delivered or dropped, and answered:
  // the job is at rest, and in every process's registers, for each pair, sent = delivered + dropped. Collective.
  // Error: as barrier(); or nothing has come of it for limit_ns. Another settle() may follow, on all processes.
  [[nodiscard]] portals::Status settle(std::uint64_t limit_ns = kNoLimitNs);
  // The orderly end: settle(), and the launcher is told. Collective; the last call that moves messages. Error: as
  // settle(); the process is out of the job all the same.
  [[nodiscard]] portals::Status finish();
  // Ends the whole job with this exit status; `message` is for the user. Never returns.
  [[noreturn]] void abort(int code, const std::string& message) { process_->abort(code, message); }

  // Messages sent, delivered, dropped by reason, for each peer. barrier() and settle() count too.
  [[nodiscard]] const Registers& registers() const { return process_->kernel().registers(); }
  // The status register: messages dropped for this reason since the start.
  [[nodiscard]] std::uint64_t drops(portals::DropReason reason) const {
    return registers().drops()[static_cast<std::size_t>(reason)];
  }
  // Whether nothing will come from `rank` again, and why.
  [[nodiscard]] bool lost(portals::Rank rank) const { return process_->kernel().initiator().lost(rank); }
  [[nodiscard]] std::string loss(portals::Rank rank) const { return process_->kernel().initiator().loss(rank); }
  // The wire that reaches `rank`: self, shm or tcp.
  [[nodiscard]] WireId wire_to(portals::Rank rank) const { return process_->kernel().route(rank).id(); }
  [[nodiscard]] std::uint64_t now_ns() const { return process_->clock().now_ns(); }

  // Keeps the latest `limit` decisions of this process's kernel, with the walk of each; 0: none (the start).
  void keep_decisions(std::size_t limit) { kernel().target().decisions().keep(limit); }
  // The oldest one kept, taken off. Messages of barrier() and settle() are left out.
  [[nodiscard]] std::optional<Decision> take_decision() { return kernel().target().decisions().take(); }
  [[nodiscard]] std::size_t decisions_kept() { return kernel().target().decisions().kept(); }
  // What explain() and traces call an entry or a portal. The name stays with the entry's address.
  void name(const portals::MatchEntry& entry, std::string name) {
    names_.set(entry, std::move(name));
    if (portals_in_trace_ != nullptr) portals_in_trace_->named(entry);
  }
  void name(portals::PortalIndex portal, std::string name);
  // The decision in words, a line for each stop of the walk and one for the verdict.
  [[nodiscard]] std::string explain(const Decision& decision) const { return margay::sim::explain(decision, names_); }

  // The process below, for what is not here.
  [[nodiscard]] Process& process() { return *process_; }
  [[nodiscard]] Kernel& kernel() {
    require_inside();
    return process_->kernel();
  }

 private:
  friend class ProgramWait;
  Program();
  // Returns whether anything moved. Process lock held: by the program's thread, or the coprocessor's.
  bool round();
  [[nodiscard]] portals::Status check(const HeaderValues& values, const portals::Region& body) const;
  // Whether the program may make a call that moves messages now.
  [[nodiscard]] portals::Status check_call() const;
  void require_inside() const {
    portals::require(
        process_->lock().owner_inside(),
        "inside compute() tables, lists, descriptors and messages are the coprocessor's; make the call before "
        "compute(), or after");
  }
  [[nodiscard]] portals::Status send(const portals::Header& header, const portals::Region& body);
  [[nodiscard]] ControlMeans control_means();
  [[nodiscard]] static portals::Header header_of(portals::Kind kind, const HeaderValues& values, std::uint64_t length);
  void start_sending(const portals::Header& header, const portals::Region& body, Sending& sending);
  void asked(portals::Rank peer);
  [[nodiscard]] portals::Status lost_peer(portals::Rank peer) const;
  void expect_answers();
  void stop_expecting();
  void leave_kernel();
  void enter_kernel();
  void publish_puts();

  std::unique_ptr<Process> process_;
  std::uint64_t stall_report_ns_ = 0;
  std::unique_ptr<class Control> control_;
  Names names_;
  std::unique_ptr<PortalsInTrace> portals_in_trace_;  // nullptr: nothing is traced
  std::vector<bool> asked_;                           // by rank: it was sent something that may be answered
  std::vector<portals::Rank> asked_list_;             // the same, in order of the first asking
  std::size_t expected_ = 0;  // of asked_list_: the kernel was told to expect answers from so many
  bool has_bypass_ = false;
  bool finished_ = false;
};

// One wait of a program, on the stack of wait_until(). Waits may lie inside each other only across put().
class ProgramWait {
 public:
  // What ends the wait with an error, besides its limit.
  enum class Heed : std::uint8_t { nothing, losses, losses_and_holds };
  // `call` is what the launcher names, `peer` whom it waits for; -1: nobody in particular.
  ProgramWait(Program& program, const char* call, std::int32_t peer, std::uint64_t limit_ns, Heed heed);
  ~ProgramWait();
  ProgramWait(const ProgramWait&) = delete;
  ProgramWait& operator=(const ProgramWait&) = delete;
  // After each round in vain or not. Error: see Program::wait_until.
  [[nodiscard]] portals::Status after_round(bool moved);

 private:
  [[nodiscard]] portals::Status look_around();
  [[nodiscard]] portals::Status look_at_others() const;
  // It has waited for long: the launcher sees it, and after the limit of `--stall` the user.
  void tell(std::uint64_t idle_ns);
  void report() const;
  void clear();

  Program& program_;
  std::int32_t peer_;
  bool on_board_ = false;
  const char* call_;
  bool named_ = false;  // on the board, as the call in progress
  Waiter waiter_;
  std::uint64_t limit_ns_;
  std::uint64_t began_ns_ = 0;
  std::uint64_t next_report_ns_;
  std::uint32_t rounds_ = 0;
  Heed heed_;
  bool expects_ = false;  // this wait told the kernel to expect answers
};

template <class Done>
portals::Status Program::wait_until(Done done, std::uint64_t limit_ns) {
  if (portals::Status status = check_call(); !status.ok()) return status;
  if (done()) return {};
  ProgramWait wait(*this, "Program::wait_until", -1, limit_ns, ProgramWait::Heed::losses);
  for (;;) {
    const bool moved = progress();
    if (done()) return {};
    if (portals::Status status = wait.after_round(moved); !status.ok()) return status;
  }
}

}  // namespace margay::sim
