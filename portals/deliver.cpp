#include "portals/deliver.hpp"

#include "portals/base/assert.hpp"
#include "portals/memory/storage.hpp"
#include "portals/walk.hpp"

namespace margay::portals {

Verdict Delivery::decide(const Header& header) {
  Verdict verdict;
  if (header.portal >= kPortalCount) {
    // The number comes from a wire, so it is tested here and not asserted.
    verdict.reason = DropReason::no_such_portal;
    return verdict;
  }
  const PortalTable::Portal& portal = table_.portals_[header.portal];
  if (portal.list != nullptr) {
    // The walk has called admit() for the entry that it returns, so reserve() may follow at once.
    const Walk::End end = Walk::fast(*portal.list, header);
    verdict.reason = end.reason;
    verdict.visited = end.visited;
    if (end.entry == nullptr) return verdict;
    verdict.entry = end.entry;
    Storage::reserve(*end.entry->memory(), end.entry->options(), header, verdict);
  } else if (portal.memory != nullptr) {
    // Without a match list the match bits are ignored (paper 001: "a message that is destined for a portal with a
    // memory descriptor attached, but no match list").
    const Passed passed = Storage::admit(*portal.memory, portal.options, header);
    verdict.reason = Walk::reason(passed, header);
    verdict.visited = 1;
    if (passed == Passed::taken) Storage::reserve(*portal.memory, portal.options, header, verdict);
  } else {
    verdict.reason = DropReason::no_such_portal;
  }
  return verdict;
}

void Delivery::complete(const Verdict& verdict, const Header& header) {
  require(verdict.outcome != Outcome::drop, "a message that decide() dropped is neither completed nor abandoned");
  Storage::commit(verdict, header);
  changed_.add(*verdict.descriptor);
}

Placed Delivery::put_whole(const Header& header, const Region& body) {
  MARGAY_DEBUG_ASSERT(body.bytes() == header.length);
  // The caller uses decide() and complete() for messages that these tests exclude: messages that are not puts; puts
  // that request an acknowledgment; an invalid portal; a portal without a list; a body in pieces.
  if (header.kind != Kind::put || header.return_portal != kNoPortal || header.portal >= kPortalCount) return {};
  MatchList* const list = table_.portals_[header.portal].list;
  if (list == nullptr || !body.contiguous()) return {};
  std::uint32_t visited = 0;
  const MatchEntry* const entry = Walk::first_match(*list, header, visited);
  if (entry == nullptr || !Storage::put(*entry->memory(), entry->options(), header, body.single())) return {};
  // The counters change before the descriptor is on the changed list, as in complete(). The walk's length comes last,
  // because it may make the list build its index.
  changed_.add(*entry->memory());
  Walk::record_length(*list, visited);
  return {entry, visited};
}

Verdict Delivery::verdict_of(const Placed& placed, const Header& header) {
  MARGAY_ASSERT(placed.entry != nullptr);
  Verdict verdict;
  // Verdict::entry points to a non-constant entry, as decide() returns it. The cast is safe, because lists link only
  // such entries.
  verdict.entry = const_cast<MatchEntry*>(placed.entry);
  verdict.visited = placed.visited;
  Storage::describe_put(*placed.entry->memory(), header, verdict);
  return verdict;
}

void Delivery::abandon(const Verdict& verdict) {
  require(verdict.outcome != Outcome::drop, "a message that decide() dropped is neither completed nor abandoned");
  Storage::give_back(verdict);
}

WalkSummary Delivery::explain(const Header& header, std::vector<Step>& steps, const WalkLimits& limits) const {
  WalkSummary summary;
  // Nothing is appended to `steps`: a message without a portal visits no entry.
  if (header.portal >= kPortalCount) return summary;
  const PortalTable::Portal& portal = table_.portals_[header.portal];
  bool taken = false;
  if (portal.list != nullptr) {
    const Walk::End end = Walk::linear(*portal.list, header, &steps, limits);
    taken = end.entry != nullptr;
    summary.visited = end.visited;
    summary.is_whole = !end.was_cut;
  } else if (portal.memory != nullptr) {
    const Passed passed = Storage::admit(*portal.memory, portal.options, header);
    steps.push_back({nullptr, passed, portal.memory, portal.options});
    taken = passed == Passed::taken;
    summary.visited = 1;
  }
  if (taken) summary.outcome = header.kind == Kind::get ? Outcome::reply : Outcome::deposit;
  return summary;
}

}  // namespace margay::portals
