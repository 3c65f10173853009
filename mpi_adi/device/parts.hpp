// The state of a device, for the protocols that work on it: the portals of figures 1 and 2, the pools, the counters. It
// contains no protocol: each protocol step is a function of mpi_adi/protocol. Under the process lock. Private to
// mpi_adi.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
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

// A value that differs from every count of losses. When losses_ended is set to it, the next progress round ends the
// requests of lost peers again.
inline constexpr std::uint32_t kLookAgain = 0xffff'ffff;

class ReceiveHold;
class TypeCheck;

struct DeviceParts {
  // Attaches the receive, acknowledgment, read and cancel portals to the kernel's table. Throws std::bad_alloc when
  // memory for the heap is lacking. `kernel` must outlive this object.
  DeviceParts(sim::Kernel& kernel, const DeviceOptions& options);
  ~DeviceParts();
  DeviceParts(const DeviceParts&) = delete;
  DeviceParts& operator=(const DeviceParts&) = delete;

  // The longest short message to `peer`, in bytes.
  [[nodiscard]] std::uint64_t short_limit(std::uint32_t peer) const {
    return short_limits[static_cast<std::size_t>(kernel.route(peer).id())];
  }
  // Changes the limit for later sends. Requires: at most a quarter of the heap (sim::short_limit_max).
  void set_short_limit(sim::WireId wire, std::uint64_t bytes);
  // The trace; on() and observing() are tested on each message's path.
  [[nodiscard]] sim::Recorder& recorder() const { return kernel.recorder(); }

  // Constant, except for the protocol and the limits of later sends, which a program may set (mpi/tool/variable).
  sim::Kernel& kernel;
  DeviceOptions options;
  std::array<std::uint64_t, sim::kWireCount> short_limits{};  // bytes, by wire
  std::uint64_t short_limit_least = 0;                        // the least of all wires'

  // Requests and messages in use or ready for reuse. protocol/complete takes and returns requests; header messages and
  // matched messages are taken and returned by protocol/header_message and protocol/probe.
  Pool<SendRequest> sends;
  Pool<ReceiveRequest> receives;
  Pool<HeaderMessage> header_messages;
  Pool<Message> messages;
  // The count of posted receives of a process without a job board (tests on a virtual network).
  std::uint64_t own_posted_receives = 0;
  // The number of receives whose entry is listed. Points to the job board's count, or to own_posted_receives.
  std::uint64_t* posted_receives = &own_posted_receives;
  ReceiveRequest* claiming = nullptr;  // list of the receives whose message is still arriving in the heap
  // The layout of a body whose send needs no request, because it ends within its call (send_now).
  Pieces scratch;
  // The probes (calls that wait for a message without receiving it) in progress, for reports.
  std::vector<const Awaited*> probes;
  std::uint64_t incomplete_requests = 0;  // requests not complete
  std::uint64_t completions = 0;          // completed requests, including those of layers above
  // See counts.hpp.
  ProtocolCounts counts;
  // Filled only while a trace records.
  MessageNumbers message_numbers;

  std::unique_ptr<TypeCheck> type_check;  // nullptr, unless MARGAY_CHECK_TYPES is set; then observing() holds

  // nullptr, except in a simulated run that chooses or follows the matches of wildcards (protocol/held_receives); then
  // observing() holds.
  ReceiveHold* held_receives = nullptr;

  std::vector<Communicator*> unreferenced;  // freed by the program; no request refers to them

  bool keeps_unreceived = false;  // MARGAY_LEAKS: `unreceived` is filled
  std::uint32_t empty_polls = 0;  // MPI_Iprobe and MPI_Improbe since the last one that found a message
  // Headers of messages that were given back because no rank receives them (protocol/cancel), for the report of
  // mpi_adi/rank/unreceived.
  std::vector<portals::Header> unreceived;

  // Non-blocking collectives and agreements under way.
  TaskQueue tasks;
  // Observers that poll, in each round, memory that other processes write. Usually empty.
  std::vector<Listener*> each_round;
  // Observers that end the operations of higher layers that lost peers leave open. Called in the round that finds a
  // loss, and in each later round until all requests that the loss leaves open have ended.
  std::vector<Listener*> on_losses;
  // The names of libraries' portals, for reports.
  std::map<portals::PortalIndex, std::string> portal_names;

  std::uint32_t losses_ended = 0;  // lost peers whose requests have all been ended (protocol/peer_lost)

  // Declared after the requests' pools, so that the lists are destroyed first and remove the entries.
  portals::MatchList receive_list;
  portals::MatchList acknowledgment_list;
  portals::MatchList read_list;
  // The unexpected messages of the receive portal, whose two catch-alls are the last entries of receive_list.
  Unexpected heap;
  // All heaps of unexpected messages: `heap` and those of collective calls. Each opens its second heap when a message
  // is held for a while.
  std::vector<Unexpected*> heaps;
  bool relieving = false;  // a heap held a message in the latest round, or has its second heap open
  // The cancel portal: a block that saves the headers of senders' cancel questions (protocol/cancel).
  HeapMemory cancel_memory;
  portals::DynamicBlock cancels;
  portals::MatchList cancel_list;
  portals::MatchEntry cancel_entry;
};

// The access to a device's parts for mpi_adi's own folders.
class Device;
[[nodiscard]] DeviceParts& parts_of(Device& device);

// The context identifier that a message of the communicator carries.
[[nodiscard]] inline ContextId context_of(const Communicator& communicator, Context context) {
  return context == Context::point_to_point ? communicator.context : communicator.collective_context;
}

}  // namespace margay::mpi_adi
