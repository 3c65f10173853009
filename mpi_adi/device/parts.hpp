// What the device is made of, for the protocols that work on it: the portals of figures 1 and 2, the pools, the counts.
// Passive; each protocol step is a function of its own (mpi_adi/protocol). Under the process lock.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/device/counts.hpp"
#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/message.hpp"
#include "mpi_adi/device/message_numbers.hpp"
#include "mpi_adi/device/options.hpp"
#include "mpi_adi/device/receive_request.hpp"
#include "mpi_adi/device/send_request.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/device/unexpected.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "portals/match/match_list.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::mpi_adi {

// For losses_ended: what lost peers left open is to be ended again.
inline constexpr std::uint32_t kLookAgain = 0xffff'ffff;

class TypeCheck;

struct DeviceParts {
  // Attaches the receive, acknowledgment and read portals. Throws std::bad_alloc when there is no memory for the heap.
  DeviceParts(sim::Kernel& kernel, const DeviceOptions& options);
  ~DeviceParts();
  DeviceParts(const DeviceParts&) = delete;
  DeviceParts& operator=(const DeviceParts&) = delete;

  [[nodiscard]] std::uint64_t short_limit(std::uint32_t peer) const {
    return short_limits[static_cast<std::size_t>(kernel.route(peer).id())];
  }
  // From the next send on. Requires: at most a quarter of the heap.
  void set_short_limit(sim::WireId wire, std::uint64_t bytes);
  [[nodiscard]] sim::Recorder& recorder() const { return kernel.recorder(); }

  // Constant, but for the protocol and the limits of the sends to come, which a program may set (mpi/tool/variable).
  sim::Kernel& kernel;
  DeviceOptions options;
  std::array<std::uint64_t, sim::kWireCount> short_limits{};  // bytes, by wire
  std::uint64_t short_limit_least = 0;                        // of all wires

  Pool<SendRequest> sends;
  Pool<ReceiveRequest> receives;
  Pool<Notice> notices;
  Pool<Message> messages;
  std::uint64_t own_posted_receives = 0;
  std::uint64_t* posted_receives = &own_posted_receives;  // whose entry stands in the list; or the board's
  ReceiveRequest* claiming = nullptr;                     // receives whose message is still coming into the heap
  Pieces scratch;                                         // of a send that is over before it returns
  std::vector<const Awaited*> probes;                     // of calls that wait for a message without receiving it
  std::uint64_t under_way = 0;                            // requests not complete
  std::uint64_t completions = 0;                          // requests that became so, those of layers above too
  ProtocolCounts counts;
  MessageNumbers message_numbers;

  std::unique_ptr<TypeCheck> type_check;  // nullptr, unless MARGAY_CHECK_TYPES asks; then watched() holds

  std::vector<Communicator*> unreferenced;  // freed by the user, and now by their last request

  bool keeps_unreceived = false;  // MARGAY_LEAKS
  std::uint32_t vain_polls = 0;   // MPI_Iprobe and MPI_Improbe, since one that found a message
  // Messages given back to senders that end (protocol/cancel): to be told (mpi_adi/rank/unreceived).
  std::vector<portals::Header> unreceived;

  TaskQueue tasks;
  // Who looks in each round at memory that other processes write; mostly nobody.
  std::vector<Listener*> each_round;
  // Who else ends what lost peers left open, in the round that finds a loss and, while it has not, in each after it.
  std::vector<Listener*> on_losses;

  std::uint32_t losses_ended = 0;  // lost peers whose requests have all been ended (protocol/peer_lost)

  // After the requests' entries, so that the lists go first and take them out.
  portals::MatchList receive_list;
  portals::MatchList acknowledgment_list;
  portals::MatchList read_list;
  Unexpected heap;
  // Those that get a second heap when what they hold back has been held for a while: this one, and the collectives'.
  std::vector<Unexpected*> heaps;
  bool relieving = false;  // one of them held a message in the latest round, or has its second heap open
  // Senders' questions, headers only (protocol/cancel).
  HeapMemory cancel_memory;
  portals::DynamicBlock cancels;
  portals::MatchList cancel_list;
  portals::MatchEntry cancel_entry;
};

// The door to them, for the device's own folders.
class Device;
[[nodiscard]] DeviceParts& parts_of(Device& device);

[[nodiscard]] inline ContextId context_of(const Communicator& communicator, Context context) {
  return context == Context::point_to_point ? communicator.context : communicator.collective_context;
}

}  // namespace margay::mpi_adi
