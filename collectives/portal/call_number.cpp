#include "collectives/portal/call_number.hpp"

namespace margay::collectives {

void CallOrder::enter(OrderedCall& call, const mpi_adi::Communicator& communicator, CallNumber number) {
  call.line_ = nullptr;
  // A persistent call is in no list: it begins when it is started.
  if (number.is_persistent()) return;
  call.context_ = communicator.collective_context;
  call.gate_ = number.is_gate();
  Line& line = lines_[call.context_];
  call.line_ = &line;
  call.next_ = nullptr;
  call.previous_ = line.last;
  (line.last == nullptr ? line.first : line.last->next_) = &call;
  line.last = &call;
}

void CallOrder::leave(OrderedCall& call) {
  if (call.line_ == nullptr) return;
  Line& line = *call.line_;
  (call.previous_ == nullptr ? line.first : call.previous_->next_) = call.next_;
  (call.next_ == nullptr ? line.last : call.next_->previous_) = call.previous_;
  if (line.first == nullptr) {
    lines_.erase(call.context_);
  } else if (call.gate_) {
    wake_to_gate(call.next_);
  }
}

// At most CallNumber::kGateCalls steps: each kGateCalls-th call is a gate, and no call behind a gate in the list is
// complete, so the first gate is never further from the list's beginning.
bool CallOrder::may_begin(const OrderedCall& call) {
  if (call.line_ == nullptr) return true;
  for (const OrderedCall* at = call.line_->first; at != &call; at = at->next_) {
    if (at->gate_) return false;
  }
  return true;
}

void CallOrder::wake_to_gate(OrderedCall* call) {
  for (; call != nullptr; call = call->next_) {
    call->task_.wake();
    if (call->gate_) return;
  }
}

}  // namespace margay::collectives
