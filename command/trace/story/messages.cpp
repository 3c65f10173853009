#include "command/trace/story/messages.hpp"

#include <algorithm>
#include <utility>

#include "command/trace/names/names.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kNone = MessageStory::kNone;

// The relation of a hop to the message that it answers or serves, as an event records it. An acknowledgment or a reply
// names its message in `detail`. A get or a synchronous answer does not: an event of the message that it serves has the
// hop's number in `detail`.
struct Tie {
  MessageIdentity hop;
  MessageIdentity whole;
};
bool tie_of(const sim::TraceEvent& event, Tie& tie) {
  // Numbers begin at 1; 0 means that the event has no message.
  if (event.sequence == 0 || event.detail == 0) return false;
  switch (event.kind) {
    case sim::TraceKind::kernel_ack_sent:
    case sim::TraceKind::kernel_ack_arrived:
    case sim::TraceKind::kernel_reply_sent:
      tie = {identity(event), {event.destination, event.source, event.detail}};
      return true;
    case sim::TraceKind::pull_begin:
    case sim::TraceKind::synchronous_answer:
      tie = {{event.destination, event.source, event.detail}, identity(event)};
      return true;
    default:
      return false;
  }
}

// A damaged or repeated event must not move a step: the first one counts.
void set_first(std::size_t& index, std::size_t at) {
  if (index == kNone) index = at;
}

}  // namespace

Messages::Messages(const Trace& trace) : trace_(trace) {
  record_hops();
  record_calls();
}

// Builds all indices by identity in one pass; a hop may be recorded before the event that relates it to its message.
void Messages::record_hops() {
  first_.assign(trace_.files.size(), kNone);
  for (const TraceFile& file : trace_.files) {
    // Only the device of MPI defines this owner.
    is_mpi_.push_back(std::any_of(file.definitions.begin(), file.definitions.end(), [](const sim::Definition& each) {
      return each.kind == sim::DefinitionKind::owner && each.number == mpi_adi::kOwnerReceive;
    }));
  }
  for (std::size_t i = 0; i < trace_.entries.size(); ++i) {
    const sim::TraceEvent& event = trace_.entries[i].event;
    set_first(first_[trace_.entries[i].file], i);
    if (event.sequence != 0) events_[identity(event)].push_back(i);
    if (event.kind == sim::TraceKind::kernel_hold) holds_.push_back(i);
    if (event.kind == sim::TraceKind::post_receive || event.kind == sim::TraceKind::search_miss) {
      receives_[receive_key(trace_.entries[i].file, event.a)].push_back(i);
    }
    // A hop belongs to one message: sender and receiver may both record the relation, and the first suffices.
    Tie tie;
    if (tie_of(event, tie) && part_of_.try_emplace(tie.hop, tie.whole).second) hops_[tie.whole].push_back(tie.hop);
  }
  std::vector<std::pair<std::size_t, MessageIdentity>> found;
  for (const auto& [message, events] : events_) {
    // The map's order is arbitrary, so the roots are sorted by their first event.
    if (!part_of_.contains(message)) found.emplace_back(events.front(), message);
  }
  std::sort(found.begin(), found.end());
  roots_.reserve(found.size());
  for (const auto& [at, message] : found) roots_.push_back(message);
}

// An event names its thread only when a call or a wait begins or ends; the others are assigned to the thread that was
// seen last. With several threads in calls at once this may be wrong, which has_threads_ reports.
void Messages::record_calls() {
  struct Thread {
    // A stack, because a callback of the program may call MPI within a call.
    std::vector<std::size_t> calls;
    std::size_t wait_begun = kNone;
  };
  struct Rank {
    std::unordered_map<std::uint64_t, Thread> threads;
    Thread* latest = nullptr;
  };
  std::vector<Rank> ranks(trace_.files.size());
  calls_.assign(trace_.entries.size(), kNone);
  call_numbers_.assign(trace_.entries.size(), kNoCall);
  has_threads_.resize(trace_.files.size());
  for (std::size_t i = 0; i < trace_.entries.size(); ++i) {
    const auto& [event, file] = trace_.entries[i];
    Rank& rank = ranks[file];
    const bool names_thread = event.kind == sim::TraceKind::mpi_enter || event.kind == sim::TraceKind::mpi_leave ||
                              event.kind == sim::TraceKind::wait_begin || event.kind == sim::TraceKind::wait_end;
    if (names_thread) rank.latest = &rank.threads[event.detail];
    has_threads_[file] = rank.threads.size() > 1;
    if (rank.latest == nullptr) continue;
    std::vector<std::size_t>& calls = rank.latest->calls;
    if (event.kind == sim::TraceKind::mpi_enter) calls.push_back(i);
    if (!calls.empty()) calls_[i] = calls.back();
    if (event.kind == sim::TraceKind::wait_begin) rank.latest->wait_begun = i;
    if (event.kind == sim::TraceKind::wait_end) {
      // A ring that wrapped may begin inside a wait.
      const std::size_t begun = std::exchange(rank.latest->wait_begun, kNone);
      if (begun != kNone && !calls.empty())
        call_of(calls.back()).waited_ns += event.time - trace_.entries[begun].event.time;
    }
    if (event.kind == sim::TraceKind::mpi_leave && !calls.empty()) {
      call_of(calls.back()).leave = i;
      calls.pop_back();
    }
  }
  for (const Rank& rank : ranks) {
    for (const auto& [number, thread] : rank.threads) record_open_wait(thread.calls, thread.wait_begun);
  }
}

// Numbers are assigned on demand: most entries are not calls, and a CallRecord for each would waste memory.
Messages::CallRecord& Messages::call_of(std::size_t enter) {
  std::uint32_t& number = call_numbers_[enter];
  if (number == kNoCall) {
    number = static_cast<std::uint32_t>(call_records_.size());
    call_records_.emplace_back();
  }
  return call_records_[number];
}

const sim::TraceEvent* Messages::arrival(const MessageIdentity& hop) const {
  const auto found = events_.find(hop);
  if (found == events_.end()) return nullptr;
  for (const std::size_t at : found->second) {
    const sim::TraceEvent& event = trace_.entries[at].event;
    const bool arrives = event.kind == sim::TraceKind::kernel_arrive ||
                         event.kind == sim::TraceKind::kernel_get_arrived ||
                         event.kind == sim::TraceKind::kernel_ack_arrived;
    if (arrives) return &event;
  }
  return nullptr;
}

// Adds the wait of a rank that still waits when its recording ends, as in a deadlock.
void Messages::record_open_wait(const std::vector<std::size_t>& calls, std::size_t wait_begun) {
  if (wait_begun == kNone || calls.empty()) return;
  const std::uint64_t end = trace_.entries.back().event.time, begun = trace_.entries[wait_begun].event.time;
  call_of(calls.back()).waited_ns += end > begun ? end - begun : 0;
}

bool Messages::is_whole(std::uint32_t rank) const {
  return std::any_of(trace_.files.begin(), trace_.files.end(),
                     [&](const TraceFile& file) { return file.rank == rank && file.lost == 0; });
}

bool Messages::is_whole_after(std::uint32_t rank, std::size_t at) const {
  if (is_whole(rank)) return true;
  for (std::uint32_t file = 0; file < trace_.files.size(); ++file) {
    if (trace_.files[file].rank != rank) continue;
    return first_[file] != kNone && trace_.entries[first_[file]].event.time <= trace_.entries[at].event.time;
  }
  return false;
}

std::size_t Messages::leave_of(std::size_t enter) const {
  const std::uint32_t number = call_numbers_[enter];
  return number == kNoCall ? kNone : call_records_[number].leave;
}

std::uint64_t Messages::waited_in(std::size_t enter) const {
  const std::uint32_t number = call_numbers_[enter];
  return number == kNoCall ? 0 : call_records_[number].waited_ns;
}

// Follows the relations upwards: a reply belongs to a get, which belongs to a message.
MessageIdentity Messages::root_of(MessageIdentity hop) const {
  // A chain is reply, get, message. The bound stops at a circle, which a damaged trace may contain.
  constexpr int kLongestChain = 8;
  for (int i = 0; i < kLongestChain; ++i) {
    const auto found = part_of_.find(hop);
    if (found == part_of_.end()) break;
    hop = found->second;
  }
  return hop;
}

// The latest event of that kind before `until`: request numbers are reused.
std::size_t Messages::last_before(std::uint32_t file, std::uint32_t request, sim::TraceKind kind,
                                  std::size_t until) const {
  const auto found = receives_.find(receive_key(file, request));
  if (found == receives_.end()) return kNone;
  for (auto at = std::lower_bound(found->second.begin(), found->second.end(), until); at != found->second.begin();) {
    if (trace_.entries[*--at].event.kind == kind) return *at;
  }
  return kNone;
}

Messages::Blocked Messages::blocked(const MessageStory& story) const {
  Blocked blocked;
  if (story.sent == kNone) return blocked;
  const auto time = [&](std::size_t at) { return trace_.entries[at].event.time; };
  const auto until = [&](std::size_t at) { return time(at == kNone ? trace_.entries.size() - 1 : at); };
  for (const std::size_t hold : holds_) {
    const MessageIdentity held = identity(trace_.entries[hold].event);
    // A wire delivers in order, so only an earlier message of the same pair and way can block this one.
    const bool before = held.source == story.identity.source && held.destination == story.identity.destination &&
                        sim::way_of(held.sequence) == sim::way_of(story.identity.sequence) &&
                        held.sequence < story.identity.sequence;
    if (!before) continue;
    MessageStory other;
    for (const std::size_t step : events_.at(held)) record_step(step, other);
    // The overlap of the hold with this header's time on the wire.
    const std::uint64_t from = std::max(time(hold), time(story.sent));
    const std::uint64_t to = std::min(until(hold_end(other)), until(story.arrived));
    if (to <= from) continue;
    blocked.by = held;
    blocked.ns += to - from;
  }
  return blocked;
}

// All events with the identity of the message or of one of its hops, by time. The bound is for a damaged trace, in
// which very many hops may name one another.
std::vector<std::size_t> Messages::steps_of(const MessageIdentity& root) const {
  constexpr std::size_t kMostHops = 64;
  std::vector<MessageIdentity> hops{root};
  std::vector<std::size_t> steps;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (const auto found = events_.find(hops[i]); found != events_.end()) {
      steps.insert(steps.end(), found->second.begin(), found->second.end());
    }
    const auto found = hops_.find(hops[i]);
    if (found == hops_.end()) continue;
    for (const MessageIdentity& hop : found->second) {
      if (hops.size() < kMostHops && std::find(hops.begin(), hops.end(), hop) == hops.end()) hops.push_back(hop);
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// Portal and owner are tested first, because MPI's entries may have any type of descriptor.
Taker Messages::taker_of(const Trace::Entry& matched) const {
  const sim::TraceEvent& event = matched.event;
  const bool is_receives = event.b == mpi_adi::kOwnerReceive || event.b == mpi_adi::kOwnerHeap;
  // The owner alone identifies the device where the file lost its definitions.
  if (event.portal == mpi_adi::kReceivePortal && (is_receives || is_mpi_[matched.file])) return Taker::receive;
  if (is_mpi_[matched.file] && is_of_window(event.portal, event.match_bits)) return Taker::window;
  constexpr auto kHeap = 1U + static_cast<std::uint32_t>(portals::DescriptorType::dynamic_block);
  return sim::matched_descriptor(event.reason) == kHeap ? Taker::heap : Taker::entry;
}

// Enters a step into the story's named events.
void Messages::record_step(std::size_t at, MessageStory& story) const {
  const auto& [event, file] = trace_.entries[at];
  switch (event.kind) {
    case sim::TraceKind::send_begin:
      return set_first(story.begin, at);
    case sim::TraceKind::kernel_send:
      return set_first(story.sent, at);
    case sim::TraceKind::kernel_get_arrived:
      story.is_get = true;
      return set_first(story.arrived, at);
    case sim::TraceKind::kernel_arrive:
      return set_first(story.arrived, at);
    case sim::TraceKind::kernel_match:
      // As with every step, the first event of the kind counts.
      if (story.matched == kNone) story.taker = taker_of(trace_.entries[at]);
      story.unexpected |= story.taker == Taker::receive && event.b == mpi_adi::kOwnerHeap;
      return set_first(story.matched, at);
    case sim::TraceKind::kernel_drop:
      return set_first(story.dropped, at);
    case sim::TraceKind::kernel_hold:
      return set_first(story.held, at);
    case sim::TraceKind::kernel_deposit:
      return set_first(story.kept, at);
    case sim::TraceKind::search_hit:
      story.unexpected = true;
      return set_first(story.searched, at);
    case sim::TraceKind::pull_begin:
      return set_first(story.pulled, at);
    case sim::TraceKind::pull_complete:
      return set_first(story.pull_ended, at);
    case sim::TraceKind::given_back:
      story.cancelled = event.reason == static_cast<std::uint8_t>(sim::TraceGivenBack::cancelled);
      return set_first(story.given_back, at);
    case sim::TraceKind::take_back:
      story.taken_back = true;
      return;
    case sim::TraceKind::found:
      story.found.push_back(at);
      return;
    case sim::TraceKind::receive_complete:
      return set_first(story.received, at);
    case sim::TraceKind::request_complete: {
      const std::uint32_t rank = trace_.files[file].rank;
      // In a message from a rank to itself `source` does not distinguish the send's completion from the receive's.
      const bool is_senders = rank == event.source && !is_of_receive(event, rank);
      if (is_senders) set_first(story.completed, at);
      return;
    }
    default:
      return;
  }
}

// Finds the receive that took the message, by its request's number. Numbers are reused, so the latest post before the
// message was taken counts.
void Messages::find_receive(MessageStory& story) const {
  const std::size_t taken = std::min({story.searched, story.pulled, story.received});
  if (taken == kNone) return;
  // An expected message matched a receive that was posted before; an unexpected one was found by a receive that was
  // posted after the match.
  const std::size_t until = story.searched == kNone && story.matched != kNone ? story.matched : taken;
  const std::uint32_t file = trace_.entries[taken].file;
  const std::uint32_t request = trace_.entries[taken].event.a;
  story.posted = last_before(file, request, sim::TraceKind::post_receive, until);
  if (story.posted == kNone) return;
  story.steps.push_back(story.posted);
  const std::size_t missed = last_before(file, request, sim::TraceKind::search_miss, until);
  if (missed != kNone && missed > story.posted) story.steps.push_back(missed);
  std::sort(story.steps.begin(), story.steps.end());
}

MessageStory Messages::story(const MessageIdentity& root) const {
  MessageStory story;
  story.identity = root;
  story.steps = steps_of(root);
  for (const std::size_t at : story.steps) {
    // Steps of other hops must not fill the fields of this message.
    if (identity(trace_.entries[at].event) == root) record_step(at, story);
  }
  find_receive(story);
  // Messages of the library have no send_begin.
  if (story.begin == kNone) story.begin = story.sent;
  return story;
}

}  // namespace margay::command
