#include "command/simulate/replay_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "command/simulate/replay_shared.hpp"
#include "command/trace/names/names.hpp"
#include "command/trace/story/messages.hpp"
#include "mpi_adi/rma/window.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

using portals::Status;
using sim::TraceEvent;
using sim::TraceKind;

// The messages that a call awaits before it returns.
enum class Awaits : std::uint8_t { none, own_sends, all };

// The first names begin with MPI_I, but are no calls that return at once: a loop of probes waits for a message.
Awaits awaits_of(std::string_view call) {
  for (const std::string_view waiting : {"MPI_Iprobe", "MPI_Improbe", "MPI_Intercomm"})
    if (call.starts_with(waiting)) return Awaits::all;
  for (const std::string_view started : {"MPI_I", "MPI_Start", "MPI_Pready"})
    if (call.starts_with(started)) return Awaits::none;
  for (const std::string_view sending : {"MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend"})
    if (call == sending) return Awaits::own_sends;
  return Awaits::all;
}

// Identifies the collective call of a message, by the number and the context in its match bits.
std::uint64_t collective_key(std::uint64_t match_bits) {
  constexpr std::uint64_t kSourceAndType = 0xffff'0007;
  return match_bits & ~kSourceAndType;
}
constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

bool is_sending(TraceKind kind) {
  return kind == TraceKind::kernel_send || kind == TraceKind::kernel_ack_sent || kind == TraceKind::kernel_reply_sent;
}

bool is_arrival(TraceKind kind) {
  return kind == TraceKind::kernel_arrive || kind == TraceKind::kernel_get_arrived ||
         kind == TraceKind::kernel_ack_arrived;
}

bool is_end(TraceKind kind) {
  return kind == TraceKind::pull_complete || kind == TraceKind::receive_complete || kind == TraceKind::request_complete;
}

// A send, or a wait for a message, that the rank has yet to do, with the events behind it.
struct Due {
  ReplayStep step = ReplayStep::await;
  MessageIdentity identity;
  // A later step depends on it, because it is not a message for a receive, or because the library has answered it.
  bool is_firm = false;
  std::uint64_t key = kNoKey;
  std::vector<std::size_t> events;
};

// A rank while its events are read.
struct Reading {
  std::uint32_t depth = 0;
  Awaits awaits = Awaits::none;
  // When the last call returned.
  std::uint64_t left_ns = 0;
  // The destination of each send_begin of this call whose message has not been sent.
  std::vector<std::uint32_t> own_sends;
  // Collective calls in progress.
  std::unordered_set<std::uint64_t> collectives;
  // Arrived messages that no step of the rank has needed so far; and steps that a later call executes.
  std::unordered_map<MessageIdentity, Due, MessageHash> unneeded;
  std::vector<Due> due;
};

Status error_about(const std::string& folder, const std::string& sentence) {
  return Status::error("option --replay: " + folder + ": " + sentence);
}

// Whether the trace has all events of all ranks, and calls.
Status check_whole(const Trace& trace, const std::string& folder) {
  const std::uint32_t ranks = trace.files.front().size;
  if (trace.files.size() < ranks) {
    std::uint32_t absent = 0;
    while (absent < trace.files.size() && trace.files[absent].rank == absent) ++absent;
    return error_about(
        folder, fmt::format("the file of rank {} is not there, and the run had {} ranks; a replay needs all files",
                            absent, ranks));
  }
  for (const TraceFile& file : trace.files) {
    if (file.lost == 0) continue;
    return error_about(folder, fmt::format("rank {} lacks {}, overwritten or left out; record the run anew, with more "
                                           "events (MARGAY_TRACE_EVENTS), without --trace-last",
                                           file.rank, sim::counted(file.lost, "event")));
  }
  const bool has_calls = std::any_of(trace.entries.begin(), trace.entries.end(), [](const Trace::Entry& entry) {
    return entry.event.kind == TraceKind::mpi_enter;
  });
  return has_calls ? Status() : error_about(folder, "it has no calls of MPI; record the run of an MPI program");
}

class PlanMaker {
 public:
  PlanMaker(const Trace& trace, std::string folder, RecordedRun& out)
      : trace_(trace), folder_(std::move(folder)), out_(out), names_(trace), messages_(trace) {}

  Status run() {
    out_ = RecordedRun();
    if (Status status = check_threads(); !status.ok()) return status;
    out_.plan.ranks.resize(trace_.files.size());
    out_.plan.events = trace_.entries.size();
    readings_.resize(trace_.files.size());
    const std::uint64_t begin_ns = trace_.entries.front().event.time;
    out_.elapsed_ns = trace_.entries.back().event.time - begin_ns;
    out_.is_virtual = trace_.files.front().clock == sim::ClockKind::virtual_ns;
    find_messages();
    shared_.emplace(trace_, names_, out_.plan);
    std::vector<bool> is_first(trace_.files.size(), true);
    for (std::size_t at = 0; at < trace_.entries.size(); ++at) {
      const std::uint32_t rank = trace_.entries[at].file;
      // Ranks of a virtual run begin together. Those of another run compute from their first call on, because the
      // launcher starts their processes one after the other.
      if (is_first[rank]) readings_[rank].left_ns = out_.is_virtual ? begin_ns : trace_.entries[at].event.time;
      is_first[rank] = false;
      if (Status status = read(rank, at); !status.ok()) return status;
    }
    for (std::uint32_t rank = 0; rank < readings_.size(); ++rank) {
      flush(rank, [](const Due&) { return true; });
      put_unneeded_events(rank);
    }
    out_.shared_calls = shared_->calls();
    return check_lengths();
  }

 private:
  [[nodiscard]] Status error(const std::string& sentence) const { return error_about(folder_, sentence); }

  [[nodiscard]] Status check_threads() const {
    for (std::uint32_t file = 0; file < trace_.files.size(); ++file) {
      if (!messages_.has_threads(file)) continue;
      return error(fmt::format("several threads of rank {} call MPI; a replay needs ranks with one thread",
                               trace_.files[file].rank));
    }
    return {};
  }

  // A file that no checksum protects, because its rank was killed, may have a damaged length. A replay takes a step for
  // each segment of a message, and so would not end.
  [[nodiscard]] Status check_lengths() const {
    for (const ReplayMessage& message : out_.plan.messages) {
      if (message.bytes < virtual_machine::kMessageBytesMost) continue;
      return error(
          fmt::format("a message of rank {} to rank {} has {} bytes, more than {}; record the run again, to its end",
                      message.from, message.to, message.bytes, virtual_machine::kMessageBytesMost));
    }
    return {};
  }

  // Numbers all messages. Headers alone travel for gets and acknowledgments, whose events have other amounts.
  void find_messages() {
    for (const Trace::Entry& entry : trace_.entries) {
      const TraceEvent& event = entry.event;
      if (is_sending(event.kind)) {
        const bool has_body =
            event.kind != TraceKind::kernel_ack_sent && event.header != static_cast<std::uint8_t>(portals::Kind::get);
        numbers_.emplace(identity(event), out_.plan.messages.size());
        out_.plan.messages.push_back({event.source, event.destination, has_body ? event.bytes : 0});
      } else if (event.kind == TraceKind::stop) {
        stopped_.insert(identity(event));
      } else if (const auto found = numbers_.find(identity(event)); found != numbers_.end()) {
        // A body that was taken back is not sent, and a stopped one only in part.
        std::uint64_t& bytes = out_.plan.messages[found->second].bytes;
        if (event.kind == TraceKind::take_back) bytes = 0;
        if (event.kind == TraceKind::kernel_sent && stopped_.contains(identity(event)))
          bytes = std::min(bytes, event.detail);
      }
    }
  }

  Status read(std::uint32_t rank, std::size_t at) {
    const TraceEvent& event = trace_.entries[at].event;
    Reading& reading = readings_[rank];
    if (is_arrival(event.kind)) return read_arrival(rank, at);
    if (is_sending(event.kind)) {
      read_sending(rank, at);
      return {};
    }
    switch (event.kind) {
      case TraceKind::mpi_enter:
        enter(rank, event);
        break;
      case TraceKind::mpi_leave:
        if (reading.depth > 0 && --reading.depth == 0) {
          flush_for_call(rank);
          reading.awaits = Awaits::none;
          reading.left_ns = event.time;
        }
        break;
      case TraceKind::wait_end:
        flush_for_call(rank);
        break;
      case TraceKind::send_begin:
        reading.own_sends.push_back(event.destination);
        break;
      case TraceKind::collective_begin:
        begin_collective(reading, collective_key(event.match_bits));
        shared_->put(rank, at);
        break;
      case TraceKind::collective_end:
        flush_for_call(rank);
        reading.collectives.erase(collective_key(event.match_bits));
        shared_->put(rank, at);
        break;
      case TraceKind::receive_complete:
      case TraceKind::found:
        need(reading, identity(event), false);
        flush_for_call(rank);
        break;
      case TraceKind::pull_complete:
      case TraceKind::request_complete:
        flush_for_call(rank);
        break;
      case TraceKind::pull_begin:
      case TraceKind::synchronous_answer:
        need(reading, identity(event), true);
        break;
      case TraceKind::window_access:
        if (static_cast<mpi_adi::WindowMethod>(event.reason) != mpi_adi::WindowMethod::message) ++out_.direct_accesses;
        break;
      default:
        break;
    }
    put_event(rank, at);
    return {};
  }

  void enter(std::uint32_t rank, const TraceEvent& event) {
    Reading& reading = readings_[rank];
    // Functions of the program that MPI calls may call MPI; the outermost call counts.
    if (reading.depth++ != 0) return;
    add(rank, ReplayStep::compute, event.time - std::min(reading.left_ns, event.time));
    reading.awaits = awaits_of(call_name(trace_.files[rank], event.a));
    reading.own_sends.clear();
  }

  Status read_arrival(std::uint32_t rank, std::size_t at) {
    const TraceEvent& event = trace_.entries[at].event;
    Reading& reading = readings_[rank];
    const MessageIdentity message = identity(event);
    if (!numbers_.contains(message)) {
      return error(
          fmt::format("rank {} has received message {}:{}:{}, whose sending rank {} has not recorded; record "
                      "the run anew, to its end",
                      trace_.files[rank].rank, message.source, message.destination, message.sequence, message.source));
    }
    Due due{.identity = message, .events = {at}};
    const bool is_put = event.kind == TraceKind::kernel_arrive && event.header != kReply;
    const bool is_collective = is_put && names_.is_collective(rank, event.portal);
    const bool is_for_receive =
        is_put && names_.is_envelope(rank, event.portal) && !names_.is_answer(rank, event.portal, event.match_bits);
    if (is_collective) due.key = collective_key(event.match_bits);
    due.is_firm = !is_collective && !is_for_receive;
    if (is_for_receive || (is_collective && !reading.collectives.contains(due.key))) {
      reading.unneeded.emplace(message, std::move(due));
    } else {
      reading.due.push_back(std::move(due));
    }
    return {};
  }

  // In a call that returns at once, an answer of the library moves to a later call with the header that it answers.
  void read_sending(std::uint32_t rank, std::size_t at) {
    const TraceEvent& event = trace_.entries[at].event;
    Reading& reading = readings_[rank];
    Due sending{.step = ReplayStep::send, .identity = identity(event), .is_firm = true, .events = {at}};
    bool is_late = false;
    if (event.kind != TraceKind::kernel_send) {
      // The detail is the number of the header that this message answers.
      need(reading, {event.destination, event.source, event.detail}, true);
      is_late = !reading.due.empty();
    } else if (names_.is_collective(rank, event.portal)) {
      sending.key = collective_key(event.match_bits);
      is_late = std::any_of(reading.due.begin(), reading.due.end(),
                            [&](const Due& other) { return other.key == sending.key; });
    } else {
      is_late = !take_own_send(reading, event) && !reading.due.empty();
    }
    if (is_late && reading.awaits == Awaits::none) {
      reading.due.push_back(std::move(sending));
      return;
    }
    if (reading.awaits != Awaits::none)
      flush(rank, [&](const Due& due) { return due.is_firm || due.key == sending.key; });
    put(rank, sending);
  }

  // Whether a send of the program began this message (send_begin), not the library.
  static bool take_own_send(Reading& reading, const TraceEvent& event) {
    const auto found = std::find(reading.own_sends.begin(), reading.own_sends.end(), event.destination);
    if (found == reading.own_sends.end()) return false;
    reading.own_sends.erase(found);
    return true;
  }

  static void begin_collective(Reading& reading, std::uint64_t key) {
    reading.collectives.insert(key);
    std::vector<MessageIdentity> early;
    for (const auto& [message, due] : reading.unneeded)
      if (due.key == key) early.push_back(message);
    // The order of the hash map differs between standard libraries; the plan must not.
    std::sort(early.begin(), early.end());
    for (const MessageIdentity& message : early) need(reading, message, false);
  }

  static void need(Reading& reading, const MessageIdentity& message, bool is_firm) {
    if (const auto found = reading.unneeded.find(message); found != reading.unneeded.end()) {
      reading.due.push_back(std::move(found->second));
      reading.unneeded.erase(found);
    }
    if (!is_firm) return;
    for (Due& due : reading.due)
      if (due.identity == message) due.is_firm = true;
  }

  // What the present call awaits before it continues.
  void flush_for_call(std::uint32_t rank) {
    const Awaits awaits = readings_[rank].awaits;
    if (awaits == Awaits::none) return;
    flush(rank, [awaits](const Due& due) { return due.is_firm || awaits == Awaits::all; });
  }

  // Moves the chosen steps that are due into the plan, in their order.
  template <typename Choose>
  void flush(std::uint32_t rank, const Choose& choose) {
    std::vector<Due> later;
    for (Due& due : readings_[rank].due) {
      if (choose(due)) {
        put(rank, due);
      } else {
        later.push_back(std::move(due));
      }
    }
    readings_[rank].due = std::move(later);
  }

  void put(std::uint32_t rank, const Due& due) {
    add(rank, due.step, numbers_.at(due.identity));
    put_events(rank, due.events);
  }

  void put_events(std::uint32_t rank, const std::vector<std::size_t>& events) {
    for (const std::size_t at : events) add(rank, ReplayStep::event, at);
  }

  // Adds the events of messages that the rank never needs, without an await.
  void put_unneeded_events(std::uint32_t rank) {
    std::vector<std::size_t> events;
    for (const auto& [message, due] : readings_[rank].unneeded)
      events.insert(events.end(), due.events.begin(), due.events.end());
    std::sort(events.begin(), events.end());
    put_events(rank, events);
  }

  // Adds an event. If it is about a message that the rank still has to await, it follows this await.
  void put_event(std::uint32_t rank, std::size_t at) {
    Reading& reading = readings_[rank];
    const TraceEvent& event = trace_.entries[at].event;
    if (event.sequence != 0) {
      const MessageIdentity message = identity(event);
      if (const auto found = reading.unneeded.find(message); found != reading.unneeded.end()) {
        found->second.events.push_back(at);
        return;
      }
      for (Due& due : reading.due) {
        if (due.identity != message) continue;
        due.events.push_back(at);
        return;
      }
      // An event about another message may follow from the last step: the end of a receive from its reply.
      if (!reading.due.empty() && is_end(event.kind)) {
        reading.due.back().events.push_back(at);
        return;
      }
    }
    add(rank, ReplayStep::event, at);
  }

  void add(std::uint32_t rank, ReplayStep step, std::uint64_t value) { out_.plan.ranks[rank].push_back({step, value}); }

  static constexpr auto kReply = static_cast<std::uint8_t>(portals::Kind::reply);

  const Trace& trace_;
  const std::string folder_;
  RecordedRun& out_;
  const TraceNames names_;
  const Messages messages_;
  // Indices in the plan's messages.
  std::unordered_map<MessageIdentity, std::size_t, MessageHash> numbers_;
  std::unordered_set<MessageIdentity, MessageHash> stopped_;
  std::optional<SharedCalls> shared_;
  // By rank, which is the index of its file.
  std::vector<Reading> readings_;
};

}  // namespace

Status make_replay_plan(const Trace& trace, const std::string& folder, RecordedRun& out) {
  if (Status status = check_whole(trace, folder); !status.ok()) return status;
  return PlanMaker(trace, folder, out).run();
}

}  // namespace margay::command
