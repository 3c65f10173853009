#include "command/trace/diff/critical_path.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "command/trace/story/fate.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kAbsent = MessageStory::kNone;

// Nonblocking collective calls overlap; of so many calls before a wait one may be in progress.
constexpr std::size_t kOverlappingCalls = 16;

// The index of the first element above `value`. Requires: `sorted` ascends.
std::size_t first_above(const std::vector<std::uint64_t>& sorted, std::uint64_t value) {
  return static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

// Calls or waits of one rank's first thread, by time, without overlaps.
struct Lane {
  std::uint64_t thread = 0;
  std::vector<std::uint64_t> begin;
  std::vector<std::uint64_t> end;
  // sums[i]: time that the first i spans take together.
  std::vector<std::uint64_t> sums{0};
  // The mpi_enter or wait_begin of each.
  std::vector<std::size_t> entry;

  // Time before `time` that spans cover.
  [[nodiscard]] std::uint64_t covered_until(std::uint64_t time) const {
    const std::size_t index = first_above(begin, time);
    return index == 0 ? 0 : sums[index - 1] + std::min(time, end[index - 1]) - begin[index - 1];
  }
  [[nodiscard]] std::uint64_t covered(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t before = covered_until(from), until = covered_until(to);
    return until > before ? until - before : 0;
  }
};
using Lanes = std::map<std::uint32_t, Lane>;  // by rank

// A header that another rank sent.
struct Arrival {
  std::uint64_t arrived = 0;
  std::uint64_t sent = 0;
  std::uint32_t source = 0;
  // Whether it is an acknowledgment, a get or a reply, which the library awaits.
  bool is_hop = false;
  // Times of a message: when its receive was complete, and when a blocking probe found it.
  std::optional<std::uint64_t> received = {};
  std::optional<std::uint64_t> probed = {};
};

// First and last time of a rank.
struct Span {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
};

// The event that ended a wait.
struct HoldUp {
  std::uint32_t source = 0;
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
};

class Walker {
 public:
  Walker(const CollectiveInput& input, const Timeline& timeline) : input_(input) {
    const std::uint64_t end = input.trace.entries.empty() ? 0 : input.trace.entries.back().event.time;
    calls_ = lanes_of(timeline.calls, end);
    waits_ = lanes_of(timeline.waits, end);
    for (const TimeSpan& call : timeline.calls) {
      note(rank_of(call.file), time(call.begin));
      note(rank_of(call.file), call.ended ? time(call.end) : end);
    }
    add_messages();
    add_hops(timeline.hops);
    for (auto& [rank, list] : arrivals_) {
      std::stable_sort(list.begin(), list.end(),
                       [](const Arrival& one, const Arrival& other) { return one.arrived < other.arrived; });
    }
    add_collectives(end);
  }

  CriticalPath run() {
    CriticalPath path;
    const auto latest = std::max_element(spans_.begin(), spans_.end(), [](const auto& one, const auto& other) {
      return one.second.last < other.second.last;
    });
    if (latest == spans_.end()) return path;
    std::uint32_t rank = latest->first;
    std::uint64_t now = latest->second.last;
    // Each step leads to an earlier time, because a header that was seen before it was sent is no arrival.
    while (true) {
      const std::optional<HoldUp> hold_up = last_hold_up(rank, now);
      const std::uint64_t begin = hold_up ? hold_up->arrived : std::min(spans_[rank].first, now);
      if (begin < now) add_work(rank, begin, now, path);
      if (!hold_up) break;
      if (hold_up->sent < hold_up->arrived) {
        add(path, {hold_up->source, hold_up->sent, hold_up->arrived, {.wire = hold_up->arrived - hold_up->sent}});
      }
      rank = hold_up->source;
      now = hold_up->sent;
      if (!spans_.contains(rank)) break;
    }
    std::reverse(path.stretches.begin(), path.stretches.end());
    return path;
  }

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t group = 0;
    std::uint32_t rank = 0;
  };

  [[nodiscard]] std::uint64_t time(std::size_t at) const { return input_.entry(at).event.time; }
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t file) const { return input_.trace.files[file].rank; }

  void note(std::uint32_t rank, std::uint64_t time) {
    Span& span = spans_[rank];
    span.first = std::min(span.first, time);
    span.last = std::max(span.last, time);
  }

  // The lane of each rank's first thread, by number. Spans are in the order of their beginnings.
  [[nodiscard]] Lanes lanes_of(const std::vector<TimeSpan>& spans, std::uint64_t end_of_trace) const {
    Lanes lanes;
    for (const TimeSpan& span : spans) {
      if (span.depth != 0) continue;
      Lane& lane = lanes[rank_of(span.file)];
      if (lane.begin.empty() || span.thread < lane.thread) {
        lane = Lane();
        lane.thread = span.thread;
      }
      if (span.thread != lane.thread) continue;
      lane.begin.push_back(time(span.begin));
      lane.end.push_back(span.ended ? time(span.end) : end_of_trace);
      lane.sums.push_back(lane.sums.back() + lane.end.back() - lane.begin.back());
      lane.entry.push_back(span.begin);
    }
    return lanes;
  }

  void add_arrival(const MessageIdentity& identity, Arrival arrival) {
    if (identity.source == identity.destination || arrival.sent >= arrival.arrived) return;
    arrival.source = identity.source;
    arrivals_[identity.destination].push_back(arrival);
  }

  void add_messages() {
    for (const MessageIdentity& root : input_.messages.roots()) {
      const MessageStory story = input_.messages.story(root);
      const std::size_t received = received_step(input_.trace, story);
      if (story.sent != kAbsent) note(root.source, time(story.sent));
      if (story.arrived != kAbsent) note(root.destination, time(story.arrived));
      if (received != kAbsent) note(root.destination, time(received));
      if (story.sent == kAbsent || story.arrived == kAbsent) continue;
      Arrival arrival{.arrived = time(story.arrived), .sent = time(story.sent)};
      if (received != kAbsent) arrival.received = time(received);
      const auto probe = std::find_if(story.found.begin(), story.found.end(), [this](std::size_t at) {
        return blocks(static_cast<sim::TraceProbe>(input_.entry(at).event.reason));
      });
      if (probe != story.found.end()) arrival.probed = time(*probe);
      add_arrival(root, arrival);
    }
  }

  void add_hops(const std::vector<Hop>& hops) {
    for (const Hop& hop : hops) {
      if (hop.identity == hop.root || hop.sent == kAbsent || hop.arrived == kAbsent) continue;
      add_arrival(hop.identity, {.arrived = time(hop.arrived), .sent = time(hop.sent), .is_hop = true});
    }
  }

  void add_collectives(std::uint64_t end_of_trace) {
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (const CollectiveCall& call : collective_calls(input_)) {
      if (call.has_no_part) continue;
      const CollectivePart& first = input_.collectives.parts()[call.first];
      groups[call.group].push_back(parts_.size());
      parts_.push_back(
          {time(first.begin), call.end == kAbsent ? end_of_trace : time(call.end), call.group, rank_of(first.file)});
    }
    for (auto& [group, members] : groups) {
      if (members.size() < 2) continue;
      for (const std::size_t part : members) parts_of_rank_[parts_[part].rank].push_back(part);
      members_[group] = std::move(members);
    }
    for (auto& [rank, parts] : parts_of_rank_) {
      std::stable_sort(parts.begin(), parts.end(),
                       [this](std::size_t one, std::size_t other) { return parts_[one].begin < parts_[other].begin; });
    }
  }

  // The latest arrival in (from, until] that may have ended the wait: a hop of a message's protocol, or a message that
  // is received before the call returns, or found by the waiting probe. Other arrivals are coincidences.
  [[nodiscard]] const Arrival* ended_by(std::uint32_t rank, std::uint64_t from, std::uint64_t until,
                                        std::uint64_t returned) const {
    const auto found = arrivals_.find(rank);
    if (found == arrivals_.end()) return nullptr;
    const auto is_within = [&](const std::optional<std::uint64_t>& time) {
      return time && *time > from && *time <= returned;
    };
    const std::vector<Arrival>& list = found->second;
    auto at = std::upper_bound(list.begin(), list.end(), until,
                               [](std::uint64_t time, const Arrival& arrival) { return time < arrival.arrived; });
    while (at != list.begin() && std::prev(at)->arrived > from) {
      --at;
      if (at->is_hop || is_within(at->received) || is_within(at->probed)) return &*at;
    }
    return nullptr;
  }

  // The part of another rank that began last in (from, until], in a call in which `rank` was at `from`; nullptr: none.
  [[nodiscard]] const Part* waited_for(std::uint32_t rank, std::uint64_t from, std::uint64_t until) const {
    const auto found = parts_of_rank_.find(rank);
    if (found == parts_of_rank_.end()) return nullptr;
    const std::vector<std::size_t>& own = found->second;
    auto at = std::upper_bound(own.begin(), own.end(), from,
                               [this](std::uint64_t time, std::size_t part) { return time < parts_[part].begin; });
    for (std::size_t seen = 0; at != own.begin() && seen < kOverlappingCalls; ++seen) {
      --at;
      if (parts_[*at].end < from) continue;
      const Part* last = nullptr;
      for (const std::size_t other : members_.at(parts_[*at].group)) {
        const Part& part = parts_[other];
        if (other != *at && part.begin > from && part.begin <= until && (last == nullptr || part.begin > last->begin))
          last = &part;
      }
      if (last != nullptr) return last;
    }
    return nullptr;
  }

  // The end of the call in which the rank was at `from`, at most `now`; `otherwise` if it was in none.
  [[nodiscard]] std::uint64_t returned_at(std::uint32_t rank, std::uint64_t from, std::uint64_t otherwise,
                                          std::uint64_t now) const {
    const auto found = calls_.find(rank);
    if (found == calls_.end()) return otherwise;
    const Lane& calls = found->second;
    const std::size_t index = first_above(calls.begin, from);
    if (index == 0 || calls.end[index - 1] < from) return otherwise;
    return std::max(otherwise, std::min(calls.end[index - 1], now));
  }

  // The event that ended the rank's last wait before `now`: an arrival, or the entry of another rank into a collective
  // call. Empty: no other rank held it up.
  [[nodiscard]] std::optional<HoldUp> last_hold_up(std::uint32_t rank, std::uint64_t now) const {
    const auto found = waits_.find(rank);
    if (found == waits_.end()) return {};
    const Lane& waits = found->second;
    for (std::size_t i = first_above(waits.begin, now); i-- > 0;) {
      const std::uint64_t from = waits.begin[i], end = std::min(waits.end[i], now);
      // A woken rank may poll only after the wait, but still within the same call.
      const std::uint64_t returned = returned_at(rank, from, end, now);
      const bool has_next = i + 1 < waits.begin.size();
      const std::uint64_t until = has_next ? std::max(end, std::min(returned, waits.begin[i + 1])) : returned;
      if (const Arrival* const arrival = ended_by(rank, from, until, returned); arrival != nullptr)
        return HoldUp{arrival->source, arrival->sent, arrival->arrived};
      if (const Part* const late = waited_for(rank, from, end); late != nullptr && late->begin < now)
        return HoldUp{late->rank, late->begin, late->begin};
    }
    return {};
  }

  void add_work(std::uint32_t rank, std::uint64_t from, std::uint64_t to, CriticalPath& path) const {
    PathParts parts;
    if (const auto found = waits_.find(rank); found != waits_.end()) parts.waiting = found->second.covered(from, to);
    if (const auto found = calls_.find(rank); found != calls_.end()) {
      const Lane& calls = found->second;
      const std::uint64_t in_calls = calls.covered(from, to);
      parts.calls = in_calls > parts.waiting ? in_calls - parts.waiting : 0;
      const std::size_t before = first_above(calls.begin, from);
      for (std::size_t i = before == 0 ? 0 : before - 1; i < calls.begin.size() && calls.begin[i] < to; ++i) {
        const std::uint64_t begin = std::max(calls.begin[i], from), end = std::min(calls.end[i], to);
        const Trace::Entry& enter = input_.entry(calls.entry[i]);
        if (end > begin) path.by_call[call_name(input_.trace.files[enter.file], enter.event.a)] += end - begin;
      }
    }
    const std::uint64_t known = parts.calls + parts.waiting;
    parts.computing = to - from > known ? to - from - known : 0;
    add(path, {rank, from, to, parts});
  }

  static void add(CriticalPath& path, const PathStretch& stretch) {
    for (PathParts* const sum : {&path.totals, &path.by_rank[stretch.rank]}) {
      sum->computing += stretch.parts.computing;
      sum->calls += stretch.parts.calls;
      sum->waiting += stretch.parts.waiting;
      sum->wire += stretch.parts.wire;
    }
    path.stretches.push_back(stretch);
  }

  const CollectiveInput& input_;
  Lanes calls_;
  Lanes waits_;
  std::map<std::uint32_t, Span> spans_;
  // By destination, in the order of arrival.
  std::map<std::uint32_t, std::vector<Arrival>> arrivals_;
  // Ranks' parts of collective calls; members_ has groups of at least two.
  std::vector<Part> parts_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> members_;
  std::map<std::uint32_t, std::vector<std::size_t>> parts_of_rank_;
};

}  // namespace

std::vector<std::uint32_t> CriticalPath::ranks() const {
  std::vector<std::uint32_t> passed;
  for (const PathStretch& stretch : stretches) {
    if (passed.empty() || passed.back() != stretch.rank) passed.push_back(stretch.rank);
  }
  return passed;
}

CriticalPath critical_path(const CollectiveInput& input, const Timeline& timeline) {
  return Walker(input, timeline).run();
}

}  // namespace margay::command
