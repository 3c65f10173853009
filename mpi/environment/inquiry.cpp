// Inquiries that need no peer (MPI 4.0, chapters 9.1 to 9.6).
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/boot/job.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

constexpr char kLibraryVersion[] =
    "margay 0.1.0: MPI 4.0 on emulated Puma portals (short, long and synchronous protocols; shared memory and TCP), "
    "MPICH ABI";
static_assert(sizeof kLibraryVersion <= MPI_MAX_LIBRARY_VERSION_STRING);

double seconds(const timespec& time) {
  constexpr double kNsPerSecond = 1e9;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / kNsPerSecond;
}

// A time in whole nanoseconds as a timespec.
timespec of_ns(std::uint64_t ns) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

}  // namespace

// Valid at any time. All ranks of a host, or of a virtual machine, use one clock.
extern "C" double PMPI_Wtime() {
  const margay::sim::Clock* const clock = current_process().clock();
  // Only processes of a virtual machine have a clock object; others read the real clock without a virtual call.
  if (clock != nullptr) [[unlikely]]
    return seconds(of_ns(clock->now_ns()));
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}
MARGAY_ALIAS(Wtime)

extern "C" double PMPI_Wtick() {
  if (current_process().clock() != nullptr) return seconds(of_ns(1));
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return seconds(resolution);
}
MARGAY_ALIAS(Wtick)

extern "C" int PMPI_Get_version(int* version, int* subversion) {
  // No Call: valid before MPI_Init, and in any thread.
  if (version == nullptr) return null_argument(call_name<"MPI_Get_version">, "version");
  if (subversion == nullptr) return null_argument(call_name<"MPI_Get_version">, "subversion");
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Get_version)

extern "C" int PMPI_Get_library_version(char* version, int* resultlen) {
  if (version == nullptr) return null_argument(call_name<"MPI_Get_library_version">, "version");
  if (resultlen == nullptr) return null_argument(call_name<"MPI_Get_library_version">, "resultlen");
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
  // The last byte stays 0, because gethostname() need not end a truncated name with a zero.
  gethostname(host, sizeof host - 1);
  std::string text = host;
  const margay::sim::Job& job = call.rank().process().job();
  // Emulated nodes share a host, so the node's number is added to its name.
  if (job.nodes_are_emulated && job.node_count > 1) text += "-node" + std::to_string(job.node);
  if (!call.ok()) return call.failed();
  text.resize(std::min<std::size_t>(text.size(), MPI_MAX_PROCESSOR_NAME - 1));
  std::memcpy(name, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Get_processor_name)

// No effect: a profiling library that needs it defines its own.
extern "C" int PMPI_Pcontrol(const int /*level*/, ...) {
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pcontrol)
