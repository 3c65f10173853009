#include "command/trace/story/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "command/trace/names/names.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kNoStep = MessageStory::kNone;

// The events about one body: that of the message itself, or of the reply that brought it.
struct BodyHop {
  // kernel_send or kernel_reply_sent.
  std::size_t left = kNoStep;
  // kernel_sent; only for a transmission that its wire did not take at once.
  std::size_t sent = kNoStep;
  std::size_t matched = kNoStep;    // kernel_match
  std::size_t deposited = kNoStep;  // kernel_deposit
};

// Whether both ranks are threads of one process.
bool in_one_process(const Trace& trace, std::uint32_t one, std::uint32_t other) {
  const auto of_rank = [&trace](std::uint32_t rank) { return std::ranges::find(trace.files, rank, &TraceFile::rank); };
  const auto a = of_rank(one), b = of_rank(other);
  if (a == trace.files.end() || b == trace.files.end() || a->process_id == 0) return false;
  // Processes in different containers may have one number.
  return a->process_id == b->process_id && a->node == b->node && a->host == b->host;
}

// How one rank of a node reads or writes the memory of another one.
std::string_view means(const Trace& trace, const sim::TraceEvent& event, bool writes) {
  if (in_one_process(trace, event.source, event.destination)) return "memcpy, within their process";
  return writes ? "process_vm_writev" : "process_vm_readv";
}

// Follows one body from the send's memory to the end of its path and collects the legs in order.
class Follower {
 public:
  Follower(const Trace& trace, const MessageStory& story) : trace_(trace), story_(story) {}

  // Adds the legs in the order of the path: library, wire, heap.
  BodyCopies run() {
    const BodyHop put = hop_of(story_.identity);
    const BodyHop reply = reply_hop();
    // A pulled message keeps the header of its put only, so its body is the reply's. The body that the put carried was
    // discarded.
    const BodyHop& method = keeps_body(put) ? put : reply;
    if (!keeps_body(method)) return {};
    add_library_copy();
    add_wire(method);
    add_heap_copy(method);
    if (&method == &reply) add_discarded(put);
    return std::move(copies_);
  }

 private:
  [[nodiscard]] const sim::TraceEvent& event(std::size_t at) const { return trace_.entries[at].event; }
  [[nodiscard]] bool keeps_body(const BodyHop& hop) const {
    return hop.deposited != kNoStep && event(hop.deposited).bytes != 0;
  }

  // The steps of a story belong to all of its hops; only those of one identity describe one body.
  [[nodiscard]] BodyHop hop_of(const MessageIdentity& message) const {
    BodyHop hop;
    for (const std::size_t step : story_.steps) {
      if (identity(event(step)) != message) continue;
      add_step(step, hop);
    }
    return hop;
  }

  // Later events of one kind replace earlier ones; a hop has each kind once.
  void add_step(std::size_t step, BodyHop& hop) const {
    switch (event(step).kind) {
      case sim::TraceKind::kernel_send:
      case sim::TraceKind::kernel_reply_sent:
        hop.left = step;
        break;
      case sim::TraceKind::kernel_sent:
        hop.sent = step;
        break;
      case sim::TraceKind::kernel_match:
        hop.matched = step;
        break;
      case sim::TraceKind::kernel_deposit:
        hop.deposited = step;
        break;
      default:
        break;
    }
  }

  [[nodiscard]] BodyHop reply_hop() const {
    for (const std::size_t step : story_.steps) {
      if (event(step).header == static_cast<std::uint8_t>(portals::Kind::reply)) return hop_of(identity(event(step)));
    }
    return {};
  }

  template <typename... Values>
  void add(unsigned copies, fmt::format_string<Values...> format, Values&&... values) {
    copies_.legs.push_back({copies, false, fmt::format(format, std::forward<Values>(values)...)});
  }

  // Copies before the message leaves: those of buffered sends, and of sends whose buffer the call also receives into.
  void add_library_copy() {
    if (story_.begin == kNoStep) {
      copies_.is_known = false;
      return;
    }
    const sim::TraceEvent& begin = event(story_.begin);
    // `saved` of a send_begin records that the library copied the body.
    if (begin.kind != sim::TraceKind::send_begin || begin.saved != portals::Saved::body) return;
    add(1, "rank {} copied it into {}", begin.source,
        begin.protocol == sim::TraceProtocol::buffered
            ? "the attached buffer"
            : "memory of the library, as the receive goes to the send's buffer");
  }

  [[nodiscard]] bool is_in_heap(const BodyHop& hop) const {
    return hop.matched != kNoStep && event(hop.matched).portal == mpi_adi::kReceivePortal &&
           event(hop.matched).b == mpi_adi::kOwnerHeap;
  }

  // The destination, where the wire's path ends. Also records whether that is a receive's memory.
  [[nodiscard]] std::string destination(const BodyHop& hop) {
    if (is_in_heap(hop)) return "the heap of unexpected messages";
    const bool is_receive = hop.matched != kNoStep && event(hop.matched).portal == mpi_adi::kReceivePortal &&
                            event(hop.matched).b == mpi_adi::kOwnerReceive;
    copies_.ends_in_receive = is_receive;
    const bool in_pieces = (event(hop.deposited).reason & sim::kBodyInPieces) != 0;
    return fmt::format("{}{}", in_pieces ? "the pieces of " : "",
                       is_receive ? "the receive's memory" : "its entry's memory");
  }

  // "its pieces" for a body that the wire gathered from memory with gaps.
  [[nodiscard]] std::string_view what(const BodyHop& hop) const {
    const bool in_pieces = hop.left != kNoStep && (event(hop.left).reason & sim::kBodyInPieces) != 0;
    return in_pieces ? "its pieces" : "it";
  }

  // " (10 of its 4096 bytes)" where the receiver skipped the remainder, or requested no more of a pulled body. "": all
  // bytes arrived, or the number sent is not known.
  [[nodiscard]] std::string part(const BodyHop& hop) const {
    const std::uint64_t kept = event(hop.deposited).bytes;
    const std::uint64_t sent = hop.left == kNoStep ? kept : event(hop.left).bytes;
    if (kept < sent) return fmt::format(" ({} of its {}; the others were let pass)", kept, sim::counted(sent, "byte"));
    const std::uint64_t whole = story_.begin == kNoStep ? kept : event(story_.begin).bytes;
    return kept < whole ? fmt::format(" ({} of its {}; no more were asked for)", kept, sim::counted(whole, "byte"))
                        : "";
  }

  // The legs of each body method; the receiver records the method in kernel_deposit.
  void add_wire(const BodyHop& hop) {
    const sim::TraceEvent& end = event(hop.deposited);
    const std::uint32_t from = end.source, to = end.destination;
    const std::string where = destination(hop) + part(hop);
    const std::string_view it = what(hop);
    switch (sim::body_method(end.reason)) {
      case sim::TraceBody::slot:
        add(1, "rank {} copied {} into a slot of its wire to itself", from, it);
        return add(1, "rank {} copied the slot into {}", to, where);
      case sim::TraceBody::straight:
        return add(1, "rank {} copied {} from the send's memory into {}", from, it, where);
      case sim::TraceBody::cell:
        add(1, "rank {} copied {} into a cell of its ring to rank {}", from, it, to);
        return add(1, "rank {} copied the cell into {}", to, where);
      case sim::TraceBody::ring:
        add(1, "rank {} copied {} into its byte ring to rank {}, before its header", from, it, to);
        return add(1, "rank {} copied the ring's bytes into {}", to, where);
      // The read failed and copied nothing; the sender then used its ring.
      case sim::TraceBody::ring_instead:
        add(0, "rank {} could not read it out of rank {}'s memory", to, from);
        [[fallthrough]];
      case sim::TraceBody::ring_in_parts:
        add(1, "rank {} copied {} in parts into its byte ring to rank {}", from, it, to);
        return add(1, "rank {} copied these parts into {}", to, where);
      case sim::TraceBody::read:
        return add_read(end, it, where);
      case sim::TraceBody::epoll:
      case sim::TraceBody::uring:
      case sim::TraceBody::uring_provided:
        add_socket_out(hop, from, it);
        return add_socket_in(end, where);
      case sim::TraceBody::virtual_:
        add(1, "rank {} copied {} into frames of the virtual network", from, it);
        return add(1, "rank {} copied the frames into {}", to, where);
      default:
        copies_.is_known = false;
    }
  }

  // The 64-bit number of bytes that took another path than the method names; split over two fields.
  [[nodiscard]] static std::uint64_t aside(const sim::TraceEvent& end) { return std::uint64_t{end.b} << 32U | end.a; }

  void add_read(const sim::TraceEvent& end, std::string_view it, const std::string& where) {
    // Receiver and sender may both copy a long body; the sender writes these bytes.
    const std::uint64_t written = aside(end);
    const std::string read = fmt::format("rank {} read {} out of rank {}'s memory into {} ({})", end.destination, it,
                                         end.source, where, means(trace_, end, false));
    if (written == 0) return add(1, "{}", read);
    add(1, "{}, but for {} that rank {} wrote there ({})", read, sim::counted(written, "byte"), end.source,
        means(trace_, end, true));
  }

  static std::string_view backend(sim::TraceBody method) {
    return method == sim::TraceBody::epoll ? "send()" : "io_uring";
  }

  void add_socket_out(const BodyHop& hop, std::uint32_t from, std::string_view it) {
    // kernel_sent has the final method. For a message that its wire took at once there is no kernel_sent, and
    // kernel_send has the method.
    const std::size_t kept_event = hop.sent != kNoStep ? hop.sent : hop.left;
    const sim::TraceBody method =
        kept_event == kNoStep ? sim::TraceBody::none : sim::body_method(event(kept_event).reason);
    if (method == sim::TraceBody::none) {
      copies_.is_known = false;
      return;
    }
    // A body that its wire took at once was copied into a batch, because the sender may reuse its memory. Any other
    // body was written from the sender's memory, except for the copied bytes, which `detail` counts.
    const std::uint64_t all = event(kept_event).bytes;
    const std::uint64_t copied = hop.sent == kNoStep ? all : event(hop.sent).detail;
    if (copied == all) {
      return add(1, "rank {} copied {} into a batch, which {} wrote to the socket", from, it, backend(method));
    }
    add(0, "{} wrote {} to the socket from rank {}'s memory{}", backend(method), it, from,
        copied == 0 ? ""
                    : fmt::format(", but for {} copied into batches",
                                  sim::counted(copied, "byte that was", "bytes that were")));
    copies_.legs.back().copies_part = copied != 0;
  }

  void add_socket_in(const sim::TraceEvent& end, const std::string& where) {
    const sim::TraceBody method = sim::body_method(end.reason);
    const std::string_view read = method == sim::TraceBody::epoll ? "recv()" : "io_uring";
    const std::uint64_t copied = aside(end);
    // Bytes that were read ahead passed through the connection's buffer; the others went straight to their place.
    if (copied < end.bytes) {
      add(0, "rank {}'s {} read it from the socket into {}{}", end.destination, read, where,
          copied == 0
              ? ""
              : fmt::format(", but for {} read ahead{} and copied there",
                            sim::counted(copied, "byte that was", "bytes that were"),
                            method == sim::TraceBody::uring_provided ? ", some into provided buffers first," : ""));
      copies_.legs.back().copies_part = copied != 0;
      return;
    }
    if (method == sim::TraceBody::uring_provided) {
      add(1, "rank {} copied what io_uring had read into a provided buffer into its connection's buffer",
          end.destination);
    } else {
      add(0, "rank {}'s {} read it from the socket into its connection's buffer", end.destination, read);
    }
    add(1, "rank {} copied it from there into {}", end.destination, where);
  }

  void add_heap_copy(const BodyHop& hop) {
    // The copy out of the heap is the receive's own, so the path ends in its memory even if the receive is not in the
    // trace.
    if (!is_in_heap(hop)) return;
    copies_.ends_in_receive = true;
    if (story_.received == kNoStep || event(story_.received).kind != sim::TraceKind::receive_complete) return;
    const sim::TraceEvent& received = event(story_.received);
    if (received.bytes == 0) return;
    const std::uint64_t whole = event(hop.deposited).bytes;
    add(1, "rank {} copied {} out of the heap into the receive's memory", received.destination,
        received.bytes < whole ? sim::counted(received.bytes, "byte") + " of it" : "it");
  }

  // Adds the sentence about a body that its wire carried with the header, although the receiver kept only the header
  // and pulled the body later.
  void add_discarded(const BodyHop& put) {
    if (put.sent == kNoStep || event(put.sent).detail == 0) return;
    const sim::TraceEvent& sent = event(put.sent);
    copies_.discarded.push_back(fmt::format(
        "Rank {} copied {} of it {} unnecessarily: rank {} discarded them.", sent.source,
        sim::counted(sent.detail, "byte"),
        sim::body_method(sent.reason) == sim::TraceBody::ring_in_parts ? "into its byte ring" : "for its wire",
        sent.destination));
  }

  const Trace& trace_;
  const MessageStory& story_;
  BodyCopies copies_;
};

std::string times(unsigned count) {
  switch (count) {
    case 0:
      return "by no process";
    case 1:
      return "once";
    case 2:
      return "twice";
    case 3:
      return "three times";
    default:
      return fmt::format("{} times", count);
  }
}

std::string in_part(unsigned count) {
  return count == 0 ? "in part" : fmt::format("{}, a part of it once more", times(count));
}

}  // namespace

unsigned BodyCopies::count() const {
  unsigned sum = 0;
  for (const BodyLeg& leg : legs) sum += leg.copies;
  return sum;
}

BodyCopies copies_of(const Trace& trace, const MessageStory& story) {
  return Follower(trace, story).run();
}

// Sums are stated only if every leg is known.
std::vector<std::string> copy_sentences(const BodyCopies& copies) {
  if (copies.legs.empty()) return {};
  std::string legs;
  bool copies_part = false;
  for (const BodyLeg& leg : copies.legs) {
    legs += (legs.empty() ? "" : "; ") + leg.text;
    copies_part |= leg.copies_part;
  }
  std::vector<std::string> sentences;
  if (copies.is_known) {
    sentences.push_back(fmt::format("{} body was copied {}: {}.", copies.ends_in_receive ? "Its" : "On the way its",
                                    copies_part ? in_part(copies.count()) : times(copies.count()), legs));
  } else {
    sentences.push_back(fmt::format("Of its body's copies some are not in the trace; known are: {}.", legs));
  }
  sentences.insert(sentences.end(), copies.discarded.begin(), copies.discarded.end());
  return sentences;
}

std::string access_copies(const Trace& trace, const sim::TraceEvent& access) {
  const auto method = static_cast<mpi_adi::WindowMethod>(access.reason);
  const auto what = static_cast<sim::TraceAccess>(access.a);
  const bool is_put = what == sim::TraceAccess::put;
  // An accumulate combines in place, and the copies of a window's message are in that message's own story.
  if (method == mpi_adi::WindowMethod::message || (!is_put && what != sim::TraceAccess::get)) {
    return method == mpi_adi::WindowMethod::direct ? fmt::format("direct: rank {} does it in place", access.source)
                                                   : fmt::format("by {}", name(method));
  }
  if (method == mpi_adi::WindowMethod::direct) {
    return fmt::format("direct: rank {} copies it once, in memory that is mapped there", access.source);
  }
  if (method != mpi_adi::WindowMethod::process) return std::string(name(method));
  return fmt::format("rank {} copies it once, {} rank {}'s memory ({})", access.source, is_put ? "into" : "out of",
                     access.destination, means(trace, access, is_put));
}

}  // namespace margay::command
