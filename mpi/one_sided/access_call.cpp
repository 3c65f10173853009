#include "mpi/one_sided/access_call.hpp"

#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

#include "mpi/call/call.hpp"
#include "mpi/one_sided/announce.hpp"
#include "mpi/one_sided/fast_path.hpp"
#include "mpi/one_sided/rma_request.hpp"
#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/op/operation.hpp"
#include "mpi_adi/rma/elements.hpp"

namespace margay::mpi {

namespace {

bool is_pair(MPI_Datatype type) {
  return type == MPI_2INT || (accumulate_element_bytes(type) != 0 && !is_basic_datatype(type));
}

// The addresses of a datatype's elements, one after the other.
class PairAddresses {
 public:
  PairAddresses(const void* base, std::int64_t count, const Datatype& type, std::uint64_t pair_bytes)
      : cursor_(pieces_.to_send(base, count, type)), pair_bytes_(pair_bytes) {}
  [[nodiscard]] bool any() const { return cursor_.left() != 0; }
  // Requires: any().
  [[nodiscard]] std::byte* next() {
    // A limit of one byte suffices, because only the piece's address is used. A pair with padding between value and
    // index lies in two pieces, of which the first has the pair's address.
    std::byte* const at = cursor_.peek(1).base;
    cursor_.skip(pair_bytes_);
    return at;
  }

 private:
  Pieces pieces_;
  portals::RegionCursor cursor_;
  std::uint64_t pair_bytes_;
};

}  // namespace

// A loop, because types may be nested too deeply for a recursion.
MPI_Datatype pair_of(const TypeDefinition& definition) {
  MPI_Datatype found = 0;
  std::unordered_set<const TypeDefinition*> seen{&definition};
  std::vector<const TypeDefinition*> left{&definition};
  while (!left.empty()) {
    const TypeDefinition& type = *left.back();
    left.pop_back();
    if (type.elements == 0) continue;  // markers of bounds
    if (type.predefined != 0) {
      if (!is_pair(type.predefined) || (found != 0 && found != type.predefined)) return 0;
      found = type.predefined;
      continue;
    }
    // Each definition once, as types may share parts exponentially often.
    for (const TypePtr& inner : type.origin.types) {
      if (seen.insert(inner.get()).second) left.push_back(inner.get());
    }
  }
  return found;
}

bool is_padded_pair(MPI_Datatype type) {
  return is_pair(type) && type != MPI_FLOAT_INT && type != MPI_2INT;
}

void accumulate_pairs(Rma& rma, Window& window, const Access& access, const AccumulateOperands& operands,
                      const OriginData& origin, const Datatype& pair) {
  // Starts at address 0, so the addresses are offsets in the target.
  PairAddresses there(nullptr, access.target_count, *access.target_type, pair.size);
  PairAddresses here(origin.buffer, operands.any() ? origin.count : 0, *origin.type, pair.size);
  PairAddresses results(access.buffer, access.count, access.has_result() ? *access.type : pair, pair.size);
  AccumulateOperands one = operands;
  one.count = 1;
  while (there.any()) {
    Access single = access;
    single.offset += static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(there.next()));
    single.target_type = &pair;
    single.target_count = 1;
    if (access.has_result()) {
      single.type = &pair;
      single.count = 1;
      single.buffer = results.next();
    }
    if (operands.any()) one.elements = portals::Region(here.next(), operands.element_bytes);
    rma.accumulate(window, single, one);
  }
}

namespace {

// A request-based access (MPI 4.0, 12.3.5), which is allowed in passive epochs only.
class Requested {
 public:
  Requested(Call& call, MPI_Request* handle) : call_(call), handle_(handle) { call.not_null(handle, "request"); }
  // Called when the window is found and its epoch allows accesses.
  [[nodiscard]] Outstanding* begin(Window& window, const Access& access) {
    request_ = std::make_unique<RmaRequest>(call_.device(), *window.communicator);
    request_->set_announced(access.target, access.announced);
    return &request_->outstanding();
  }
  // Gives the request a handle; also for the target MPI_PROC_NULL, whose request is complete.
  void end(Window* window) {
    if (!call_.ok() || window == nullptr) return;
    if (request_ == nullptr) static_cast<void>(begin(*window, {}));
    UserRequest* const made = add_request_handle(call_, *window->communicator);
    RmaRequest* const request = request_.release();
    request->finish_start();
    if (made == nullptr) {
      // The access is in progress and cannot be taken back: its request deletes itself when it is complete.
      std::string unheard;
      static_cast<void>(request->give_up(call_.rank(), unheard));
      return;
    }
    made->device = request;
    *handle_ = made->handle;
  }
  [[nodiscard]] static bool allowed(Call& call, const Window& window, int target) {
    if (window.lock_all || window.targets[static_cast<std::size_t>(target)].lock != LockKind::none) return true;
    wrong_epoch(call, "a request-based access needs an epoch of MPI_Win_lock or MPI_Win_lock_all");
    return false;
  }

 private:
  Call& call_;
  MPI_Request* handle_;
  std::unique_ptr<RmaRequest> request_;
};

void carry_out(Call& call, Direction direction, Window& window, const Access& access) {
  Rma& rma = call.rank().rma();
  // Copies directly, by a system call or by messages; Rma chooses the method by the target.
  direction == Direction::put ? rma.put(window, access) : rma.get(window, access);
}

AccessKind kind_of(Direction direction) {
  return direction == Direction::put ? AccessKind::put : AccessKind::get;
}

// The predefined type of all elements of a datatype; 0: there is none.
MPI_Datatype element_type(const Datatype& type) {
  if (type.predefined) return type.handle;
  // Pairs first, because basic() counts a pair as two elements.
  const MPI_Datatype pair = pair_of(*type.definition);
  return pair != 0 ? pair : type.definition->basic();
}

// If the datatype is the elements' predefined type, its elements are read in place, pairs with their padding.
void take_operands(const OriginData& origin, AccumulateOperands& operands) {
  if (origin.type->handle == operands.type) {
    operands.elements = portals::Region(const_cast<void*>(origin.buffer), operands.count * operands.element_bytes);
  } else {
    operands.elements = operands.pieces.to_send(origin.buffer, origin.count, *origin.type);
  }
}

// Accumulates take predefined operations only (MPI 4.0, 12.3.4).
void check_operation(Call& call, MPI_Op op, bool result_wanted) {
  if (is_predefined_op(op)) {
    if (op == MPI_NO_OP && !result_wanted) {
      call.error(MPI_ERR_OP, "the operation is MPI_NO_OP, which is for accumulates with a result only");
    }
    return;
  }
  const std::string word = operation_text(op);
  const bool lives = call.rank().handles().operations().find(op) != nullptr;
  call.error(MPI_ERR_OP, op == MPI_OP_NULL ? "the operation is MPI_OP_NULL"
                         : lives ? word + " is one that the program made; accumulates take predefined ones only"
                                 : word + " is not a valid operation (freed, or never created)");
}

// Types for Fortran's kinds have handles of their own and count as predefined (MPI 4.0, 19.1.9).
bool is_one_element(const Datatype& type) {
  if (type.predefined) return true;
  const int combiner = type.definition->origin.combiner;
  return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

std::uint64_t target_bytes(const Access& access) {
  return static_cast<std::uint64_t>(access.target_count) * access.target_type->size;
}

// An empty accumulate may have any datatype; calls for one element need a datatype that has one.
bool has_elements(const Access& access, const ResultArguments& result) {
  return result.one_element || target_bytes(access) != 0;
}

// Finds the elements' type, which all sides must have, and checks that the operation is defined on it. Requires:
// `access` is checked.
void check_elements(Call& call, const Access& access, const ResultArguments& result, AccumulateOperands& operands) {
  check_operation(call, operands.op, result.wanted);
  if (!has_elements(access, result)) return;
  const Datatype& target = *access.target_type;
  operands.type = element_type(target);
  operands.element_bytes = accumulate_element_bytes(operands.type);
  if (result.one_element && !is_one_element(target)) {
    call.error(MPI_ERR_TYPE, "datatype " + in_hex(target.handle) + " is not predefined");
  } else if (operands.element_bytes == 0) {
    call.error(MPI_ERR_TYPE, "elements of the target's datatype " + in_hex(target.handle) +
                                 " are not all of one predefined datatype that accumulates take");
  } else if (operands.compare != nullptr && !swaps(operands.type)) {
    call.error(MPI_ERR_TYPE,
               "datatype " + type_text(operands.type) + " cannot be compared; use an integer, a logical or MPI_BYTE");
  } else if (operands.compare == nullptr && !accumulates(operands.op, operands.type)) {
    call.error(MPI_ERR_OP,
               "operation " + operation_text(operands.op) + " is not defined on " + type_text(operands.type));
  } else if (operands.any() && element_type(*access.type) != operands.type) {
    call.error(MPI_ERR_TYPE, "elements of the origin's datatype " + in_hex(access.type->handle) + " are not " +
                                 type_text(operands.type) + ", as the target's are");
  } else if (operands.compare == nullptr && call.ok()) {
    check_portability(call, operands.op, operands.type);
  }
}

// Checks the result's buffer and sets it in `access`; none if no result is wanted.
void check_result(Call& call, Access& access, const ResultArguments& result, const AccumulateOperands& operands) {
  access.buffer = result.result;
  access.count = result.count;
  access.type = nullptr;
  if (!result.wanted || !call.ok()) return;
  access.type = call.datatype(result.type, result.count);
  if (access.type != nullptr) static_cast<void>(call.elements(result.count, *access.type));
  if (!result.one_element) call.append_part("of the result");
  call.address(result.result, result.count, access.type, "the result's buffer");
  if (!call.ok()) return;
  if (has_elements(access, result) && element_type(*access.type) != operands.type) {
    return call.error(MPI_ERR_TYPE, "elements of the result's datatype " + in_hex(access.type->handle) + " are not " +
                                        type_text(operands.type) + ", as the target's are");
  }
  const std::uint64_t bytes = target_bytes(access);
  const std::uint64_t result_bytes = static_cast<std::uint64_t>(result.count) * access.type->size;
  if (result_bytes != bytes) {
    call.error(MPI_ERR_ARG, "the result's elements are " + std::to_string(result_bytes) + " bytes, the target's " +
                                std::to_string(bytes));
  }
}

bool all_are(MPI_Datatype type, const Access& access, const Datatype& origin) {
  return access.target_type->handle == type && origin.handle == type &&
         (access.type == nullptr || access.type->handle == type);
}

sim::TraceAccess traced_as(const ResultArguments& result, bool compares) {
  if (compares) return sim::TraceAccess::compare_and_swap;
  if (!result.wanted) return sim::TraceAccess::accumulate;
  return result.one_element ? sim::TraceAccess::fetch_and_op : sim::TraceAccess::get_accumulate;
}

// The common body of all accumulates. Checks the arguments before the epoch, because that check marks the epoch as
// used. Announces the access after both, because the announcement contains the kind of the epoch.
int accumulate(Call& call, const AccessArguments& arguments, MPI_Op op, const ResultArguments& result,
               Requested* requested, const void* compare = nullptr) {
  Window* window = nullptr;
  Access access;
  AccessArguments checked = arguments;
  // With MPI_NO_OP the operands' arguments are ignored (MPI 4.0, 12.3.4); the result's are checked in their place.
  const bool no_operands = op == MPI_NO_OP && result.wanted;
  if (no_operands) {
    checked.origin = result.result;
    checked.origin_count = result.count;
    checked.origin_type = result.type;
    checked.origin_is_result = true;
  }
  if (!check_access(call, checked, window, access)) {
    if (requested != nullptr) requested->end(window);
    return call.done();
  }
  const OriginData origin{arguments.origin, arguments.origin_count, access.type};
  AccumulateOperands operands;
  operands.op = op;
  operands.compare = static_cast<const std::byte*>(compare);
  // For traces, which distinguish the functions.
  operands.call = traced_as(result, compare != nullptr);
  check_elements(call, access, result, operands);
  check_result(call, access, result, operands);
  if (!call.ok()) return call.failed();
  // Checked before this access uses the epoch.
  if (requested != nullptr && !Requested::allowed(call, *window, arguments.target)) return call.failed();
  if (!enter_epoch(call, *window, arguments.target)) return call.failed();
  const AccessNature nature{
      .kind = AccessKind::accumulate, .with_request = requested != nullptr, .operands = &operands, .origin = origin};
  if (!announce(call, *window, access, nature)) return call.failed();
  // If the target's datatype is the elements' predefined type, its count is the number of elements. For a padded pair
  // the division would give another number, because target_bytes() is without padding and element_bytes is with it.
  const bool pair = access.target_type->handle == operands.type;
  operands.count =
      pair ? static_cast<std::uint64_t>(access.target_count) : target_bytes(access) / operands.element_bytes;
  if (requested != nullptr) access.request = requested->begin(*window, access);
  if (is_padded_pair(operands.type) && !all_are(operands.type, access, *origin.type)) {
    accumulate_pairs(call.rank().rma(), *window, access, operands, origin, *call.datatype(operands.type));
  } else {
    if (operands.any()) take_operands(origin, operands);
    call.rank().rma().accumulate(*window, access, operands);
  }
  if (requested != nullptr) requested->end(window);
  return call.done();
}

// Whether try_fast_update() can return the result: no result is wanted, or it has a buffer and the target's datatype
// and count.
bool is_like_target(const ResultArguments& result, const AccessArguments& arguments) {
  if (!result.wanted) return true;
  return result.type == arguments.target_type && result.count == arguments.target_count && result.result != nullptr &&
         result.result != MPI_IN_PLACE;
}

}  // namespace

int access_call(const Invocation& name, Direction direction, const AccessArguments& arguments) {
  // The fast path has made all checks.
  if (try_fast_access(name, direction, arguments)) [[likely]]
    return MPI_SUCCESS;
  Call call(name);
  Window* window = nullptr;
  Access access;
  if (check_access(call, arguments, window, access) && enter_epoch(call, *window, arguments.target) &&
      announce(call, *window, access, {kind_of(direction)}))
    carry_out(call, direction, *window, access);
  return call.done();
}

int access_call(const Invocation& name, Direction direction, const AccessArguments& arguments, MPI_Request* request) {
  Call call(name);
  Requested requested(call, request);
  Window* window = nullptr;
  Access access;
  if (check_access(call, arguments, window, access) && Requested::allowed(call, *window, arguments.target) &&
      enter_epoch(call, *window, arguments.target) && announce(call, *window, access, {kind_of(direction), true})) {
    access.request = requested.begin(*window, access);
    carry_out(call, direction, *window, access);
  }
  requested.end(window);
  return call.done();
}

int accumulate_call(const Invocation& name, const AccessArguments& arguments, MPI_Op op,
                    const ResultArguments& result) {
  if (is_like_target(result, arguments) && try_fast_update(name, arguments, op, result.result)) [[likely]]
    return MPI_SUCCESS;
  Call call(name);
  return accumulate(call, arguments, op, result, nullptr);
}

int accumulate_call(const Invocation& name, const AccessArguments& arguments, MPI_Op op, const ResultArguments& result,
                    MPI_Request* request) {
  Call call(name);
  Requested requested(call, request);
  return accumulate(call, arguments, op, result, &requested);
}

// MPI_Compare_and_swap: a replacement whose condition is `compare`.
int swap_call(const Invocation& name, const AccessArguments& arguments, const void* compare, void* result) {
  if (try_fast_swap(name, arguments, compare, result)) [[likely]]
    return MPI_SUCCESS;
  Call call(name);
  // The window first, as errors go to its handler.
  if (checked_window(call, arguments.window) != nullptr) {
    call.address(compare, 1, call.datatype(arguments.target_type), "compare_addr");
  }
  if (!call.ok()) return call.failed();
  return accumulate(call, arguments, MPI_REPLACE, {result, 1, arguments.target_type, true, true}, nullptr, compare);
}

}  // namespace margay::mpi
