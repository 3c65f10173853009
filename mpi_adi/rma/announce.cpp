// The messages of --check-rma (conflicts.hpp), at the origin and at the target, and the trace's events of accesses.

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/epoch.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "mpi_adi/rma/window_request.hpp"

namespace margay::mpi_adi {

static_assert(std::is_trivially_copyable_v<AnnouncedAccess> && std::is_trivially_copyable_v<Conflict>);

void Rma::announce(Window& window, int target, std::uint64_t offset, std::span<const Piece> pieces,
                   const AnnouncedAccess& access, Conflict& answer, Outstanding& outstanding) {
  WindowRequestHead head;
  head.kind = WindowRequestKind::announce;
  head.offset = offset;
  head.reply_bits =
      reply_bits_of(expect(window, target, portals::Region(&answer, sizeof answer), &outstanding, nullptr));
  send_window_request(window, target, head, pieces, &access, sizeof access);
}

void Rma::announce_completed(Window& window, int target, Completed what, std::uint64_t number,
                             Outstanding* outstanding) {
  // A lost target needs no report, and would never answer.
  if (parts_.kernel.initiator().is_unreachable(window.target(target).world_rank)) return;
  WindowRequestHead head;
  head.kind = WindowRequestKind::announced;
  head.op = static_cast<std::int32_t>(what);
  head.offset = number;
  if (outstanding != nullptr) head.reply_bits = reply_bits_of(expect(window, target, {}, outstanding, nullptr));
  send_window_request(window, target, head);
}

// A process without the check answers, too, because the origin waits for the answer, and the environment may differ
// between processes.
void Rma::handle_announcement(Window& window, const ReceivedWindowRequest& received) {
  // Without a conflict the answer has Clash::none.
  Conflict answer;
  const std::optional<AnnouncedAccess> access = received.announced();
  if (window.check != nullptr && access)
    answer = window.check->announced.add(*access, received.ranges()).value_or(answer);
  const WindowRequestHead& head = received.head();
  send_copied(nullptr, head.origin, header_to(window.target(head.origin).world_rank, kReceivePortal, head.reply_bits),
              std::as_bytes(std::span(&answer, 1)));
}

void Rma::handle_completion(Window& window, const WindowRequestHead& head) {
  // An unknown number from the wire ends nothing.
  if (window.check != nullptr) {
    ConflictTable& announced = window.check->announced;
    switch (static_cast<Completed>(head.op)) {
      case Completed::reads:
        announced.end_reads(head.origin);
        break;
      case Completed::all:
        announced.end_all(head.origin);
        break;
      case Completed::one_access:
        announced.end_access(head.origin, head.offset);
        break;
    }
  }
  if (head.reply_bits == 0) return;
  send_copied(nullptr, head.origin, header_to(window.target(head.origin).world_rank, kReceivePortal, head.reply_bits),
              {});
}

// The trace's events of accesses and synchronisations.

static_assert(static_cast<int>(sim::TraceAccess::put) == static_cast<int>(sim::CountedAccess::put) &&
              static_cast<int>(sim::TraceAccess::get) == static_cast<int>(sim::CountedAccess::get));

void Rma::record_access(const Window& window, const Access& access, sim::TraceAccess call, WindowMethod method,
                        std::uint64_t bytes) {
  sim::TraceEvent event;
  event.reason = static_cast<std::uint8_t>(method);
  event.bytes = bytes;
  event.detail = access.offset;
  event.a = static_cast<std::uint32_t>(call);
  event.b = static_cast<std::uint32_t>(access_epoch(window, access.target));
  record(window, sim::TraceKind::window_access, access.target, event);
}

void Rma::record(const Window& window, sim::TraceKind kind, int target, sim::TraceEvent event) {
  define_in_trace(parts_.recorder(), *window.communicator);  // its name is the window's
  event.kind = kind;
  event.source = parts_.kernel.me().rank;
  if (target >= 0) event.destination = window.targets[static_cast<std::size_t>(target)].world_rank;
  event.match_bits = window_bits(window);
  parts_.recorder().record(event);
}

}  // namespace margay::mpi_adi
