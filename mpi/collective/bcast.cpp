// MPI_Bcast (MPI 4.0, 6.4), MPI_Ibcast (6.12.2) and MPI_Bcast_init (6.13.2).
#include "collectives/select/between_groups.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"

using namespace margay::mpi;

namespace {

struct BcastArguments {
  void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int root;
  MPI_Comm comm;
};

struct Checked {
  Communicator* communicator;
  Datatype* type;
};

// The checks of the blocking, nonblocking and persistent call; sets the call's error.
Checked check(Call& call, const BcastArguments& arguments) {
  Communicator* communicator = call.communicator(arguments.comm);
  // On an intercommunicator, non-root members of the root's group pass MPI_PROC_NULL and no data.
  if (call.ok() && communicator->is_inter() && arguments.root == MPI_PROC_NULL) {
    check_call(call, *communicator, {.root = arguments.root});
    // MPI_BYTE is a placeholder: such a member moves no bytes.
    return {communicator, call.datatype(MPI_BYTE)};
  }
  call.count(arguments.count);
  Datatype* type = call.datatype(arguments.datatype, arguments.count);
  call.buffer(arguments.buffer, arguments.count, type);
  call.root(communicator, arguments.root);
  if (call.ok()) check_call(call, *communicator, {.root = arguments.root, .count = arguments.count, .type = type});
  return {communicator, type};
}

// The data: read at the root, written elsewhere.
TypedData bytes_of(const BcastArguments& arguments, const Checked& checked) {
  if (checked.communicator->is_inter() && arguments.root == MPI_PROC_NULL) {
    return {static_cast<void*>(nullptr), 0, *checked.type};
  }
  // The value of `root` that makes this rank the root.
  const int root = checked.communicator->is_inter() ? MPI_ROOT : checked.communicator->rank();
  if (root != arguments.root) return {arguments.buffer, arguments.count, *checked.type};
  return {static_cast<const void*>(arguments.buffer), arguments.count, *checked.type};
}

int bcast(Call& call, const BcastArguments& arguments) {
  const Checked checked = check(call, arguments);
  if (!call.ok()) return call.failed();
  const TypedData data = bytes_of(arguments, checked);
  if (checked.communicator->is_inter()) [[unlikely]] {
    const BcastBetween what{TwoGroups::of(*checked.communicator), arguments.root, data.region()};
    record_error(call, perform(collectives_of(call), checked.communicator->all_members(), what));
    return call.done();
  }
  record_error(call, perform(collectives_of(call), *checked.communicator, BcastCall{arguments.root, data.region()}));
  return call.done();
}

// The region refers to the program's buffer. The task keeps a reference to the type, because the program may free it.
class BcastTask final : public PlainCallTask<BcastCall> {
 public:
  BcastTask(MpiRank& rank, const BcastArguments& arguments, const Checked& checked)
      : PlainCallTask(rank, *checked.communicator), data_(bytes_of(arguments, checked)) {
    keep(*checked.type);
    what_ = {arguments.root, data_.region()};
  }

 private:
  TypedData data_;
};

class BcastBetweenTask final : public PlainCallTask<BcastBetween> {
 public:
  BcastBetweenTask(MpiRank& rank, const BcastArguments& arguments, const Checked& checked)
      : PlainCallTask(rank, *checked.communicator), data_(bytes_of(arguments, checked)) {
    keep(*checked.type);
    what_ = {TwoGroups::of(*checked.communicator), arguments.root, data_.region()};
  }

 private:
  TypedData data_;
};

int bcast(Call& call, Form form, const BcastArguments& arguments, MPI_Request* request) {
  const Checked checked = check(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  if (checked.communicator->is_inter()) {
    return give_request(call, form, std::make_unique<BcastBetweenTask>(call.rank(), arguments, checked), request);
  }
  return give_request(call, form, std::make_unique<BcastTask>(call.rank(), arguments, checked), request);
}

}  // namespace

MARGAY_COLLECTIVE(Bcast, Ibcast, (void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm), bcast,
                  {buffer, count, datatype, root, comm})
