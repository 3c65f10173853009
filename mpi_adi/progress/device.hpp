// The abstract device of one process: MPI's point-to-point communication on portals (paper 001, section 2).
//
// All functions require the process lock. The coprocessor calls progress_for_absent_owner(), in which tasks and parent
// requests may start requests. None blocks: a caller that waits calls progress() in its wait loop. The bindings have
// checked the arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/device/counts.hpp"
#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/options.hpp"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "portals/memory/arrived_message.hpp"
#include "sim/trace/event.hpp"

namespace margay::sim {
class Kernel;
enum class WireId : std::uint8_t;
struct BoardBlock;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct Message;  // a matched probe's message, taken off the heap's queue (MPI_Message)

struct DeviceParts;   // mpi_adi/device/parts
struct FirstWait;     // mpi_adi/progress/describe
class Listener;       // mpi_adi/device/listener
class HeldReceives;   // mpi_adi/protocol/held_receives
class TypeCheck;      // mpi_adi/device/type_check
class Unexpected;     // mpi_adi/device/unexpected
class WildcardWatch;  // mpi_adi/device/wildcard_watch

// The interface of the device for higher layers. Most functions are one call into a protocol (mpi_adi/protocol).
class Device {
 public:
  // `kernel` must outlive the device. Attaches the receive, acknowledgment, read and cancel portals. Throws
  // std::bad_alloc when memory for the heap is lacking.
  Device(sim::Kernel& kernel, const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Counts posted receives and unexpected messages on the job board from now on. Other processes read them there.
  // `board` must outlive the device. Requires: no message has arrived.
  void count_in(sim::BoardBlock& board);

  // Starts a send. The caller owns the request until free(). The buffer must stay valid and unchanged until the request
  // is complete. If send_now() completed the send, returns the common completed request (RequestKind::sent). This
  // request has no reference to the communicator, and may be passed to free() like any other. For a buffered send, the
  // caller has copied the message into the attached buffer, and frees that part of the buffer on completion
  // (protocol/buffered).
  [[nodiscard]] Request* start_send(const CheckedSend& send);
  // The fast path of standard and ready sends. True: the message was short and its wire had room, so the kernel took it
  // at once and no request is needed. False: nothing happened.
  [[nodiscard]] bool send_now(const CheckedSend& send);
  // The common request of completed sends.
  [[nodiscard]] Request& sent() { return sent_; }
  // Starts a receive: takes a matching message out of the heap, or posts the receive. The kernel delivers nothing in
  // between. The caller owns the request until free().
  [[nodiscard]] Request* start_receive(const CheckedReceive& receive);
  // The same for a receive of bytes that the program declared as elements of `traced_type`, which the trace names.
  // Requires: the source is not MPI_PROC_NULL.
  [[nodiscard]] Request* start_receive_of(const CheckedReceive& receive, Datatype& traced_type);
  // Cancels a receive that has no message, or a send that is still whole in its wire's queue. If a send waits for its
  // receiver, asks the receiver to give the message back if no receive took it. Such requests complete, cancelled or
  // not. No effect on other requests.
  void cancel(Request& request);
  // Frees a request. An incomplete request is freed when it completes (MPI_Request_free).
  void free(Request& request);

  // Makes a request, complete or not, a part of a parent request, which is notified once, on completion. The device
  // then owns the part, and frees it.
  void give_to(ParentRequest& owner, Request& request);
  // Drops a reference that a layer above has to a communicator, in the same way as the end of a request drops the
  // request's reference.
  void drop_reference(Communicator& communicator);

  // Whether a message with this envelope has arrived. Neither receives the message nor runs progress. `call`: the
  // program's call, for the trace.
  [[nodiscard]] bool probe(int source, int tag, Communicator& communicator, Envelope& envelope,
                           Context context = Context::point_to_point, std::optional<sim::TraceProbe> call = {});
  // Whether a message from `source` may never arrive because a process is lost. Called after a probe that found no
  // message.
  [[nodiscard]] bool is_source_lost(int source, const Communicator& communicator) const;
  // Takes a matching message off the queue, for start_matched_receive(); nullptr if there is none.
  [[nodiscard]] Message* matched_probe(int source, int tag, Communicator& communicator, Envelope& envelope,
                                       sim::TraceProbe call = sim::TraceProbe::mprobe);
  // Receives a message that matched_probe() took; `message` is invalid afterwards.
  [[nodiscard]] Request* start_matched_receive(void* buffer, std::int64_t count, Datatype& type, Message& message);

  // One progress round: the kernel's progress, then the changed descriptors and finished transmissions complete
  // requests, then tasks run. Takes at most `messages` messages of each wire, so a caller that waits for a message can
  // test soon after it arrives. Returns whether anything moved.
  bool progress(int messages = kMessagesPerRound);
  static constexpr int kMessagesPerRound = 4;
  // For a call that tests only once. It takes all messages that have arrived, because the program may call again much
  // later. The bound, about 100 us, limits the call even if a peer never stops sending.
  static constexpr int kMessagesPerLook = 1024;
  // A round of the message coprocessor, while the owner computes. It opens a second heap of unexpected messages only if
  // windows of this process are in use. Without windows nothing depends on a message that is queued behind a held one:
  // no call of this process is waiting. Returns whether anything moved, or the coprocessor has more to do.
  bool progress_for_absent_owner();
  // Prepares for a sleep of the program in a wait: opens the second heap for held messages at once, because rounds
  // become rare.
  void about_to_sleep();

  // Tasks, which run in each round of progress.
  [[nodiscard]] TaskQueue& tasks() { return *tasks_; }

  // Whether no request and no task is under way on `communicator`.
  [[nodiscard]] bool quiet(const Communicator& communicator) const;
  // The same for all communicators of a session (Group::session); completed requests do not count. Without a session:
  // whether no request of this process is under way and the kernel is idle, so that the process may leave.
  [[nodiscard]] bool quiet(std::optional<std::uint32_t> session = std::nullopt) const;

  // Returns the pages of empty heaps to the operating system, while MPI is dormant in this process.
  void give_memory_back();

  // Discards the messages in the heap that were sent on a communicator which this process frees.
  void discard_messages(ContextId context);

  // Returns a communicator that the program freed and whose last request is complete; the caller deletes it. nullptr:
  // there is none.
  [[nodiscard]] Communicator* take_unreferenced();
  [[nodiscard]] bool has_unreferenced() const { return !unreferenced_->empty(); }

  // The functions from here to give_up_receives() end requests that may never find a match: posted receives, sends to
  // this process itself, and, when all processes leave, sends to other processes. MPICH lets programs end with such
  // requests, and a wait for them would never end. quiet_but_unmatched(): whether only receives without a message and
  // sends to this process are under way.
  [[nodiscard]] bool quiet_but_unmatched(std::uint32_t session) const;
  // Cancels the sends that no receive has taken. `receivers`: whether other processes remain (then only sends to this
  // process are cancelled) or leave too. The receivers must answer, so they run progress until the sends are over. A
  // receive that is still posted gets its message. sends_over(): whether no send is under way.
  enum class Receivers : std::uint8_t { remain, leave };
  void give_up_sends(std::uint32_t session, Receivers receivers);
  [[nodiscard]] bool sends_over(std::optional<std::uint32_t> session) const;
  // Cancels the receives that have no message, at once.
  void give_up_receives(std::uint32_t session);

  // The counters. `ready_dropped` is read from the kernel at each call.
  [[nodiscard]] const ProtocolCounts& counts() const;
  // The most bytes that unexpected messages ever used.
  [[nodiscard]] std::uint64_t heap_high_water_bytes() const;
  [[nodiscard]] sim::Kernel& kernel();
  // Describes the waits of this process in words, for a stall report (progress/describe).
  void describe(std::string& out, std::size_t limit_lines) const;
  // The same waits as numbers: the first wait, and the numbers of posted receives and unexpected messages.
  [[nodiscard]] FirstWait first_wait() const;

  // A request of a layer above begins and ends; the device is not quiet in between.
  void request_begins();
  void request_ends();
  // Counts the completion of a request that request_begins() did not count.
  void record_completion();
  // Number of completed requests, those of layers above included. A waiting call compares two results to detect a
  // completion.
  [[nodiscard]] std::uint64_t completions() const;
  // Registers and ends a probe's wait for a message, for reports. Requires: both calls get the same object, which lives
  // in between. See ProbeWait.
  void begin_probe(const Awaited& awaited);
  void end_probe(const Awaited& awaited);
  // For an explorer of schedules: reports the matches of wildcards to `watch` from now on, and with `holds` lets it
  // choose them (protocol/held_receives). Requires: no receive is posted; `watch` outlives the device.
  void follow_wildcards(WildcardWatch& watch, bool holds);
  // nullptr before follow_wildcards().
  [[nodiscard]] HeldReceives* held_receives() { return held_receives_.get(); }
  // nullptr, unless MARGAY_CHECK_TYPES is set.
  [[nodiscard]] TypeCheck* type_check();

  // heap(): the unexpected point-to-point messages. extensible_heaps(): all heaps that open a second heap when a
  // message is held for too long: heap(), and those of layers above.
  [[nodiscard]] const Unexpected& heap() const;
  [[nodiscard]] std::vector<Unexpected*>& extensible_heaps();
  // The observers of every progress round, and those of lost peers (mpi_adi/device/parts). A layer above adds observers
  // of its own, and removes them before they end.
  [[nodiscard]] std::vector<Listener*>& round_observers();
  [[nodiscard]] std::vector<Listener*>& loss_observers();
  // Names a portal of a library in reports; "": it has no name any longer.
  void name_portal(portals::PortalIndex portal, const std::string& name);
  // The number of a message in a library's heap, in its ordered pair; 0 if it arrived while no trace recorded.
  [[nodiscard]] std::uint64_t number_of(const portals::ArrivedMessage& message) const;

  // For the tool interface. posted_receives() counts the posted receives of one communicator, or of all communicators
  // (nullptr).
  [[nodiscard]] std::uint64_t posted_receives(const Communicator* communicator) const;
  [[nodiscard]] std::uint64_t requests_under_way() const;
  // Sends and receives that are taken from their pools, including complete ones that their owner has not freed.
  [[nodiscard]] std::size_t sends_in_use() const;
  [[nodiscard]] std::size_t receives_in_use() const;
  // The options as read at the start, with later changes of the long protocol (set_long_protocol()).
  [[nodiscard]] const DeviceOptions& options() const;
  // For later sends.
  void set_long_protocol(DeviceOptions::LongProtocol protocol);
  // The longest short message on this wire, in bytes of its body.
  [[nodiscard]] std::uint64_t short_limit(sim::WireId wire) const;
  // For later sends. Requires: at most a quarter of the heap.
  void set_short_limit(sim::WireId wire, std::uint64_t bytes);

 private:
  friend DeviceParts& parts_of(Device& device);  // mpi_adi/device/parts

  std::unique_ptr<DeviceParts> parts_;
  // Refers to the parts; nullptr: receives match as usual.
  std::unique_ptr<HeldReceives> held_receives_;
  Request sent_;  // the common completed send
  // Pointers into the parts, kept here because each MPI call tests these objects.
  const std::vector<Communicator*>* unreferenced_;
  TaskQueue* tasks_;
};

// The registration of a probe's wait (begin_probe()), for its lifetime.
class ProbeWait {
 public:
  ProbeWait(Device& device, const Awaited& awaited) : device_(device), awaited_(awaited) {
    device_.begin_probe(awaited_);
  }
  ~ProbeWait() { device_.end_probe(awaited_); }
  ProbeWait(const ProbeWait&) = delete;
  ProbeWait& operator=(const ProbeWait&) = delete;

 private:
  Device& device_;
  Awaited awaited_;
};

}  // namespace margay::mpi_adi
