// MPI_Scan and MPI_Exscan (MPI 4.0, 6.11), and their nonblocking and persistent forms (6.12, 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"

using namespace margay::mpi;

namespace {

struct ScanArguments {
  ScanKind kind;
  const void* send;
  void* receive;
  std::int64_t count;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

// A scan with checked arguments; the constructor sets the call's error.
class Scanning {
 public:
  Scanning(Call& call, const ScanArguments& arguments)
      : arguments_(arguments),
        // Scans are not defined between groups (MPI 4.0, 6.11).
        communicator_(call.intracommunicator(arguments.comm)),
        type_(checked_type(call)),
        operands_(call, arguments.op, type_, arguments.count) {
    if (!call.ok()) return;
    check_buffers(call, arguments.send, arguments.receive, arguments.count);
    if (has_result() || in_place()) call.buffer(arguments.receive, arguments.count, type_, "recvbuf");
    if (!in_place()) call.buffer(arguments.send, arguments.count, type_, "sendbuf");
    if (!call.ok()) return;
    check_call(call, *communicator_, {.operation = arguments.op, .count = arguments.count, .type = type_});
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
  void begin() {
    // On a rank without a result, the contribution is copied into a row of its own.
    what_ = has_result() ? ScanCall{arguments_.kind, operands_.begin(arguments_.send, arguments_.receive)}
                         : ScanCall{arguments_.kind,
                                    operands_.begin(in_place() ? arguments_.receive : arguments_.send, nullptr)};
  }
  [[nodiscard]] Plan plan(const StandingFacts& standing) const { return plan_of(what_, standing); }
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
    return routine_of(what_, collective, standing, algorithm);
  }
  void finish() const {
    if (has_result()) operands_.finish(arguments_.receive);
  }

 private:
  [[nodiscard]] bool in_place() const { return arguments_.send == MPI_IN_PLACE; }
  // An exclusive scan's first rank has no result, and its receive buffer is not used (MPI 4.0, 6.11.2).
  [[nodiscard]] bool has_result() const { return arguments_.kind == ScanKind::inclusive || communicator_->rank() != 0; }
  [[nodiscard]] Datatype* checked_type(Call& call) const {
    call.count(arguments_.count);
    Datatype* const type = call.datatype(arguments_.datatype);
    if (type != nullptr) static_cast<void>(call.elements(arguments_.count, *type));
    return type;
  }

  ScanArguments arguments_;
  Communicator* communicator_;
  Datatype* type_;
  Operands operands_;
  ScanCall what_;
};

int scan(Call& call, const ScanArguments& arguments) {
  return perform_checked<Scanning>(call, arguments);
}
int scan(Call& call, Form form, const ScanArguments& arguments, MPI_Request* request) {
  return give_request<Scanning, CheckedTask<Scanning>>(call, form, arguments, request);
}

}  // namespace

MARGAY_COLLECTIVE(Scan, Iscan,
                  (const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  scan, {ScanKind::inclusive, sendbuf, recvbuf, count, datatype, op, comm})

MARGAY_COLLECTIVE(Exscan, Iexscan,
                  (const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  scan, {ScanKind::exclusive, sendbuf, recvbuf, count, datatype, op, comm})
