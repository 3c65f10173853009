// An observer that is notified at once when its descriptor or its transmission changes. Other owners test their
// descriptors when they wait. An owner tag of kind kOwnerListener points to a listener.
#pragma once

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

}  // namespace margay::mpi_adi
