// Publishing of names (MPI 4.0, 11.9.4), by the name service of the launcher: publish_name, lookup_name and
// unpublish_name of PMI-1.1.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/dynamic/service_name.hpp"
#include "mpi/info/table.hpp"
#include "sim/boot/job.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;
using margay::portals::Status;

namespace {

// The service as a word of a PMI line; empty after an error. `error_class`: of a name that cannot be one.
std::string checked_service(Call& call, const char* service_name, int error_class) {
  call.not_null(service_name, "service_name");
  if (!call.ok()) return {};
  const std::size_t bytes = strnlen(service_name, kServiceNameBytesMax + 1);
  if (bytes > kServiceNameBytesMax) {
    call.error(error_class, "service_name is longer than " + std::to_string(kServiceNameBytesMax) + " bytes");
  } else if (bytes == 0) {
    call.error(error_class, "service_name is empty");
  }
  return call.ok() ? service_word({service_name, bytes}) : std::string();
}

// The port's name, which may be that of another MPI library; empty after an error.
std::string checked_port(Call& call, const char* port_name) {
  call.not_null(port_name, "port_name");
  if (!call.ok()) return {};
  const std::size_t bytes = strnlen(port_name, MPI_MAX_PORT_NAME);
  if (bytes == MPI_MAX_PORT_NAME) {
    call.error(MPI_ERR_PORT, "port_name is longer than " + std::to_string(MPI_MAX_PORT_NAME - 1) + " bytes");
  } else if (bytes == 0) {
    call.error(MPI_ERR_PORT, "port_name is empty");
  }
  std::string name(port_name, call.ok() ? bytes : 0);
  // A line of PMI has one word for it.
  if (std::any_of(name.begin(), name.end(), [](char letter) { return letter <= ' ' || letter == 0x7f; })) {
    call.error(MPI_ERR_PORT, "port_name has white space or bytes that are not ASCII; MPI_Open_port makes no such name");
  }
  return name;
}

// The connection to the launcher; nullptr after an error.
margay::sim::PmiClient* launcher(Call& call, int error_class) {
  if (!call.ok()) return nullptr;
  margay::sim::PmiClient* const pmi = call.rank().process().job().pmi.get();
  if (pmi == nullptr) {
    call.error(error_class, "names need a launcher's name service; start the program by `margay run`");
  }
  return pmi;
}

// The launcher's answer.
void set_error(Call& call, const std::string& service, const Status& status, int error_class) {
  if (!status.ok()) call.error(error_class, "service_name '" + service + "': " + status.sentence());
}

using Change = Status (margay::sim::PmiClient::*)(std::string_view service, std::string_view port);

// MPI_Publish_name and MPI_Unpublish_name.
int change_name(Call& call, Change change, const char* service_name, MPI_Info info, const char* port_name) {
  check_hints(call, info);
  const std::string service = checked_service(call, service_name, MPI_ERR_SERVICE);
  const std::string port = checked_port(call, port_name);
  if (margay::sim::PmiClient* const pmi = launcher(call, MPI_ERR_SERVICE); pmi != nullptr) {
    set_error(call, service, (pmi->*change)(service, port), MPI_ERR_SERVICE);
  }
  return call.done();
}

}  // namespace

extern "C" int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  Call call(call_name<"MPI_Publish_name">);
  return change_name(call, &margay::sim::PmiClient::publish, service_name, info, port_name);
}
MARGAY_ALIAS(Publish_name)

extern "C" int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  Call call(call_name<"MPI_Unpublish_name">);
  return change_name(call, &margay::sim::PmiClient::unpublish, service_name, info, port_name);
}
MARGAY_ALIAS(Unpublish_name)

extern "C" int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  Call call(call_name<"MPI_Lookup_name">);
  check_hints(call, info);
  const std::string service = checked_service(call, service_name, MPI_ERR_NAME);
  call.not_null(port_name, "port_name");
  margay::sim::PmiClient* const pmi = launcher(call, MPI_ERR_NAME);
  if (pmi == nullptr) return call.failed();
  std::string port;
  set_error(call, service, pmi->lookup_name(service, port), MPI_ERR_NAME);
  if (call.ok() && port.size() >= MPI_MAX_PORT_NAME) {
    call.error(MPI_ERR_NAME, "the service has a name of " + std::to_string(port.size()) +
                                 " bytes; a port has at most " + std::to_string(MPI_MAX_PORT_NAME - 1));
  }
  if (call.ok()) std::memcpy(port_name, port.c_str(), port.size() + 1);
  return call.done();
}
MARGAY_ALIAS(Lookup_name)
