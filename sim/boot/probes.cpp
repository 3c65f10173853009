#include "sim/boot/probes.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "sim/wire/tcp/tcp_backend.hpp"

namespace margay::sim {
namespace {

std::string reason(const char* call) {
  return std::string(call) + ": " + std::strerror(errno);
}

// Reads one byte of another process, and compares it with the byte at the same address in this process.
bool reads_byte(pid_t pid, const char* address) {
  char byte = 0;
  iovec local{&byte, 1};
  iovec remote{const_cast<char*>(address), 1};
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1 && byte == *address;
}

// A child that reads its parent's byte, reports the result, and waits until the parent has read the child's byte and
// closes the pipe.
class Reader {
 public:
  explicit Reader(const char* address) {
    if (::pipe2(from_child_, O_CLOEXEC) != 0 || ::pipe2(to_child_, O_CLOEXEC) != 0) return;
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ != 0) return;
    // If the parent is killed, the child is killed too.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Closed in the child, so that its read() ends when the parent closes the pipe.
    ::close(to_child_[1]);
    const char answer = reads_byte(parent, address) ? 'y' : 'n';
    char byte = 0;
    if (::write(from_child_[1], &answer, 1) == 1) static_cast<void>(!::read(to_child_[0], &byte, 1));
    ::_exit(0);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    for (int end : {from_child_[0], from_child_[1], to_child_[0], to_child_[1]}) {
      if (end >= 0) ::close(end);
    }
    if (pid_ <= 0) return;
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  [[nodiscard]] bool started() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool read_parent() {
    // Closed here, so that read() finds the end of file if the child has died, and does not wait for ever.
    ::close(from_child_[1]);
    from_child_[1] = -1;
    char answer = 'n';
    return ::read(from_child_[0], &answer, 1) == 1 && answer == 'y';
  }

 private:
  pid_t pid_ = -1;
  int from_child_[2] = {-1, -1};
  int to_child_[2] = {-1, -1};
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

}  // namespace

ProbeResult probe_memfd() {
  const int descriptor = ::memfd_create("margay-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return {false, reason("memfd_create")};
  const bool sized = ::ftruncate(descriptor, 1 << 20) == 0;
  // Sealing is tried for the report only, because the segment is used without the seal where it is refused.
  const bool sealed = sized && ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  const std::string why = sealed ? "memfd_create, sized and sealed" : reason(sized ? "F_ADD_SEALS" : "ftruncate");
  ::close(descriptor);
  return {sized, why};
}

// The TCP wire's own test, so that --wire-tcp uring gives the same result.
ProbeResult probe_io_uring() {
  if (std::getenv("MARGAY_REFUSE_IO_URING") != nullptr) return {false, "refused by MARGAY_REFUSE_IO_URING"};
  const portals::Status tried = probe_uring();
  if (tried.ok()) return {true, "a byte came through an armed receive into a provided buffer"};
  const std::string setting = read_file("/proc/sys/kernel/io_uring_disabled");
  return {false,
          tried.sentence() + (setting.empty() || setting == "0" ? " (a container's seccomp filter?)"
                                                                : " (kernel.io_uring_disabled=" + setting + ")")};
}

ProbeResult probe_process_vm_readv() {
  // The byte has the same address in both processes, because the child is a copy of the parent.
  const char byte = 'm';
  Reader reader(&byte);
  if (!reader.started()) return {false, reason("fork")};
  const bool upward = reader.read_parent();
  if (!upward) return {false, "a child could not read its parent's byte: " + std::string("ptrace is restricted")};
  if (!reads_byte(reader.pid(), &byte)) return {false, reason("process_vm_readv of a child's byte")};
  return {true, "one byte read both ways between two processes"};
}

ProbeResult probe_membarrier() {
  const long supported = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (supported < 0) return {false, reason("membarrier")};
  // The query succeeds on systems that have only the slow commands.
  if ((supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
    return {false, "the operating system lacks the private expedited command"};
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
    return {false, reason("membarrier")};
  return {true, "private expedited"};
}

ProbeResult probe_proc_descriptors() {
  const int descriptor = ::memfd_create("margay-probe", MFD_CLOEXEC);
  if (descriptor < 0) return {false, reason("memfd_create")};
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const std::string detail = opened >= 0 ? "/proc/PID/fd opens" : reason(path.c_str());
  if (opened >= 0) ::close(opened);
  ::close(descriptor);
  return {opened >= 0, detail};
}

}  // namespace margay::sim
