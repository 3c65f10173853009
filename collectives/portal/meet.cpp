#include "collectives/portal/meet.hpp"

#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// Looks in vain between two at whether others have gone on without this call, and how often that must be so: a word why
// has time to arrive between.
constexpr std::uint32_t kLooksBeforeDoubt = 32;
constexpr std::uint32_t kDoubts = 2;

// What members compare: operation and bytes, exactly; of long data that it is long, and then what their lines say.
constexpr unsigned kMarkBytesBits = 15;
constexpr std::uint32_t kMarkLong = (1U << kMarkBytesBits) - 1;
static_assert(sim::kMeetingPartBytes < kMarkLong);

std::uint32_t mark_of(const Shape& shape, std::uint64_t bytes) {
  static_assert(kMeetingOperations == 1U << (sim::Meeting::kMarkBits - kMarkBytesBits));
  const std::uint32_t length = bytes <= sim::kMeetingPartBytes ? static_cast<std::uint32_t>(bytes) : kMarkLong;
  return std::uint32_t{shape.operation} << kMarkBytesBits | length;
}

}  // namespace

bool Meet::come(std::uint64_t bytes) {
  MARGAY_ASSERT((bytes_ <= sim::kMeetingPartBytes || team_.has_strips()) && !collective_.flow_.stops());
  record(sim::TraceKind::shared_write, collective_.rank(), bytes);
  ++collective_.portal_.shown_.messages;
  collective_.portal_.shown_.bytes += bytes;
  sim::Meeting& meeting = team_.meeting();
  if (in_strips() && step_ == 0) {
    const LongCall mine = long_call();
    std::memcpy(team_.part(collective_.rank(), side_, sizeof mine), &mine, sizeof mine);
  }
  switch (meeting.come(number(), mark_of(collective_.call_.shape, bytes_))) {
    case sim::Meeting::Came::waits:
      return false;
    case sim::Meeting::Came::late:
      late_ = true;
      return false;
    case sim::Meeting::Came::last:
      break;
  }
  if (meeting.others_differ()) {
    collective_.fail(MPI_ERR_TRUNCATE);
  } else if (in_strips() && step_ == 0 && !all_name_this_call()) {
    meeting.found_other_marks();
    collective_.fail(MPI_ERR_TRUNCATE);
  }
  return true;
}

Meet::LongCall Meet::long_call() const {
  return {bytes_, collective_.call_.shape.root};
}

bool Meet::all_name_this_call() const {
  const LongCall mine = long_call();
  for (int member = 0; member < collective_.size(); ++member) {
    if (std::memcmp(team_.part(member, side_, sizeof mine), &mine, sizeof mine) != 0) return false;
  }
  return true;
}

void Meet::next() {
  ++step_;
  looks_ = 0;
  doubts_ = 0;
  side_ = team_.meeting().side();
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
  CallState& call = collective_.call_;
  if (collective_.any_lost() || call.anybody_says(Word::lost)) {
    leave_the_lost();
    return true;
  }
  // What else is said in this call says that its member takes it for one by messages. Who goes on without this meeting,
  // for want of a lost member, has said so before: that word is here at one of the next looks.
  const bool alone = ++looks_ % kLooksBeforeDoubt == 0 && (late_ || goes_on_elsewhere()) && ++doubts_ == kDoubts;
  if (!alone && call.said.empty() && !call.wrong) return false;
  if (!late_ && meeting.is_open(number())) return false;
  collective_.fail(MPI_ERR_TRUNCATE);
  collective_.portal_.notices().find_wrong(call);
  return true;
}

// All others are told, for who is told leaves too: whoever finds others gone finds the reason as well.
void Meet::leave_the_lost() {
  collective_.fail(MPIX_ERR_PROC_FAILED);
  for (int member = 0; member < collective_.size(); ++member) {
    if (member != collective_.rank()) collective_.portal_.notices().tell(collective_.call_, member, Word::lost);
  }
}

// A member sent a message for this call, or is in a later one.
bool Meet::goes_on_elsewhere() {
  TreePortal& portal = collective_.portal_;
  portals::Criteria of_this_call{.match_bits = collective_.bits(0),
                                 .ignore_bits = mpi_adi::kSourceMask | mpi_adi::kTypeMask};
  return (portal.heap_.queued() > 0 && portal.heap_.find(of_this_call) != nullptr) ||
         team_.meeting().is_abandoned(number());
}

const std::byte* Meet::part(int member, std::uint64_t bytes) {
  record(sim::TraceKind::shared_read, member, bytes);
  return place_of(member);
}

const std::byte* Meet::earlier(int member, std::uint64_t bytes) {
  record(sim::TraceKind::shared_read, member, bytes);
  return place_on(member, side_ ^ 1U);
}

void Meet::record(sim::TraceKind kind, int writer, std::uint64_t bytes) const {
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
  event.bytes = bytes;
  event.a = collective_.call_.number.word();
  event.b = collective_.call_.shape.operation;
  recorder.record(event);
}

}  // namespace margay::collectives
