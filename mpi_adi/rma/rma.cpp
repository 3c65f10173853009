#include "mpi_adi/rma/rma.hpp"

#include <algorithm>
#include <cstring>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Room for the window requests that arrive between two rounds; each round handles all of them. A window request without
// room is held on its wire.
constexpr std::size_t kRequestHeapBytes = std::size_t{1} << 20;
// The most pieces of a body that others_may_write() examines. A longer search would cost as much as a copy.
constexpr int kPiecesLookedAt = 64;
// The most bytes of operands that are copied, which costs less than a wait until they have left. An element of any type
// fits.
constexpr std::size_t kOperandBytesCopied = 512;

}  // namespace

static_assert(kWindowMethods == sim::kCountedMethods);

const char* method_name(WindowMethod method) {
  switch (method) {
    case WindowMethod::direct:
      return "direct";
    case WindowMethod::process:
      return "process memory";
    case WindowMethod::message:
      return "messages";
  }
  return "unknown";
}

Rma::Rma(DeviceParts& parts, const sim::NodeMemory* node, GuardWaits guard_waits)
    : parts_(parts),
      node_(node),
      guard_waits_(std::move(guard_waits)),
      memory_(kRequestHeapBytes),
      requests_(memory_.buffer()) {
  requests_.set_owner_tag(static_cast<Listener*>(this), kOwnerListener);
  request_entry_.set({.match_bits = 0, .ignore_bits = ~portals::MatchBits{0}}, requests_,
                     {.save = portals::Save::both});
  request_list_.append(request_entry_);
  const auto attach = [&parts](portals::PortalIndex portal, portals::MatchList& list) {
    const bool attached = parts.kernel.table().attach(portal, list).ok();
    MARGAY_ASSERT(attached);
  };
  attach(kPutPortal, put_list_);
  attach(kGetPortal, get_list_);
  attach(kWindowPortal, request_list_);
  // A window request without room must be held, because dropping it would lose a lock or an accumulate.
  parts.kernel.target().hold_when_no_room(kWindowPortal);
  // Other origins may write the memory while a reply is on its way.
  parts.kernel.answers().replies_may_change(kGetPortal);
  parts.on_losses.push_back(&on_losses_);
}

Rma::~Rma() {
  portals::PortalTable& table = parts_.kernel.table();
  table.detach(kPutPortal);
  table.detach(kGetPortal);
  table.detach(kWindowPortal);
  // The device outlives this object.
  std::erase(parts_.on_losses, &on_losses_);
  std::erase(parts_.each_round, &rounds_);
  request_list_.remove(request_entry_);
}

// Paper 001, 4.1: "A sender-managed single block memory descriptor referencing the RMA window is attached to the entry.
// Similarly, the next available match list entry for the get portal". The memory of a dynamic window is not one block,
// so window requests describe the accesses to it.
void Rma::attach(Window& window) {
  windows_.emplace(window.communicator->context, &window);
  // With windows, the coprocessor makes room for held messages; without windows, these wait until the program returns
  // to MPI.
  parts_.kernel.target().serve_while_away(true);
  // All members of a window of MPI_Win_allocate_shared have its memory mapped, so no put or get arrives.
  if (window.memory.dynamic() || window.flavor == MPI_WIN_FLAVOR_SHARED) return;
  const portals::Buffer memory{static_cast<std::byte*>(window.base), static_cast<std::size_t>(window.size)};
  window.put_block = std::make_unique<portals::SingleBlock>(memory);
  window.get_block = std::make_unique<portals::SingleBlock>(memory);
  // The device ignores changes of these blocks (kOwnerOthers).
  for (portals::SingleBlock* const block : {window.put_block.get(), window.get_block.get()}) {
    block->set_owner_tag(&window, kOwnerOthers);
  }
  portals::Options options;
  options.offset_by = portals::OffsetBy::sender;
  options.save = portals::Save::body;
  options.acknowledge = true;  // to puts that name a return portal
  const portals::Criteria criteria{.match_bits = window_bits(window)};
  window.put_entry.set(criteria, *window.put_block, options);
  options.direction = portals::Direction::read_only;
  options.acknowledge = false;
  window.get_entry.set(criteria, *window.get_block, options);
  put_list_.append(window.put_entry);
  get_list_.append(window.get_entry);
}

void Rma::detach(Window& window) {
  // Ends the described bodies that have not arrived or do not fit the window.
  replies_.for_each_in_use([&](Reply& reply) {
    if (!reply.at_target || reply.window != &window) return;
    if (!reply.memory || reply.memory->reserved_messages() == 0) return take_reply(reply);
    reply.window = nullptr;  // the Reply ends when the body has arrived or its sender is lost
  });
  windows_.erase(window.communicator->context);
  if (windows_.empty()) parts_.kernel.target().serve_while_away(false);
  // Also deletes blocks of earlier windows to which the kernel does not refer any more.
  std::erase_if(retired_, [](const auto& block) { return block->reserved_messages() == 0; });
  if (window.put_block == nullptr) return;
  put_list_.remove(window.put_entry);
  get_list_.remove(window.get_entry);
  for (auto* const block : {&window.put_block, &window.get_block}) {
    // If the kernel still refers to the block, the block outlives the window.
    if ((*block)->reserved_messages() != 0) {
      (*block)->set_owner_tag(nullptr, kOwnerOthers);
      retired_.push_back(std::move(*block));
    }
    block->reset();
  }
}

portals::Header Rma::header_to(std::uint32_t world_rank, portals::PortalIndex portal, portals::MatchBits bits) const {
  portals::Header header;
  header.kind = portals::Kind::put;
  header.portal = portal;
  header.destination = {parts_.kernel.me().group, world_rank};
  header.match_bits = bits;
  return header;
}

// Sends a message. If the wire does not take the body at once, the body stays in the origin's memory until it has left.
// `holds`: the datatype to which the body refers.
void Rma::send(Window& window, WindowTarget& target, const portals::Header& header, const portals::Region& body,
               Outstanding* request, const Pieces* holds) {
  if (parts_.kernel.try_send(header, body)) {
    // A get needs no wake here: its origin waits for the reply, and that wait wakes the target.
    if (window.by_messages && header.kind == portals::Kind::put) wake(target);
    return;
  }
  Outgoing& outgoing = outgoing_.take();
  if (holds != nullptr) outgoing.pieces = *holds;
  outgoing.request = request;
  if (request != nullptr) ++request->count;
  send_outgoing(outgoing, &window, static_cast<int>(&target - window.targets.data()), header, body);
}

// Whether some of the bytes belong, or may belong, to a window of this process. Another origin may then change them
// before they have left, so the wire sends a copy (Transmission::may_change).
bool Rma::others_may_write(const portals::Region& body) const {
  const auto is_of_a_window = [&](const portals::Buffer& piece) {
    return std::ranges::any_of(windows_, [&](const auto& window) { return window.second->memory.overlaps(piece); });
  };
  if (body.contiguous()) return is_of_a_window(body.single());
  portals::RegionCursor cursor(body);
  for (int pieces = 0; cursor.left() != 0; ++pieces) {
    const portals::Buffer piece = cursor.peek(cursor.left());
    if (pieces == kPiecesLookedAt || is_of_a_window(piece)) return true;
    cursor.skip(piece.bytes);
  }
  return false;
}

// Sends by a pooled transmission. `window` nullptr: no access waits for it.
void Rma::send_outgoing(Outgoing& outgoing, Window* window, int target, const portals::Header& header,
                        const portals::Region& body) {
  outgoing.rma = this;
  outgoing.window = window;
  outgoing.target = target;
  outgoing.transmission = {};
  outgoing.transmission.header = header;
  outgoing.transmission.body = body;
  outgoing.transmission.may_change = others_may_write(body);
  outgoing.transmission.owner = static_cast<Listener*>(&outgoing);
  outgoing.transmission.owner_tag_kind = kOwnerListener;
  if (window != nullptr) {
    outgoing.generation = window->target(target).sending.begin();
    ++messages_in_flight_;
  }
  parts_.kernel.send(outgoing.transmission);
}

// Sends a body that the caller may reuse on return.
void Rma::send_copied(Window* window, int target, portals::Header header, std::span<const std::byte> body) {
  header.length = body.size();
  // A region has no constness. The kernel only reads the region of a send.
  if (parts_.kernel.try_send(header, portals::Region(const_cast<std::byte*>(body.data()), body.size()))) return;
  Outgoing& outgoing = outgoing_.take();
  outgoing.body.assign(body.begin(), body.end());
  send_outgoing(outgoing, window, target, header, portals::Region(outgoing.body.data(), outgoing.body.size()));
}

namespace {

// Makes a request's body: head, pieces, and `room` bytes behind them for operands.
void make_body(const Window& window, const WindowRequestHead& head, std::span<const Piece> pieces, std::uint64_t room,
               std::vector<std::byte>& body) {
  body.resize(sizeof head + pieces.size_bytes() + room);
  WindowRequestHead whole = head;
  // Set here from the arguments, so the caller need not set these two fields.
  whole.origin = window.rank();
  whole.pieces = static_cast<std::uint32_t>(pieces.size());
  std::memcpy(body.data(), &whole, sizeof whole);
  if (!pieces.empty()) std::memcpy(body.data() + sizeof head, pieces.data(), pieces.size_bytes());
}

}  // namespace

portals::Header Rma::request_header(Window& window, int target, WindowRequestKind kind) const {
  if (parts_.recorder().on()) [[unlikely]]
    define_in_trace(parts_.recorder(), *window.communicator);
  return header_to(window.target(target).world_rank, kWindowPortal, window_request_bits(window, kind));
}

void Rma::send_window_request(Window& window, int target, const WindowRequestHead& head, std::span<const Piece> pieces,
                              const void* operands, std::uint64_t operand_bytes) {
  make_body(window, head, pieces, operand_bytes, request_body_);
  if (operand_bytes != 0)
    std::memcpy(request_body_.data() + sizeof head + pieces.size_bytes(), operands, operand_bytes);
  // Only accesses are counted as under way; no caller waits for the end of other requests, or reports their failure.
  const bool is_access = head.kind == WindowRequestKind::accumulate || head.kind == WindowRequestKind::swap ||
                         head.kind == WindowRequestKind::put_pieces || head.kind == WindowRequestKind::get_pieces;
  send_copied(is_access ? &window : nullptr, target, request_header(window, target, head.kind), request_body_);
}

// Few operands are copied behind their request. More operands are sent from their place, so the origin must not change
// them until they have left.
void Rma::send_window_request(Window& window, int target, const WindowRequestHead& head, std::span<const Piece> pieces,
                              const AccumulateOperands& operands, const portals::Region& elements,
                              Outstanding* request) {
  if (elements.bytes() <= kOperandBytesCopied) {
    std::byte copied[2 * kOperandBytesCopied];
    portals::RegionCursor(elements).read({copied, elements.bytes()});
    std::uint64_t bytes = elements.bytes();
    if (operands.compare != nullptr) {
      std::memcpy(copied + bytes, operands.compare, operands.element_bytes);
      bytes += operands.element_bytes;
    }
    return send_window_request(window, target, head, pieces, copied, bytes);
  }
  Outgoing& outgoing = outgoing_.take();
  make_body(window, head, pieces, 0, outgoing.body);
  outgoing.pieces = operands.pieces;
  // Head, pieces and operands become one message of several pieces, without a copy of the operands.
  outgoing.table.push_back({outgoing.body.data(), outgoing.body.size()});
  for (portals::RegionCursor cursor(elements); cursor.left() != 0;) {
    outgoing.table.push_back(cursor.peek(cursor.left()));
    cursor.skip(outgoing.table.back().bytes);
  }
  portals::Header header = request_header(window, target, head.kind);
  header.length = outgoing.body.size() + elements.bytes();
  outgoing.request = request;
  if (request != nullptr) ++request->count;
  send_outgoing(outgoing, &window, target, header, portals::Region(std::span<const portals::Buffer>(outgoing.table)));
}

void Outgoing::notify() {
  rma->end_sending(*this);
}

void Rma::end_sending(Outgoing& outgoing) {
  // A failed wire means a lost target; the window reports it at its next synchronisation.
  const bool failed = outgoing.transmission.state == sim::Transmission::State::failed;
  if (outgoing.window != nullptr) {
    --messages_in_flight_;
    outgoing.window->target(outgoing.target).sending.end(outgoing.generation);
    if (failed) keep_error(*outgoing.window, MPIX_ERR_PROC_FAILED, {});
    if (!failed && outgoing.window->by_messages) wake(outgoing.window->target(outgoing.target));
  }
  if (outgoing.request != nullptr) done(outgoing.request, failed ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
  outgoing.request = nullptr;
  // Frees the body's memory, which may be large, so that the pooled object stays small.
  outgoing.body = {};
  outgoing.table.clear();
  outgoing.pieces.clear();
  outgoing_.give_back(outgoing);
}

Reply& Rma::expect(Window& window, int target, const portals::Region& room, Outstanding* request, const Pieces* holds) {
  Reply& answer = replies_.take();
  answer.rma = this;
  answer.window = &window;
  answer.target = target;
  answer.request = request;
  answer.at_target = false;
  if (holds != nullptr) answer.pieces = *holds;
  answer.memory.emplace(room);
  answer.memory->set_owner_tag(static_cast<Listener*>(&answer), kOwnerListener);
  WindowTarget& to = window.target(target);
  const portals::Criteria criteria{.match_bits = reply_bits_of(answer), .source_rank = to.world_rank};
  answer.entry.set(criteria, *answer.memory, {});
  // Before the catch-alls, so that an answer never becomes an unexpected message.
  parts_.receive_list.insert_before(parts_.heap.first_catch_all(), answer.entry);
  answer.generation = to.awaited.begin();
  ++messages_in_flight_;
  answer.reads = room.bytes() != 0;
  to.reads += answer.reads ? 1 : 0;
  // If the loss of this target was handled earlier, nothing would end this answer. So the next round handles losses
  // again.
  if (parts_.kernel.initiator().is_unreachable(to.world_rank)) [[unlikely]]
    parts_.losses_ended = kLookAgain;
  if (request != nullptr) ++request->count;
  parts_.kernel.expect_answer(to.world_rank);
  return answer;
}

void Reply::notify() {
  rma->take_reply(*this);
}

void Rma::take_reply(Reply& answer) {
  // A described body at its target: no origin here waits for it.
  if (answer.at_target) {
    if (answer.window != nullptr) --answer.window->target(answer.target).described;
    put_list_.remove(answer.entry);
    answer.table.clear();
    answer.memory.reset();
    return replies_.give_back(answer);
  }
  end_reply(answer, MPI_SUCCESS);
}

void Rma::end_reply(Reply& answer, int error_class) {
  // The entry is removed first, so that a late answer finds no entry and is dropped.
  parts_.receive_list.remove(answer.entry);
  answer.memory.reset();
  answer.pieces.clear();
  WindowTarget& target = answer.window->target(answer.target);
  parts_.kernel.count_answer(target.world_rank);
  target.awaited.end(answer.generation);
  --messages_in_flight_;
  target.reads -= answer.reads ? 1 : 0;
  if (answer.request != nullptr) {
    done(answer.request, error_class);
  } else if (error_class != MPI_SUCCESS) {
    keep_error(*answer.window, error_class, {});
  }
  replies_.give_back(answer);
}

void Rma::done(Outstanding* request, int error_class) {
  // Only the first error is kept.
  if (request->error_class == MPI_SUCCESS) request->error_class = error_class;
  if (--request->count == 0 && request->all_done != nullptr) request->all_done->notify();
}

void Rma::keep_error(Window& window, int error_class, const std::string& text) {
  // Only the first error is kept.
  if (window.error_class != MPI_SUCCESS) return;
  window.error_class = error_class;
  window.error_text = text;
}

// "Put operations maintain pairwise ordering": when the answer to a get of no bytes arrives, the puts before the get
// have been delivered.
void Rma::begin_flush(Window& window, int target) {
  WindowTarget& to = window.target(target);
  // A lost target does not answer; the accesses to it have failed already.
  if (!to.unflushed || parts_.kernel.initiator().is_unreachable(to.world_rank)) return;
  to.unflushed = false;
  const Reply& answer = expect(window, target, {}, nullptr, nullptr);
  // A dynamic window has no entry in the get portal. A window request for no pieces gets the same answer there.
  if (window.memory.dynamic()) {
    WindowRequestHead head;
    head.kind = WindowRequestKind::get_pieces;
    head.reply_bits = reply_bits_of(answer);
    return send_window_request(window, target, head);
  }
  portals::Header get = header_to(to.world_rank, kGetPortal, window_bits(window));
  get.kind = portals::Kind::get;
  get.return_portal = kReceivePortal;
  get.return_match_bits = reply_bits_of(answer);
  send(window, to, get, {}, nullptr, nullptr);
}

// Ends the replies of lost peers. A reply that the kernel is still filling ends in a later round, after the kernel has
// given it up.
void Rma::end_losses() {
  sim::Kernel& kernel = parts_.kernel;
  bool all = true;
  replies_.for_each_in_use([&](Reply& reply) {
    const std::uint32_t peer = reply.entry.criteria().source_rank;
    if (!kernel.initiator().is_unreachable(peer)) return;
    if (reply.memory && reply.memory->reserved_messages() != 0) {
      all = false;
    } else if (reply.at_target) {
      take_reply(reply);
    } else {
      end_reply(reply, MPIX_ERR_PROC_FAILED);
    }
  });
  if (!all) look_each_round();
  // Locks are withdrawn once for each loss.
  if (kernel.initiator().losses() == losses_) return;
  losses_ = kernel.initiator().losses();
  withdraw_dead();
}

}  // namespace margay::mpi_adi
