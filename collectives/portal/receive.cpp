#include <span>

#include "collectives/portal/collective.hpp"
#include "mpi_adi/progress/device.hpp"

namespace margay::collectives {

namespace {

// Polls before the sender's process is monitored. Most messages have arrived by then, and a rank that yields between
// polls has not gone to sleep yet.
constexpr int kPollsBeforeMonitor = 16;

}  // namespace

Receive::Receive(Collective& collective, int source, const portals::Region& landing)
    : Part(collective), source_(source), landing_(landing) {
  const portals::Criteria wanted = collective.from(source);
  TreePortal& portal = collective.portal_;
  // A nonblocking call does not poll by itself: this process and the sender's may both be computing.
  if (collective.flow_.suspends()) wait_for_answer();
  // "it checks whether the message has arrived in the message heap. If it hasn't, then the child sets up the single
  // block buffer for the message that will be arriving." No round of progress lies between the two steps, so the
  // message cannot be missed.
  if (portal.heap_.find(wanted) != nullptr) {
    stage_ = Stage::in_heap;
    return;
  }
  if (landing.contiguous()) {
    single_.emplace(landing.single());
  } else {
    combined_.emplace(landing);
  }
  collective.own(memory());
  entry_.set(wanted, memory(), {.save = portals::Save::body});
  portal.list_.insert_before(portal.heap_.first_catch_all(), entry_);
  if (!collective.asks(landing.bytes())) return;
  asked_for_ = true;
  collective.send_ready(source);
  // The sender waits for this notice, and may be computing: its coprocessor may have to be woken.
  if (!expecting_) wait_for_answer();
}

Receive::~Receive() {
  end();
  if (entry_.listed()) collective_.portal_.list_.remove(entry_);
}

portals::Descriptor& Receive::memory() {
  if (single_) return *single_;
  return *combined_;
}

bool Receive::advance() {
  switch (stage_) {
    case Stage::deposit:
      if (!decided()) return false;
      // From here on no message begins to arrive in the block. The next stage waits until one that has begun is
      // complete, because the memory returns to the caller after it.
      collective_.portal_.list_.remove(entry_);
      stage_ = Stage::leaving;
      [[fallthrough]];
    case Stage::leaving:
      if (memory().reserved_messages() != 0) return false;
      settle();
      if (stage_ == Stage::over) return true;
      [[fallthrough]];
    case Stage::in_heap:
      if (!take_from_heap()) return false;
      end();
      return true;
    case Stage::over:
      return true;
  }
  return true;
}

// True if the message is in the block, or is in the heap because it is larger than the block, or will not arrive.
bool Receive::decided() {
  if (memory().messages() > 0) return true;
  mpi_adi::Unexpected& heap = collective_.portal_.heap_;
  if (heap.any() && heap.find(collective_.from(source_)) != nullptr) return true;
  if (collective_.is_unreachable(source_)) return true;
  // A message that was asked for may be on its way; only a notice from its sender excludes that.
  const CallState& call = collective_.call_;
  if (call.refuses(source_) || (!asked_for_ && (call.wrong || offered_longer()))) return true;
  if (++polls_ == kPollsBeforeMonitor) monitor(source_);
  return false;
}

// An offer shows that its sender has not sent the short message that this rank expects: the message would have arrived
// before the offer.
bool Receive::offered_longer() const {
  return !asked_for_ && collective_.call_.has_notice(source_, NoticeKind::offer);
}

void Receive::wait_for_answer() {
  expecting_ = true;
  monitor(source_);
  expect_from(source_);
}

void Receive::end() {
  stage_ = Stage::over;
  if (!expecting_) return;
  expecting_ = false;
  count_answer_from(source_);
}

void Receive::settle() {
  const std::uint64_t length = landing_.bytes();
  // A message that is too short fits the block, so its length is checked here.
  if (memory().messages() > 0) [[likely]] {
    if (memory().bytes() != length) collective_.record_other_length(length);
    return end();
  }
  if (collective_.portal_.heap_.find(collective_.from(source_)) != nullptr) {
    stage_ = Stage::in_heap;
    return;
  }
  if (offered_longer()) collective_.portal_.notices().find_wrong(collective_.call_);
  collective_.fail_for_missing_message(source_);
  end();
}

// Searches anew each time: a message whose sender is lost before its body is complete disappears from the heap.
bool Receive::take_from_heap() {
  mpi_adi::Unexpected& heap = collective_.portal_.heap_;
  portals::ArrivedMessage* const message = heap.find(collective_.from(source_));
  if (message == nullptr) {
    collective_.fail(MPIX_ERR_PROC_FAILED);
    return true;
  }
  if (!message->complete) {
    collective_.portal_.await_remainder(message->header);
    return false;
  }
  if (message->body.bytes == landing_.bytes()) {
    portals::copy(landing_, portals::Region(message->body));
  } else {
    collective_.record_other_length(landing_.bytes());
  }
  heap.release(*message);
  return true;
}

ReceiveRows::ReceiveRows(Collective& collective, std::span<const int> members, const portals::Region& table,
                         std::uint64_t bytes)
    : Part(collective), members_(members), table_(table), bytes_(bytes), single_(table.single()) {
  collective.own(single_);
  entry_.set({.match_bits = collective.bits(row_stamp(bytes))}, single_,
             {.save = portals::Save::body, .offset_by = portals::OffsetBy::sender});
  collective.portal_.list_.insert_before(collective.portal_.heap_.first_catch_all(), entry_);
  expecting_ = collective.flow_.suspends();
  for (const int member : members) {
    if (member == collective.rank()) continue;
    if (collective.asks(bytes)) collective.send_ready(member);
    if (!expecting_) continue;
    expect_from(member);
    monitor(member);
  }
}

ReceiveRows::~ReceiveRows() {
  if (entry_.listed()) [[unlikely]]
    collective_.portal_.list_.remove(entry_);
  end();
}

// Many messages arrive in one wait, so a test of the condition after each would waste time.
int ReceiveRows::messages() const {
  return mpi_adi::Device::kMessagesPerRound;
}

bool ReceiveRows::advance() {
  if (entry_.listed()) {
    if (collective_.portal_.heap_.any()) take_from_heap();
    const CallState& call = collective_.call_;
    // Rows in the heap count as arrived.
    if (!here() && !collective_.any_lost() && !call.wrong && !call.any_refuses()) {
      if (++polls_ == kPollsBeforeMonitor) monitor_all();
      return false;
    }
    collective_.portal_.list_.remove(entry_);
  }
  if (single_.reserved_messages() != 0) return false;
  if (!here()) collective_.fail_for_missing_message();
  end();
  return true;
}

void ReceiveRows::end() {
  if (!expecting_) return;
  expecting_ = false;
  for (const int member : members_) {
    if (member != collective_.rank()) count_answer_from(member);
  }
}

void ReceiveRows::monitor_all() const {
  for (const int member : members_) {
    if (member != collective_.rank()) monitor(member);
  }
}

bool ReceiveRows::here() const {
  return single_.messages() + from_heap_ >= members_.size() - 1;
}

// Rows in the heap arrived before the call, or have another length than the table's.
void ReceiveRows::take_from_heap() {
  mpi_adi::Unexpected& heap = collective_.portal_.heap_;
  portals::Criteria of_any_length = entry_.criteria();
  // A row's length is in the bits in which other messages have their source.
  of_any_length.ignore_bits = mpi_adi::kSourceMask;
  while (portals::ArrivedMessage* const message = heap.find(of_any_length)) {
    if (!message->complete) return collective_.portal_.await_remainder(message->header);
    const std::uint64_t offset = message->header.offset;
    // The offset comes from the wire: checked before it is used.
    if (message->body.bytes == bytes_ && offset <= table_.bytes() - bytes_) {
      portals::copy(table_.slice(offset, bytes_), portals::Region(message->body));
    } else {
      collective_.fail(MPI_ERR_TRUNCATE);
    }
    ++from_heap_;
    heap.release(*message);
  }
}

}  // namespace margay::collectives
