// The one-sided communication of one rank: its put and get portals (paper 001, figure 11), the portal of window
// requests, and its accesses under way as an origin. Nothing here blocks. Under the process lock, perhaps on the
// coprocessor's thread. mpi/one_sided checks the arguments.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "mpi_adi/device/counts.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/unexpected.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/reply.hpp"
#include "mpi_adi/rma/window.hpp"
#include "mpi_adi/rma/window_request.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/boot/board.hpp"
#include "sim/machine/node_memory.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

class ReceivedWindowRequest;

// The progress of a request-based call: the number of its messages and answers under way, and the observer that is
// notified when none is left.
struct Outstanding {
  std::uint32_t count = 0;       // under way
  int error_class = 0;           // the first error
  Listener* all_done = nullptr;  // nullptr: no observer
};

// One access whose arguments are checked: elements of the origin, and elements of the target with the same number of
// bytes. `buffer` may be MPI_BOTTOM, which is a null pointer. So only `type` shows whether the access has memory of the
// origin.
struct Access {
  void* buffer = nullptr;
  std::int64_t count = 0;
  const Datatype* type = nullptr;  // nullptr: an accumulate without a result
  // Rank in the window.
  int target = 0;
  std::uint64_t offset = 0;  // bytes from the window's start to the first element; for a dynamic window an address
  // Elements of target_type. They have as many bytes of data as the origin's elements, but count and gaps may differ.
  std::int64_t target_count = 0;
  const Datatype* target_type = nullptr;
  Outstanding* request = nullptr;  // of a request-based call; otherwise nullptr
  // With --check-rma: the access's number, and whether it completes with its request.
  struct Announced {
    std::uint64_t number = 0;
    bool ends_alone = false;
  };
  Announced announced = {};

  // For an accumulate: whether `buffer` receives the target's previous elements.
  [[nodiscard]] bool has_result() const { return type != nullptr; }
};

// Accesses begun here and their bytes, by method, for the job's table and for tests.
struct AccessCounts {
  std::array<ProtocolCounts::Count, sim::kCountedAccesses> by_method{};
  [[nodiscard]] ProtocolCounts::Count& of(sim::CountedAccess access, WindowMethod method) {
    return by_method[sim::index_of(access, static_cast<std::size_t>(method))];
  }
};

// The operands of an accumulate: elements of one predefined type.
struct AccumulateOperands {
  MPI_Op op = MPI_NO_OP;
  MPI_Datatype type = MPI_BYTE;
  // Bytes from one element to the next, padding included.
  std::uint32_t element_bytes = 1;
  std::uint64_t count = 0;
  portals::Region elements;            // its pieces are whole elements; empty with MPI_NO_OP
  Pieces pieces;                       // owns the layout that `elements` refers to
  const std::byte* compare = nullptr;  // of a compare-and-swap; otherwise nullptr
  sim::TraceAccess call = sim::TraceAccess::accumulate;

  // Whether there are operands. Their address cannot show this, because MPI_BOTTOM is null.
  [[nodiscard]] bool any() const { return op != MPI_NO_OP; }
};

// The one-sided communication of a rank. Made for the rank's first window; it must outlive all windows.
class Rma final : public Listener {
 public:
  // Called while this process sleeps in a wait for a guard (sim/shm/holder_lock) that rank `holder` has, with the time
  // waited so far. Called with 0 when the wait is over.
  using GuardWaits = std::function<void(std::uint32_t holder, std::uint64_t waited_ns)>;
  // `parts` and `node` must outlive it. `node` nullptr: the node shares no memory.
  Rma(DeviceParts& parts, const sim::NodeMemory* node, GuardWaits guard_waits);
  // Detaches the portals. Requires: all windows are detached.
  ~Rma() override;

  // Accepts messages for the window from now on. Requires: base, size, communicator and targets are set.
  void attach(Window& window);
  // Accepts no messages for the window any more. Requires: no member sends any.
  void detach(Window& window);

  // The window of this communicator, or nullptr.
  [[nodiscard]] Window* window_of(const Communicator& communicator) const {
    const auto found = windows_.find(communicator.context);
    return found == windows_.end() ? nullptr : found->second;
  }

  // Start a put and a get. Accesses by the methods direct and process are complete on return.
  void put(Window& window, const Access& access);
  void get(Window& window, const Access& access);
  // Starts an accumulate. `access` names the memory for the result, if a result is wanted. The target's elements have
  // the type of `operands`.
  void accumulate(Window& window, const Access& access, const AccumulateOperands& operands);

  // Whether the origin's memory is free again and all answers have arrived.
  [[nodiscard]] bool locally_complete(const WindowTarget& target) const {
    return target.sending.none() && target.awaited.none();
  }
  // Backpressure: if too many messages are under way (is_full()), a new access waits until has_room() before it begins.
  [[nodiscard]] bool is_full() const { return messages_in_flight_ >= kAccessMessagesMax; }
  [[nodiscard]] bool has_room() const { return messages_in_flight_ <= kAccessMessagesMax / 2; }
  // Starts a flush if earlier accesses need one. When locally_complete() holds afterwards, the accesses are complete at
  // the target. Requires: the puts have left.
  void begin_flush(Window& window, int target);

  // Whether a message reports the end of this origin's epoch to the target. This message follows the epoch's accesses
  // on the same wire. When it arrives, the accesses have arrived, so they need no answers. False for a dynamic window,
  // because the target may refuse accesses to it.
  [[nodiscard]] static bool ends_by_message(const Window& window, const WindowTarget& target) {
    return window.starts && target.in_start && !target.control.here() && !window.memory.dynamic() &&
           window.check == nullptr;
  }
  // Whether the lock can be returned before all answers have arrived. The unlock is then a message, which must follow
  // everything that needs the lock. So no body of an access may be queued here, no put may be unflushed, and no
  // outstanding answer may still need the target to read its memory.
  [[nodiscard]] static bool can_unlock_by_message(const Window& window, const WindowTarget& target) {
    return target.lock_requested && target.locked && !target.control.here() && target.sending.none() &&
           !target.unflushed && target.reads == 0 && window.check == nullptr;
  }

  // Passive epochs. ask_lock() requests the lock, and has_lock() polls for it. unlock() returns the lock, behind all
  // accesses, or withdraws the request. At most one passive epoch of this origin is open to a target. A lock in mapped
  // memory needs no message.
  void request_lock(Window& window, int target, LockKind kind);
  [[nodiscard]] bool has_lock(const Window& window, WindowTarget& target);
  void unlock(Window& window, int target);
  // Notifies a member of an event of an active epoch (`posted` goes to an origin, `completed` to a target) or of a lock
  // (`granted`, `unlock`).
  void send(Window& window, int target, WindowRequestKind kind);

  // The accesses begun here.
  [[nodiscard]] const AccessCounts& counts() const { return counts_; }
  // Records a synchronisation in the trace. `target` -1: no single target.
  void record_synchronisation(const Window& window, sim::TraceSync sync, int target = -1) {
    if (parts_.recorder().on()) [[unlikely]]
      record(window, sim::TraceKind::window_sync, target, {.a = static_cast<std::uint32_t>(sync)});
  }
  // With --check-rma (rma/conflicts): announces an access at its target. `answer` gets the conflict, if there is one.
  // `answer` and `outstanding` must stay valid until outstanding.count is 0.
  void announce(Window& window, int target, std::uint64_t offset, std::span<const Piece> pieces,
                const AnnouncedAccess& access, Conflict& answer, Outstanding& outstanding);
  // Reports completion to the target. `outstanding` nullptr: no answer is requested. `number`: the access's, with
  // one_access.
  void announce_completed(Window& window, int target, Completed what, std::uint64_t number, Outstanding* outstanding);

  // Handles the window requests that have arrived. Called in a round of progress.
  void notify() override;

  // Counts a synchronisation that waits for no message. True at every eighth, which should run progress nevertheless.
  // Each of these synchronisations may be a system call, so they run progress more often than those of
  // may_skip_progress().
  [[nodiscard]] bool needs_progress() {
    synchronised_ += kSynchronisedToLook / 8;
    if (synchronised_ < kSynchronisedToLook) return false;
    synchronised_ = 0;
    return true;
  }
  // The same for synchronisations that take nanoseconds, of which every 64th runs progress. True: this synchronisation
  // need not run progress, and is counted. False: it must, and is not counted.
  [[nodiscard]] bool may_skip_progress() {
    if (synchronised_ + 1 >= kSynchronisedToLook) return false;
    ++synchronised_;
    return true;
  }
  // Counts an access.
  void count(sim::CountedAccess access, WindowMethod method, std::uint64_t bytes) {
    ProtocolCounts::Count& count = counts_.of(access, method);
    ++count.messages;
    count.bytes += bytes;
  }

 private:
  friend struct Outgoing;
  friend struct Reply;

  // Sending. `holds`: the datatype to which the body refers. `request`: the call that waits until the body has left.
  void send(Window& window, WindowTarget& target, const portals::Header& header, const portals::Region& body,
            Outstanding* request, const Pieces* holds);
  // Wakes the target of a put of the 1996 interface, if it is on this node. Neither side waits for the arrival of such
  // a put, so a target that computes would not poll for it. Costs one system call.
  void wake(const WindowTarget& target);
  // Sends by a pooled transmission, whose body must stay valid until it has left.
  void send_outgoing(Outgoing& outgoing, Window* window, int target, const portals::Header& header,
                     const portals::Region& body);
  // Sends a window request with operands of an accumulate. Few operands are copied into the message. Many operands are
  // sent from their place, which must stay valid until `request` or the window's count shows that they have left. The
  // other form of send_ask() always copies its operands.
  void send_window_request(Window& window, int target, const WindowRequestHead& head, std::span<const Piece> pieces,
                           const AccumulateOperands& operands, const portals::Region& elements, Outstanding* request);
  // Sends a body that the caller may reuse on return. `window` nullptr: no access waits for it.
  void send_copied(Window* window, int target, portals::Header header, std::span<const std::byte> body);
  void send_window_request(Window& window, int target, const WindowRequestHead& head,
                           std::span<const Piece> pieces = {}, const void* operands = nullptr,
                           std::uint64_t operand_bytes = 0);
  // Handles the end of a transmission.
  void end_sending(Outgoing& outgoing);
  // Whether another origin may write the body while it is sent.
  [[nodiscard]] bool others_may_write(const portals::Region& body) const;
  // The headers of a window request, and of any message of this class; the caller adds kind, length and return fields.
  [[nodiscard]] portals::Header request_header(Window& window, int target, WindowRequestKind kind) const;
  [[nodiscard]] portals::Header header_to(std::uint32_t world_rank, portals::PortalIndex portal,
                                          portals::MatchBits bits) const;
  // Whether nothing is under way to the target. Then the next access may request an answer, which serves as its flush:
  // one round trip. After several accesses, a flush behind all of them is cheaper than an answer to each.
  [[nodiscard]] bool is_alone(const Window& window, const WindowTarget& target) const {
    return !target.unflushed && locally_complete(target) && !ends_by_message(window, target) &&
           !parts_.kernel.initiator().is_unreachable(target.world_rank);
  }
  // Answers.
  // Puts an answer's entry into the receive portal's list, and counts the answer as under way.
  Reply& expect(Window& window, int target, const portals::Region& room, Outstanding* request, const Pieces* holds);
  // Handles a filled reply: an answer, or at a target a described body.
  void take_reply(Reply& answer);
  // Ends an answer: with the error class of its access, or MPI_SUCCESS.
  void end_reply(Reply& answer, int error_class);
  // Counts the end of a message or an answer of a request-based call.
  void done(Outstanding* request, int error_class);
  // Keeps the first error of a window's accesses, and its message `text`, for the window's next synchronisation.
  void keep_error(Window& window, int error_class, const std::string& text);

  // Locks.
  [[nodiscard]] sim::WindowLock lock_of(const WindowControl& control);
  // The test for a lost holder that the locks in memory use (sim/shm/holder_lock).
  [[nodiscard]] static bool is_unreachable(void* rma, std::uint32_t world_rank);
  [[nodiscard]] sim::HolderDeathTest holder_death_test();
  // Wakes a member to which the lock was granted.
  void let_in(Window& window, int target, std::uint32_t member);
  // Returns `member`'s lock at `target`, in memory that is mapped here.
  void release(Window& window, int target, const WindowControl& control, int member);
  // Reports locks that were granted in memory to the members that asked by message.
  void give_locks();
  // Makes give_locks() run in each round, until no member waits.
  void look_each_round();
  // Withdraws the locks and requests of lost members, for those locks on which this process may act for them.
  void withdraw_dead();
  [[nodiscard]] bool may_withdraw(std::uint32_t world_rank, bool is_own_lock) const;
  [[nodiscard]] sim::AccumulateLock accumulate_lock(const WindowTarget& target);

  // Counts an access that begins, and records it in the trace before its messages.
  void count_access(const Window& window, const Access& access, sim::TraceAccess call, WindowMethod method,
                    std::uint64_t bytes) {
    count(call >= sim::TraceAccess::accumulate ? sim::CountedAccess::accumulate : static_cast<sim::CountedAccess>(call),
          method, bytes);
    if (parts_.recorder().on()) [[unlikely]]
      record_access(window, access, call, method, bytes);
  }
  // The part of count_access() with a trace.
  void record_access(const Window& window, const Access& access, sim::TraceAccess call, WindowMethod method,
                     std::uint64_t bytes);
  // Records a trace event with the window's context and the target's rank.
  void record(const Window& window, sim::TraceKind kind, int target, sim::TraceEvent event);

  // Whether an access is sent as one message for each block instead of as a described body. False for a dynamic window,
  // because offsets do not apply to its memory.
  [[nodiscard]] bool block_by_block(const Window& window) const {
    return window.by_messages || (parts_.options.a_message_a_block && !window.memory.dynamic());
  }
  // Performs an access by the method `process`. False: the operating system refuses; nothing happened, and later
  // accesses to the target use messages.
  [[nodiscard]] bool copy_through_system(Window& window, const Access& access, bool write);
  // The paper's form of accesses in pieces: one message for each block.
  void put_blocks(Window& window, const Access& access);
  void get_blocks(Window& window, const Access& access);
  // Choose between one message and a described body, by the target's datatype and window.
  void put_by_messages(Window& window, const Access& access);
  void get_by_messages(Window& window, const Access& access);
  // The memory for an accumulate's previous elements; empty if they are not wanted.
  [[nodiscard]] static portals::Region result_room(const Access& access, const AccumulateOperands& operands,
                                                   Pieces& pieces);
  // Sends a window request for each kOperandBytesPerRequest bytes or kPiecesPerRequest pieces, in whole elements.
  void accumulate_by_messages(Window& window, const Access& access, const AccumulateOperands& operands);

  // The functions below act as a target. receive_request() checks a request's sender and dispatches the request. An
  // invalid request is dropped.
  void receive_request(const portals::Header& header, const std::byte* body, std::uint64_t bytes);
  // Requests the lock for the origin, and answers at once if it is free.
  void receive_lock_request(Window& window, const WindowRequestHead& head);
  // Reports to the origin that its request is invalid.
  void refuse(Window& window, const WindowRequestHead& head, int error_class);
  // The only function of an origin here: ends the access that a target refused.
  void receive_refusal(Window& window, const WindowRequestHead& head);
  // Prepares for the body that the request describes.
  void take_pieces(Window& window, const ReceivedWindowRequest& received, const portals::Header& header);
  // Ends the description of a body that was not saved.
  void end_described(const portals::Header& header);
  // Answers get_pieces: sends the named bytes, or an error.
  void send_pieces(Window& window, const ReceivedWindowRequest& received);
  // Answers accumulate and swap: performs them under the accumulate lock, which local origins use as well.
  void combine(Window& window, const ReceivedWindowRequest& received);

  // --check-rma: compares an announced access, and answers.
  void handle_announcement(Window& window, const ReceivedWindowRequest& received);
  // Removes the accesses that the origin reports as complete, and answers if the origin requested an answer.
  void handle_completion(Window& window, const WindowRequestHead& head);

  DeviceParts& parts_;
  const sim::NodeMemory* node_;  // nullptr: the node shares no memory
  GuardWaits guard_waits_;
  AccessCounts counts_;
  // Messages of this origin's accesses that have not left, and answers that have not arrived.
  std::uint32_t messages_in_flight_ = 0;
  // Attached windows, which this object does not own.
  std::unordered_map<std::uint32_t, Window*> windows_;        // by context
  std::unordered_map<std::uint32_t, sim::PeerMemory> peers_;  // other processes of the node, by local rank
  // Blocks of freed windows to which a body or an answer under way still refers.
  std::vector<std::unique_ptr<portals::SingleBlock>> retired_;
  // Awaited answers, and described bodies. Their entries are in lists, so their addresses must be constant.
  Pool<Reply> replies_;
  // Transmissions that the kernel has not finished.
  Pool<Outgoing> outgoing_;
  // The observer that polls in each round for locks that were granted in memory to members that wait for a message.
  struct RoundListener final : Listener {
    explicit RoundListener(Rma& of) : rma(of) {}
    void notify() override { rma.give_locks(); }
    Rma& rma;
  };
  RoundListener rounds_{*this};
  // The observer that ends the operations of lost peers with an error for the window, and releases their locks.
  struct LossListener final : Listener {
    explicit LossListener(Rma& of) : rma(of) {}
    void notify() override { rma.end_losses(); }
    Rma& rma;
  };
  LossListener on_losses_{*this};
  // Ends the replies of lost peers, and withdraws them from locks.
  void end_losses();
  sim::AccumulateLockData own_accumulates_;  // used where the node shares no memory
  static constexpr std::uint32_t kSynchronisedToLook = 64;
  // Counts towards kSynchronisedToLook, see needs_progress().
  std::uint32_t synchronised_ = 0;
  std::uint32_t next_described_ = 0;  // number of the latest described body
  std::uint32_t losses_ = 0;          // losses for which withdraw_dead() has run
  // Buffers that are reused, so that a window request allocates nothing, neither at its origin nor at its target.
  std::vector<std::byte> request_body_;
  std::vector<std::byte> answer_body_;
  std::vector<portals::Buffer> meant_;  // the target's pieces that a window request names

  // The portals: window requests in a heap, puts and gets in lists of one entry for each window.
  // Memory for window requests, whose bodies are saved whole.
  HeapMemory memory_;
  portals::DynamicBlock requests_;
  portals::MatchEntry request_entry_;
  portals::MatchList put_list_;
  portals::MatchList get_list_;
  portals::MatchList request_list_;
};

}  // namespace margay::mpi_adi
