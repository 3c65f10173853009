// The calls of a rank that do not block, in the order of their numbers. One begins when no gate before it on its
// communicator is under way (portal/call_number): so a rank that starts 10,000 broadcasts sends 64 ahead, and the
// others wait here, at the caller, not in others' heaps. Persistent ones begin when they are started: others may be
// started in another order elsewhere, and each counts its own gates.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "collectives/portal/call_number.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

// Where a call stands among those of its communicator. Under the process lock.
class OrderedCall {
 public:
  explicit OrderedCall(mpi_adi::Task& task) : task_(task) {}
  OrderedCall(const OrderedCall&) = delete;
  OrderedCall& operator=(const OrderedCall&) = delete;

 private:
  friend class CallOrder;
  struct Line {
    OrderedCall* first = nullptr;
    OrderedCall* last = nullptr;
  };
  mpi_adi::Task& task_;
  mpi_adi::ContextId context_ = 0;
  Line* line_ = nullptr;  // nullptr: of a persistent one, which stands in none
  bool gate_ = false;
  OrderedCall* next_ = nullptr;
  OrderedCall* previous_ = nullptr;
};

class CallOrder {
 public:
  // `call` is the next one on `communicator`, of this number.
  void enter(OrderedCall& call, const mpi_adi::Communicator& communicator, CallNumber number);
  // It is over. Wakes whoever may begin.
  void leave(OrderedCall& call);
  // Whether no gate before it is under way.
  [[nodiscard]] static bool may_begin(const OrderedCall& call);

 private:
  using Line = OrderedCall::Line;
  // `call` and those after it, to the next gate.
  static void wake_to_gate(OrderedCall* call);
  std::unordered_map<mpi_adi::ContextId, Line> lines_;
};

}  // namespace margay::collectives
