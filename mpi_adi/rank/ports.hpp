// The ports of a process (MPI 4.0, 11.9): meeting points of processes that have no common communicator. Under the
// process lock.
//
//   caller (MPI_Comm_connect)                       owner of the port (MPI_Comm_accept)
//     request: key of the port, number of the call -->  queued until an accept takes it, or refused
//     <-- answer: accepted, with a tag                  both now know the other's place, and a tag of their own
//     <-- answer: not open                              the port was closed, or never opened
//
// Both messages are point-to-point messages on Worlds::places(). A message of MPI carries the sender's rank in its
// communicator, which here is its place, and a process of another job has another place at each side. So the request of
// such a process has a tag of its own and carries the caller's identity, and request and answer tell each side by which
// place the other one addresses it; places_for() then has that place as this process's rank. Once a process has used
// its ports, each progress round takes the requests that have arrived, so a request to a closed port is answered in any
// MPI call of its owner. A process that gets the place of an earlier one uses its ports from the start, because a name
// may be older than it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/object/port_name.hpp"

namespace margay::sim {
class Guests;  // sim/machine/guests
}  // namespace margay::sim

namespace margay::mpi_adi {

class Device;
struct Communicator;

// The most ports that a process has open at once, and the most callers that one of them keeps waiting. Further callers
// are refused.
inline constexpr std::size_t kOpenPortsMax = 4096;
inline constexpr std::size_t kWaitingCallersMax = 65'536;

// The result of accept() and connect(). The numbers go from a root to the other members of its communicator.
enum class PortResult : std::uint8_t {
  met = 0,
  malformed,      // the text is not a port name
  other_job,      // the port belongs to another job
  unreachable,    // connect: the port belongs to another job, with which this process cannot be connected
  other_process,  // accept: another process of the job opened the port
  own,            // connect: this process opened the port itself
  not_open,       // the port is not open (closed, or never opened)
  owner_lost,     // connect: the port's process has died, or has ended its use of MPI
};

// Two processes that have met: the place of the other one, and a tag that distinguishes this meeting from all others of
// the two processes that overlap. `why`: for `malformed`, the reason.
struct Meeting {
  PortResult result = PortResult::met;
  std::uint32_t place = 0;
  std::uint32_t tag = 0;
  std::string why = {};
};

// A process that waits for an answer: its place, and the number of its call there.
struct PortCaller {
  std::uint32_t place;
  std::uint32_t number;
};

// The body of a request (key, number of the call) and of an answer (result, tag, the caller's place at the answering
// process).
using PortWords = std::array<std::uint64_t, 3>;
// The body of a request of a process of another job: key, number of the call, job and place of the caller, and the
// place by which the caller addresses the port's process.
using StrangerWords = std::array<std::uint64_t, 5>;

// A call of a port under way: the receive of its answer.
struct PortCall {
  Request* request = nullptr;
  std::uint32_t place = 0;
  PortWords words{};
};

class Ports final : public Listener {
 public:
  // Observes the progress rounds of `device`. `places`: Worlds::places(); both must outlive the object. `job`: its
  // identity; `me`: the place of this process. `guests`: the processes of other jobs, which outlive the object;
  // nullptr: there can be none.
  Ports(Device& device, Communicator& places, std::uint64_t job, std::uint32_t me, sim::Guests* guests = nullptr);
  ~Ports() override;

  // Opens a port; nullopt: kOpenPortsMax ports are open. Its name has an address if this process accepts connections
  // of other jobs.
  [[nodiscard]] std::optional<PortName> open();
  // Decodes the name of a port of this process. Returns `met` if the port is open; otherwise not_open, other_process,
  // other_job or malformed, with `why` as in Meeting.
  [[nodiscard]] PortResult find_own(std::string_view text, PortName& name, std::string& why) const;
  [[nodiscard]] bool is_open(std::uint64_t key) const { return open_.contains(key); }
  // Closes a port and refuses its waiting callers. Results as of find_own().
  [[nodiscard]] PortResult close(std::string_view text, std::string& why);

  // The next caller of the port, which leaves its queue; nullopt: no caller waits, or the port is not open. A caller
  // that has died meanwhile is passed over.
  [[nodiscard]] std::optional<PortCaller> next_caller(std::uint64_t key);
  // Forgets the process of another job at `place`, which has ended, before another one gets the place: its waiting
  // calls, and its number for this process.
  void forget(std::uint32_t place);
  // Answers a caller that it is accepted.
  [[nodiscard]] Meeting accept(const PortCaller& caller);

  // Decodes the name of a port that this process may call. Returns `met`, malformed, other_job, own or not_open.
  [[nodiscard]] PortResult find_other(std::string_view text, PortName& name, std::string& why) const;
  // Calls the port of the process at name.place. The caller waits until the request of the result is complete, and
  // passes it to end().
  [[nodiscard]] std::unique_ptr<PortCall> call(const PortName& name);
  // The result of a call: met, not_open or owner_lost. A cancelled call counts as lost.
  [[nodiscard]] Meeting end(std::unique_ptr<PortCall> call);

  // The communicator of all places for messages to and from the process at `place`. know_as(): the process of another
  // job at `place` addresses this one by `number`.
  [[nodiscard]] Communicator& places_for(std::uint32_t place);
  void know_as(std::uint32_t place, std::uint32_t number);

  // A tag for a meeting that two processes have arranged by other means: this process chooses it, and sends it to the
  // process at `place`.
  [[nodiscard]] std::uint32_t new_tag(std::uint32_t place);

  // Takes the requests that have arrived.
  void notify() override;

 private:
  // A message of this object that is under way. Its address is stable.
  struct Passage {
    StrangerWords words{};
    Request* request = nullptr;
    std::uint32_t place = 0;
    bool of_stranger = false;
  };

  // Starts a message to `place`, and keeps its body until it has left.
  void send(std::uint32_t place, int tag, std::span<const std::uint64_t> words, Communicator& places);
  [[nodiscard]] Request* receive(std::uint32_t place, int tag, std::span<std::uint64_t> words);
  // Frees the messages that have left.
  void sweep();
  void answer(const PortCaller& caller, PortResult result, std::uint32_t tag);
  // Queues the caller at its port, or refuses it.
  void take_request(std::uint32_t place, std::span<const std::uint64_t> words);
  void take_stranger(const StrangerWords& words);
  // Receives the requests with this tag that have arrived.
  void receive_requests(int tag);

  // Constant.
  Device& device_;
  Communicator& places_;
  const std::uint64_t job_;
  const std::uint32_t me_;
  sim::Guests* const guests_;
  Datatype bytes_;
  // The waiting callers of each open port, by the port's key.
  std::map<std::uint64_t, std::deque<PortCaller>> open_;
  // std::list, because a message under way refers to its element.
  std::list<Passage> leaving_;
  std::list<Passage> arriving_;
  // By place, of processes of other jobs: the communicator of all places, with this process's place there as its rank.
  std::map<std::uint32_t, std::unique_ptr<Communicator>> seen_by_;
  std::uint32_t calls_ = 0;     // number of calls of call() so far
  std::uint32_t meetings_ = 0;  // number of calls of new_tag() so far
};

}  // namespace margay::mpi_adi
