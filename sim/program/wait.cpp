#include <algorithm>
#include <cstdio>

#include "sim/program/program.hpp"

namespace margay::sim {

using portals::Status;

namespace {

// Rounds between checks of the clock and of lost ranks; a wait that sleeps checks in each round.
constexpr std::uint32_t kLookEachRounds = 64;
// Waits of this length are shown to the launcher.
constexpr std::uint64_t kOnBoardAfterNs = 1'000'000'000;

}  // namespace

ProgramWait::ProgramWait(Program& program, const char* call, std::int32_t peer, std::uint64_t limit_ns,
                         FailureCause failure_cause)
    : program_(program),
      peer_(peer),
      call_(call),
      waiter_(program.process().kernel(), program.process().clock(), program.process().wait_means()),
      limit_ns_(limit_ns),
      next_report_ns_(program.stall_report_ns_),
      failure_cause_(failure_cause) {}

ProgramWait::~ProgramWait() {
  if (expects_) program_.stop_expecting();
  clear();
  if (named_) program_.process().board().mpi_call[0] = '\0';
}

Status ProgramWait::after_round(bool moved) {
  // Checked before the round's result is used, so that the limit also ends a wait in which something always moves.
  if (++rounds_ % kLookEachRounds == 0 || waiter_.sleeps()) {
    if (Status status = look_around(); !status.ok()) return status;
  }
  if (moved) {
    waiter_.restart();
    clear();
    return {};
  }
  waiter_.idle();
  if (waiter_.idle_ns() >= kOnBoardAfterNs) write_board(waiter_.idle_ns());
  return {};
}

void ProgramWait::write_board(std::uint64_t idle_ns) {
  if (!on_board_) {
    BoardWait& wait = program_.process().board().wait;
    wait.peer = peer_;
    wait.since_ns = program_.now_ns() - idle_ns;
    wait.is_waiting = 1;
    on_board_ = true;
    // The launcher reads these counts if it kills the job.
    program_.publish_puts();
    program_.process().publish_accounts();
  }
  if (idle_ns < next_report_ns_) return;
  // Each report is twice as late as the one before, so that a long stall does not fill the terminal.
  next_report_ns_ *= 2;
  report();
}

void ProgramWait::clear() {
  if (!on_board_) return;
  on_board_ = false;
  program_.process().board().wait.is_waiting = 0;
  // The launcher compares this number, and would take the job for stalled otherwise.
  ++program_.process().board().progress;
}

Status ProgramWait::look_around() {
  // The call's name is written only now, because most waits end before their first check. A nested wait, by put() in a
  // predicate, does not replace the name.
  if (auto& on_board = program_.process().board().mpi_call; on_board[0] == '\0') {
    set_name(on_board, call_);
    named_ = true;
  }
  // Only a wait that lasts until a check makes the kernel nudge the ranks that may owe an answer.
  if (program_.expected_ == 0) {
    program_.expect_answers();
    expects_ = true;
  }
  if (limit_ns_ != kNoLimitNs) {
    const std::uint64_t now = program_.now_ns();
    // The limit counts from the first check on, so that short waits do not read the clock.
    if (began_ns_ == 0) began_ns_ = now;
    if (now - began_ns_ >= limit_ns_) {
      return Status::error("waited " + std::to_string(limit_ns_ / 1'000'000) +
                           " ms, the limit of this wait; raise the limit, or look at drops() of the receiver");
    }
  }
  return failure_cause_ == FailureCause::nothing ? Status() : check_others();
}

Status ProgramWait::check_others() const {
  // A message that is held for a moment is normal.
  const bool long_enough = waiter_.idle_ns() >= std::min(limit_ns_, kHoldLimitNs);
  for (portals::Rank rank = 0; rank < program_.size(); ++rank) {
    if (program_.lost(rank)) return program_.lost_peer(rank);
    if (failure_cause_ == FailureCause::losses_and_holds && long_enough &&
        program_.process().kernel().target().holds(rank)) {
      return Status::error("a portal of this rank holds a message of rank " + std::to_string(rank) +
                           " (hold_when_no_room), and with it all later ones of that rank; make room there first");
    }
  }
  return {};
}

void ProgramWait::report() const {
  std::string text = "margay: rank " + std::to_string(program_.rank()) + " has waited " +
                     std::to_string(waiter_.idle_ns() / 1'000'000'000) + " s in " + call_ + " without progress";
  if (peer_ >= 0) text += "; for rank " + std::to_string(peer_);
  const DropCounts& drops = program_.registers().drops();
  for (portals::Rank rank = 0; rank < program_.size(); ++rank) {
    if (program_.process().kernel().target().holds(rank))
      text += "; messages of rank " + std::to_string(rank) + " are held here";
  }
  for (std::size_t reason = 0; reason < drops.size(); ++reason) {
    if (drops[reason] == 0) continue;
    text += "; dropped here, " + std::string(portals::name(static_cast<portals::DropReason>(reason))) + ": " +
            std::to_string(drops[reason]);
  }
  if (!program_.process().kernel().idle()) text += "; its own messages are not completely sent";
  std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace margay::sim
