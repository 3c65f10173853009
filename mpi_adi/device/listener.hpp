// Who is told of a change of its descriptor at once, instead of looking at it when it waits: owner of kind
// kOwnerListener.
#pragma once

namespace margay::mpi_adi {

class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  // Something came. In a round of progress, under the process lock, perhaps on the coprocessor's thread.
  virtual void told() = 0;
};

}  // namespace margay::mpi_adi
