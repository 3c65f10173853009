// MPI_Gather and MPI_Allgather (MPI 4.0, 6.5 and 6.7).
#include <memory>

#include "collectives/algorithm/bcast_tree.hpp"
#include "collectives/algorithm/gather_tree.hpp"
#include "collectives/mpi/arguments.hpp"
#include "collectives/mpi/note_call.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "portals/base/assert.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;
using margay::portals::Region;

namespace {

// The root's receive buffer, `size` blocks of `count` elements, as one run of bytes: itself where it is dense, else a
// copy that scatter() puts in place.
class GatheredData {
 public:
  GatheredData(void* buffer, std::int64_t count, Datatype& type, int size)
      : bytes_(type.size * static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size)) {
    if (type.dense()) {
      run_ = static_cast<std::byte*>(buffer);
      return;
    }
    data_ = std::make_unique<TypedData>(buffer, count * size, type);
    own_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    run_ = own_.get();
  }
  [[nodiscard]] std::byte* run() const { return run_; }
  [[nodiscard]] Region region() const { return Region(run_, bytes_); }
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

// This rank's block inside a receive buffer, for MPI_IN_PLACE.
const void* block_of(const void* buffer, std::int64_t count, const Datatype& type, int rank) {
  return static_cast<const std::byte*>(buffer) + type.extent * count * rank;
}

// `count` elements from each member: together less than 2^63 bytes.
void check_all(Call& call, std::int64_t count, const Datatype* type, const Communicator* communicator) {
  if (!call.ok()) return;
  const auto members = static_cast<std::uint64_t>(communicator->size());
  if (static_cast<std::uint64_t>(count) <= type->count_max / members) return;
  call.error(MPI_ERR_COUNT, "recvcount is " + std::to_string(count) + "; as many elements of " +
                                std::to_string(type->size) + " bytes from each of " + std::to_string(members) +
                                " ranks pass 2^63 bytes");
}

// What this rank sends is not where its block goes: that is MPI_IN_PLACE's to say.
void check_own_block(Call& call, const void* send, std::int64_t count, const void* own) {
  if (!call.ok() || send != own || count == 0) return;
  call.error(MPI_ERR_BUFFER, "the send buffer is this rank's block of the receive buffer; say MPI_IN_PLACE for it");
}

std::uint64_t bytes_of(std::int64_t count, const Datatype& type) {
  return static_cast<std::uint64_t>(count) * type.size;
}

// Another number than any operation of collectives/select has.
Shape shape_of_gather(int root, std::uint64_t block_bytes) {
  constexpr std::uint8_t kGather = 64;
  return {.operation = kGather, .root = static_cast<std::uint16_t>(root), .bytes = block_bytes};
}

struct Contribution {
  const void* buffer;
  std::int64_t count;
  const Datatype* type;
};

Contribution check_contribution(Call& call, const void* sendbuf, std::int64_t sendcount, MPI_Datatype sendtype,
                                const Contribution& in_place) {
  if (sendbuf == MPI_IN_PLACE) return in_place;
  call.count(sendcount, "sendcount");
  const Datatype* type = call.datatype(sendtype);
  call.buffer(sendbuf, sendcount, type);
  call.whose("of the send");
  return {sendbuf, sendcount, type};
}

int gather(Call& call, const void* sendbuf, std::int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
           std::int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Communicator* communicator = call.collective_communicator(comm);
  call.root(communicator, root);
  if (!call.ok()) return call.failed();
  const bool is_root = communicator->rank() == root;
  Datatype* receive_type = nullptr;
  Contribution mine{nullptr, 0, nullptr};
  if (is_root) {
    call.count(recvcount, "recvcount");
    receive_type = call.datatype(recvtype);
    call.buffer(recvbuf, recvcount, receive_type);
    check_all(call, recvcount, receive_type, communicator);
    call.whose("of the receive");
    check_buffers(call, sendbuf, recvbuf, recvcount);
    if (call.ok()) mine = {block_of(recvbuf, recvcount, *receive_type, root), recvcount, receive_type};
    check_own_block(call, sendbuf, sendcount, mine.buffer);
  } else if (sendbuf == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that is for the root only");
  }
  mine = check_contribution(call, sendbuf, sendcount, sendtype, mine);
  if (!call.ok()) return call.failed();

  MARGAY_ASSERT(mine.type != nullptr);  // a check that fails says so
  note_call(call, *communicator,
            is_root ? CollectiveCall{.root = root, .count = recvcount, .type = receive_type}
                    : CollectiveCall{.root = root, .count = mine.count, .type = mine.type});
  const TypedData data(mine.buffer, mine.count, *mine.type);
  const std::uint64_t block_bytes = is_root ? bytes_of(recvcount, *receive_type) : data.region().bytes();
  Collective collective(call.rank(), *communicator, shape_of_gather(root, block_bytes));
  if (is_root) {
    GatheredData all(recvbuf, recvcount, *receive_type, communicator->size());
    gather_tree(collective, root, data.region(), block_bytes, all.run());
    all.scatter();
  } else {
    gather_tree(collective, root, data.region(), block_bytes, nullptr);
  }
  note_error(call, collective);
  return call.done();
}

int allgather(Call& call, const void* sendbuf, std::int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
              std::int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Communicator* communicator = call.collective_communicator(comm);
  call.count(recvcount, "recvcount");
  Datatype* receive_type = call.datatype(recvtype);
  call.buffer(recvbuf, recvcount, receive_type);
  check_all(call, recvcount, receive_type, communicator);
  call.whose("of the receive");
  check_buffers(call, sendbuf, recvbuf, recvcount);
  if (!call.ok()) return call.failed();
  const void* const own = block_of(recvbuf, recvcount, *receive_type, communicator->rank());
  check_own_block(call, sendbuf, sendcount, own);
  const Contribution mine = check_contribution(call, sendbuf, sendcount, sendtype, {own, recvcount, receive_type});
  if (!call.ok()) return call.failed();

  note_call(call, *communicator, {.count = mine.count, .type = mine.type});
  const TypedData data(mine.buffer, mine.count, *mine.type);
  GatheredData all(recvbuf, recvcount, *receive_type, communicator->size());
  const std::uint64_t block_bytes = bytes_of(recvcount, *receive_type);
  Collective up(call.rank(), *communicator, shape_of_gather(0, block_bytes));
  gather_tree(up, 0, data.region(), block_bytes, all.run());
  note_error(call, up);
  Collective down(call.rank(), *communicator, shape_of_gather(0, block_bytes));
  if (!call.ok()) down.named_other_bytes();  // what rank 0 has is not whole
  bcast_tree(down, 0, all.region());
  note_error(call, down);
  all.scatter();
  return call.done();
}

}  // namespace

extern "C" int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Gather">);
  return gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
MARGAY_ALIAS(Gather)

extern "C" int PMPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Gather_c">);
  return gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
MARGAY_ALIAS(Gather_c)

extern "C" int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Allgather">);
  return allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
MARGAY_ALIAS(Allgather)

extern "C" int PMPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Allgather_c">);
  return allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
MARGAY_ALIAS(Allgather_c)
