// The recorder of a program's portals in the trace. It records entries, by their numbers and names, when they are
// linked and unlinked, and messages when they leave the program's heaps.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "portals/base/structure_observer.hpp"
#include "sim/kernel/target.hpp"
#include "sim/program/explain.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {

// An observer of the portal table and of everything attached to it; exists while a trace records.
class PortalsInTrace final : public portals::StructureObserver {
 public:
  // Observes the table until it is destroyed. Defines the control portal, whose events are not recorded. Requires: all
  // arguments outlive it.
  PortalsInTrace(const Names& names, Recorder& recorder, portals::PortalTable& table,
                 portals::PortalIndex control_portal);
  PortalsInTrace(const PortalsInTrace&) = delete;
  PortalsInTrace& operator=(const PortalsInTrace&) = delete;
  // Ends the observation of everything that still lives.
  ~PortalsInTrace();

  // The callbacks for the kernel's target.
  [[nodiscard]] MatchProbe probe() {
    return {.matched = &PortalsInTrace::matched, .place = &PortalsInTrace::place, .context = this};
  }
  // Records a portal's name.
  void portal(portals::PortalIndex portal, const std::string& name);
  // Records an entry's new name.
  void named(const portals::MatchEntry& entry);

  // StructureObserver: each records its event while the recorder is on.
  void attached(portals::PortalIndex portal, portals::Descriptor* memory, portals::MatchList* list) override;
  void detached(portals::PortalIndex portal) override;
  // One event for each portal that has the list.
  void linked(const portals::MatchList& list, const portals::MatchEntry& entry) override;
  void unlinked(const portals::MatchList& list, const portals::MatchEntry& entry) override;
  void switched(const portals::MatchList& list, const portals::MatchEntry& entry) override;
  void gone(const portals::MatchList& list) override;
  void gone(const portals::DynamicBlock& block) override;
  void unqueued(const portals::ArrivedMessage& message) override { left(message, 0); }
  void released(const portals::ArrivedMessage& message) override { left(message, kTraceHeapReleased); }

 private:
  // The callbacks of MatchProbe. matched() stores the number of a message that a heap takes.
  static void matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                      std::uint64_t sequence);
  // Returns the number of an entry. Defines the entry's name first, if it has changed.
  static std::uint64_t place(void* self, const portals::MatchEntry& entry, portals::PortalIndex portal);

  // The number of an entry. Entries at one address have one number, so an entry that is linked repeatedly needs one
  // name.
  [[nodiscard]] std::uint32_t number_of(const portals::MatchEntry& entry);
  // The entry's descriptor in the trace's form; begins to observe a new heap.
  [[nodiscard]] TraceEntry memory_of(portals::Descriptor& memory);
  // An event about an entry of a portal. `place`: the entry's number; 0: the portal itself.
  [[nodiscard]] TraceEvent event_of(TraceKind kind, portals::PortalIndex portal, std::uint64_t place) const;
  // Records an entry with its criteria, descriptor and successor.
  void record_link(portals::PortalIndex portal, const portals::MatchList& list, const portals::MatchEntry& entry);
  // Records an entry's name, if it has changed.
  void define_name(portals::PortalIndex portal, const portals::MatchEntry& entry, std::uint32_t number);
  // Records that a message left its heap, with the reason.
  void left(const portals::ArrivedMessage& message, std::uint8_t reason);
  // Calls act(portal) for each portal with this list: several may have it.
  template <typename Do>
  void at_portals_of(const portals::MatchList& list, Do act) {
    for (portals::PortalIndex portal = 0; portal < portals::kPortalCount; ++portal) {
      if (lists_[portal] == &list) act(portal);
    }
  }

  // An observed heap, with its number in the trace.
  struct Heap {
    // From 1; never reused in a trace.
    std::uint32_t number = 0;
    portals::DynamicBlock* block = nullptr;
  };
  // A message in a heap: the heap's number, and the message's number in its pair.
  struct Queued {
    std::uint32_t heap = 0;
    std::uint64_t sequence = 0;
  };
  // Constant after construction.
  const Names& names_;
  Recorder& recorder_;
  portals::PortalTable& table_;
  portals::PortalIndex control_portal_;
  // By portal; nullptr: none.
  std::array<portals::MatchList*, portals::kPortalCount> lists_{};
  // Numbers by address; they are never removed.
  std::unordered_map<const portals::MatchEntry*, std::uint32_t> numbers_;
  // The listed entries, with their list.
  std::unordered_map<const portals::MatchEntry*, const portals::MatchList*> standing_;
  // The heaps that are observed.
  std::unordered_map<const portals::Descriptor*, Heap> heaps_;
  // Messages in observed heaps, until their memory is released.
  std::unordered_map<const portals::ArrivedMessage*, Queued> queued_;
  // Recorded names, by entry_number().
  std::map<std::uint64_t, std::string> defined_;
  // Heaps observed so far.
  std::uint32_t last_heap_ = 0;
};

}  // namespace margay::sim
