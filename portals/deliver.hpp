// The receiving side of portals: the walk and the deposit. decide() finds the destination of a message and reserves its
// room; the kernel then moves the body there, in one step or in many; complete() makes the arrival visible. Between
// decide() and complete(), other messages may be decided. Pure: it sends nothing; the verdict names the answer that the
// kernel sends.
#pragma once

#include <vector>

#include "portals/base/verdict.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/portal_table.hpp"
#include "portals/walk.hpp"

namespace margay::portals {

// The result of put_whole(): the entry that took the message, and the number of entries visited. It converts to false
// if put_whole() does not handle the message; then nothing has changed. The entry is the program's, and this result
// does not keep it alive.
struct Placed {
  const MatchEntry* entry = nullptr;
  // Entries examined, the one that took the message included.
  std::uint32_t visited = 0;
  explicit operator bool() const { return entry != nullptr; }
};

// The result of explain(): a walk that changed nothing.
struct WalkSummary {
  // `reply`: a get that would be taken; `deposit`: any other message that would be taken; `drop`: it would not be
  // taken.
  Outcome outcome = Outcome::drop;
  // Entries visited, the one that took the message included.
  std::uint32_t visited = 0;
  // False when the walk was cut at the limit, in which case `outcome` is unknown.
  bool is_whole = true;
};

// Decides and completes messages of one portal table. Called under the process lock only. Holds references only. The
// common path allocates nothing. These may allocate: explain(), the indexes of a long match list and of a long queue of
// arrivals, and abandon() in a linear block.
class Delivery {
 public:
  // Descriptors whose counters change are put on `changed`. Requires: `table` and `changed` outlive the delivery.
  Delivery(PortalTable& table, ChangedList& changed) : table_(table), changed_(changed) {}

  // Finds the destination, through the index when the list has one, and reserves it. The outcome is `deposit` for a
  // put, a reply and an acknowledgment, `reply` for a get, and `drop` for a message that nothing takes. A drop reserves
  // nothing, so after no_room or too_small the same header may be decided again later. put_whole() is the twin of
  // decide() and complete() together (tests/portals/put_whole_test).
  [[nodiscard]] Verdict decide(const Header& header);
  // Makes a decided message visible, once its body has been moved or its reply is on its way: counters, saved header,
  // changed list. Requires: the verdict is not a drop, and is completed once. Constant time.
  void complete(const Verdict& verdict, const Header& header);
  // decide(), the copy, and complete() in one call, for the most common messages. The message is a put that requests no
  // acknowledgment, and its whole body is here in one piece. Its first matching entry leads to a circular independent
  // block whose next buffer is in one piece and long enough. For any other message the result is false and nothing
  // changed. This second path exists because it saves a receiver 150 of the 1,070 instructions that a message of 8
  // bytes costs; tests/portals/put_whole_test compares both paths. Requires: body.bytes() == header.length.
  [[nodiscard]] Placed put_whole(const Header& header, const Region& body);
  // The verdict that decide() would have returned for a message that put_whole() has placed, for traces. Requires:
  // `placed` is true, and the table has not changed since.
  [[nodiscard]] static Verdict verdict_of(const Placed& placed, const Header& header);
  // Gives back the room of a decided message whose body will not arrive. A message of a dynamic block is taken off the
  // queue and freed, even when a search has claimed it. Requires: the verdict is not a drop and has not been completed.
  // For a header-only message in a dynamic block, call complete() at once and never abandon(): the message is complete
  // from decide() on, and its program may release it at any time.
  void abandon(const Verdict& verdict);
  // Performs the paper's linear walk and changes nothing: appends to `steps` each entry that the walk would visit for
  // `header`, in order, with the result there. If the message is taken, the last step's entry is the one that decide()
  // finds.
  Outcome explain(const Header& header, std::vector<Step>& steps) const { return explain(header, steps, {}).outcome; }
  // As explain() above, up to a limit. Requires: `steps` is empty, because the limit is compared with its length.
  [[nodiscard]] WalkSummary explain(const Header& header, std::vector<Step>& steps, const WalkLimits& limits) const;

 private:
  PortalTable& table_;
  ChangedList& changed_;
};

}  // namespace margay::portals
