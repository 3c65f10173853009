// One rank's part in one-sided communication: its put and get portals (paper 001, figure 11), the portal of window
// requests, and what it has under way as an origin. Nothing here blocks; under the process lock, perhaps on the
// coprocessor's thread. Arguments were checked (mpi/one_sided).
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
#include "mpi_adi/rma/ask.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/reply.hpp"
#include "mpi_adi/rma/window.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/boot/board.hpp"
#include "sim/machine/node_memory.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

class Asked;

// Of a request-based call: what is under way for it, and who is told when nothing is any more.
struct Outstanding {
  std::uint32_t count = 0;
  int error_class = 0;
  Listener* all_done = nullptr;
};

// One access, checked: elements here and elements there, as many bytes. `buffer` may be MPI_BOTTOM, which is null: the
// type alone says whether there is anything here.
struct Access {
  void* buffer = nullptr;
  std::int64_t count = 0;
  const Datatype* type = nullptr;  // null: an accumulate without a result
  int target = 0;
  std::uint64_t offset = 0;  // of the first element, bytes from the window's beginning; of a dynamic one an address
  std::int64_t target_count = 0;
  const Datatype* target_type = nullptr;
  Outstanding* request = nullptr;  // of a request-based call
  // With --check-rma: its number, and whether it is complete with its request.
  struct Announced {
    std::uint64_t number = 0;
    bool ends_alone = false;
  };
  Announced announced = {};

  // Of an accumulate.
  [[nodiscard]] bool wants_result() const { return type != nullptr; }
};

// What was accessed from here, for the job's table and for tests.
struct AccessCounts {
  std::array<ProtocolCounts::Count, sim::kCountedAccesses> by_way{};
  [[nodiscard]] ProtocolCounts::Count& of(sim::CountedAccess access, WindowWay way) {
    return by_way[sim::index_of(access, static_cast<std::size_t>(way))];
  }
};

// An accumulate's operands: elements of one predefined type.
struct AccumulateOperands {
  MPI_Op op = MPI_NO_OP;
  MPI_Datatype type = MPI_BYTE;
  std::uint32_t element_bytes = 1;
  std::uint64_t count = 0;
  portals::Region elements;            // one after another, in pieces of whole ones; none with MPI_NO_OP
  Pieces pieces;                       // what that refers to
  const std::byte* compare = nullptr;  // of a compare-and-swap
  sim::TraceAccess call = sim::TraceAccess::accumulate;

  [[nodiscard]] bool any() const { return op != MPI_NO_OP; }
};

class Rma final : public Listener {
 public:
  // This process waits asleep for `holder`, which is inside a guard, for so long by now; 0: no more.
  using GuardWaits = std::function<void(std::uint32_t holder, std::uint64_t waited_ns)>;
  // Both outlive it. `node` null: nothing is shared.
  Rma(DeviceParts& parts, const sim::NodeMemory* node, GuardWaits guard_waits);
  ~Rma() override;

  // Messages for the window are taken from here on. Requires: base, size, communicator and targets are set.
  void attach(Window& window);
  // Not any more. Requires: nobody sends any.
  void detach(Window& window);

  // The one whose communicator it is, or nullptr.
  [[nodiscard]] Window* window_of(const Communicator& communicator) const {
    const auto found = windows_.find(communicator.context);
    return found == windows_.end() ? nullptr : found->second;
  }

  void put(Window& window, const Access& access);
  void get(Window& window, const Access& access);
  // `access` names where the result goes, if one is wanted; its target's elements are of `operands`' type.
  void accumulate(Window& window, const Access& access, const AccumulateOperands& operands);

  // Whether this origin's memory is its own again, and what it asked for is here.
  [[nodiscard]] bool locally_complete(const WindowTarget& target) const {
    return target.sending.none() && target.awaited.none();
  }
  // Backpressure: before another access begins, who finds this full waits until there is room.
  [[nodiscard]] bool is_full() const { return under_way_ >= kAccessMessagesMax; }
  [[nodiscard]] bool has_room() const { return under_way_ <= kAccessMessagesMax / 2; }
  // All accesses to the target are done there when locally_complete() says so. Requires: what was put has left.
  void begin_flush(Window& window, int target);

  // The end of this origin's epoch is told to the target by a message that goes behind the epoch's own: whoever hears
  // of it has them. So nobody need ask for answers. Not of a dynamic window: the target alone knows what it refuses.
  [[nodiscard]] static bool ends_by_message(const Window& window, const WindowTarget& target) {
    return window.starts && target.in_start && !target.control.here() && !window.memory.dynamic() &&
           window.check == nullptr;
  }
  // The lock's end is a message, and all that is under way to the target goes before it: nothing that it would send
  // from its memory later on, and nothing that has not left. Then the lock may be given back before the answers are
  // here.
  [[nodiscard]] static bool may_unlock_behind(const Window& window, const WindowTarget& target) {
    return target.lock_asked && target.locked && !target.control.here() && target.sending.none() && !target.unflushed &&
           target.reads == 0 && window.check == nullptr;
  }

  // Passive epochs: asks for the lock, which is there when has_lock() says so; gives it back, behind all accesses.
  void ask_lock(Window& window, int target, LockKind kind);
  [[nodiscard]] bool has_lock(const Window& window, WindowTarget& target);
  void unlock(Window& window, int target);
  // Active ones: posted, to an origin; completed, to a target.
  void tell(Window& window, int target, Ask what);

  [[nodiscard]] const AccessCounts& counts() const { return counts_; }
  // For the trace: a synchronisation is done. `target` -1: of no one target.
  void synchronised(const Window& window, sim::TraceSync sync, int target = -1) {
    if (parts_.recorder().on()) [[unlikely]]
      record(window, sim::TraceKind::window_sync, target, {.a = static_cast<std::uint32_t>(sync)});
  }
  // With --check-rma (rma/conflicts): `answer` and `outstanding` stay until outstanding.count is 0.
  void announce(Window& window, int target, std::uint64_t offset, std::span<const Piece> pieces,
                const AnnouncedAccess& access, Conflict& answer, Outstanding& outstanding);
  // `outstanding` null: nobody waits for that to be heard. `number`: of the one access.
  void announce_completed(Window& window, int target, Completed what, std::uint64_t number, Outstanding* outstanding);

  // A round's message came.
  void told() override;

  // Counts synchronisations: whether this one looks for messages although it waits for none. Of those that are over in
  // nanoseconds, every 64th; of others, which may each be a system call, every eighth.
  [[nodiscard]] bool looks_now() {
    synchronised_ += kSynchronisedToLook / 8;
    if (synchronised_ < kSynchronisedToLook) return false;
    synchronised_ = 0;
    return true;
  }
  // Of one that would be over at once: false, and it does not count, where it is time to look.
  [[nodiscard]] bool need_not_look() {
    if (synchronised_ + 1 >= kSynchronisedToLook) return false;
    ++synchronised_;
    return true;
  }
  // An access begins.
  void count(sim::CountedAccess access, WindowWay way, std::uint64_t bytes) {
    ProtocolCounts::Count& count = counts_.of(access, way);
    ++count.messages;
    count.bytes += bytes;
  }

 private:
  friend struct Outgoing;
  friend struct Reply;

  // Sending.
  void send(Window& window, WindowTarget& target, const portals::Header& header, const portals::Region& body,
            Outstanding* request, const Pieces* holds);
  // A put of the 1996 interface has left, and nobody waits for its arrival, at either side: the target is to look, also
  // if it computes. One system call, on the node.
  void wake(const WindowTarget& target);
  void send_outgoing(Outgoing& outgoing, Window* window, int target, const portals::Header& header,
                     const portals::Region& body);
  void send_ask(Window& window, int target, const AskHead& head, std::span<const Piece> pieces,
                const AccumulateOperands& operands, const portals::Region& elements, Outstanding* request);
  void send_copied(Window* window, int target, portals::Header header, std::span<const std::byte> body);
  void send_ask(Window& window, int target, const AskHead& head, std::span<const Piece> pieces = {},
                const void* operands = nullptr, std::uint64_t operand_bytes = 0);
  void finished(Outgoing& outgoing);
  [[nodiscard]] bool others_may_write(const portals::Region& body) const;
  [[nodiscard]] portals::Header ask_header(Window& window, int target, Ask what) const;
  [[nodiscard]] portals::Header header_to(std::uint32_t world_rank, portals::PortalIndex portal,
                                          portals::MatchBits bits) const;
  // Whether nothing is under way to the target, so that the next access may ask for an answer, which then is the flush:
  // a journey there and one back. Of several, whose answers would be as many, a flush behind all of them is cheaper.
  [[nodiscard]] bool is_alone(const Window& window, const WindowTarget& target) const {
    return !target.unflushed && locally_complete(target) && !ends_by_message(window, target) &&
           !parts_.kernel.initiator().gone(target.world_rank);
  }
  // Answers.
  Reply& expect(Window& window, int target, const portals::Region& room, Outstanding* request, const Pieces* holds);
  void came(Reply& answer);
  void give_up(Reply& answer, int error_class);
  void done(Outstanding* request, int error_class);
  void note(Window& window, int error_class, const std::string& words);

  // Locks.
  [[nodiscard]] sim::WindowLock lock_of(const WindowControl& control);
  [[nodiscard]] static bool is_gone(void* rma, std::uint32_t world_rank);
  [[nodiscard]] sim::HolderGone holder_gone();
  void let_in(Window& window, int target, std::uint32_t member);
  void release(Window& window, int target, const WindowControl& control, int member);
  void give_locks();
  void look_each_round();
  void withdraw_dead();
  [[nodiscard]] bool may_withdraw(std::uint32_t world_rank, bool is_own_lock) const;
  [[nodiscard]] sim::AccumulateLock accumulate_lock(const WindowTarget& target);

  // An access begins: counted, and told to the trace before the messages that it takes.
  void seen(const Window& window, const Access& access, sim::TraceAccess call, WindowWay way, std::uint64_t bytes) {
    count(
        call >= sim::TraceAccess::accumulate ? sim::CountedAccess::kAccumulate : static_cast<sim::CountedAccess>(call),
        way, bytes);
    if (parts_.recorder().on()) [[unlikely]]
      record_access(window, access, call, way, bytes);
  }
  void record_access(const Window& window, const Access& access, sim::TraceAccess call, WindowWay way,
                     std::uint64_t bytes);
  void record(const Window& window, sim::TraceKind kind, int target, sim::TraceEvent event);

  // By way.
  // A dynamic window has no one block with an offset: what is accessed there is always described.
  [[nodiscard]] bool block_by_block(const Window& window) const {
    return window.by_messages || (parts_.options.a_message_a_block && !window.memory.dynamic());
  }
  [[nodiscard]] bool copy_through_system(Window& window, const Access& access, bool write);
  void put_blocks(Window& window, const Access& access);
  void get_blocks(Window& window, const Access& access);
  void put_by_messages(Window& window, const Access& access);
  void get_by_messages(Window& window, const Access& access);
  [[nodiscard]] static portals::Region result_room(const Access& access, const AccumulateOperands& operands,
                                                   Pieces& pieces);
  void accumulate_by_messages(Window& window, const Access& access, const AccumulateOperands& operands);

  // As a target.
  void hear(const portals::Header& header, const std::byte* body, std::uint64_t bytes);
  void lock_asked(Window& window, const AskHead& head);
  void refuse(Window& window, const AskHead& head, int error_class);
  void refused(Window& window, const AskHead& head);
  void take_pieces(Window& window, const Asked& asked, const portals::Header& header);
  void forget_described(const portals::Header& header);
  void send_pieces(Window& window, const Asked& asked);
  void combine(Window& window, const Asked& asked);

  void hear_announced(Window& window, const Asked& asked);
  void hear_completed(Window& window, const AskHead& head);

  DeviceParts& parts_;
  const sim::NodeMemory* node_;
  GuardWaits guard_waits_;
  AccessCounts counts_;
  // Messages of this origin's accesses that have not left, and answers that have not come.
  std::uint32_t under_way_ = 0;
  std::unordered_map<std::uint32_t, Window*> windows_;        // by context
  std::unordered_map<std::uint32_t, sim::PeerMemory> peers_;  // of the node, by their number on it
  // Blocks of windows that are gone, to which a body or an answer that is under way still refers.
  std::vector<std::unique_ptr<portals::SingleBlock>> retired_;
  Pool<Reply> replies_;
  Pool<Outgoing> outgoing_;
  // Looks in each round whether locks are free that others wait for by messages.
  struct Rounds final : Listener {
    explicit Rounds(Rma& of) : rma(of) {}
    void told() override { rma.give_locks(); }
    Rma& rma;
  };
  Rounds rounds_{*this};
  // What a lost peer will never do is over, with an error for the window; what it held goes to others.
  struct Losses final : Listener {
    explicit Losses(Rma& of) : rma(of) {}
    void told() override { rma.end_losses(); }
    Rma& rma;
  };
  Losses on_losses_{*this};
  void end_losses();
  sim::AccumulateLockData own_accumulates_;  // where no node's memory has one
  static constexpr std::uint32_t kSynchronisedToLook = 64;
  std::uint32_t synchronised_ = 0;
  std::uint32_t next_described_ = 0;
  std::uint32_t losses_ = 0;  // that have been looked at
  // Reused, so that an ask costs no allocation, here or at the target.
  std::vector<std::byte> ask_body_;
  std::vector<std::byte> answer_body_;
  std::vector<portals::Buffer> meant_;

  HeapMemory memory_;
  portals::DynamicBlock asks_;
  portals::MatchEntry ask_entry_;
  portals::MatchList put_list_;
  portals::MatchList get_list_;
  portals::MatchList ask_list_;
};

}  // namespace margay::mpi_adi
