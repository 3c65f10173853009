// An observer that is notified of a change of its descriptor at once, where others test the descriptor when they wait.
// An owner tag of kind kOwnerListener points to it.
#pragma once

namespace margay::mpi_adi {

// Its address is an owner tag, so it must not move, and must live as long as its descriptor or transmission.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  // Called in the round of progress that found the descriptor changed, under the process lock, perhaps on the
  // coprocessor's thread. It must neither wait nor call functions of the program. Several changes may be one call.
  virtual void notify() = 0;
};

}  // namespace margay::mpi_adi
