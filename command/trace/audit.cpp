#include "command/trace/audit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <tuple>

#include "command/trace/names/end_words.hpp"
#include "command/trace/read/filter.hpp"
#include "sim/base/text.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

namespace {

// The counts of one message's events.
struct Life {
  std::uint32_t sent = 0;
  std::uint32_t arrived = 0;
  std::uint32_t delivered = 0;
  std::uint32_t dropped = 0;
  bool acknowledgment = false;
  std::uint64_t sent_bytes = 0;
  std::uint64_t arrived_bytes = 0;
};

std::string message_text(const MessageIdentity& message) {
  return fmt::format("message {}>{} #{}", message.source, message.destination, sim::number_text(message.sequence));
}

// Collects counts in one pass, then judges each message.
class Auditor {
 public:
  explicit Auditor(const Trace& trace) : trace_(trace) {
    for (const TraceFile& file : trace.files) files_[file.rank] = &file;
  }

  Audit run() {
    for (const Trace::Entry& entry : trace_.entries) take(entry);
    for (const auto& [message, life] : lives_) judge(message, life);
    record_undescribed();
    record_files();
    return std::move(result_);
  }

 private:
  // Events of one thread of a rank that come in pairs.
  struct Brackets {
    // Entered and not left.
    std::vector<std::uint32_t> calls;
    // The call of a wait that has not ended.
    std::optional<std::uint32_t> waiting_call;
  };

  void violation(std::string sentence) {
    // All violations are counted, although a damaged file may cause too many to print.
    ++result_.violation_count;
    if (result_.violations.size() < kMaxAuditSentences) result_.violations.push_back(std::move(sentence));
  }

  // The rank's file if it lost no event, so that an absent event did not happen; otherwise nullptr.
  [[nodiscard]] const TraceFile* whole_file(std::uint32_t rank) const {
    const auto found = files_.find(rank);
    if (found == files_.end() || found->second->lost != 0) return nullptr;
    return found->second;
  }
  // Whether the rank closed its file and was not killed later, so that each of its messages must have an outcome. False
  // after the loss of any peer, because messages may then be unfinished everywhere.
  [[nodiscard]] bool ended(std::uint32_t rank) const {
    const TraceFile* file = whole_file(rank);
    return file != nullptr && file->closed && !sim::was_killed(file->end) && !any_peer_lost_;
  }

  // Counts one event. An acknowledgment is an answer and does not decide the outcome of a message.
  void take(const Trace::Entry& entry) {
    const sim::TraceEvent& event = entry.event;
    switch (event.kind) {
      case sim::TraceKind::kernel_reply_sent:
        // A reply settles the get that it answers.
        if (event.detail != 0) ++lives_[{event.destination, event.source, event.detail}].delivered;
        take_sent(entry);
        break;
      case sim::TraceKind::kernel_send:
      case sim::TraceKind::kernel_ack_sent:
        take_sent(entry);
        break;
      case sim::TraceKind::kernel_arrive:
      case sim::TraceKind::kernel_get_arrived:
      case sim::TraceKind::kernel_ack_arrived:
        take_arrival(entry);
        break;
      case sim::TraceKind::kernel_deposit:
        if (event.sequence != 0) ++lives_[identity(event)].delivered;
        break;
      case sim::TraceKind::kernel_drop:
        ++result_.drops[event.reason];
        if (event.sequence != 0) ++lives_[identity(event)].dropped;
        break;
      case sim::TraceKind::take_back:
        // The message travels without its body, as an empty one.
        if (event.sequence != 0) lives_[identity(event)].sent_bytes = 0;
        break;
      case sim::TraceKind::peer_lost:
        any_peer_lost_ = true;
        break;
      default:
        take_bracket(entry);
    }
  }

  // A rank records its own sends only.
  void take_sent(const Trace::Entry& entry) {
    const sim::TraceEvent& event = entry.event;
    const std::uint32_t rank = trace_.files[entry.file].rank;
    if (event.source != rank)
      violation(fmt::format("rank {} recorded that rank {} sent something", rank, event.source));
    if (event.sequence == 0) return;
    Life& life = lives_[identity(event)];
    life.acknowledgment = event.kind == sim::TraceKind::kernel_ack_sent;
    life.sent_bytes = event.bytes;
    std::uint64_t& last = last_sent_[way_of(event)];
    last = std::max(last, event.sequence);
    // Reported once, at the second event.
    if (++life.sent == 2) violation(fmt::format("{} was sent twice", message_text(identity(event))));
  }

  void take_arrival(const Trace::Entry& entry) {
    const sim::TraceEvent& event = entry.event;
    const std::uint32_t rank = trace_.files[entry.file].rank;
    if (event.destination != rank) {
      violation(fmt::format("rank {} recorded that something arrived at rank {}", rank, event.destination));
    }
    if (event.sequence == 0) return;
    Life& life = lives_[identity(event)];
    life.acknowledgment = event.kind == sim::TraceKind::kernel_ack_arrived;
    life.arrived_bytes = event.bytes;
    if (++life.arrived == 2) violation(fmt::format("{} arrived twice", message_text(identity(event))));
    std::uint64_t& latest = latest_[way_of(event)];
    // Each way delivers in order.
    if (event.sequence < latest) {
      violation(
          fmt::format("{} arrived after #{}: the messages of a pair by one way arrive in the order of their sending",
                      message_text(identity(event)), sim::number_text(latest)));
    }
    latest = std::max(latest, event.sequence);
  }

  // Pairs of events by thread; a missing beginning is an error only in a whole file.
  void take_bracket(const Trace::Entry& entry) {
    const sim::TraceEvent& event = entry.event;
    const TraceFile& file = trace_.files[entry.file];
    switch (event.kind) {
      case sim::TraceKind::mpi_enter:
        brackets_[{file.rank, event.detail}].calls.push_back(event.a);
        break;
      case sim::TraceKind::mpi_leave:
        leave_call(file, event);
        break;
      case sim::TraceKind::wait_begin:
        brackets_[{file.rank, event.detail}].waiting_call = event.a;
        break;
      case sim::TraceKind::wait_end:
        end_wait(file, event);
        break;
      case sim::TraceKind::coprocessor_begin:
        at_work_.insert(file.rank);
        break;
      case sim::TraceKind::coprocessor_end:
        if (at_work_.erase(file.rank) == 0) missing_begin(file, 0, "coprocessor");
        break;
      default:
        break;
    }
  }

  [[nodiscard]] static std::string describe_thread(const TraceFile& file, std::uint64_t thread) {
    return thread == 0 ? fmt::format("rank {}", file.rank) : fmt::format("thread {} of rank {}", thread, file.rank);
  }

  void missing_begin(const TraceFile& file, std::uint64_t thread, std::string_view what) {
    if (whole_file(file.rank) == nullptr) return;
    violation(fmt::format("{} recorded {}_end without {}_begin", describe_thread(file, thread), what, what));
  }

  // Calls nest, so a call must leave in the reverse order of its entry.
  void leave_call(const TraceFile& file, const sim::TraceEvent& event) {
    Brackets& open = brackets_[{file.rank, event.detail}];
    const auto violation_of = [&](std::string_view what) {
      violation(fmt::format("{} left {} {}", describe_thread(file, event.detail), call_name(file, event.a), what));
    };
    if (open.calls.empty()) {
      if (whole_file(file.rank) != nullptr) violation_of("without entering it");
      return;
    }
    if (open.calls.back() != event.a) {
      violation_of("while in " + call_name(file, open.calls.back()));
    } else if (open.waiting_call == event.a) {
      violation_of("while it waited in it");
    }
    open.calls.pop_back();
  }

  void end_wait(const TraceFile& file, const sim::TraceEvent& event) {
    std::optional<std::uint32_t>& waiting_call = brackets_[{file.rank, event.detail}].waiting_call;
    if (!waiting_call.has_value()) {
      missing_begin(file, event.detail, "wait");
    } else if (*waiting_call != event.a) {
      violation(fmt::format("{} ended in {} a wait that began in {}", describe_thread(file, event.detail),
                            call_name(file, event.a), call_name(file, *waiting_call)));
    }
    waiting_call.reset();
  }

  // Each rule applies only where the files that could refute it are whole.
  void judge(const MessageIdentity& message, const Life& life) {
    const bool sender_known = whole_file(message.source) != nullptr;
    const bool target_known = whole_file(message.destination) != nullptr;
    const std::uint32_t settled = life.delivered + life.dropped;
    if (settled > 1) {
      violation(fmt::format("{} was delivered {} and dropped {}", message_text(message), life.delivered,
                            sim::counted(life.dropped, "time")));
    }
    if (life.arrived != 0 && life.sent == 0 && sender_known) judge_unsent(message);
    if (life.arrived != 0 && life.sent != 0 && life.arrived_bytes != life.sent_bytes) {
      violation(fmt::format("{} was sent with {} and arrived with {}", message_text(message),
                            sim::counted(life.sent_bytes, "byte"), life.arrived_bytes));
    }
    if (settled != 0 && life.arrived == 0 && target_known) {
      violation(fmt::format("{} was settled and never arrived", message_text(message)));
    }
    const bool at_rest = ended(message.source) && ended(message.destination);
    if (life.sent != 0 && life.arrived == 0 && at_rest)
      violation(fmt::format("{} never arrived (or is still held)", message_text(message)));
    if (life.acknowledgment) return;
    if (life.arrived != 0 && settled == 0 && at_rest) {
      violation(fmt::format("{} arrived and was neither delivered nor dropped", message_text(message)));
    }
    count(message, life);
  }

  // Judges a message that arrived without a record of its sending. The sender records a message after its wire has
  // taken it, so a killed sender may lack the record of its last message.
  void judge_unsent(const MessageIdentity& message) {
    const sim::WayCode way = sim::way_of(message.sequence);
    const auto last = last_sent_.find({message.source, message.destination, way});
    const std::uint64_t next = last == last_sent_.end() ? sim::message_number(way, 1) : last->second + 1;
    const TraceFile& file = *whole_file(message.source);
    // Files are read one after the other, so a running sender's file may be older than its receiver's.
    if (!file.closed && !file.sealed && message.sequence >= next) {
      ++undescribed_;
      return;
    }
    if (file.closed || message.sequence != next) {
      violation(fmt::format("{} arrived and was never sent", message_text(message)));
      return;
    }
    result_.notes.push_back(fmt::format("{} arrived, and rank {} ended before it recorded sending it",
                                        message_text(message), message.source));
  }

  void record_undescribed() {
    if (undescribed_ == 0) return;
    result_.notes.push_back(fmt::format(
        "{} arrived before {} in the file of {} sender, which was not closed when it was read",
        sim::counted(undescribed_, "message"), sim::noun(undescribed_, "its sending was", "their sendings were"),
        sim::noun(undescribed_, "its", "their")));
  }

  // Each message counts once, however often a damaged trace repeats its events.
  void count(const MessageIdentity& message, const Life& life) {
    Audit::Pair& pair = result_.pairs[{message.source, message.destination}];
    pair.sent += life.sent != 0 ? 1 : 0;
    pair.delivered += life.delivered != 0 ? 1 : 0;
    pair.dropped += life.dropped != 0 ? 1 : 0;
    if (life.sent == 0 || life.delivered + life.dropped != 0) return;
    ++(whole_file(message.destination) != nullptr ? pair.on_the_way : pair.unknown);
  }

  // Each rank's last state: "was last seen in MPI_Send, waiting". Bounded, because a damaged file may name any number
  // of threads.
  [[nodiscard]] std::map<std::uint32_t, std::string> last_seen() const {
    std::map<std::uint32_t, std::string> seen;
    std::uint64_t count = 0;
    for (const auto& [thread, open] : brackets_) {
      if (open.calls.empty() && !open.waiting_call.has_value()) continue;
      if (++count > kMaxAuditSentences) continue;
      const TraceFile& file = *files_.at(thread.first);
      std::string& text = seen[thread.first];
      text += fmt::format("{}{}{}{}{}", text.empty() ? "" : "; ",
                          thread.second == 0 ? "" : fmt::format("thread {} ", thread.second),
                          file.closed ? "ended" : "was last seen",
                          open.calls.empty() ? "" : " in " + call_name(file, open.calls.back()),
                          !open.waiting_call.has_value() ? ""
                          : open.calls.empty()           ? " waiting"
                                                         : ", waiting");
    }
    if (count > kMaxAuditSentences) {
      seen.rbegin()->second +=
          fmt::format("; {} in a call to the end",
                      sim::counted(count - kMaxAuditSentences, "more thread was", "more threads were"));
    }
    return seen;
  }

  // One note for each rank that was in a call at its end, or did not close its file.
  void record_ends() {
    const std::map<std::uint32_t, std::string> seen = last_seen();
    for (const TraceFile& file : trace_.files) {
      std::string end = end_text(file);
      if (!file.closed && end.empty()) {
        end = "did not close its trace: it still runs, or ended otherwise than by MPI_Finalize";
      }
      const bool is_cut = !end.empty() && !(file.end == sim::TraceEnd::exit_status && file.closed);
      if (is_cut) end += "; unfinished messages are expected";
      const auto found = seen.find(file.rank);
      const std::string state = found == seen.end() ? "" : found->second;
      if (state.empty() && end.empty()) continue;
      result_.notes.push_back(
          fmt::format("rank {}: {}{}{}", file.rank, state, state.empty() || end.empty() ? "" : "; ", end));
    }
  }

  // The wording depends on whether ranks may still begin to record.
  void record_missing(std::size_t without, std::uint32_t size) {
    const bool goes_on = std::any_of(trace_.files.begin(), trace_.files.end(),
                                     [](const TraceFile& file) { return !file.closed && !file.sealed; });
    const std::string has = sim::noun(without, "has", "have");
    result_.notes.push_back(
        trace_.starting != 0 ? fmt::format("the job is just starting: {} of {} {} not begun to record", without,
                                           sim::counted(size, "rank"), has)
        : goes_on ? fmt::format("{} of {} {} no file yet, or left none", without, sim::counted(size, "rank"), has)
        : trace_.blank != 0 ? fmt::format("{} of {} left no file, or a blank one ({})", without,
                                          sim::counted(size, "rank"), trace_.blank)
                            : fmt::format("{} of {} left no file", without, sim::counted(size, "rank")));
  }

  void record_files() {
    for (const TraceFile& file : trace_.files) {
      if (file.left_out != 0) {
        result_.notes.push_back(fmt::format("rank {}: {} of {} before the end that was to be kept (--trace-last)",
                                            file.rank, file.left_out,
                                            sim::counted(file.written, "event lies", "events lie")));
      }
      if (file.lost != file.left_out) {
        result_.notes.push_back(
            fmt::format("rank {}: {} of {} overwritten, so what they recorded cannot be checked; "
                        "record into a larger ring (--trace-events {})",
                        file.rank, file.lost - file.left_out, sim::counted(file.written, "event was", "events were"),
                        std::bit_ceil(std::min(file.written, sim::kMaxTraceEvents))));
      }
    }
    record_ends();
    if (std::string text = unsealed_text(trace_.files); !text.empty()) result_.notes.push_back(std::move(text));
    const std::uint32_t size = trace_.files.empty() ? 0 : trace_.files.front().size;
    if (trace_.files.size() < size) record_missing(size - trace_.files.size(), size);
    std::uint64_t on_the_way = 0;
    std::uint64_t unknown = 0;
    for (const auto& [pair, counts] : result_.pairs) {
      on_the_way += counts.on_the_way;
      unknown += counts.unknown;
    }
    if (unknown != 0) {
      result_.notes.push_back(fmt::format("only the send of {} is recorded", sim::counted(unknown, "message")));
    }
    if (on_the_way != 0)
      result_.notes.push_back(
          fmt::format("{} still on the way", sim::counted(on_the_way, "message was", "messages were")));
  }

  const Trace& trace_;
  std::map<std::uint32_t, const TraceFile*> files_;
  std::map<MessageIdentity, Life> lives_;
  // By source, destination and way.
  using Way = std::tuple<std::uint32_t, std::uint32_t, sim::WayCode>;
  [[nodiscard]] static Way way_of(const sim::TraceEvent& event) {
    return {event.source, event.destination, sim::way_of(event.sequence)};
  }
  std::map<Way, std::uint64_t> latest_;
  std::map<Way, std::uint64_t> last_sent_;
  // By rank and thread.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Brackets> brackets_;
  // Ranks whose coprocessor is active.
  std::set<std::uint32_t> at_work_;
  bool any_peer_lost_ = false;
  // Number of messages from running senders that have not recorded the sending yet.
  std::uint64_t undescribed_ = 0;
  Audit result_;
};

}  // namespace

Audit audit(const Trace& trace) {
  return Auditor(trace).run();
}

}  // namespace margay::command
