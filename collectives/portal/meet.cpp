#include "collectives/portal/meet.hpp"

#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// Looks in vain between two at whether others have gone on without this call.
constexpr std::uint32_t kLooksBeforeDoubt = 64;

// What members compare: operation and bytes, exactly.
constexpr unsigned kMarkBytesBits = 15;
static_assert(sim::kMeetingPartBytes < 1U << kMarkBytesBits);

std::uint32_t mark_of(const Shape& shape, std::uint64_t bytes) {
  static_assert(kMeetingOperations == 1U << (sim::Meeting::kMarkBits - kMarkBytesBits));
  return std::uint32_t{shape.operation} << kMarkBytesBits | static_cast<std::uint32_t>(bytes);
}

}  // namespace

bool Meet::come() {
  MARGAY_ASSERT(bytes_ <= sim::kMeetingPartBytes && !collective_.flow_.stops());
  record(sim::TraceKind::shared_write, collective_.rank());
  ++collective_.portal_.shown_.messages;
  collective_.portal_.shown_.bytes += bytes_;
  sim::Meeting& meeting = team_.meeting();
  switch (meeting.come(number(), mark_of(collective_.call_.shape, bytes_))) {
    case sim::Meeting::Came::waits:
      return false;
    case sim::Meeting::Came::late:
      late_ = true;
      return false;
    case sim::Meeting::Came::last:
      break;
  }
  if (meeting.others_differ()) collective_.fail(MPI_ERR_TRUNCATE);
  return true;
}

void Meet::open() {
  team_.meeting().open(number(), static_cast<std::uint32_t>(collective_.rank()));
  team_.wake_others();
}

bool Meet::advance() {
  const sim::Meeting& meeting = team_.meeting();
  if (!late_ && meeting.is_open(number())) [[likely]] {
    if (meeting.marks_differ()) collective_.fail(MPI_ERR_TRUNCATE);
    return true;
  }
  if (collective_.any_lost()) {
    collective_.fail(MPIX_ERR_PROC_FAILED);
    return true;
  }
  CallState& call = collective_.call_;
  // What is said in this call says that its member takes it for one by messages.
  const bool doubts =
      late_ || !call.said.empty() || call.wrong || (++looks_ % kLooksBeforeDoubt == 0 && goes_on_elsewhere());
  if (!doubts || (!late_ && meeting.is_open(number()))) return false;
  collective_.fail(MPI_ERR_TRUNCATE);
  collective_.portal_.notices().find_wrong(call);
  return true;
}

// A member sent a message for this call, or is in a later one.
bool Meet::goes_on_elsewhere() {
  TreePortal& portal = collective_.portal_;
  portals::Criteria of_this_call{.match_bits = collective_.bits(0),
                                 .ignore_bits = mpi_adi::kSourceMask | mpi_adi::kTypeMask};
  return (portal.heap_.queued() > 0 && portal.heap_.find(of_this_call) != nullptr) ||
         team_.meeting().is_abandoned(number());
}

const std::byte* Meet::part(int member) {
  record(sim::TraceKind::shared_read, member);
  return team_.part(member, side_, bytes_);
}

void Meet::record(sim::TraceKind kind, int writer) const {
  sim::Recorder& recorder = collective_.kernel_.recorder();
  if (!recorder.on()) [[likely]]
    return;
  sim::TraceEvent event;
  event.kind = kind;
  event.source = collective_.communicator_.world_rank(writer);
  if (kind == sim::TraceKind::shared_read) {
    event.destination = collective_.communicator_.world_rank(collective_.rank());
  }
  event.match_bits = collective_.bits(writer);
  event.bytes = bytes_;
  event.a = collective_.call_.number.word();
  event.b = collective_.call_.shape.operation;
  recorder.record(event);
}

}  // namespace margay::collectives
