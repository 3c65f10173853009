// An observer that is notified at once when its descriptor or its transmission changes. Other owners test their
// descriptors when they wait. An owner tag of kind kOwnerListener points to a listener.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace margay::mpi_adi {

// The interface of such an observer. Its address is an owner tag, so the object must not move, and must live as long as
// its descriptor or transmission.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  // Called in the progress round that found the change, under the process lock, perhaps on the coprocessor's thread. It
  // must neither wait nor call functions of the program. One call may stand for several changes.
  virtual void notify() = 0;
};

// Notifies each listener, last to first. A listener may add and remove any listeners meanwhile: a removed one is not
// notified afterwards, and one that stays is notified at least once.
inline void notify_all(const std::vector<Listener*>& listeners) {
  // A removal moves the later ones, which have been notified, one place down.
  for (std::size_t at = listeners.size(); (at = std::min(at, listeners.size())) != 0;) listeners[--at]->notify();
}

}  // namespace margay::mpi_adi
