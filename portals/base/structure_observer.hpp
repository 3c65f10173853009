// The observer of a portal table's structures: lists and descriptors that are attached, entries that are linked,
// messages that leave a heap. Traces use it. Without an observer, matching a message costs nothing for it.
#pragma once

#include "portals/base/header.hpp"

namespace margay::portals {

class Descriptor;
class DynamicBlock;
class MatchEntry;
class MatchList;
struct ArrivedMessage;

// Called by the structure itself at each change, in the thread that changes it, which holds the process lock. No call
// may change a structure.
class StructureObserver {
 public:
  // A portal got a descriptor or a list: one of `memory` and `list` is nullptr. The table has changed already.
  virtual void attached(PortalIndex portal, Descriptor* memory, MatchList* list) = 0;
  // The portal is empty again.
  virtual void detached(PortalIndex portal) = 0;
  // Appended, inserted or adopted; the entry has its neighbours.
  virtual void linked(const MatchList& list, const MatchEntry& entry) = 0;
  // Removed. Its neighbours may still link to it during the call.
  virtual void unlinked(const MatchList& list, const MatchEntry& entry) = 0;
  // Activated or deactivated. entry.active() is the new state.
  virtual void switched(const MatchList& list, const MatchEntry& entry) = 0;
  // The structure is being destroyed. It has no entry and no message any more, and calls no function after this one.
  virtual void gone(const MatchList& list) = 0;
  virtual void gone(const DynamicBlock& block) = 0;
  // unqueued: off the queue, its memory still allocated. released: its memory is about to be freed; a message that is
  // freed while it is queued causes only this call.
  virtual void unqueued(const ArrivedMessage& message) = 0;
  virtual void released(const ArrivedMessage& message) = 0;

 protected:
  ~StructureObserver() = default;
};

}  // namespace margay::portals
