#include "command/trace/story/event_text_cache.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

namespace margay::command {

namespace {

// Kinds whose texts depend only on the event and on the definitions before it. Kinds with a number that grows from
// event to event would never hit the cache, and texts that depend on other events (a walk, a collective call) would be
// wrong.
bool repeats(const sim::TraceEvent& event) {
  // Words on other portals depend on calls and windows of other events.
  if (event.portal != portals::kNoPortal && event.portal != mpi_adi::kReceivePortal) return false;
  switch (event.kind) {
    case sim::TraceKind::send_begin:
    case sim::TraceKind::kernel_send:
    case sim::TraceKind::kernel_arrive:
    case sim::TraceKind::kernel_deposit:
    case sim::TraceKind::post_receive:
    case sim::TraceKind::search_hit:
    case sim::TraceKind::search_miss:
    case sim::TraceKind::receive_complete:
    case sim::TraceKind::request_complete:
    case sim::TraceKind::mpi_enter:
    case sim::TraceKind::mpi_leave:
      return true;
    default:
      return false;
  }
}

// Kinds whose texts contain `detail`. In the others it grows from event to event and would defeat the cache.
bool shows_detail(sim::TraceKind kind) {
  switch (kind) {
    case sim::TraceKind::kernel_deposit:
    case sim::TraceKind::post_receive:
    case sim::TraceKind::mpi_enter:
    case sim::TraceKind::mpi_leave:
      return true;
    default:
      return false;
  }
}

}  // namespace

// The event has no padding, so all of its bytes count.
std::size_t EventTextCache::Hash::operator()(const Key& key) const {
  std::uint64_t hash = key.file;
  const auto words = std::bit_cast<std::array<std::uint64_t, sim::kTraceEventBytes / sizeof(std::uint64_t)>>(key.event);
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

// The number of definitions at or before `time_ns`.
std::uint64_t EventTextCache::definitions_before(std::uint64_t time_ns) {
  if (time_ns < latest_.from || time_ns >= latest_.until) {
    const std::vector<std::uint64_t>& all = event_text_.definition_times();
    const auto later = std::upper_bound(all.begin(), all.end(), time_ns);
    latest_.from = later == all.begin() ? 0 : *(later - 1);
    latest_.until = later == all.end() ? std::numeric_limits<std::uint64_t>::max() : *later;
    latest_.number = static_cast<std::uint64_t>(later - all.begin());
  }
  return latest_.number;
}

template <typename Format>
const std::string& EventTextCache::cached(Texts& texts, const Trace::Entry& entry, const Format& format) {
  // A full cache is emptied, which costs less than an LRU order, and frequent events refill it soon.
  constexpr std::size_t kMost = 4096;
  Key key{entry.event, entry.file};
  key.event.time = definitions_before(entry.event.time);
  key.event.sequence = entry.event.sequence == 0 ? 0 : 1;
  if (!shows_detail(key.event.kind)) key.event.detail = 0;
  if (const auto found = texts.find(key); found != texts.end()) return found->second;
  if (texts.size() >= kMost) texts.clear();
  return texts.emplace(key, format()).first->second;
}

std::string EventTextCache::of(const Trace::Entry& entry, const sim::TraceEvent* arrival) {
  // If a definition's number changes its meaning during the run, the text depends on the time at which the message was
  // sent, which is not in the key.
  if (!repeats(entry.event) || event_text_.by_sending()) return event_text_.of(entry, arrival);
  return cached(events_, entry, [&] { return event_text_.of(entry, arrival); });
}

std::string EventTextCache::message(const Trace::Entry& entry) {
  if (!repeats(entry.event) || event_text_.by_sending()) return event_text_.message(entry);
  return cached(messages_, entry, [&] { return event_text_.message(entry); });
}

}  // namespace margay::command
