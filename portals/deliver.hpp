// The walk and the deposit. decide() finds where an incoming message goes and reserves the room; the kernel then moves
// the body there, in one step or in many; complete() makes the arrival visible. Between the two, other messages may be
// decided. Pure: what to send back is told in the verdict, not done here.
#pragma once

#include <vector>

#include "portals/base/verdict.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/portal_table.hpp"
#include "portals/walk.hpp"

namespace margay::portals {

// What put_whole() did: the entry that took the message, and how many were visited. Nothing: another case.
struct Placed {
  const MatchEntry* entry = nullptr;
  std::uint32_t visited = 0;
  explicit operator bool() const { return entry != nullptr; }
};

// How a walk went that was only looked at.
struct WalkTold {
  Outcome outcome = Outcome::drop;
  std::uint32_t visited = 0;  // entries, with the one that took the message
  bool is_whole = true;       // it went no further than the limit; `outcome` is not known else
};

class Delivery {
 public:
  // `table`, `changed` outlive the delivery.
  Delivery(PortalTable& table, ChangedList& changed) : table_(table), changed_(changed) {}

  // Finds the place through the index and reserves it. Puts, replies and acknowledgments deposit; gets reply.
  // `no_room` or `too_small` verdicts changed nothing, so the same header may be decided again later. put_whole() is
  // the twin of this and complete() (tests/portals/put_whole_test).
  [[nodiscard]] Verdict decide(const Header& header);
  // The body is there (or the reply is on its way): counters, saved header, changed list.
  void complete(const Verdict& verdict, const Header& header);
  // decide(), the copy, and complete() in one, for what most messages are: a put that asks for nothing back, all of it
  // here and in one piece, which a straight walk brings to an independent block with a buffer in one piece for it.
  // Where it is another case nothing happened. It stands beside the three because it saves a receiver 150 of the 1,070
  // instructions that a message of 8 bytes costs it; tests/portals/put_whole_test holds it to them. Requires:
  // body.bytes() == header.length.
  [[nodiscard]] Placed put_whole(const Header& header, const Region& body);
  // What decide() would have said of it, for who looks. Requires: nothing since.
  [[nodiscard]] static Verdict verdict_of(const Placed& placed, const Header& header);
  // The body will not come (its sender is lost): gives the room back. A dynamic block's message leaves the queue and
  // its memory, whoever has claimed it. Requires: no complete() for this verdict. A header-only message in a dynamic
  // block is whole from decide() on, and its program may release it at any time: complete() it at once, never abandon
  // it.
  void abandon(const Verdict& verdict);
  // The linear walk itself, changing nothing: every entry that the paper's kernel would visit for `header`, in order,
  // and why it went on. The last step's entry is decide()'s. Appends to `steps`.
  Outcome explain(const Header& header, std::vector<Step>& steps) const { return explain(header, steps, {}).outcome; }
  // The same up to a limit. Requires: `steps` is empty.
  [[nodiscard]] WalkTold explain(const Header& header, std::vector<Step>& steps, const WalkLimits& limits) const;

 private:
  PortalTable& table_;
  ChangedList& changed_;
};

}  // namespace margay::portals
