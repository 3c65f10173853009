// MPI_Reduce_scatter and MPI_Reduce_scatter_block (MPI 4.0, 6.10), and their nonblocking and persistent forms (6.12,
// 6.13).
#include <utility>
#include <vector>

#include "collectives/select/between_groups.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/blocks.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"

using namespace margay::mpi;

namespace {

struct ReduceScatterArguments {
  const void* send;
  void* receive;
  Numbers counts;      // one for each rank's block; unused if `even`
  std::int64_t count;  // of each block, if `even`
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
  bool even;
};

// A call with checked arguments; the constructor sets the call's error.
class ReduceScattering {
 public:
  ReduceScattering(Call& call, const ReduceScatterArguments& arguments)
      : arguments_(arguments),
        communicator_(call.communicator(arguments.comm)),
        type_(call.datatype(arguments.datatype)),
        counts_(checked_counts(call)),
        operands_(call, arguments.op, type_, total()) {
    if (!call.ok()) return;
    if (communicator_->is_inter() && in_place()) {
      call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that is for one group's collectives only");
    }
    check_buffers(call, arguments.send, arguments.receive, total());
    // In place, the receive buffer has the whole contribution.
    call.buffer(arguments.receive, in_place() ? total() : counts_[me()], type_, "recvbuf");
    if (!in_place()) call.buffer(arguments.send, total(), type_, "sendbuf");
    if (!call.ok()) return;
    for (const std::int64_t count : counts_) {
      lengths_.push_back(static_cast<std::uint64_t>(count) * operands_.element_bytes());
    }
    if (calls_are_checked(call)) [[unlikely]]
      record(call);
  }

  // All members below require: no error is set.
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  template <typename Function>
  void for_each_type(Function function) const {
    function(*type_);
  }
  [[nodiscard]] CallTask::By by() const {
    return operands_.of_program() ? CallTask::By::program : CallTask::By::anybody;
  }
  // The row is a copy, because the algorithms combine into it, and the program gets only this rank's block.
  void begin() { what_ = {operands_.begin(in_place() ? arguments_.receive : arguments_.send, nullptr), lengths_}; }
  [[nodiscard]] Plan plan(const StandingFacts& standing) const {
    return communicator_->is_inter() ? between().plan(standing) : plan_of(what_, standing);
  }
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
    if (communicator_->is_inter()) return between().routine(collective, standing, algorithm);
    return routine_of(what_, collective, standing, algorithm);
  }
  // The result is this rank's block of the row, behind the blocks of the lower ranks.
  void finish() const {
    std::int64_t before = 0;
    for (std::size_t rank = 0; rank < me(); ++rank) before += counts_[rank];
    operands_.finish_part(arguments_.receive, what_.reduction.partial, before, counts_[me()]);
  }

 private:
  void record(Call& call) const {
    CallShares shares;
    shares.expects_alike = !arguments_.even;
    for (std::size_t rank = 0; !arguments_.even && rank < counts_.size(); ++rank) {
      const auto bytes = static_cast<std::uint64_t>(counts_[rank]) * type_->size;
      add_share(shares.expects, static_cast<std::int32_t>(rank), amount_of(*type_, bytes));
    }
    record_call(call, *communicator_, {.operation = arguments_.op, .count = total(), .type = type_}, std::move(shares),
                true);
  }
  [[nodiscard]] ReduceScatterBetween between() const {
    return {TwoGroups::of(*communicator_), what_.reduction, lengths_};
  }
  [[nodiscard]] bool in_place() const { return arguments_.send == MPI_IN_PLACE; }
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(communicator_->rank()); }
  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts_) sum += count;
    return sum;
  }
  // The counts of all blocks, which have less than 2^63 bytes together; empty after an error.
  [[nodiscard]] std::vector<std::int64_t> checked_counts(Call& call) const {
    if (!arguments_.even) call.not_null(arguments_.counts.address(), "recvcounts");
    if (!call.ok()) return {};
    std::vector<std::int64_t> counts;
    // Elements that still fit, so that the sum cannot overflow.
    std::uint64_t left = type_->count_max;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(communicator_->size()); ++rank) {
      const std::int64_t count = arguments_.even ? arguments_.count : arguments_.counts[rank];
      const std::string name = arguments_.even ? "recvcount" : "recvcounts[" + std::to_string(rank) + "]";
      call.count(count, name.c_str());
      if (call.ok() && static_cast<std::uint64_t>(count) > left) {
        call.error(MPI_ERR_COUNT, name + " is " + std::to_string(count) + "; with it the elements of " +
                                      std::to_string(type_->size) + " bytes for all ranks exceed 2^63 bytes");
      }
      if (!call.ok()) return {};
      left -= static_cast<std::uint64_t>(count);
      counts.push_back(count);
    }
    return counts;
  }

  // In this order, because each is initialized from those before it.
  ReduceScatterArguments arguments_;
  Communicator* communicator_;
  Datatype* type_;
  std::vector<std::int64_t> counts_;
  Operands operands_;
  std::vector<std::uint64_t> lengths_;
  ReduceScatterCall what_;
};

int reduce_scatter(Call& call, const ReduceScatterArguments& arguments) {
  return perform_checked<ReduceScattering>(call, arguments);
}
int reduce_scatter(Call& call, Form form, const ReduceScatterArguments& arguments, MPI_Request* request) {
  return give_request<ReduceScattering, CheckedTask<ReduceScattering>>(call, form, arguments, request);
}

}  // namespace

MARGAY_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                  (const void* sendbuf, void* recvbuf, const Count* recvcounts, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  reduce_scatter, {sendbuf, recvbuf, recvcounts, 0, datatype, op, comm, false})

MARGAY_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
                  (const void* sendbuf, void* recvbuf, Count recvcount, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  reduce_scatter, {sendbuf, recvbuf, {}, recvcount, datatype, op, comm, true})
