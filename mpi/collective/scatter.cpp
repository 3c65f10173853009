// MPI_Scatter (MPI 4.0, 6.6), and its nonblocking and persistent forms (6.12, 6.13).

#include <memory>
#include <optional>
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/block_move.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"

using namespace margay::mpi;
using margay::portals::Region;

namespace {

struct ScatterArguments {
  const void* send;
  std::int64_t send_count;
  MPI_Datatype send_type;
  void* receive;
  std::int64_t receive_count;
  MPI_Datatype receive_type;
  int root;
  MPI_Comm comm;
};

// A scatter with checked arguments; the constructor sets the call's error.
class Scattering {
 public:
  Scattering(Call& call, const ScatterArguments& arguments)
      : arguments_(arguments), communicator_(call.communicator(arguments.comm)) {
    call.root(communicator_, arguments.root);
    if (!call.ok()) return;
    // The send arguments are significant at the root only.
    if (is_root()) check_all(call);
    if (!in_place()) {
      call.count(arguments.receive_count, "recvcount");
      receive_type_ = call.datatype(arguments.receive_type);
      call.buffer(arguments.receive, arguments.receive_count, receive_type_);
      call.append_part("of the receive");
    } else if (!is_root()) {
      call.error(MPI_ERR_BUFFER, "the receive buffer is MPI_IN_PLACE; that is for the root only");
    }
    if (call.ok() && is_root()) check_one_buffer(call);
    // Only with the check enabled, because the list of shares costs an allocation.
    if (call.ok() && calls_are_checked(call)) [[unlikely]]
      record(call);
  }

  // All members below require: no error is set.
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] Datatype* send_type() const { return send_type_; }
  [[nodiscard]] Datatype* receive_type() const { return receive_type_; }

  void begin() {
    if (is_root()) {
      all_.emplace(arguments_.send, arguments_.send_count * communicator_->size(), *send_type_);
    }
    if (!in_place()) mine_.emplace(arguments_.receive, arguments_.receive_count, *receive_type_);
  }
  void describe(ScatterCall& what) const {
    what.root = arguments_.root;
    // The root uses the length that it sends, others the length that they expect; if these differ, the call fails.
    what.block_bytes = is_root() ? bytes_of(arguments_.send_count, *send_type_) : mine_->region().bytes();
    if (is_root()) what.all = all_->region();
    // With MPI_IN_PLACE the root's own block stays where it is.
    what.mine = mine_
                    ? mine_->region()
                    : what.all.slice(static_cast<std::uint64_t>(arguments_.root) * what.block_bytes, what.block_bytes);
  }

 private:
  [[nodiscard]] bool is_root() const { return communicator_->rank() == arguments_.root; }
  [[nodiscard]] bool in_place() const { return arguments_.receive == MPI_IN_PLACE; }
  [[nodiscard]] static std::uint64_t bytes_of(std::int64_t count, const Datatype& type) {
    return static_cast<std::uint64_t>(count) * type.size;
  }

  void check_all(Call& call) {
    const ScatterArguments& is = arguments_;
    if (is.send == MPI_IN_PLACE) {
      return call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that stands for the receive buffer");
    }
    call.count(is.send_count, "sendcount");
    send_type_ = call.datatype(is.send_type);
    call.buffer(is.send, is.send_count, send_type_);
    call.append_part("of the send");
    if (!call.ok()) return;
    const auto members = static_cast<std::uint64_t>(communicator_->size());
    // By division, as the product may overflow.
    if (static_cast<std::uint64_t>(is.send_count) <= send_type_->count_max / members) return;
    call.error(MPI_ERR_COUNT, "sendcount is " + std::to_string(is.send_count) + "; as many elements of " +
                                  std::to_string(send_type_->size) + " bytes for each of " + std::to_string(members) +
                                  " ranks exceed 2^63 bytes");
  }

  // MPI does not allow an output buffer that is also an input buffer (MPI 4.0, 2.3); MPI_IN_PLACE is for that.
  void check_one_buffer(Call& call) {
    const bool one = arguments_.send == arguments_.receive && arguments_.send != MPI_BOTTOM;
    if (!one || bytes_of(arguments_.send_count, *send_type_) == 0) return;
    call.error(MPI_ERR_BUFFER, "send and receive buffer are the same; pass MPI_IN_PLACE for the receive buffer");
  }

  void record(Call& call) const {
    const CollectiveCall what{.root = arguments_.root,
                              .count = is_root() ? arguments_.send_count : arguments_.receive_count,
                              .type = is_root() ? send_type_ : receive_type_};
    CallShares shares;
    if (is_root()) {
      const Amount amount = amount_of(*send_type_, bytes_of(arguments_.send_count, *send_type_));
      shares.sends.push_back({0, communicator_->size(), amount});
    }
    if (!in_place()) {
      const Amount amount = amount_of(*receive_type_, bytes_of(arguments_.receive_count, *receive_type_));
      shares.expects.push_back({arguments_.root, 1, amount});
    }
    record_call(call, *communicator_, what, std::move(shares));
  }

  ScatterArguments arguments_;
  Communicator* communicator_;
  Datatype* send_type_ = nullptr;
  Datatype* receive_type_ = nullptr;
  std::optional<TypedData> all_;
  std::optional<TypedData> mine_;
};

// Between two groups each block goes straight to its receiver.
MoveArguments as_move(const ScatterArguments& is) {
  return {Move::scatter, BlockArguments::even(is.send, is.send_count, is.send_type),
          BlockArguments::even(is.receive, is.receive_count, is.receive_type), is.root, is.comm};
}

int scatter(Call& call, const ScatterArguments& arguments) {
  if (is_between_groups(call, arguments.comm)) return move(call, as_move(arguments));
  Scattering scattering(call, arguments);
  if (!call.ok()) return call.failed();
  scattering.begin();
  ScatterCall what;
  scattering.describe(what);
  record_error(call, perform(collectives_of(call), scattering.communicator(), what));
  return call.done();
}

class ScatterTask final : public PlainCallTask<ScatterCall> {
 public:
  ScatterTask(MpiRank& rank, std::unique_ptr<Scattering> scattering)
      : PlainCallTask(rank, scattering->communicator()), scattering_(std::move(scattering)) {
    // Only the root has a send type; with MPI_IN_PLACE it has no receive type.
    if (scattering_->send_type() != nullptr) keep(*scattering_->send_type());
    if (scattering_->receive_type() != nullptr) keep(*scattering_->receive_type());
  }

 private:
  void prepare() override {
    scattering_->begin();
    scattering_->describe(what_);
  }

  // The checked arguments, which each start of a persistent call uses again.
  std::unique_ptr<Scattering> scattering_;
};

int scatter(Call& call, Form form, const ScatterArguments& arguments, MPI_Request* request) {
  if (is_between_groups(call, arguments.comm)) return move(call, form, as_move(arguments), request);
  return give_request<Scattering, ScatterTask>(call, form, arguments, request);
}

}  // namespace

MARGAY_COLLECTIVE(Scatter, Iscatter,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm),
                  scatter, {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm})

// MPI_Scatterv (MPI 4.0, 6.6), and its nonblocking and persistent forms (6.12, 6.13).

using namespace margay::mpi;

MARGAY_COLLECTIVE(Scatterv, Iscatterv,
                  (const void* sendbuf, const Count* sendcounts, const Displacement* displs, MPI_Datatype sendtype,
                   void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                  move,
                  {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
                   BlockArguments::even(recvbuf, recvcount, recvtype), root, comm})
