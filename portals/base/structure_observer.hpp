// The observer of a portal table's structures: lists and descriptors that are attached, entries that are linked,
// messages that leave a heap. Traces use it. Matching a message in a table without an observer costs nothing extra.
#pragma once

#include "portals/base/header.hpp"

namespace margay::portals {

class Descriptor;
class DynamicBlock;
class MatchEntry;
class MatchList;
struct ArrivedMessage;

// The observer's interface. The structure calls it at each change, in the thread that changes the structure, under the
// process lock. An observer must not change a structure during a call.
class StructureObserver {
 public:
  // A portal got a descriptor or a list: one of `memory` and `list` is nullptr. The table has changed already.
  virtual void attached(PortalIndex portal, Descriptor* memory, MatchList* list) = 0;
  // The portal is empty again.
  virtual void detached(PortalIndex portal) = 0;
  // The entry was appended, inserted or adopted; its neighbours are set.
  virtual void linked(const MatchList& list, const MatchEntry& entry) = 0;
  // The entry was removed. Its neighbours may still link to it during the call.
  virtual void unlinked(const MatchList& list, const MatchEntry& entry) = 0;
  // The entry was activated or deactivated. entry.active() is the new state.
  virtual void switched(const MatchList& list, const MatchEntry& entry) = 0;
  // The structure is being destroyed, and calls no function after this one. A list has no entry any more. Messages that
  // a block still holds are not reported as released.
  virtual void gone(const MatchList& list) = 0;
  virtual void gone(const DynamicBlock& block) = 0;
  // unqueued(): the message is off the queue, and its memory is still allocated. released(): its memory is about to be
  // freed; a message that is freed while it is queued causes only this call.
  virtual void unqueued(const ArrivedMessage& message) = 0;
  virtual void released(const ArrivedMessage& message) = 0;

 protected:
  ~StructureObserver() = default;
};

}  // namespace margay::portals
