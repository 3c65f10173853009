#include "sim/program/control.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "sim/base/limits.hpp"

namespace margay::sim {

using portals::MatchBits;
using portals::Rank;
using portals::Status;

namespace {

constexpr std::align_val_t kAlignment{kCacheLineBytes};

}  // namespace

void Control::Freer::operator()(std::byte* memory) const {
  ::operator delete(memory, kAlignment);
}

Control::Control(ControlMeans means)
    : means_(std::move(means)),
      memory_(static_cast<std::byte*>(::operator new(kHeapBytes, kAlignment))),
      heap_({memory_.get(), kHeapBytes}) {}

Control::~Control() = default;

Status Control::attach() {
  Kernel& kernel = means_.process.kernel();
  kernel.target().decisions().leave_out(means_.portal);
  // A control message that finds no room is held and not dropped, so a process that runs ahead waits for the others.
  kernel.target().hold_when_no_room(means_.portal);
  Status attached = kernel.table().attach(means_.portal, heap_, {});
  // Reserved, so that the program can neither detach nor replace the heap.
  kernel.table().reserve(means_.portal);
  return attached;
}

// Sets the match bits to the next multiple of kCall, whatever sum the last call reached. All processes have made
// equally many calls, so their match bits are equal.
void Control::begin_call(const char* call, std::uint64_t limit_ns) {
  call_ = call;
  constexpr MatchBits kCall = MatchBits{1} << 32U;
  bits_ = (bits_ / kCall + 1) * kCall;
  limit_ns_ = limit_ns;
  for (portals::ArrivedMessage* message = heap_.first(); message != nullptr;) {
    portals::ArrivedMessage& old = *message;
    message = heap_.next(old);
    // An incomplete message must stay, because the wire still writes it; a later call discards it.
    if (old.complete && old.header.match_bits < bits_) heap_.release(old);
  }
}

Status Control::barrier(const char* call, std::uint64_t limit_ns) {
  begin_call(call, limit_ns);
  Sums nothing;
  return sum(nothing);
}

Status Control::sum(Sums& sums) {
  const Rank me = means_.process.rank();
  const std::uint32_t size = means_.process.job().world_size();
  bits_ += 2;
  const MatchBits up = bits_;
  const MatchBits down = bits_ | 1U;
  std::uint64_t distance = 1;
  // Receives from the children, nearest first: the ranks that differ in one bit below this rank's lowest set bit.
  for (; distance < size && (me & distance) == 0; distance <<= 1U) {
    const std::uint64_t child = me | distance;
    if (child >= size) continue;
    Sums part;
    if (Status status = receive(static_cast<Rank>(child), up, part); !status.ok()) return status;
    sums.sent += part.sent;
    sums.taken += part.taken;
    sums.given_up += part.given_up;
  }
  if (me != 0) {
    // The loop ended at the lowest bit of this rank.
    const Rank parent = me & ~static_cast<Rank>(distance);
    if (Status status = send(parent, up, sums); !status.ok()) return status;
    if (Status status = receive(parent, down, sums); !status.ok()) return status;
  }
  // The largest subtree first, so that the result reaches all leaves earliest.
  for (distance >>= 1U; distance > 0; distance >>= 1U) {
    const std::uint64_t child = me | distance;
    if (child >= size) continue;
    if (Status status = send(static_cast<Rank>(child), down, sums); !status.ok()) return status;
  }
  return {};
}

Status Control::send(Rank to, MatchBits bits, Sums& sums) {
  portals::Header header;
  header.destination = {0, to};
  header.portal = means_.portal;
  header.match_bits = bits;
  header.length = sizeof sums;
  ++sent_;
  return means_.send(header, portals::Region(&sums, sizeof sums));
}

Status Control::receive(Rank from, MatchBits bits, Sums& sums) {
  const portals::Criteria wanted{.match_bits = bits, .source_rank = from};
  portals::ArrivedMessage* message = nullptr;
  const auto is_here = [&] {
    message = heap_.find(wanted);
    // The header may be here before its body.
    return message != nullptr && message->complete;
  };
  if (Status status = means_.wait(call_, from, limit_ns_, is_here); !status.ok()) return status;
  // Data from a wire is checked, because another build of the program may have sent it.
  if (message->body.bytes != sizeof sums) {
    return Status::error("rank " + std::to_string(from) + " sent a message of another form to portal " +
                         std::to_string(means_.portal) +
                         ", which is margay's own; run the same program, with the same margay, on all ranks");
  }
  std::memcpy(&sums, message->body.base, sizeof sums);
  // Released at once, because the heap is small, and a control message without room is held on its wire.
  heap_.release(*message);
  return {};
}

Sums Control::own() const {
  Sums sums;
  const Registers& registers = means_.process.kernel().registers();
  for (Rank peer = 0; peer < registers.ranks(); ++peer) {
    sums.sent += registers.sent(peer);
    sums.taken += registers.delivered(peer);
    for (const std::uint64_t dropped : registers.dropped(peer)) sums.taken += dropped;
  }
  // The sums' own messages are not the program's, and would never be at rest.
  sums.sent -= sent_;
  sums.taken -= heap_.messages();
  return sums;
}

Status Control::settle(const char* call, std::uint64_t limit_ns, std::uint64_t patience_ns) {
  begin_call(call, limit_ns);
  const Clock& clock = means_.process.clock();
  Sums before;
  bool equal_before = false;
  std::uint64_t changed_ns = clock.now_ns();
  for (bool first = true;; first = false) {
    // Everything that has arrived is counted first, so that fewer sums are needed.
    while (means_.progress()) {
    }
    Sums sums = own();
    // Summed with the counts, so that all processes give up in the same round or none does.
    sums.given_up = clock.now_ns() - changed_ns >= patience_ns ? 1 : 0;
    if (Status status = sum(sums); !status.ok()) return status;
    const bool equal = sums.sent == sums.taken;
    const bool changed = first || sums.sent != before.sent || sums.taken != before.taken;
    if (equal && equal_before && !changed) return {};
    if (!equal && sums.given_up != 0) {
      return Status::error(std::to_string(sums.sent - sums.taken) +
                           " messages of the job are neither delivered nor dropped, and none moved for " +
                           std::to_string(patience_ns / 1'000'000) +
                           " ms: a portal holds them back (hold_when_no_room); make room there first");
    }
    if (changed) changed_ns = clock.now_ns();
    before = sums;
    equal_before = equal;
  }
}

}  // namespace margay::sim
