// What collective calls need of the rank that they run in. A rank of an MPI program has one (rank_host); tests put
// ranks of a virtual wire here.
#pragma once

#include <cstdint>

#include "mpi_adi/object/communicator.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::collectives {

// A condition, by reference: valid while the function that it was made of lives.
class Until {
 public:
  template <typename Function>
  Until(Function& function)  // NOLINT(google-explicit-constructor): a reference is what is meant
      : function_(&function), call_([](void* self) { return (*static_cast<Function*>(self))(); }) {}
  [[nodiscard]] bool operator()() const { return call_(function_); }

 private:
  void* function_;
  bool (*call_)(void*);
};

// Under the process lock, all of it.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  [[nodiscard]] virtual sim::Kernel& kernel() = 0;
  // Runs the rank's progress until the condition holds, which is asked after at most `messages` of each wire.
  virtual void wait(Until done, int messages) = 0;
  // A call on `communicator` is over; it held a reference.
  virtual void release(mpi_adi::Communicator& communicator) = 0;
  // Whether a waiting rank gives its processor up at once, because others wait for it (design rule 6).
  [[nodiscard]] virtual bool crowded() const = 0;
  // The node of a rank of the world: the same numbers on every rank.
  [[nodiscard]] virtual std::uint32_t node_of(std::uint32_t world_rank) const = 0;
};

}  // namespace margay::collectives
