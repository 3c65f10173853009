// The abstract device of one process: MPI's point-to-point semantics on portals (paper 001, section 2).
//
// Everything here is called under the process lock, by the owner or by the coprocessor (progress() only). Nothing
// blocks: whoever waits calls progress() in sim's wait loop. Arguments were checked by the bindings.
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
#include "sim/trace/event.hpp"

namespace margay::sim {
class Kernel;
enum class WireId : std::uint8_t;
struct BoardBlock;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct Message;  // a matched probe's message, taken off the heap's queue (MPI_Message)

struct DeviceParts;  // mpi_adi/device/parts
struct FirstWait;    // mpi_adi/progress/describe
class TypeCheck;     // mpi_adi/device/type_check
class Unexpected;    // mpi_adi/device/unexpected

class Device {
 public:
  // `kernel` outlives the device. Sets up the receive, acknowledgment and read portals.
  Device(sim::Kernel& kernel, const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // From now on posted receives and unexpected messages are counted there, where others may look on. Requires: no
  // message has come yet; it outlives the device.
  void count_in(sim::BoardBlock& board);

  // Starts a send. The request is the caller's until it gives it back with free(). The buffer is the device's until the
  // request is complete.
  // A send that send_now() took has none of its own: what comes back says that it is over (RequestKind::sent), holds no
  // reference to the communicator, and may be given back like another one.
  // Buffered: the caller copied into the attached buffer and frees that on completion (protocol/buffered).
  [[nodiscard]] Request* start_send(const CheckedSend& send);
  // The fast path of standard and ready sends: true when the kernel took the message at once (short, room in the ring),
  // so that no request is needed. false: nothing happened.
  [[nodiscard]] bool send_now(const CheckedSend& send);
  // That request.
  [[nodiscard]] Request& sent() { return sent_; }
  // Posts a receive, or takes a matching message out of the heap (atomically with respect to the kernel).
  [[nodiscard]] Request* start_receive(const CheckedReceive& receive);
  // The same of bytes that the program has as elements of `told`, in which a trace tells them. Requires: a source.
  [[nodiscard]] Request* start_receive_of(const CheckedReceive& receive, Datatype& told);
  // Cancels a posted receive that nothing has matched; asks the receiver of a send that is not complete to give the
  // message back, if no receive took it; or does nothing. The request completes either way.
  void cancel(Request& request);
  // Gives a request back. One that is not complete is freed when it completes (MPI_Request_free).
  void free(Request& request);

  // Gives a request, complete or not, to who made it as a part: told once, when it is complete; then it is the
  // device's.
  void give_to(RequestOwner& owner, Request& request);
  // A reference to a communicator that a layer above held, as a request does, is over.
  void drop_reference(Communicator& communicator);

  // Looks for an unexpected message among those that have come, without taking it. `call`: of the program's, which a
  // trace tells.
  [[nodiscard]] bool probe(int source, int tag, Communicator& communicator, Envelope& envelope,
                           Context context = Context::point_to_point, std::optional<sim::TraceProbe> call = {});
  // Whether a message from `source` may never come, because a process is lost; for a probe in vain.
  [[nodiscard]] bool source_lost(int source, const Communicator& communicator) const;
  // Takes it off the queue; nullptr when there is none.
  [[nodiscard]] Message* matched_probe(int source, int tag, Communicator& communicator, Envelope& envelope,
                                       sim::TraceProbe call = sim::TraceProbe::mprobe);
  [[nodiscard]] Request* start_matched_receive(void* buffer, std::int64_t count, Datatype& type, Message& message);

  // One round: the kernel's progress, then the changed descriptors and finished transmissions become completed
  // requests. At most `messages` of each wire: who waits for one looks after each whether it came.
  bool progress(int messages = kMessagesPerRound);
  static constexpr int kMessagesPerRound = 4;
  // Of a call that looks once: all that is there, as the program may look again only after a while. Bounded, about
  // 100 us, so that a peer that sends on and on does not keep the call.
  static constexpr int kMessagesPerLook = 1024;
  // The same for the message coprocessor, while the owner computes: the heap of unexpected messages keeps to its first
  // size then, since nobody waits for a message behind those that it holds back.
  bool progress_for_absent_owner();
  // The program waits, and its next rounds will be rare: what is held comes in now.
  void about_to_sleep();

  // What goes on by itself, in each round of progress.
  [[nodiscard]] TaskQueue& tasks() { return *tasks_; }

  // Whether nothing is under way on `communicator`.
  [[nodiscard]] bool quiet(const Communicator& communicator) const;
  // Whether none is (completed and unfreed ones aside) on the communicators of a session (Group::session). Without one:
  // whether none is at all, and nothing is queued; the process may leave.
  [[nodiscard]] bool quiet(std::optional<std::uint32_t> session = std::nullopt) const;

  // Nobody in this process uses MPI for a while: empty heaps of unexpected messages give their pages back.
  void give_memory_back();

  // Frees what came on a communicator that goes and was never received.
  void forget_messages(ContextId context);

  // A communicator that the user freed, and that the last request on it has now let go: the caller's to delete. nullptr
  // when there is none.
  [[nodiscard]] Communicator* take_unreferenced();
  [[nodiscard]] bool has_unreferenced() const { return !unreferenced_->empty(); }

  // For a program that sends and receives no more, or not in this session, and left something that nothing may ever
  // match: receives that are posted, sends to this very process, and, when all processes leave, sends to the others.
  // MPICH lets such programs end; to wait would be for ever. Whether nothing else than receives and sends to oneself is
  // under way:
  [[nodiscard]] bool quiet_but_unmatched(std::uint32_t session) const;
  // The end of sends that no receive takes, as cancelled. It takes an answer of the receivers, who have to make
  // progress until then, and a receive that is posted still gets its message. Then whether no send is under way.
  enum class Receivers : std::uint8_t { remain, leave };
  void give_up_sends(std::uint32_t session, Receivers receivers);
  [[nodiscard]] bool sends_over(std::optional<std::uint32_t> session) const;
  // The end of receives that nothing has matched, at once.
  void give_up_receives(std::uint32_t session);

  [[nodiscard]] const ProtocolCounts& counts() const;
  // Most bytes that unexpected messages ever took.
  [[nodiscard]] std::uint64_t heap_high_water_bytes() const;
  [[nodiscard]] sim::Kernel& kernel();
  // What this process waits for, in words, for a stall report: posted receives, sends under way, unexpected messages.
  void describe(std::string& out, std::size_t limit_lines) const;
  // The same in numbers: the first thing waited for, and how much is posted and unexpected.
  [[nodiscard]] FirstWait first_wait() const;

  // A request of a layer above begins, and ends; in between the device is not quiet.
  void request_begins();
  void request_ends();
  // One that the device need not wait for is complete.
  void note_completion();
  // Grows with each request that completes, those of layers above too.
  [[nodiscard]] std::uint64_t completions() const;
  // A call waits for such a message, for what describes the process's waits; see ProbeWait.
  void begin_probe(const Awaited& awaited);
  void end_probe(const Awaited& awaited);
  // nullptr, unless MARGAY_CHECK_TYPES asks for it.
  [[nodiscard]] TypeCheck* type_check();

  // The heap of unexpected messages, and all heaps that open a second one for messages held too long: this one and
  // those that layers above add.
  [[nodiscard]] const Unexpected& heap() const;
  [[nodiscard]] std::vector<Unexpected*>& relieved_heaps();

  // What the tool interface reads and sets. Posted receives: of one communicator, or of all.
  [[nodiscard]] std::uint64_t posted_receives(const Communicator* communicator) const;
  [[nodiscard]] std::uint64_t requests_under_way() const;
  [[nodiscard]] std::size_t sends_in_use() const;
  [[nodiscard]] std::size_t receives_in_use() const;
  [[nodiscard]] const DeviceOptions& options() const;
  // From the next send on.
  void set_long_protocol(DeviceOptions::LongProtocol protocol);
  [[nodiscard]] std::uint64_t short_limit(sim::WireId wire) const;
  // Requires: at most a quarter of the heap.
  void set_short_limit(sim::WireId wire, std::uint64_t bytes);

 private:
  friend DeviceParts& parts_of(Device& device);  // mpi_adi/device/parts

  std::unique_ptr<DeviceParts> parts_;
  Request sent_;  // what start_send() gives for sends that are over
  // Of the parts; here, because each MPI call asks.
  const std::vector<Communicator*>* unreferenced_;
  TaskQueue* tasks_;
};

// While it lives, a call waits for such a message.
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
