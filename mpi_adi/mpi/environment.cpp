// Inquiries that need no peer (MPI 4.0, chapters 9.1 to 9.6).
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

namespace {

constexpr char kLibraryVersion[] =
    "margay 0.1.0: MPI 4.0 on emulated Puma portals (short, long and synchronous protocols; shared memory and TCP), "
    "MPICH ABI";
static_assert(sizeof kLibraryVersion <= MPI_MAX_LIBRARY_VERSION_STRING);

int return_text(Call& call, const std::string& text, char* out, int* length, std::size_t room) {
  if (!call.ok()) return call.failed();
  const std::size_t bytes = text.size() < room ? text.size() : room - 1;
  std::memcpy(out, text.data(), bytes);
  out[bytes] = '\0';
  *length = static_cast<int>(bytes);
  return MPI_SUCCESS;
}

double seconds(const timespec& time) {
  constexpr double kNsPerSecond = 1e9;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / kNsPerSecond;
}

}  // namespace

// May be called at any time; one clock for all ranks of a host.
extern "C" double PMPI_Wtime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}
MARGAY_ALIAS(Wtime)

extern "C" double PMPI_Wtick() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return seconds(resolution);
}
MARGAY_ALIAS(Wtick)

extern "C" int PMPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Get_version)

extern "C" int PMPI_Get_library_version(char* version, int* resultlen) {
  std::memcpy(version, kLibraryVersion, sizeof kLibraryVersion);
  *resultlen = static_cast<int>(sizeof kLibraryVersion - 1);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Get_library_version)

extern "C" int PMPI_Get_processor_name(char* name, int* resultlen) {
  Call call(call_name<"MPI_Get_processor_name">);
  call.not_null(name, "name");
  call.not_null(resultlen, "resultlen");
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  gethostname(host, sizeof host - 1);
  std::string text = host;
  const margay::sim::Job& job = call.rank().process().job();
  if (job.nodes_are_emulated && job.node_count > 1) text += "-node" + std::to_string(job.node);
  return return_text(call, text, name, resultlen, MPI_MAX_PROCESSOR_NAME);
}
MARGAY_ALIAS(Get_processor_name)

extern "C" int PMPI_Error_class(int errorcode, int* errorclass) {
  Call call(call_name<"MPI_Error_class">);
  call.not_null(errorclass, "errorclass");
  if (call.ok() && !call.rank().errors().is_code(errorcode)) {
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is no error code");
  }
  if (call.ok()) *errorclass = call.rank().errors().class_of(errorcode);
  return call.done();
}
MARGAY_ALIAS(Error_class)

extern "C" int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  Call call(call_name<"MPI_Error_string">);
  call.not_null(string, "string");
  call.not_null(resultlen, "resultlen");
  if (call.ok() && !call.rank().errors().is_code(errorcode)) {
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is no error code");
  }
  return return_text(call, call.ok() ? call.rank().errors().text_of(errorcode) : "", string, resultlen,
                     MPI_MAX_ERROR_STRING);
}
MARGAY_ALIAS(Error_string)

// Nothing to control here: a profiling library that wants it puts its own in front.
extern "C" int PMPI_Pcontrol(const int /*level*/, ...) {
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pcontrol)
