// MPI_Reduce, MPI_Allreduce and MPI_Reduce_local (MPI 4.0, 6.9), and the nonblocking and persistent forms (6.12, 6.13).
#include <optional>
#include <type_traits>

#include "collectives/select/between_groups.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"

using namespace margay::mpi;

namespace {

// The call has no communicator, so its errors go to the handler for errors without an object.
int reduce_local(Call& call, const void* in, void* inout, std::int64_t count, MPI_Datatype datatype, MPI_Op op) {
  call.count(count);
  Datatype* type = call.datatype(datatype);
  call.buffer(in, count, type, "inbuf");
  call.buffer(inout, count, type, "inoutbuf");
  // MPI does not allow the two buffers to be the same.
  if (call.ok() && count > 0 && in == inout) {
    call.error(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same");
  }
  const Operands operands(call, op, type, count);
  if (!call.ok()) return call.failed();
  operands.combine(in, inout);
  return call.done();
}

struct ReduceArguments {
  const void* send;
  void* receive;
  std::int64_t count;
  MPI_Datatype datatype;
  MPI_Op op;
  std::optional<int> root;  // none: an allreduce
  MPI_Comm comm;
};

// A reduction with checked arguments; the constructor sets the call's error.
class Reducing {
 public:
  Reducing(Call& call, const ReduceArguments& arguments)
      : arguments_(arguments),
        communicator_(call.communicator(arguments.comm)),
        type_(checked_type(call)),
        operands_(call, arguments.op, type_, arguments.count) {
    if (!call.ok()) return;
    if (has_result()) {
      check_buffers(call, arguments.send, arguments.receive, arguments.count);
      call.buffer(arguments.receive, arguments.count, type_, "recvbuf");
    } else if (arguments.send == MPI_IN_PLACE) {
      // Only the root has a result in its receive buffer, so only it can contribute in place.
      call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that is for the root only");
    }
    if (arguments.send != MPI_IN_PLACE) call.buffer(arguments.send, arguments.count, type_, "sendbuf");
    if (!call.ok()) return;
    // Last, because only a valid call is compared with those of the other members.
    check_call(
        call, *communicator_,
        {.root = arguments.root.value_or(kNoRoot), .operation = arguments.op, .count = arguments.count, .type = type_});
  }

  // All members below require: no error is set.
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] Datatype& type() const { return *type_; }
  [[nodiscard]] CallTask::By by() const {
    return operands_.of_program() ? CallTask::By::program : CallTask::By::anybody;
  }
  [[nodiscard]] int root() const { return *arguments_.root; }
  [[nodiscard]] Reduction begin() {
    return operands_.begin(arguments_.send, has_result() ? arguments_.receive : nullptr);
  }
  void finish() const {
    if (has_result()) operands_.finish(arguments_.receive);
  }

 private:
  [[nodiscard]] bool has_result() const { return !arguments_.root || communicator_->rank() == *arguments_.root; }
  // Runs before the operands are made, which need a valid count and type.
  [[nodiscard]] Datatype* checked_type(Call& call) const {
    call.count(arguments_.count);
    Datatype* const type = call.datatype(arguments_.datatype);
    if (arguments_.root) call.root(communicator_, *arguments_.root);
    if (type != nullptr) static_cast<void>(call.elements(arguments_.count, *type));
    return type;
  }

  ReduceArguments arguments_;
  Communicator* communicator_;
  Datatype* type_;
  Operands operands_;
};

// A reduction between two groups with checked arguments.
class ReducingBetween {
 public:
  ReducingBetween(Call& call, const ReduceArguments& named)
      : arguments_(significant(named)),
        communicator_(call.communicator(named.comm)),
        type_(call.datatype(arguments_.datatype, arguments_.count)),
        operands_(call, arguments_.op, type_, arguments_.count) {
    const ReduceArguments& arguments = arguments_;
    call.count(arguments.count);
    if (arguments.root) call.root(communicator_, *arguments.root);
    if (!call.ok()) return;
    // MPI_IN_PLACE is not valid between groups.
    if ((sends() && arguments.send == MPI_IN_PLACE) || (has_result() && arguments.receive == MPI_IN_PLACE)) {
      call.error(MPI_ERR_BUFFER, "a buffer is MPI_IN_PLACE; that is for one group's collectives only");
    }
    if (has_result()) call.buffer(arguments.receive, arguments.count, type_, "recvbuf");
    if (sends()) call.buffer(arguments.send, arguments.count, type_, "sendbuf");
    if (!call.ok()) return;
    const int root = arguments.root.value_or(kNoRoot);
    // The operation and type of a member that takes no part are placeholders, which must not be compared with the
    // arguments of other members.
    if (takes_no_part(arguments)) {
      check_call(call, *communicator_, {.root = root});
      return;
    }
    check_call(call, *communicator_,
               {.root = root, .operation = arguments.op, .count = arguments.count, .type = type_});
  }

  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  template <typename Function>
  void for_each_type(Function function) const {
    function(*type_);
  }
  [[nodiscard]] CallTask::By by() const {
    return operands_.of_program() ? CallTask::By::program : CallTask::By::anybody;
  }
  void begin() {
    // A root sends nothing: its row only receives.
    reduction_ = operands_.begin(sends() ? arguments_.send : MPI_IN_PLACE, has_result() ? arguments_.receive : nullptr);
  }
  [[nodiscard]] Plan plan(const StandingFacts& standing) const {
    return arguments_.root ? to_root().plan(standing) : to_all().plan(standing);
  }
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
    return arguments_.root ? to_root().routine(collective, standing, algorithm)
                           : to_all().routine(collective, standing, algorithm);
  }
  void finish() const {
    if (has_result()) operands_.finish(arguments_.receive);
  }

 private:
  // Non-root members of the root's group pass MPI_PROC_NULL and no data.
  static bool takes_no_part(const ReduceArguments& arguments) { return arguments.root == MPI_PROC_NULL; }
  // Replaces the arguments of such a member, which MPI ignores, by those of an empty reduction of bytes.
  static ReduceArguments significant(const ReduceArguments& named) {
    return takes_no_part(named) ? ReduceArguments{nullptr, nullptr, 0, MPI_BYTE, MPI_BOR, named.root, named.comm}
                                : named;
  }
  [[nodiscard]] bool sends() const { return !arguments_.root || *arguments_.root >= 0; }
  [[nodiscard]] bool has_result() const { return !arguments_.root || *arguments_.root == MPI_ROOT; }
  [[nodiscard]] ReduceBetween to_root() const { return {TwoGroups::of(*communicator_), *arguments_.root, reduction_}; }
  [[nodiscard]] AllreduceBetween to_all() const { return {TwoGroups::of(*communicator_), reduction_}; }

  ReduceArguments arguments_;
  Communicator* communicator_;
  Datatype* type_;
  Operands operands_;
  Reduction reduction_;
};

// Constructed in place, because each copy of a structure that was just written costs 2 ns.
template <typename What>
What begun(Reducing& reducing) {
  if constexpr (std::is_same_v<What, ReduceCall>) {
    return {reducing.root(), reducing.begin()};
  } else {
    return {reducing.begin()};
  }
}

template <typename What>
[[gnu::always_inline]] inline int reduce(Call& call, const ReduceArguments& arguments) {
  if (is_between_groups(call, arguments.comm)) [[unlikely]]
    return perform_checked<ReducingBetween>(call, arguments);
  Reducing reducing(call, arguments);
  if (!call.ok()) return call.failed();
  const What what = begun<What>(reducing);
  record_error(call, perform(collectives_of(call), reducing.communicator(), what));
  if (call.ok()) reducing.finish();
  return call.done();
}

template <typename What>
class ReduceTask final : public PlainCallTask<What> {
 public:
  ReduceTask(MpiRank& rank, std::unique_ptr<Reducing> reducing)
      : PlainCallTask<What>(rank, reducing->communicator(), reducing->by()), reducing_(std::move(reducing)) {
    this->keep(reducing_->type());
  }

 private:
  void prepare() override { this->what_ = begun<What>(*reducing_); }
  int finish() override {
    reducing_->finish();
    return MPI_SUCCESS;
  }

  // The checked arguments, which each start of a persistent call uses again.
  std::unique_ptr<Reducing> reducing_;
};

template <typename What>
int reduce(Call& call, Form form, const ReduceArguments& arguments, MPI_Request* request) {
  if (is_between_groups(call, arguments.comm)) {
    return give_request<ReducingBetween, CheckedTask<ReducingBetween>>(call, form, arguments, request);
  }
  return give_request<Reducing, ReduceTask<What>>(call, form, arguments, request);
}

}  // namespace

MARGAY_COLLECTIVE(Reduce, Ireduce,
                  (const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, int root,
                   MPI_Comm comm),
                  reduce<ReduceCall>, {sendbuf, recvbuf, count, datatype, op, root, comm})

MARGAY_COLLECTIVE(Allreduce, Iallreduce,
                  (const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  reduce<AllreduceCall>, {sendbuf, recvbuf, count, datatype, op, {}, comm})

MARGAY_TWINS(Reduce_local, (const void* inbuf, void* inoutbuf, Count count, MPI_Datatype datatype, MPI_Op op), {
  Call call(called);
  return reduce_local(call, inbuf, inoutbuf, count, datatype, op);
})
