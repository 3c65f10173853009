#include "mpi_adi/progress/describe.hpp"

#include <optional>
#include <string_view>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "sim/base/text.hpp"

namespace margay::mpi_adi {

namespace {

// A writer that keeps the first lines and counts all.
class Lines {
 public:
  Lines(std::string& out, std::size_t limit) : out_(out), limit_(limit) {}
  // Counts a line; true if it should be added.
  bool next() { return lines_++ < limit_; }
  void add(const std::string& line) { out_.append(line).push_back('\n'); }
  // A report must stay short, however many requests a program has.
  ~Lines() {
    if (lines_ > limit_) add("  ... and " + std::to_string(lines_ - limit_) + " more");
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

 private:
  std::string& out_;
  std::size_t limit_;
  std::size_t lines_ = 0;
};

std::string rank_text(int rank) {
  return rank == MPI_ANY_SOURCE ? "any source" : "rank " + std::to_string(rank);
}
// The tag that the program gave. The request's own tag may be another one if the request is a part of a parent request,
// for example a message of a partitioned send.
template <typename SendOrReceive>
int program_tag(const SendOrReceive& request) {
  return request.owner == nullptr ? request.tag : request.owner->program_tag(request.tag);
}
template <typename SendOrReceive>
std::string tag_text(const SendOrReceive& request) {
  const int tag = program_tag(request);
  return tag == MPI_ANY_TAG ? "any tag" : "tag " + std::to_string(tag);
}

// Names the first event for which the send still waits, in the order of the tests.
std::string_view waits_for(const SendRequest& request) {
  if ((request.events & kEventBodyTaken) != 0) return "for room on the way to it";
  if ((request.events & kEventAcknowledgment) != 0) return "for its acknowledgment";
  if ((request.events & kEventRead) != 0) return "until a receive is posted there and pulls the body";
  return "until a receive is posted there";
}

std::string line(const SendRequest& request) {
  return "  send (" + std::string(sim::name(request.protocol)) + ") of " + std::to_string(request.body.bytes()) +
         " bytes to process " + std::to_string(request.peer) + ", " + tag_text(request) + ", " +
         communicator_text(*request.communicator) + ": waits " + std::string(waits_for(request));
}

std::string line(const ReceiveRequest& request) {
  return "  receive of up to " + std::to_string(request.room().bytes()) + " bytes from " + rank_text(request.source) +
         ", " + tag_text(request) + ", " + communicator_text(*request.communicator) + ": " +
         std::string(name(request.state));
}

std::string line(const portals::ArrivedMessage& message) {
  const portals::MatchBits bits = message.header.match_bits;
  return "  unexpected message of " + std::to_string(message_bytes(message.header)) + " bytes from rank " +
         std::to_string(source_of(bits)) + " (process " + std::to_string(message.header.source.rank) + "), tag " +
         std::to_string(tag_of(bits)) + ", context " +
         std::to_string((bits >> kContextShift) & ((1U << kContextBits) - 1));
}

// The only field in which the message differs from the awaited one, in words; empty if no field or several fields
// differ.
std::string only_difference(const Awaited& awaited, const portals::Header& header) {
  const portals::MatchBits bits = header.match_bits;
  const auto context = static_cast<std::uint32_t>((bits >> kContextShift) & ((1U << kContextBits) - 1));
  const bool any_source = awaited.source == MPI_ANY_SOURCE;
  const bool other_source = !any_source && header.source.rank != awaited.communicator->world_rank(awaited.source);
  const bool other_tag = awaited.tag != MPI_ANY_TAG && tag_of(bits) != awaited.tag;
  const bool other_context = context != awaited.communicator->context;
  // A message without any difference would have been received.
  if (int{other_source} + int{other_tag} + int{other_context} != 1) return {};
  if (other_tag) return "tag " + std::to_string(tag_of(bits)) + ", not " + std::to_string(awaited.tag);
  if (other_source) return "source " + std::to_string(source_of(bits)) + ", not " + std::to_string(awaited.source);
  return communicator_text(static_cast<ContextId>(context)) + ", not " + communicator_text(*awaited.communicator);
}

std::string near_misses(const DeviceParts& parts, const Awaited& awaited) {
  constexpr std::size_t kReportedMax = 3;
  std::size_t count = 0;
  std::string text;
  for (const portals::ArrivedMessage* at = parts.heap.first(); at != nullptr; at = parts.heap.next(*at)) {
    const std::string difference = only_difference(awaited, at->header);
    if (difference.empty()) continue;
    if (++count > kReportedMax) return text + "; ...";
    text += (count == 1 ? "" : "; ") + std::to_string(message_bytes(at->header)) + " bytes from rank " +
            std::to_string(source_of(at->header.match_bits)) + " (" + difference + ")";
  }
  return text;
}

}  // namespace

void describe(const DeviceParts& parts, std::string& out, std::size_t limit_lines) {
  Lines lines(out, limit_lines);
  for (std::uint32_t rank = 0; parts.kernel.initiator().losses() != 0 && rank < parts.kernel.ranks(); ++rank) {
    if (!parts.kernel.initiator().is_unreachable(rank) || !lines.next()) continue;
    lines.add("  process " + std::to_string(rank) + " cannot be reached: " + parts.kernel.initiator().loss(rank));
  }
  // A held message may be the reason for a stall, and the lists below do not show it.
  for (const Unexpected* const heap : parts.heaps) {
    if (!heap->holding() || !lines.next()) continue;
    const bool is_messages = heap == &parts.heap;
    lines.add(std::string("  the heap of ") + (is_messages ? "unexpected" : "early collective") +
              " messages has no room (" + std::to_string(heap->used_bytes()) + " of " +
              std::to_string(heap->size_bytes()) +
              " bytes used): a message is held on its wire, with all later ones of its sender" +
              (is_messages ? "; --heap makes it larger" : ""));
  }
  parts.receives.for_each_in_use([&lines](const ReceiveRequest& request) {
    if (!request.complete && lines.next()) lines.add(line(request));
  });
  parts.sends.for_each_in_use([&lines](const SendRequest& request) {
    if (!request.complete && lines.next()) lines.add(line(request));
  });
  parts.tasks.for_each([&lines](const Task& task) {
    if (lines.next()) lines.add("  " + task.describe() + ": until the other ranks have made the call");
  });
  for (const portals::ArrivedMessage* at = parts.heap.first(); at != nullptr; at = parts.heap.next(*at)) {
    if (lines.next()) lines.add(line(*at));
  }
}

namespace {

// "message 3 of rank 0 (48 bytes): no room for it in the heap of portal 53 (counter: requests and answers)"; several
// are separated by semicolons.
std::string held_text(const DeviceParts& parts) {
  std::string text;
  for (const sim::Target::HeldMessage& held : parts.kernel.target().held_messages()) {
    const portals::Header& header = held.header;
    const auto name = parts.portal_names.find(header.portal);
    const std::string heap = header.portal == kReceivePortal
                                 ? "the heap of unexpected messages"
                                 : "the heap of portal " + std::to_string(header.portal) +
                                       (name == parts.portal_names.end() ? "" : " (" + name->second + ")");
    text += (text.empty() ? "message " : "; message ") + std::to_string(held.sequence) + " of rank " +
            std::to_string(header.source.rank) + " (" + sim::counted(header.length, "byte") + "): no room for it in " +
            heap;
  }
  return text;
}

}  // namespace

FirstWait first_wait(const DeviceParts& parts) {
  FirstWait wait;
  std::optional<Awaited> first;  // the first probe, or else the first receive
  const auto await = [&](const Awaited& awaited) {
    if (!first) first = awaited;
    if (++wait.requests > 1) return;
    if (awaited.source != MPI_ANY_SOURCE) {
      wait.peer = static_cast<int>(awaited.communicator->world_rank(awaited.source));
    }
    wait.tag = awaited.tag == MPI_ANY_TAG ? -1 : awaited.tag;
    wait.context = awaited.communicator->context;
    wait.communicator = communicator_text(*awaited.communicator);
  };
  // Probes first: while a call waits in one, other requests cannot end the wait.
  for (const Awaited* probe : parts.probes) await(*probe);
  const bool probes = first.has_value();
  parts.sends.for_each_in_use([&](const SendRequest& request) {
    if (request.complete || probes || ++wait.requests > 1) return;
    wait.peer = static_cast<int>(request.peer);
    wait.tag = program_tag(request);
    wait.context = request.communicator->context;
    wait.communicator = communicator_text(*request.communicator);
  });
  parts.receives.for_each_in_use([&](const ReceiveRequest& request) {
    if (request.complete) return;
    ++wait.posted_receives;
    if (!probes) await({request.source, program_tag(request), request.communicator});
  });
  for (const auto* at = parts.heap.first(); at != nullptr; at = parts.heap.next(*at)) ++wait.unexpected_messages;
  parts.tasks.for_each([&wait](const Task&) { ++wait.tasks; });
  // Each task counts as one request of the program. A task does not name its peers.
  if (!probes) wait.requests += wait.tasks;
  if (first) wait.near_misses = near_misses(parts, *first);
  wait.held = held_text(parts);
  return wait;
}

}  // namespace margay::mpi_adi
