#include "mpi_adi/rank/unreceived.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::size_t kLinesMax = 20;  // the most lines for one communicator; further messages are only counted

// The message's sender, tag, bytes and communicator, as the end of a line.
std::string envelope_text(const portals::Header& header, std::string_view communicator) {
  const std::string by = sent_side_text(header);
  std::string text = " from rank " + std::to_string(source_of(header.match_bits)) + ", tag " +
                     std::to_string(tag_of(header.match_bits)) + ", " + std::to_string(message_bytes(header)) +
                     " bytes, ";
  return text.append(communicator).append(by.empty() ? "" : ", sent as " + by);
}

// The finding's record for the launcher's summary, beside the printed line.
void record(const ReceivingSide& side, sim::Finding finding, const portals::Header& header,
            std::string_view communicator, std::string_view message) {
  sim::FindingRecord found;
  found.peer = static_cast<std::int32_t>(source_of(header.match_bits));
  found.tag = static_cast<std::int32_t>(tag_of(header.match_bits));
  found.bytes = message_bytes(header);
  sim::set_text(found.communicator, communicator);
  side.process.findings().add(finding, found, message);
}

void report(const ReceivingSide& side, const std::vector<const portals::Header*>& messages,
            std::string_view communicator) {
  const std::string leak = "margay: rank " + std::to_string(side.process.rank()) + ": leak: ";
  std::string text;
  const std::size_t count = messages.size();
  for (std::size_t i = 0; i < std::min(count, kLinesMax); ++i) {
    const std::string what = "an unreceived message," + envelope_text(*messages[i], communicator);
    record(side, sim::Finding::unreceived_message, *messages[i], communicator, what);
    text += leak + sim::one_line(what) + id_suffix(sim::Finding::unreceived_message) + "\n";
  }
  if (count > kLinesMax) {
    text += leak + std::to_string(count - kLinesMax) + " more unreceived messages\n";
  }
  side.process.findings().count(count - std::min(count, kLinesMax));
  // One write, so that lines of several ranks do not mix.
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// Reports the messages of the heap for which no sender waits. A sender that waits will get its message back;
// report_given_back() then reports it here.
void report_in_heap(const ReceivingSide& side, ContextId context, std::string_view communicator) {
  const Unexpected& heap = parts_of(side.device).heap;
  std::vector<const portals::Header*> messages;
  for (const portals::ArrivedMessage* at = heap.first(); at != nullptr; at = heap.next(*at)) {
    const bool sender_waits = read_note(at->header.user_data).answer_bits != 0;
    if (context_of(at->header.match_bits) == context && !sender_waits) messages.push_back(&at->header);
  }
  report(side, messages, communicator);
}

std::string freed_text(ContextId context) {
  return communicator_text(context) + " (freed)";
}

std::string name_of(const ReceivingSide& side, ContextId context) {
  for (const Communicator* one : {&side.world, &side.self}) {
    if (one->context == context) return one->name;
  }
  return freed_text(context);
}

}  // namespace

std::vector<ContextId> freed_contexts(const ReceivingSide& side) {
  std::vector<ContextId> found;
  // Other members of an agreement under way may be ahead of this process, and may have sent on the communicator that
  // the agreement makes.
  if (side.contexts.agreeing()) return found;
  const Unexpected& heap = parts_of(side.device).heap;
  for (const portals::ArrivedMessage* at = heap.first(); at != nullptr; at = heap.next(*at)) {
    const ContextId context = context_of(at->header.match_bits);
    // Even contexts are for point-to-point messages. Odd contexts belong to collective calls, which discard their own
    // messages.
    const bool freed = context % 2 == 0 && side.contexts.is_free(context / 2);
    if (freed && std::find(found.begin(), found.end(), context) == found.end()) found.push_back(context);
  }
  return found;
}

void report_unreceived(const ReceivingSide& side, const Communicator& communicator) {
  if (!side.reports_leaks) return;
  report_in_heap(side, communicator.context, communicator_text(communicator));
  if (&communicator != &side.world) return;
  for (const ContextId context : freed_contexts(side)) report_in_heap(side, context, freed_text(context));
}

void report_given_back(const ReceivingSide& side, const std::vector<Communicator*>& communicators) {
  std::vector<portals::Header> left = std::exchange(parts_of(side.device).unreceived, {});
  const auto report_of = [&](ContextId context, std::string_view communicator) {
    std::vector<const portals::Header*> messages;
    for (const portals::Header& header : left) {
      if (context_of(header.match_bits) == context) messages.push_back(&header);
    }
    report(side, messages, communicator);
    std::erase_if(left, [context](const portals::Header& header) { return context_of(header.match_bits) == context; });
  };
  // Communicators with handles are reported first, under their names. The loop below names the others by name_of().
  for (const Communicator* communicator : communicators)
    report_of(communicator->context, communicator_text(*communicator));
  while (!left.empty()) {
    const ContextId context = context_of(left.front().match_bits);
    report_of(context, name_of(side, context));
  }
}

std::uint64_t report_dropped(const ReceivingSide& side, std::uint64_t reported) {
  // The kernel keeps only the headers of the first dropped messages, so the count may exceed the lines.
  const std::uint64_t dropped = side.device.counts().ready_dropped;
  if (dropped == reported) return reported;
  const std::string me = "margay: rank " + std::to_string(side.process.rank()) + ": ";
  std::string text = me + std::to_string(dropped - reported) +
                     " ready send(s) found no posted receive here and were dropped: post the receive before its send, "
                     "or send with MPI_Send\n";
  const std::vector<portals::Header>& first = side.device.kernel().target().first_unmatched();
  std::uint64_t ready = 0;
  std::uint64_t recorded = 0;
  for (const portals::Header& header : first) {
    // Messages of windows go to other portals, where these bits have another meaning.
    if (header.portal != kReceivePortal || (header.match_bits & kReadyBit) == 0 || ready++ < reported) continue;
    const ContextId context = context_of(header.match_bits);
    const bool is_known = context == side.world.context || context == side.self.context;
    const std::string communicator = is_known ? name_of(side, context) : communicator_text(context);
    const std::string what = "dropped: a ready send" + envelope_text(header, communicator);
    record(side, sim::Finding::dropped_ready_send, header, communicator, what);
    text += me + what + id_suffix(sim::Finding::dropped_ready_send) + "\n";
    ++recorded;
  }
  side.process.findings().count(dropped - reported - recorded);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return dropped;
}

}  // namespace margay::mpi_adi
