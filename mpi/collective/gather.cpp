// MPI_Gather and MPI_Allgather (MPI 4.0, 6.5 and 6.7), and their nonblocking and persistent forms (6.12, 6.13).

#include <memory>
#include <optional>
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/block_move.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"
#include "portals/base/assert.hpp"

using namespace margay::mpi;
using margay::portals::Region;

namespace {

// The receive buffer of a rank with the result, `size` blocks of `count` elements, as one run of bytes: the buffer
// itself if the type is dense, otherwise a copy that scatter() unpacks.
class GatheredData {
 public:
  GatheredData(void* buffer, std::int64_t count, Datatype& type, int size)
      : bytes_(type.size * static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size)) {
    if (type.dense()) {
      run_ = static_cast<std::byte*>(buffer);
      return;
    }
    // A type with gaps: algorithms need one run, which is unpacked afterwards.
    data_ = std::make_unique<TypedData>(buffer, count * size, type);
    own_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    run_ = own_.get();
  }
  [[nodiscard]] std::byte* run() const { return run_; }
  [[nodiscard]] Region region() const { return Region(run_, bytes_); }
  // A dense type's data is in place already.
  void scatter() {
    if (data_ == nullptr) return;
    margay::portals::copy(data_->region(), region());
  }

 private:
  std::uint64_t bytes_;
  std::byte* run_ = nullptr;
  std::unique_ptr<std::byte[]> own_;
  std::unique_ptr<TypedData> data_;
};

// This rank's block in a receive buffer, which may be MPI_BOTTOM: the contribution of MPI_IN_PLACE.
const void* block_of(const void* buffer, std::int64_t count, const Datatype& type, int rank) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                       static_cast<std::uintptr_t>(type.extent * count * rank));
}

// Checks that `count` elements from each member have less than 2^63 bytes together.
void check_all(Call& call, std::int64_t count, const Datatype* type, const Communicator* communicator) {
  if (!call.ok()) return;
  const auto members = static_cast<std::uint64_t>(communicator->size());
  // By division, as the product may overflow.
  if (static_cast<std::uint64_t>(count) <= type->count_max / members) return;
  call.error(MPI_ERR_COUNT, "recvcount is " + std::to_string(count) + "; as many elements of " +
                                std::to_string(type->size) + " bytes from each of " + std::to_string(members) +
                                " ranks exceed 2^63 bytes");
}

// Checks that the send buffer is not this rank's own block of the receive buffer, for which a program passes
// MPI_IN_PLACE.
void check_own_block(Call& call, const void* send, std::int64_t count, const void* own) {
  if (!call.ok() || send != own || count == 0) return;
  call.error(MPI_ERR_BUFFER, "the send buffer is this rank's block of the receive buffer; pass MPI_IN_PLACE for it");
}

std::uint64_t bytes_of(std::int64_t count, const Datatype& type) {
  return static_cast<std::uint64_t>(count) * type.size;
}

// This rank's block, as the program sends it: its own arguments, or with MPI_IN_PLACE a block of the receive buffer.
struct Contribution {
  const void* buffer;
  std::int64_t count;
  Datatype* type;
};

// `in_place`: this rank's block of the receive buffer, on a rank with the result.
Contribution check_contribution(Call& call, const void* sendbuf, std::int64_t sendcount, MPI_Datatype sendtype,
                                const Contribution& in_place) {
  if (sendbuf == MPI_IN_PLACE) return in_place;
  call.count(sendcount, "sendcount");
  Datatype* type = call.datatype(sendtype);
  call.buffer(sendbuf, sendcount, type);
  call.append_part("of the send");
  return {sendbuf, sendcount, type};
}

struct GatherArguments {
  const void* send;
  std::int64_t send_count;
  MPI_Datatype send_type;
  void* receive;
  std::int64_t receive_count;
  MPI_Datatype receive_type;
  std::optional<int> root;  // none: an allgather
  MPI_Comm comm;
};

// A gather with checked arguments; the constructor sets the call's error.
class Gathering {
 public:
  Gathering(Call& call, const GatherArguments& arguments)
      : arguments_(arguments), communicator_(call.communicator(arguments.comm)) {
    if (to_one()) call.root(communicator_, *arguments.root);
    if (!call.ok()) return;
    if (has_result()) {
      check_result(call);
    } else if (arguments.send == MPI_IN_PLACE) {
      call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that is for the root only");
    }
    // After check_result(), which sets the block that MPI_IN_PLACE stands for.
    mine_ = check_contribution(call, arguments.send, arguments.send_count, arguments.send_type, mine_);
    if (!call.ok()) return;
    MARGAY_ASSERT(mine_.type != nullptr);  // a check that fails sets the error
    if (calls_are_checked(call)) [[unlikely]]
      record(call);
  }

  // All members below require: no error is set.
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] Datatype* send_type() const { return mine_.type; }
  [[nodiscard]] Datatype* receive_type() const { return receive_type_; }

  void begin() {
    data_.emplace(mine_.buffer, mine_.count, *mine_.type);
    // A rank without the result needs no room for it.
    if (!has_result()) return;
    all_.emplace(arguments_.receive, arguments_.receive_count, *receive_type_, communicator_->size());
  }
  void finish() {
    if (all_) all_->scatter();
  }
  void describe(GatherCall& what) const {
    what = {*arguments_.root, data_->region(), block_bytes(), all_ ? all_->run() : nullptr};
  }
  void describe(AllgatherCall& what) const { what = {data_->region(), block_bytes(), all_->run()}; }

 private:
  void record(Call& call) const {
    // At the root of a gather the receive arguments describe the blocks of all ranks.
    const bool names_result = to_one() && has_result();
    const CollectiveCall what{.root = arguments_.root.value_or(kNoRoot),
                              .count = names_result ? arguments_.receive_count : mine_.count,
                              .type = names_result ? receive_type_ : mine_.type};
    const int members = communicator_->size();
    CallShares shares;
    shares.sends.push_back({to_one() ? *arguments_.root : 0, to_one() ? 1 : members,
                            amount_of(*mine_.type, bytes_of(mine_.count, *mine_.type))});
    if (has_result())
      shares.expects.push_back(
          {0, members, amount_of(*receive_type_, bytes_of(arguments_.receive_count, *receive_type_))});
    record_call(call, *communicator_, what, std::move(shares));
  }
  [[nodiscard]] bool to_one() const { return arguments_.root.has_value(); }
  [[nodiscard]] bool has_result() const { return !to_one() || communicator_->rank() == *arguments_.root; }
  // Ranks without the result use the length of their own block.
  [[nodiscard]] std::uint64_t block_bytes() const {
    return has_result() ? bytes_of(arguments_.receive_count, *receive_type_) : data_->region().bytes();
  }
  // The receive arguments are significant at the root only, or on all ranks of an allgather.
  void check_result(Call& call) {
    const GatherArguments& is = arguments_;
    call.count(is.receive_count, "recvcount");
    receive_type_ = call.datatype(is.receive_type);
    call.buffer(is.receive, is.receive_count, receive_type_);
    check_all(call, is.receive_count, receive_type_, communicator_);
    call.append_part("of the receive");
    // Two buffers at MPI_BOTTOM may be different memory, because their datatypes have the addresses.
    const bool is_address = is.receive != MPI_BOTTOM;
    if (is_address) check_buffers(call, is.send, is.receive, is.receive_count);
    if (!call.ok()) return;
    mine_ = {block_of(is.receive, is.receive_count, *receive_type_, communicator_->rank()), is.receive_count,
             receive_type_};
    if (is_address) check_own_block(call, is.send, is.send_count, mine_.buffer);
  }

  GatherArguments arguments_;
  Communicator* communicator_;
  Datatype* receive_type_ = nullptr;
  Contribution mine_{nullptr, 0, nullptr};
  std::optional<TypedData> data_;
  std::optional<GatheredData> all_;
};

// Between two groups each block goes straight to its receiver.
MoveArguments as_move(const GatherArguments& is) {
  return {is.root ? Move::gather : Move::allgather, BlockArguments::even(is.send, is.send_count, is.send_type),
          BlockArguments::even(is.receive, is.receive_count, is.receive_type), is.root.value_or(0), is.comm};
}

template <typename What>
int gather(Call& call, const GatherArguments& arguments) {
  if (is_between_groups(call, arguments.comm)) return move(call, as_move(arguments));
  Gathering gathering(call, arguments);
  if (!call.ok()) return call.failed();
  gathering.begin();
  What what;
  gathering.describe(what);
  record_error(call, perform(collectives_of(call), gathering.communicator(), what));
  if (call.ok()) gathering.finish();
  return call.done();
}

template <typename What>
class GatherTask final : public PlainCallTask<What> {
 public:
  GatherTask(MpiRank& rank, std::unique_ptr<Gathering> gathering)
      : PlainCallTask<What>(rank, gathering->communicator()), gathering_(std::move(gathering)) {
    this->keep(*gathering_->send_type());
    // Only a rank with the result has a receive type.
    if (gathering_->receive_type() != nullptr) this->keep(*gathering_->receive_type());
  }

 private:
  void prepare() override {
    gathering_->begin();
    gathering_->describe(this->what_);
  }
  int finish() override {
    gathering_->finish();
    return MPI_SUCCESS;
  }

  // The checked arguments, which each start of a persistent call uses again.
  std::unique_ptr<Gathering> gathering_;
};

template <typename What>
int gather(Call& call, Form form, const GatherArguments& arguments, MPI_Request* request) {
  if (is_between_groups(call, arguments.comm)) return move(call, form, as_move(arguments), request);
  return give_request<Gathering, GatherTask<What>>(call, form, arguments, request);
}

}  // namespace

MARGAY_COLLECTIVE(Gather, Igather,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm),
                  gather<GatherCall>, {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm})

MARGAY_COLLECTIVE(Allgather, Iallgather,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  gather<AllgatherCall>, {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, {}, comm})

// MPI_Gatherv and MPI_Allgatherv (MPI 4.0, 6.5 and 6.7), and their nonblocking and persistent forms (6.12, 6.13).

using namespace margay::mpi;

MARGAY_COLLECTIVE(Gatherv, Igatherv,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                   const Displacement* displs, MPI_Datatype recvtype, int root, MPI_Comm comm),
                  move,
                  {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm})

MARGAY_COLLECTIVE(Allgatherv, Iallgatherv,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                   const Displacement* displs, MPI_Datatype recvtype, MPI_Comm comm),
                  move,
                  {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm})
