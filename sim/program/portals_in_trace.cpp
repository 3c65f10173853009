#include "sim/program/portals_in_trace.hpp"

#include <string_view>
#include <vector>

#include "portals/base/verdict.hpp"
#include "portals/match/match_entry.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/portal_table.hpp"

namespace margay::sim {

using portals::ArrivedMessage;
using portals::DynamicBlock;
using portals::MatchEntry;
using portals::MatchList;
using portals::PortalIndex;

PortalsInTrace::PortalsInTrace(const Names& names, Recorder& recorder, portals::PortalTable& table,
                               PortalIndex control_portal)
    : names_(names), recorder_(recorder), table_(table), control_portal_(control_portal) {
  recorder_.define(DefinitionKind::portal, control_portal, kInternalPortal, "sums over all processes");
  table_.follow(this);
}

PortalsInTrace::~PortalsInTrace() {
  table_.follow(nullptr);
  // Lists and heaps may outlive the program; they must not call a destroyed observer.
  for (MatchList* const list : lists_) {
    if (list != nullptr) list->follow(nullptr);
  }
  for (const auto& [memory, heap] : heaps_) heap.block->follow(nullptr);
}

void PortalsInTrace::portal(PortalIndex portal, const std::string& name) {
  recorder_.define(DefinitionKind::portal, portal, 0, name);
}

void PortalsInTrace::named(const MatchEntry& entry) {
  const auto standing = standing_.find(&entry);
  if (standing == standing_.end()) return;
  const std::uint32_t number = number_of(entry);
  at_portals_of(*standing->second, [&](PortalIndex portal) { define_name(portal, entry, number); });
}

void PortalsInTrace::attached(PortalIndex portal, portals::Descriptor* memory, MatchList* list) {
  if (list == nullptr) {
    TraceEvent event = event_of(TraceKind::entry_linked, portal, 0);
    event.reason = kTraceEntryPortal;
    event.b = memory_of(*memory).packed();
    if (recorder_.on()) recorder_.record(event);
    return;
  }
  bool is_followed = false;
  at_portals_of(*list, [&](PortalIndex) { is_followed = true; });
  lists_[portal] = list;
  // follow() reports the present entries itself.
  if (!is_followed) return list->follow(this);
  // The list is already followed, because another portal has it too. So its entries are recorded here for this portal.
  std::vector<const MatchEntry*> chain;
  for (const MatchEntry* entry = list->first(); entry != nullptr; entry = list->next(*entry)) chain.push_back(entry);
  // Recorded from the end, as MatchList::follow() does it, so that each entry's successor has a number.
  for (auto entry = chain.rbegin(); entry != chain.rend(); ++entry) record_link(portal, *list, **entry);
  for (const auto& [entry, its_list] : standing_) {
    if (its_list == list && !entry->chained()) record_link(portal, *list, *entry);
  }
}

void PortalsInTrace::detached(PortalIndex portal) {
  MatchList* const list = lists_[portal];
  if (list == nullptr) {
    TraceEvent event = event_of(TraceKind::entry_unlinked, portal, 0);
    event.reason = kTraceEntryPortal;
    if (recorder_.on()) recorder_.record(event);
    return;
  }
  for (const auto& [entry, its_list] : standing_) {
    if (its_list == list && recorder_.on()) {
      recorder_.record(event_of(TraceKind::entry_unlinked, portal, number_of(*entry)));
    }
  }
  lists_[portal] = nullptr;
  bool is_elsewhere = false;
  at_portals_of(*list, [&](PortalIndex) { is_elsewhere = true; });
  // The list is observed as long as any portal has it.
  if (is_elsewhere) return;
  list->follow(nullptr);
  std::erase_if(standing_, [&](const auto& each) { return each.second == list; });
}

void PortalsInTrace::linked(const MatchList& list, const MatchEntry& entry) {
  // Entered also while the recorder is paused, because named() and detached() need all listed entries later.
  standing_[&entry] = &list;
  at_portals_of(list, [&](PortalIndex portal) { record_link(portal, list, entry); });
}

void PortalsInTrace::record_link(PortalIndex portal, const MatchList& list, const MatchEntry& entry) {
  if (!recorder_.on()) return;
  const std::uint32_t number = number_of(entry);
  define_name(portal, entry, number);
  TraceEvent event = event_of(TraceKind::entry_linked, portal, number);
  event.source = entry.criteria().source_rank;
  event.match_bits = entry.criteria().match_bits;
  event.bytes = entry.criteria().ignore_bits;
  event.b = memory_of(*entry.memory()).packed();
  if (!entry.active()) event.reason |= kTraceEntryInactive;
  if (!entry.chained()) {
    event.reason |= kTraceEntryAdopted;
  } else if (const MatchEntry* const next = list.next(entry); next != nullptr) {
    event.a = number_of(*next);
  }
  recorder_.record(event);
}

void PortalsInTrace::unlinked(const MatchList& list, const MatchEntry& entry) {
  // Erased also while the recorder is paused, because the entry may be destroyed.
  standing_.erase(&entry);
  if (!recorder_.on()) return;
  const std::uint32_t number = number_of(entry);
  at_portals_of(list,
                [&](PortalIndex portal) { recorder_.record(event_of(TraceKind::entry_unlinked, portal, number)); });
}

void PortalsInTrace::switched(const MatchList& list, const MatchEntry& entry) {
  if (!recorder_.on()) return;
  const std::uint32_t number = number_of(entry);
  at_portals_of(list, [&](PortalIndex portal) {
    TraceEvent event = event_of(TraceKind::entry_switched, portal, number);
    if (!entry.active()) event.reason = kTraceEntryInactive;
    recorder_.record(event);
  });
}

void PortalsInTrace::gone(const MatchList& list) {
  for (MatchList*& each : lists_) {
    if (each == &list) each = nullptr;
  }
}

void PortalsInTrace::gone(const DynamicBlock& block) {
  const auto found = heaps_.find(&block);
  // Copied before the element is erased.
  const std::uint32_t heap = found->second.number;
  heaps_.erase(found);
  // Its memory is the program's again, with all messages in it.
  std::vector<const ArrivedMessage*> here;
  for (const auto& [message, queued] : queued_) {
    if (queued.heap == heap) here.push_back(message);
  }
  for (const ArrivedMessage* const message : here) left(*message, kTraceHeapDestroyed);
}

void PortalsInTrace::matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                             std::uint64_t sequence) {
  auto& mine = *static_cast<PortalsInTrace*>(self);
  // Only messages in dynamic blocks can leave one later.
  if (verdict.message == nullptr || header.portal == mine.control_portal_) return;
  const auto heap = mine.heaps_.find(verdict.descriptor);
  if (heap != mine.heaps_.end()) mine.queued_[verdict.message] = {heap->second.number, sequence};
}

std::uint64_t PortalsInTrace::place(void* self, const MatchEntry& entry, PortalIndex portal) {
  auto& mine = *static_cast<PortalsInTrace*>(self);
  // The name may have changed since the last event about this entry.
  const std::uint32_t number = mine.number_of(entry);
  mine.define_name(portal, entry, number);
  return number;
}

std::uint32_t PortalsInTrace::number_of(const MatchEntry& entry) {
  return numbers_.try_emplace(&entry, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

TraceEntry PortalsInTrace::memory_of(portals::Descriptor& memory) {
  TraceEntry traced{.heap = 0, .type = 1U + static_cast<std::uint32_t>(memory.type())};
  if (memory.type() != portals::DescriptorType::dynamic_block) return traced;
  auto& block = static_cast<DynamicBlock&>(memory);
  const auto [found, is_new] = heaps_.try_emplace(&memory, Heap{last_heap_ + 1, &block});
  if (is_new) {
    ++last_heap_;
    block.follow(this);
    recorder_.define(DefinitionKind::heap, last_heap_, block.heap_bytes(), "");
  }
  traced.heap = found->second.number;
  return traced;
}

TraceEvent PortalsInTrace::event_of(TraceKind kind, PortalIndex portal, std::uint64_t place) const {
  TraceEvent event;
  event.kind = kind;
  event.portal = portal;
  event.detail = place;
  return event;
}

void PortalsInTrace::define_name(PortalIndex portal, const MatchEntry& entry, std::uint32_t number) {
  const std::string* const name = names_.name_of(entry);
  if (name == nullptr && defined_.empty()) return;
  // An entry without a name may be at the address of one that had a name; then the empty name is recorded.
  const std::uint64_t key = entry_number(portal, number);
  std::string& traced = defined_[key];
  const std::string_view now = name == nullptr ? std::string_view() : *name;
  if (traced == now) return;
  traced = now;
  recorder_.define(DefinitionKind::entry, key, portal, now);
}

void PortalsInTrace::left(const ArrivedMessage& message, std::uint8_t reason) {
  const auto found = queued_.find(&message);
  if (found == queued_.end()) return;
  if (recorder_.on()) {
    TraceEvent event = trace_event(TraceKind::heap_left, message.header, found->second.sequence);
    event.a = found->second.heap;
    event.reason = reason;
    recorder_.record(event);
  }
  // An unqueued message still has its memory, whose release is another event.
  if (reason != 0) queued_.erase(found);
}

}  // namespace margay::sim
