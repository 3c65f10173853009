// The observer of a portal table's structures: which lists and descriptors are attached, which entries are in a list,
// what leaves a heap. For traces; whoever has none pays nothing for it where messages are matched.
#pragma once

#include "portals/base/header.hpp"

namespace margay::portals {

class Descriptor;
class DynamicBlock;
class MatchEntry;
class MatchList;
struct ArrivedMessage;

// Called by the structure itself at each change. No call may change a structure.
class StructureWatch {
 public:
  // `memory`, `list`: one of them is nullptr.
  virtual void attached(PortalIndex portal, Descriptor* memory, MatchList* list) = 0;
  virtual void detached(PortalIndex portal) = 0;
  // Appended, inserted or adopted; the entry has its neighbours.
  virtual void linked(const MatchList& list, const MatchEntry& entry) = 0;
  // Taken out; its chain may still lead to it.
  virtual void unlinked(const MatchList& list, const MatchEntry& entry) = 0;
  // Activated or deactivated.
  virtual void switched(const MatchList& list, const MatchEntry& entry) = 0;
  // The structure's end: it has no entry and no message any more, and is not followed.
  virtual void gone(const MatchList& list) = 0;
  virtual void gone(const DynamicBlock& block) = 0;
  // Off the queue, its memory still taken; about to be freed, which may come without the other.
  virtual void unqueued(const ArrivedMessage& message) = 0;
  virtual void released(const ArrivedMessage& message) = 0;

 protected:
  ~StructureWatch() = default;
};

}  // namespace margay::portals
