// MPI_Comm_join (MPI 4.0, 11.10.5): two processes that a connected socket joins make an intercommunicator of their two
// groups of one. Each side sends one hello over the socket; all further messages are messages of MPI.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "collectives/comm/construct.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi_adi/rank/ports.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

// Stands for the place of the other process, which is unknown when this one offers a tag. The offer counts only if this
// process has the lower place.
constexpr std::uint32_t kHigherPlace = ~std::uint32_t{0};

// What each side sends. Little-endian, as all of margay's own bytes.
struct Hello {
  std::array<char, 8> magic{};
  std::uint64_t job = 0;
  std::uint32_t place = 0;
  std::uint32_t tag = 0;  // the tag of the process with the lower place is used
};
static_assert(sizeof(Hello) == 24);
constexpr std::array<char, 8> kMagic{'m', 'a', 'r', 'g', 'a', 'y', 'j', '1'};

// One transfer over the socket, without waiting: `transfer` is send() or recv(). True once all bytes are through or
// `failure` is set.
class Transfer {
 public:
  using Function = ssize_t (*)(int, char*, std::size_t);
  Transfer(int fd, void* bytes, Function transfer) : fd_(fd), at_(static_cast<char*>(bytes)), transfer_(transfer) {}
  [[nodiscard]] bool advance() {
    while (left_ > 0) {
      const ssize_t moved = transfer_(fd_, at_, left_);
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
      if (moved <= 0) {
        failure_ = moved < 0 ? std::strerror(errno) : "the other end has closed the connection";
        return true;
      }
      at_ += moved;
      left_ -= static_cast<std::size_t>(moved);
    }
    return true;
  }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  int fd_;
  char* at_;
  std::size_t left_ = sizeof(Hello);
  Function transfer_;
  std::string failure_;
};

// The two hellos cross. Empty, or the reason why they could not be exchanged. Progress goes on meanwhile, because the
// other process may wait for a message of this one before it calls MPI_Comm_join.
std::string exchange(Call& call, int fd, Hello& mine, Hello& theirs) {
  Transfer out(fd, &mine, [](int to, char* bytes, std::size_t count) {
    return ::send(to, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  Transfer in(fd, &theirs,
              [](int from, char* bytes, std::size_t count) { return ::recv(from, bytes, count, MSG_DONTWAIT); });
  const NamedWait named{.call = "MPI_Comm_join",
                        .peer = -1,
                        .needs_message = false,
                        .returns_to = margay::sim::function_called_by_program().returns_to};
  wait_until(
      call.rank(),
      [&] {
        const bool sent = out.advance();
        if (!out.failure().empty()) return true;
        return in.advance() && (sent || !in.failure().empty());
      },
      Device::kMessagesPerRound, &named);
  return out.failure().empty() ? in.failure() : out.failure();
}

void check_socket(Call& call, int fd) {
  if (!call.ok()) return;
  int type = 0;
  socklen_t bytes = sizeof type;
  sockaddr_storage peer{};
  socklen_t peer_bytes = sizeof peer;
  std::string why;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0) {
    why = std::strerror(errno);
  } else if (type != SOCK_STREAM) {
    why = "it is not a stream socket";
  } else if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) != 0) {
    why = std::strerror(errno);
  }
  if (why.empty()) return;
  call.error(MPI_ERR_ARG, "fd " + std::to_string(fd) + " is not a connected stream socket: " + why);
}

}  // namespace

extern "C" int PMPI_Comm_join(int fd, MPI_Comm* intercomm) {
  Call call(call_name<"MPI_Comm_join">);
  call.not_null(intercomm, "intercomm");
  check_socket(call, fd);
  if (!call.ok()) return call.failed();
  MpiRank& rank = call.rank();
  const std::uint32_t me = rank.process().rank();
  Hello mine{kMagic, rank.process().job().job_id, me, rank.ports().new_tag(kHigherPlace)};
  Hello theirs;
  *intercomm = MPI_COMM_NULL;
  std::string why = exchange(call, fd, mine, theirs);
  if (why.empty() && theirs.magic != kMagic) why = "the other end is not in margay's MPI_Comm_join";
  const bool same_job = theirs.job == mine.job;
  if (why.empty() && same_job && theirs.place >= static_cast<std::uint32_t>(rank.worlds().places().size())) {
    why = "the other end names process " + std::to_string(theirs.place) + ", which the job does not have";
  }
  if (why.empty() && same_job && theirs.place == me) why = "both ends are in this process";
  if (!why.empty()) {
    call.error(MPI_ERR_OTHER, "fd " + std::to_string(fd) + ": " + why);
    return call.failed();
  }
  // Processes of different jobs have no wire between them. The standard wants success and MPI_COMM_NULL then.
  if (!same_job) return call.done();
  const std::uint32_t tag = me < theirs.place ? mine.tag : theirs.tag;
  return give_communicator(call,
                           join_groups(rank, rank.worlds().self(), 0, &rank.worlds().places(),
                                       static_cast<int>(theirs.place), static_cast<int>(tag)),
                           intercomm);
}
MARGAY_ALIAS(Comm_join)
