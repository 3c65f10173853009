// Partitioned communication (MPI 4.0, 4.2).
#include <climits>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/info/table.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi_adi/request/partitioned.hpp"
#include "sim/base/text.hpp"

using namespace margay::mpi;

namespace {

// Checks that all partitions together have at most 2^62 bytes, so that offsets in the buffer cannot overflow.
void check_sizes(Call& call, int partitions, MPI_Count count, const Datatype* type) {
  if (partitions < 0) call.error(MPI_ERR_ARG, "partitions is " + std::to_string(partitions) + ", below 0");
  if (!call.ok() || type == nullptr) return;
  constexpr std::uint64_t kBytesMax = 1ULL << 62;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), type->size, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(partitions), &bytes) || bytes > kBytesMax) {
    call.error(MPI_ERR_COUNT, std::to_string(partitions) + " partitions of " + std::to_string(count) +
                                  " elements are more than 2^62 bytes");
  }
}

// Makes the persistent request of a checked call; it is inactive until MPI_Start.
template <typename Side>
int keep(Call& call, const PartitionedCall& arguments, MPI_Request* handle) {
  call.not_null(handle, "request");
  UserRequest* const made = call.ok() ? add_request_handle(call, *arguments.communicator) : nullptr;
  if (!call.ok()) return refuse(call, arguments.peer, arguments.tag);
  made->persistent = true;
  ++arguments.communicator->references;
  made->call = {};
  made->call.type = arguments.type;
  ++arguments.type->references;
  made->upper = new Side(call.rank(), arguments);
  *handle = made->handle;
  return MPI_SUCCESS;
}

// The partitioned request of class `Side`, a send or a receive; nullptr, with the error set, if the handle is that of
// another request. `made_by`: the function that makes such requests, for the message.
template <typename Side>
Side* find(Call& call, MPI_Request handle, const char* made_by) {
  const UserRequest* const found = call.request(handle);
  if (!call.ok()) return nullptr;
  const bool is = found->persistent && found->upper != nullptr && found->upper->kind == Side::kKind;
  Side* const side = is ? static_cast<Side*>(found->upper) : nullptr;
  if (side == nullptr) call.error(MPI_ERR_REQUEST, std::string("the request was not made by ") + made_by);
  return side;
}

void check_partition(Call& call, const Partitioned* request, int partition, const char* what = "partition") {
  if (!call.ok() || (partition >= 0 && partition < request->partitions())) return;
  call.error(MPI_ERR_ARG, "invalid " + std::string(what) + " " + std::to_string(partition) + "; the request has " +
                              margay::sim::counted(request->partitions(), "partition"));
}

// The partitioned send of a handle. An inactive request is an error, because partitions can be made ready only between
// MPI_Start and completion.
PartitionedSend* find_sending(Call& call, MPI_Request handle) {
  auto* const request = find<PartitionedSend>(call, handle, "MPI_Psend_init");
  if (call.ok() && !request->active()) {
    call.error(MPI_ERR_REQUEST, "the request is not active; call MPI_Start before a partition is ready");
  }
  return request;
}

void check_ready(Call& call, const PartitionedSend* request, int partition, const char* what = "partition") {
  check_partition(call, request, partition, what);
  if (call.ok() && request->ready(partition)) {
    call.error(MPI_ERR_ARG, "partition " + std::to_string(partition) + " is ready already");
  }
}

}  // namespace

extern "C" int PMPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                               int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Psend_init">);
  const CheckedSend checked = check_send(call, SendMode::standard, {buf, count, datatype, dest, tag, comm});
  check_sizes(call, partitions, count, checked.type);
  check_hints(call, info);
  // The cast is safe: PartitionedCall has one pointer for both sides, and a send only reads.
  return keep<PartitionedSend>(
      call, {const_cast<void*>(buf), partitions, count, checked.type, dest, tag, checked.communicator}, request);
}
MARGAY_ALIAS(Psend_init)

extern "C" int PMPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Precv_init">);
  const CheckedReceive checked = check_receive(call, {buf, count, datatype, source, tag, comm});
  // MPI allows no wildcards here.
  if (source == MPI_ANY_SOURCE) call.error(MPI_ERR_RANK, "source is MPI_ANY_SOURCE; partitions come from one rank");
  if (tag == MPI_ANY_TAG) call.error(MPI_ERR_TAG, "tag is MPI_ANY_TAG; partitions come with one tag");
  check_sizes(call, partitions, count, checked.type);
  check_hints(call, info);
  return keep<PartitionedReceive>(call, {buf, partitions, count, checked.type, source, tag, checked.communicator},
                                  request);
}
MARGAY_ALIAS(Precv_init)

extern "C" int PMPI_Pready(int partition, MPI_Request request) {
  Call call(call_name<"MPI_Pready">);
  PartitionedSend* const found = find_sending(call, request);
  check_ready(call, found, partition);
  if (call.ok()) found->make_ready(partition);
  return call.done();
}
MARGAY_ALIAS(Pready)

extern "C" int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  Call call(call_name<"MPI_Pready_range">);
  PartitionedSend* const found = find_sending(call, request);
  check_partition(call, found, partition_low, "partition_low");
  check_partition(call, found, partition_high, "partition_high");
  if (!call.ok()) return call.failed();
  // All are checked before the first one is marked ready, so a failed call has no effect.
  for (int at = partition_low; at <= partition_high && call.ok(); ++at) check_ready(call, found, at);
  if (!call.ok()) return call.failed();
  for (int at = partition_low; at <= partition_high; ++at) found->make_ready(at);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pready_range)

extern "C" int PMPI_Pready_list(int length, int array_of_partitions[], MPI_Request request) {
  Call call(call_name<"MPI_Pready_list">);
  call.count(length, "length");
  if (length > 0) call.not_null(array_of_partitions, "array_of_partitions");
  PartitionedSend* const found = find_sending(call, request);
  for (int i = 0; i < length && call.ok(); ++i) {
    check_ready(call, found, array_of_partitions[i], "array_of_partitions: partition");
  }
  if (!call.ok()) return call.failed();
  for (int i = 0; i < length; ++i) {
    // The list may name a partition twice.
    if (!found->ready(array_of_partitions[i])) found->make_ready(array_of_partitions[i]);
  }
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pready_list)

extern "C" int PMPI_Parrived(MPI_Request request, int partition, int* flag) {
  Call call(call_name<"MPI_Parrived">);
  call.not_null(flag, "flag");
  if (call.ok() && request == MPI_REQUEST_NULL) {
    *flag = 1;  // as for an inactive request (MPI 4.0, 4.2.2)
    return MPI_SUCCESS;
  }
  auto* const found = find<PartitionedReceive>(call, request, "MPI_Precv_init");
  check_partition(call, found, partition);
  if (!call.ok()) return call.failed();
  // No round of progress if the partition has arrived already.
  bool arrived = !found->active() || found->arrived(partition);
  if (!arrived) {
    look_once(call);
    arrived = found->arrived(partition);
    if (!arrived) yield_processor(call);
  }
  *flag = arrived ? 1 : 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Parrived)
