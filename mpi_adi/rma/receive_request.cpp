// The target's side of window requests. Every number in a message is checked here again, so nothing outside of the
// window is ever read or written.
#include <algorithm>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "mpi_adi/rma/window_request.hpp"

namespace margay::mpi_adi {

// Handles the window requests that have arrived, those of one origin in the order in which it sent them. A request
// whose body is still arriving delays only the later requests of its origin. If a described body does not fit the
// window, only its header is saved, in the same heap; the header ends the description.
void Rma::notify() {
  // Usually empty, so nothing is allocated.
  std::vector<std::uint32_t> behind;
  for (portals::ArrivedMessage* message = requests_.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = requests_.next(*message);
    const portals::Header header = message->header;
    if (!message->complete) {
      behind.push_back(header.source.rank);
    } else if (std::ranges::find(behind, header.source.rank) == behind.end()) {
      if (header.portal == kWindowPortal) {
        receive_request(header, message->body.base, header.length);
      } else {
        end_described(header);
      }
      requests_.release(*message);
    }
    message = next;
  }
}

void Rma::receive_request(const portals::Header& header, const std::byte* body, std::uint64_t bytes) {
  // A message may arrive after its window was freed.
  const auto found = windows_.find(context_of_window_bits(header.match_bits));
  if (found == windows_.end()) return;
  Window& window = *found->second;
  const std::optional<ReceivedWindowRequest> received =
      ReceivedWindowRequest::read({body, static_cast<std::size_t>(bytes)});
  if (!received || received->head().origin < 0 || received->head().origin >= window.members()) return;
  const WindowRequestHead& head = received->head();
  WindowTarget& origin = window.target(head.origin);
  // The body names an origin, which must be the sender.
  if (origin.world_rank != header.source.rank) return;
  switch (head.kind) {
    case WindowRequestKind::lock_shared:
    case WindowRequestKind::lock_exclusive:
      return receive_lock_request(window, head);
    case WindowRequestKind::unlock:
      // An unlock may also withdraw a request that was not granted yet.
      std::erase(window.waiting, head.origin);
      return release(window, window.rank(), window.control, head.origin);
    case WindowRequestKind::granted:
      // A grant is accepted only as the answer to an open request.
      if (!origin.lock_requested || origin.locked || origin.control.here()) return;
      origin.locked = true;
      return parts_.kernel.count_answer(origin.world_rank);
    case WindowRequestKind::posted:
      return window.control.posts().publish(static_cast<std::uint32_t>(head.origin));
    case WindowRequestKind::completed:
      return window.control.completions().publish(static_cast<std::uint32_t>(head.origin));
    case WindowRequestKind::refused:
      return receive_refusal(window, head);
    case WindowRequestKind::put_pieces:
      return take_pieces(window, *received, header);
    case WindowRequestKind::get_pieces:
      return send_pieces(window, *received);
    case WindowRequestKind::announce:
      return handle_announcement(window, *received);
    case WindowRequestKind::announced:
      return handle_completion(window, head);
    case WindowRequestKind::accumulate:
    case WindowRequestKind::swap:
      return combine(window, *received);
  }
}

// Handles a lock request of a member that cannot reach the lock in memory.
void Rma::receive_lock_request(Window& window, const WindowRequestHead& head) {
  // A lost member's requests were withdrawn already, and the member would never release the lock.
  if (parts_.kernel.initiator().is_unreachable(window.target(head.origin).world_rank)) return;
  const auto member = static_cast<std::uint32_t>(head.origin);
  sim::WindowLock lock = lock_of(window.control);
  // A request that was granted or already waits is not made again.
  if (lock.granted(member) || std::ranges::find(window.waiting, head.origin) != window.waiting.end()) return;
  const auto kind =
      head.kind == WindowRequestKind::lock_exclusive ? sim::WindowLockKind::exclusive : sim::WindowLockKind::shared;
  if (lock.request(member, kind)) return send(window, head.origin, WindowRequestKind::granted);
  window.waiting.push_back(head.origin);
  // Another process of the node may release the lock in memory, which no message reports.
  look_each_round();
}

void Rma::refuse(Window& window, const WindowRequestHead& head, int error_class) {
  WindowRequestHead answer;
  answer.kind = WindowRequestKind::refused;
  // In a put_pieces this field has the number of the body, which does not name an answer.
  answer.reply_bits = head.kind == WindowRequestKind::put_pieces ? 0 : head.reply_bits;
  answer.error_class = error_class;
  answer.offset = head.offset;
  answer.bytes = head.bytes;
  send_window_request(window, head.origin, answer);
}

void Rma::receive_refusal(Window& window, const WindowRequestHead& head) {
  Reply* refused = nullptr;
  // The bits identify the awaited answer. An answer that the kernel is filling is not ended, because the target has
  // accepted the access.
  replies_.for_each_in_use([&](Reply& answer) {
    if (!answer.at_target && answer.window == &window && answer.target == head.origin && head.reply_bits != 0 &&
        reply_bits_of(answer) == head.reply_bits && answer.memory->reserved_messages() == 0) {
      refused = &answer;
    }
  });
  const bool is_operation = head.error_class == MPI_ERR_OP;
  keep_error(window, is_operation ? MPI_ERR_OP : MPI_ERR_RMA_RANGE,
             "rank " + std::to_string(head.origin) + " refused an access to " + std::to_string(head.bytes) +
                 " bytes: " +
                 (is_operation ? "invalid combination of operation, datatype and length"
                               : "they are not all in its window's memory"));
  if (refused != nullptr) end_reply(*refused, MPI_ERR_RMA_RANGE);
}

// Puts an entry into the put portal's list for the described body, which is the origin's next message to the put
// portal.
void Rma::take_pieces(Window& window, const ReceivedWindowRequest& received, const portals::Header& header) {
  const WindowRequestHead& head = received.head();
  // A correct origin sends each body right behind its description, so it never reaches this bound.
  WindowTarget& origin = window.target(head.origin);
  if (origin.described == kDescribedMax) return;
  ++origin.described;
  Reply& described = replies_.take();
  described.rma = this;
  described.window = &window;
  described.target = head.origin;
  described.request = nullptr;
  described.at_target = true;
  const portals::Criteria criteria{.match_bits = head.reply_bits, .source_rank = header.source.rank};
  if (received.find(window.memory, described.table)) {
    described.memory.emplace(std::span<const portals::Buffer>(described.table));
    described.memory->set_owner_tag(static_cast<Listener*>(&described), kOwnerListener);
    described.entry.set(criteria, *described.memory, {});
  } else {
    // The body arrives nevertheless. Its header goes to the requests' heap, and end_described() then ends the entry.
    described.memory.reset();
    described.entry.set(criteria, requests_, {.save = portals::Save::header});
    refuse(window, head, MPI_ERR_RMA_RANGE);
  }
  put_list_.append(described.entry);
}

void Rma::end_described(const portals::Header& header) {
  replies_.for_each_in_use([&](Reply& answer) {
    const portals::Criteria& criteria = answer.entry.criteria();
    if (answer.at_target && !answer.memory && criteria.match_bits == header.match_bits &&
        criteria.source_rank == header.source.rank) {
      take_reply(answer);
    }
  });
}

void Rma::send_pieces(Window& window, const ReceivedWindowRequest& received) {
  const WindowRequestHead& head = received.head();
  // Taken from the pool first, because the table in it is filled in place.
  Outgoing& outgoing = outgoing_.take();
  if (!received.find(window.memory, outgoing.table)) {
    outgoing_.give_back(outgoing);
    return refuse(window, head, MPI_ERR_RMA_RANGE);
  }
  portals::Header header = header_to(window.target(head.origin).world_rank, kReceivePortal, head.reply_bits);
  header.length = head.bytes;
  send_outgoing(
      outgoing, nullptr, head.origin, header,
      outgoing.table.empty() ? portals::Region() : portals::Region(std::span<const portals::Buffer>(outgoing.table)));
}

void Rma::combine(Window& window, const ReceivedWindowRequest& received) {
  const WindowRequestHead& head = received.head();
  // The lock also excludes origins that access this memory directly.
  sim::AccumulateLock lock = accumulate_lock(window.target(window.rank()));
  const int error_class = received.combine(window.memory, meant_, answer_body_, lock);
  if (error_class != MPI_SUCCESS) return refuse(window, head, error_class);
  if (head.reply_bits == 0) return;
  send_copied(nullptr, head.origin, header_to(window.target(head.origin).world_rank, kReceivePortal, head.reply_bits),
              answer_body_);
}

}  // namespace margay::mpi_adi
