#include "command/info/info.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "command/run/process/guardian.hpp"
#include "command/run/process/rank_environment.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/processors.hpp"
#include "sim/boot/join.hpp"
#include "sim/boot/node_segment.hpp"
#include "sim/boot/probes.hpp"

namespace margay::command {
namespace {

// A failed probe is only a warning if another mechanism takes over.
Diagnosis from_probe(const sim::ProbeResult& probe, std::string_view name, Finding otherwise, std::string mend) {
  if (probe.works) return {Finding::ok, fmt::format("{}: {}", name, probe.detail), ""};
  return {otherwise, fmt::format("{}: {}", name, probe.detail), std::move(mend)};
}

Diagnosis check_processors() {
  const sim::ProcessorShare share = sim::processor_share();
  if (share.processors >= 2) return {Finding::ok, "processors: " + share.text, ""};
  return {
      Finding::warn, "processors: " + share.text,
      "two ranks share one processor; waiting ranks yield it, so jobs run, but slowly: allow more processors (--cpus, "
      "taskset)"};
}

// Creates the memory of a job of a few ranks: the size of /dev/shm alone does not show whether that works.
Diagnosis check_memory() {
  constexpr std::uint64_t kTrialBytes = std::uint64_t{64} << 20;
  sim::SegmentRequest request;
  request.sizes = sim::only_size(kTrialBytes);
  // No process shall inherit this memory, which is released below.
  request.inheritable = false;
  int descriptor = -1;
  const portals::Status status = sim::create_segment(request, descriptor);
  if (!status.ok()) {
    rlimit files{};
    // ulimit -f bounds shared memory as well, since to the kernel it is a file.
    const bool too_short = ::getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < kTrialBytes;
    return {Finding::fail, status.sentence(),
            too_short ? "ulimit -f unlimited" : "give the container --shm-size=1g, or allow memfd_create"};
  }
  const std::string kind = sim::describe_segment(descriptor);
  ::close(descriptor);
  return {Finding::ok, "shared memory: 64 MiB as " + kind, ""};
}

// margay prefers memfd, so a small /dev/shm is only a warning.
Diagnosis check_dev_shm() {
  struct statvfs info {};
  if (::statvfs("/dev/shm", &info) != 0) {
    return {Finding::warn, "/dev/shm is not there", "not needed while memfd works; other MPI libraries need it"};
  }
  const std::uint64_t mib = static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize >> 20;
  if (mib > 64) return {Finding::ok, fmt::format("/dev/shm: {} MiB", mib), ""};
  return {Finding::warn, fmt::format("/dev/shm: {} MiB, the size of a container's default", mib),
          "not needed while memfd works; other MPI libraries need more (--shm-size=1g)"};
}

// Reports the hard limit, because the launcher raises the soft limit of open files.
Diagnosis check_limit(int resource, std::string_view name, rlim_t wanted, std::string mend) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0)
    return {Finding::warn, fmt::format("{}: unknown", name), ""};
  if (limit.rlim_max == RLIM_INFINITY) return {Finding::ok, fmt::format("{}: no limit", name), ""};
  return {limit.rlim_max >= wanted ? Finding::ok : Finding::warn, fmt::format("{}: {}", name, limit.rlim_max),
          limit.rlim_max >= wanted ? "" : std::move(mend)};
}

// A rank maps its heap of unexpected messages, its node's memory and its libraries. Under a limit that is too low for
// these, MPI_Init fails.
Diagnosis check_address_space() {
  constexpr rlim_t kWanted = 4 * sim::kHeapBytes;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return {Finding::ok, "address space (ulimit -v): no limit", ""};
  const std::string found = fmt::format("address space (ulimit -v): {} MiB", limit.rlim_cur >> 20);
  if (limit.rlim_cur >= kWanted) return {Finding::ok, found, ""};
  return {Finding::fail, fmt::format("{}, a rank needs {} MiB", found, kWanted >> 20),
          "ulimit -v unlimited, or a smaller heap for each rank (--heap)"};
}

Diagnosis check_launcher_variables() {
  const portals::Status status =
      sim::refuse_foreign_launcher([](const char* name) -> const char* { return std::getenv(name); });
  if (status.ok()) return {Finding::ok, "no variables of another launcher in the environment", ""};
  return {Finding::warn, status.sentence(), "unset these variables in this shell"};
}

Diagnosis check_library() {
  const std::string folder = find_library_folder();
  if (!folder.empty()) return {Finding::ok, "libmpi.so.12 in " + folder, ""};
  return {Finding::fail, "libmpi.so.12 is not beside this command",
          "build or install margay as a whole: cmake --install"};
}

Diagnosis check_user() {
  // Only reported: other launchers refuse to run as root, and users look for the option.
  if (::geteuid() != 0) return {Finding::ok, "not root", ""};
  return {Finding::ok, "root: allowed, no option needed", ""};
}

}  // namespace

// The most fundamental checks come first.
std::vector<Diagnosis> diagnose() {
  std::vector<Diagnosis> findings;
  findings.push_back(check_library());
  findings.push_back(check_processors());
  findings.push_back(check_memory());
  findings.push_back(
      from_probe(sim::probe_memfd(), "memfd", Finding::warn,
                 "a file in /dev/shm is used instead, allocated in full: allow memfd_create in the seccomp filter"));
  findings.push_back(check_dev_shm());
  findings.push_back(
      from_probe(sim::probe_process_vm_readv(), "process_vm_readv", Finding::warn,
                 "not needed: the byte ring is used; for --method long=cma allow ptrace (--cap-add=SYS_PTRACE)"));
  findings.push_back(from_probe(
      sim::probe_io_uring(), "io_uring", Finding::warn,
      "not needed: epoll is used between nodes; for --wire-tcp uring allow io_uring_setup in the seccomp filter"));
  findings.push_back(
      from_probe(sim::probe_membarrier(), "membarrier", Finding::warn,
                 "messages to a computing rank wait until it calls MPI: allow membarrier in the seccomp filter"));
  findings.push_back(
      from_probe(sim::probe_proc_descriptors(), "/proc/PID/fd", Finding::warn,
                 "under mpiexec.hydra or srun all ranks talk over TCP; under margay run nothing changes"));
  findings.push_back(
      check_limit(RLIMIT_NOFILE, "open files (ulimit -Hn)", 1024, "three for each rank are needed: raise ulimit -n"));
  findings.push_back(check_limit(RLIMIT_NPROC, "processes (ulimit -Hu)", 256, "raise ulimit -u"));
  findings.push_back(check_address_space());
  findings.push_back(check_launcher_variables());
  findings.push_back(check_user());
  return findings;
}

}  // namespace margay::command
