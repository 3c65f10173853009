#include "libraries/zipcode/emulation/nx_state.hpp"

#include <cstring>
#include <limits>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

constexpr long kTypeMost = 999'999'999, kForceLeast = 1'073'741'824, kForceMost = 1'999'999'999;
constexpr long kMaskedTypes = 30;

[[nodiscard]] bool is_type(long type) {
  return (type >= 0 && type <= kTypeMost) || (type >= kForceLeast && type <= kForceMost);
}

std::string node_error(long node, long nodes) {
  return "invalid node " + std::to_string(node) + "; the nodes are 0 to " + std::to_string(nodes - 1);
}

std::string process_error(long ptype) {
  return "invalid process type " + std::to_string(ptype) + "; a node has one process, of type 0";
}

}  // namespace

NxSelection selection_of(long typesel, long node, long ptype) {
  constexpr long kSign = 0x8000'0000L;
  const bool is_mask_of_32_bits = typesel >= kSign && typesel < 2 * kSign;
  return {is_mask_of_32_bits ? typesel - 2 * kSign : typesel, node, ptype};
}

bool accepts(const NxSelection& selection, long type, long node) {
  if (selection.node != -1 && selection.node != node) return false;
  if (selection.typesel >= 0) return type == selection.typesel;
  // Force types are only received by their number.
  if (type > kTypeMost) return false;
  const long bit = type < kMaskedTypes ? type : kMaskedTypes;
  return (static_cast<unsigned long>(selection.typesel) >> bit & 1U) != 0;
}

std::string selection_error(const NxSelection& selection, long nodes) {
  const bool is_mask = selection.typesel < 0 && selection.typesel >= std::numeric_limits<int>::min();
  if (!is_mask && !is_type(selection.typesel)) return "invalid type selector " + std::to_string(selection.typesel);
  if (selection.node < -1 || selection.node >= nodes) return node_error(selection.node, nodes);
  if (selection.ptype != -1 && selection.ptype != 0) return process_error(selection.ptype);
  return {};
}

std::string type_error(long type) {
  if (is_type(type)) return {};
  return "invalid type " + std::to_string(type) + "; use 0 to 999999999, or a force type 1073741824 to 1999999999";
}

NxState::NxState(ZIP_MAILER* mailer) : mailer_(mailer), me_(zip_rank(mailer)) {
  ZIP_ADDRESSEES* members = zip_addressees(mailer);
  for (int i = 0; i < zip_addressees_size(members); ++i) names_.push_back(zip_addressee(members, i));
  zip_free_addressees(&members);
}

NxState::~NxState() {
  // The mailer may be closed by now; its letters are not.
  for (const Arrived& message : queue_) zip_free(nullptr, message.letter);
}

std::string NxState::send(long type, const void* data, long count, long node, long ptype) {
  if (std::string error = type_error(type); !error.empty()) return error;
  if (node < -1 || node >= nodes()) return node_error(node, nodes());
  if (ptype != 0) return process_error(ptype);
  if (count < 0 || count > std::numeric_limits<int>::max()) return "invalid length " + std::to_string(count);
  if (count > 0 && data == nullptr) return "the buffer is NULL";
  const long first = node == -1 ? 0 : node, last = node == -1 ? nodes() - 1 : node;
  for (long to = first; to <= last; ++to) {
    if (node == -1 && to == me_) continue;
    char* letter = l_new_letter(mailer_, static_cast<int>(count));
    if (letter == nullptr) return "out of memory";
    if (count > 0) std::memcpy(letter, data, static_cast<std::size_t>(count));
    const Zip_process& name = names_[static_cast<std::size_t>(to)];
    l_send(mailer_, letter, name.node, name.pid, type);
  }
  return {};
}

std::string NxState::post(const NxSelection& selection, void* data, long count, long* info, const NxHandler& handler,
                          long& mid) {
  if (std::string error = selection_error(selection, nodes()); !error.empty()) return error;
  if (count < 0) return "invalid length " + std::to_string(count);
  if (count > 0 && data == nullptr) return "the buffer is NULL";
  mid = next_id_++;
  Operation& operation = operations_[mid];
  operation.selection = selection;
  operation.data = static_cast<char*>(data);
  operation.count = count;
  operation.info_out = info;
  operation.handler = handler;
  for (auto at = queue_.begin(); at != queue_.end(); ++at) {
    if (!accepts(selection, at->info.type, at->info.node)) continue;
    const Arrived message = *at;
    queue_.erase(at);
    deliver(operation, message);
    end_if_unasked(mid);
    break;
  }
  return {};
}

long NxState::complete_id(const NxInfo& info) {
  const long mid = next_id_++;
  Operation& operation = operations_[mid];
  operation.is_receive = false;
  operation.is_done = true;
  operation.info = info;
  return mid;
}

bool NxState::take(bool is_blocked) {
  Arrived message;
  message.letter =
      is_blocked ? l_recvb(mailer_, ZIP_ANY, ZIP_ANY, ZIP_ANY) : l_recv(mailer_, ZIP_ANY, ZIP_ANY, ZIP_ANY);
  if (message.letter == nullptr) return false;
  int node = 0, pid = 0;
  l_sender(mailer_, message.letter, &node, &pid, &message.info.type);
  message.info.count = zip_length(mailer_, message.letter);
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i].node == node && names_[i].pid == pid) message.info.node = static_cast<long>(i);
  for (auto& [mid, operation] : operations_) {
    if (!operation.is_receive || operation.is_done || !operation.merged.empty()) continue;
    if (!accepts(operation.selection, message.info.type, message.info.node)) continue;
    deliver(operation, message);
    end_if_unasked(mid);
    return true;
  }
  queue_.push_back(message);
  return true;
}

void NxState::deliver(Operation& operation, const Arrived& message) {
  operation.is_done = true;
  operation.info = message.info;
  if (message.info.count > operation.count) {
    operation.error = "a message of type " + std::to_string(message.info.type) + " from node " +
                      std::to_string(message.info.node) + " has " + std::to_string(message.info.count) +
                      " bytes, but the buffer only " + std::to_string(operation.count);
  } else if (message.info.count > 0) {
    std::memcpy(operation.data, message.letter, static_cast<std::size_t>(message.info.count));
  }
  zip_free(mailer_, message.letter);
  if (operation.info_out != nullptr) {
    operation.info_out[0] = message.info.type;
    operation.info_out[1] = message.info.count;
    operation.info_out[2] = message.info.node;
    operation.info_out[3] = message.info.ptype;
  }
  if (operation.handler.plain != nullptr || operation.handler.extended != nullptr) {
    due_.push_back({operation.handler, operation.info});
    operation.is_ignored = true;
  }
}

void NxState::end_if_unasked(long mid) {
  const auto found = operations_.find(mid);
  if (!found->second.is_ignored || !found->second.is_done) return;
  const std::string error = found->second.error;
  operations_.erase(found);
  if (!error.empty()) report("NX: " + error);
}

void NxState::complete_handler(const NxHandler& handler, const NxInfo& info) {
  due_.push_back({handler, info});
  run_due();
}

void NxState::run_due() {
  // A handler that calls NX does not start another one: NX masks traps inside a handler.
  if (is_masked_ || is_running_) return;
  is_running_ = true;
  while (!due_.empty() && !is_masked_) {
    const Due due = due_.front();
    due_.pop_front();
    run_for_program([&due] {
      if (due.handler.plain != nullptr) {
        due.handler.plain(due.info.type, due.info.count, due.info.node, due.info.ptype);
      } else {
        due.handler.extended(due.info.type, due.info.count, due.info.node, due.info.ptype, due.handler.parameter);
      }
    });
  }
  is_running_ = false;
}

void NxState::poll() {
  while (take(false)) continue;
  run_due();
}

bool NxState::mask(bool is_masked) {
  const bool former = is_masked_;
  is_masked_ = is_masked;
  run_due();
  return former;
}

std::string NxState::find(long mid, Operation*& out) {
  const auto found = operations_.find(mid);
  if (found == operations_.end() || found->second.is_ignored)
    return "invalid message id " + std::to_string(mid) + "; was it waited for already?";
  out = &found->second;
  return {};
}

bool NxState::is_done(const Operation& operation) const {
  if (operation.merged.empty()) return operation.is_done;
  for (const long mid : operation.merged)
    if (const auto found = operations_.find(mid); found != operations_.end() && !is_done(found->second)) return false;
  return true;
}

void NxState::free_id(long mid, NxInfo& info, bool& is_receive, std::string& error) {
  const auto found = operations_.find(mid);
  if (found == operations_.end()) return;
  const Operation operation = found->second;
  operations_.erase(found);
  for (const long part : operation.merged) free_id(part, info, is_receive, error);
  if (!operation.merged.empty()) return;
  if (error.empty()) error = operation.error;
  if (!operation.is_receive) return;
  is_receive = true;
  info = operation.info;
}

std::string NxState::wait(long mid, NxInfo& info, bool& is_receive) {
  poll();
  for (;;) {
    Operation* operation = nullptr;
    if (std::string error = find(mid, operation); !error.empty()) return error;
    if (is_done(*operation)) break;
    if (!take(true)) return "no message can arrive any more";
    run_due();
  }
  std::string error;
  is_receive = false;
  free_id(mid, info, is_receive, error);
  return error;
}

std::string NxState::test(long mid, bool& is_there, NxInfo& info, bool& is_receive) {
  poll();
  Operation* operation = nullptr;
  if (std::string error = find(mid, operation); !error.empty()) return error;
  is_there = is_done(*operation);
  std::string error;
  is_receive = false;
  if (is_there) free_id(mid, info, is_receive, error);
  return error;
}

std::string NxState::ignore(long mid) {
  Operation* operation = nullptr;
  if (std::string error = find(mid, operation); !error.empty()) return error;
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set by find()
  if (!operation->merged.empty()) {
    const std::vector<long> parts = operation->merged;
    operations_.erase(mid);
    for (const long part : parts)
      if (std::string error = ignore(part); !error.empty()) return error;
    return {};
  }
  operation->is_ignored = true;
  end_if_unasked(mid);
  return {};
}

std::string NxState::cancel(long mid) {
  Operation* operation = nullptr;
  if (std::string error = find(mid, operation); !error.empty()) return error;
  NxInfo info;
  bool is_receive = false;
  std::string unused;
  free_id(mid, info, is_receive, unused);
  return {};
}

std::string NxState::merge(long one, long other, long& merged) {
  // NX: -1 stands for no id.
  if (one == -1 || other == -1) {
    merged = one == -1 ? other : one;
    return {};
  }
  Operation* operation = nullptr;
  for (const long mid : {one, other})
    if (std::string error = find(mid, operation); !error.empty()) return error;
  if (one == other) return "a message id is merged with itself";
  merged = next_id_++;
  operations_[merged].merged = {one, other};
  return {};
}

std::string NxState::probe(const NxSelection& selection, bool is_blocked, bool& is_there, NxInfo& info) {
  if (std::string error = selection_error(selection, nodes()); !error.empty()) return error;
  poll();
  for (;;) {
    is_there = false;
    for (const Arrived& message : queue_) {
      if (!accepts(selection, message.info.type, message.info.node)) continue;
      info = message.info;
      is_there = true;
      return {};
    }
    if (!is_blocked) return {};
    if (!take(true)) return "no message can arrive any more";
    run_due();
  }
}

}  // namespace margay::zipcode::core
