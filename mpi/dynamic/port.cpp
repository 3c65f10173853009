// Ports, and the intercommunicators that are made at them (MPI 4.0, 11.9.2 and 11.9.3).
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "collectives/comm/connect.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/info/table.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

// The program's name, read at most to the length of the standard; longer ones are no names of ports.
std::string_view name_of(const char* port_name) {
  return port_name == nullptr ? std::string_view() : std::string_view(port_name, strnlen(port_name, MPI_MAX_PORT_NAME));
}

using Connect = Connected (&)(MpiRank&, Communicator&, int, std::string_view, const char*);

// MPI_Comm_accept and MPI_Comm_connect.
int connect_at_port(Call& call, Connect connect, const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm* newcomm) {
  Communicator* const local = call.intracommunicator(comm);
  call.root(local, root);
  call.not_null(newcomm, "newcomm");
  if (!call.ok()) return call.failed();
  check_call(call, *local, {.root = root});
  const bool is_root = local->rank() == root;
  if (is_root) check_hints(call, info);
  // The other members wait for the root's result. After an error of its info it takes part with an invalid name.
  const std::string_view name = call.ok() ? name_of(port_name) : std::string_view();
  const Connected made = connect(call.rank(), *local, root, name, call.name());
  if (!call.ok()) return call.failed();
  if (made.result != PortResult::met) {
    const bool is_null = port_name == nullptr && is_root;
    call.error(MPI_ERR_PORT, is_null ? "port_name is a null pointer" : port_error_text(made.result, made.why));
  } else if (made.error_class == MPI_ERR_COMM) {
    call.error(MPI_ERR_COMM, "a process is in both groups; the groups of an intercommunicator are disjoint");
  }
  return call.ok() ? give_communicator(call, made, newcomm) : call.failed();
}

}  // namespace

extern "C" int PMPI_Open_port(MPI_Info info, char* port_name) {
  Call call(call_name<"MPI_Open_port">);
  check_hints(call, info);
  call.not_null(port_name, "port_name");
  if (!call.ok()) return call.failed();
  // If this fails, the port serves processes of this job only, and its name has no address.
  static_cast<void>(call.rank().process().open_guests());
  const std::optional<PortName> opened = call.rank().ports().open();
  if (!opened) {
    call.error(MPI_ERR_OTHER, "too many ports are open (" + std::to_string(kOpenPortsMax) + "); close some first");
    return call.failed();
  }
  const std::string text = port_name_text(*opened);
  static_assert(kPortNameBytesMax < MPI_MAX_PORT_NAME);
  std::memcpy(port_name, text.c_str(), text.size() + 1);
  return call.done();
}
MARGAY_ALIAS(Open_port)

extern "C" int PMPI_Close_port(const char* port_name) {
  Call call(call_name<"MPI_Close_port">);
  call.not_null(port_name, "port_name");
  if (!call.ok()) return call.failed();
  std::string why;
  const PortResult closed = call.rank().ports().close(name_of(port_name), why);
  if (closed == PortResult::other_process) {
    why = "port_name was opened by another process; only the process that opened it can close it";
  }
  if (closed != PortResult::met) call.error(MPI_ERR_PORT, why.empty() ? port_error_text(closed, why) : why);
  return call.done();
}
MARGAY_ALIAS(Close_port)

extern "C" int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_accept">);
  return connect_at_port(call, accept_group, port_name, info, root, comm, newcomm);
}
MARGAY_ALIAS(Comm_accept)

extern "C" int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_connect">);
  return connect_at_port(call, connect_group, port_name, info, root, comm, newcomm);
}
MARGAY_ALIAS(Comm_connect)
