#include "collectives/portal/shown.hpp"

#include "portals/base/assert.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::collectives {

Shown::Shown(Collective& collective, Team& team)
    : Part(collective), team_(team), number_(collective.communicator().collective_sequence) {
  // A change of shared memory wakes no task, so the routine must not suspend. Barriers and postings have the numbers of
  // calls in order.
  MARGAY_ASSERT(!collective.flow_.suspends() && CallNumber::in_order(number_ - 1) == collective.call_.number);
}

// Progress lies beside the postings, which only a team with strips has.
bool Shown::request_progress() {
  if (!team_.has_strips()) return false;
  team_.request_progress();
  return true;
}

bool Shown::is_done(int member) const {
  return sim::done_with(team_.posting_area(member).progress) >= number_;
}

bool Shown::any_member_done() const {
  for (int member = 0; member < collective_.size(); ++member) {
    if (is_done(member)) return true;
  }
  return false;
}

bool Shown::has_member_left_for_loss() const {
  for (int member = 0; team_.has_strips() && member < collective_.size(); ++member) {
    // is_done() acquires what has_failed() reads.
    if (is_done(member) && sim::has_failed(team_.posting_area(member).progress, number_)) return true;
  }
  return false;
}

bool Shown::has_loss_notice() const {
  return collective_.call_.any_sent(NoticeKind::lost);
}

void Shown::notify_loss(int member) const {
  collective_.portal_.notices().send(collective_.call_, member, NoticeKind::lost);
}

// Counts as a message of its own kind: MPI_T's shown_collective.
void Shown::count(std::uint64_t bytes) const {
  record(sim::TraceKind::shared_write, collective_.rank(), bytes);
  ++collective_.portal_.shown_.messages;
  collective_.portal_.shown_.bytes += bytes;
}

bool Shown::has_any_notice() const {
  return !collective_.call_.notice_records.empty() || collective_.call_.wrong;
}

bool Shown::has_early_message() const {
  TreePortal& portal = collective_.portal_;
  const portals::Criteria of_this_call{.match_bits = collective_.bits(0),
                                       .ignore_bits = mpi_adi::kSourceMask | mpi_adi::kTypeMask};
  return portal.heap_.queued() > 0 && portal.heap_.find(of_this_call) != nullptr;
}

void Shown::fail_for_different_calls() const {
  collective_.fail(MPI_ERR_TRUNCATE);
  collective_.portal_.notices().find_wrong(collective_.call_);
}

const Shape& Shown::shape() const {
  return collective_.call_.shape;
}

void Shown::fail(int error_class) const {
  collective_.fail(error_class);
}

bool Shown::any_lost() const {
  return collective_.any_lost();
}

void Shown::record(sim::TraceKind kind, int writer, std::uint64_t bytes) const {
  sim::Recorder& recorder = collective_.kernel_.recorder();
  if (!recorder.on()) [[likely]]
    return;
  sim::TraceEvent event;
  event.kind = kind;
  event.source = collective_.communicator_.world_rank(writer);
  if (kind == sim::TraceKind::shared_read) {
    event.destination = collective_.communicator_.world_rank(collective_.rank());
  }
  // The bits that a message from the writer would have; a trace relates the event to its call by them.
  event.match_bits = collective_.bits(writer);
  event.bytes = bytes;
  event.a = collective_.call_.number.word();
  event.b = collective_.call_.shape.operation;
  recorder.record(event);
}

}  // namespace margay::collectives
