// The calls of a rank that do not block, in the order of their numbers. One begins when no gate before it on its
// communicator is under way (portal/tree_portal): so a rank that starts 10,000 broadcasts sends 64 ahead, and the
// others wait here, at the caller, not in others' heaps.
#pragma once

#include <cstdint>
#include <unordered_map>

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
  mpi_adi::Task& task_;
  mpi_adi::ContextId context_ = 0;
  bool gate_ = false;
  OrderedCall* next_ = nullptr;
  OrderedCall* previous_ = nullptr;
};

class CallOrder {
 public:
  // `call` has the next number on `communicator`. `gate`: those after it wait until it is over.
  void enter(OrderedCall& call, const mpi_adi::Communicator& communicator, bool gate);
  // It is over. Wakes whoever may begin.
  void leave(OrderedCall& call);
  // Whether no gate before it is under way.
  [[nodiscard]] bool may_begin(const OrderedCall& call) const;
  // Wakes all that may have begun.
  void wake_begun() {
    if (!lines_.empty()) [[unlikely]]
      wake_lines();
  }

 private:
  struct Line {
    OrderedCall* first = nullptr;
    OrderedCall* last = nullptr;
  };
  void wake_lines();
  // `call` and those after it, to the next gate.
  static void wake_to_gate(OrderedCall* call);
  std::unordered_map<mpi_adi::ContextId, Line> lines_;
};

}  // namespace margay::collectives
