// MPI_Comm_join (MPI 4.0, 11.10.5): two processes that a connected socket joins make an intercommunicator of their two
// groups of one. Each side sends one hello over the socket, and in different jobs its number for the other side; all
// further messages are messages of MPI.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "collectives/comm/construct.hpp"
#include "collectives/comm/several_jobs.hpp"
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
  std::uint32_t place = 0;  // Endpoint::place
  std::uint32_t tag = 0;    // the tag of the process with the lower endpoint is used
  // The card of the TCP wire at which it accepts connections of other jobs, with zeros behind it. Empty: it accepts
  // none.
  std::array<char, 80> card{};

  [[nodiscard]] margay::sim::Endpoint endpoint() const { return {job, place}; }
  [[nodiscard]] std::string_view card_text() const { return {card.data(), strnlen(card.data(), card.size())}; }
};
static_assert(sizeof(Hello) == 104);
constexpr std::array<char, 8> kMagic{'m', 'a', 'r', 'g', 'a', 'y', 'j', '2'};

// One transfer over the socket, without waiting: `transfer` is send() or recv(). True once all bytes are through or
// `failure` is set.
class Transfer {
 public:
  using Function = ssize_t (*)(int, char*, std::size_t);
  Transfer(int fd, void* bytes, std::size_t count, Function transfer)
      : fd_(fd), at_(static_cast<char*>(bytes)), left_(count), transfer_(transfer) {}
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
  std::size_t left_;
  Function transfer_;
  std::string failure_;
};

// `count` bytes of each side cross. Empty, or the reason why they could not be exchanged. Progress goes on meanwhile,
// because the other process may wait for a message of this one before it calls MPI_Comm_join.
std::string exchange(Call& call, int fd, void* mine, void* theirs, std::size_t count) {
  Transfer out(fd, mine, count, [](int to, char* bytes, std::size_t count) {
    return ::send(to, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  Transfer in(fd, theirs, count,
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
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) != 0) {
    why = std::strerror(errno);
  } else if (type != SOCK_STREAM) {
    why = "it is not a stream socket";
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
  // If it cannot be opened, only a process of this job can be joined.
  static_cast<void>(rank.process().open_guests());
  Hello mine{kMagic,
             rank.process().job().job_id,
             rank.process().guests().self().place,
             rank.ports().new_tag(kHigherPlace),
             {}};
  const std::string card = rank.process().guests().address();
  std::copy_n(card.begin(), std::min(card.size(), mine.card.size()), mine.card.begin());
  Hello theirs;
  *intercomm = MPI_COMM_NULL;
  // The magic crosses first, because another protocol may send less than a hello, and then wait.
  std::string why = exchange(call, fd, &mine.magic, &theirs.magic, sizeof kMagic);
  if (why.empty() && theirs.magic != kMagic) why = "the other end is not in margay's MPI_Comm_join";
  if (why.empty()) why = exchange(call, fd, &mine.job, &theirs.job, sizeof mine - offsetof(Hello, job));
  const bool same_job = theirs.job == mine.job;
  std::uint32_t place = margay::sim::rank_of_endpoint_place(theirs.place);
  if (why.empty() && same_job && place >= static_cast<std::uint32_t>(rank.worlds().places().size())) {
    why = "the other end names process " + std::to_string(place) + ", which the job does not have";
  }
  if (why.empty() && same_job && place == me) why = "both ends are in this process";
  if (!why.empty()) {
    call.error(MPI_ERR_OTHER, "fd " + std::to_string(fd) + ": " + why);
    return call.failed();
  }
  // Processes of jobs that cannot be connected: the standard wants success and MPI_COMM_NULL then. Both ends decide
  // alike.
  if (!same_job && (card.empty() || theirs.card_text().empty())) return call.done();
  // Each process learns the place by which the other one addresses it; none: the other one cannot reach it.
  std::uint32_t my_number = kHigherPlace;
  const margay::sim::Guests::Keep keep(rank.process().guests());
  if (!same_job) {
    std::uint32_t number = reach(rank, theirs.endpoint(), theirs.card_text(), place, why) ? place : kHigherPlace;
    const std::string broken = exchange(call, fd, &number, &my_number, sizeof number);
    if (!broken.empty()) why = broken;
    if (why.empty() && my_number == kHigherPlace) why = "the other process cannot reach this one";
  }
  if (!why.empty()) {
    call.error(MPI_ERR_OTHER, "fd " + std::to_string(fd) + ": the processes of two jobs cannot be connected: " + why);
    return call.failed();
  }
  if (!same_job) rank.ports().know_as(place, my_number);
  const std::uint32_t tag = mine.endpoint() < theirs.endpoint() ? mine.tag : theirs.tag;
  return give_communicator(call,
                           join_groups(rank, rank.worlds().self(), 0, &rank.ports().places_for(place),
                                       static_cast<int>(place), static_cast<int>(tag)),
                           intercomm);
}
MARGAY_ALIAS(Comm_join)
