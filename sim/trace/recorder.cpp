#include "sim/trace/recorder.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/trace/checksum.hpp"
#include "sim/trace/folder.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/own_mapping.hpp"
#include "sim/trace/tick_scale.hpp"

namespace margay::sim {

using portals::Status;

namespace {

// The distance between the first two anchors, in ticks. Anchors are close at first, so that a short run has two that
// differ. The distance grows from 0.1 ms to 0.4 s (at 2.6 GHz).
constexpr std::uint64_t kFirstAnchorDistance = std::uint64_t{1} << 18;

// A volatile store, which the compiler neither reorders with other volatile stores nor merges. So whenever the process
// is killed, every event that `written` counts is whole. After the process's death the processor's order of stores does
// not matter. A reader of a file that is still being written relies on a processor that keeps the order of stores
// (x86).
template <typename Value>
void put(Value& target, Value value) {
  *const_cast<volatile Value*>(&target) = value;
}

void put_event(TraceEvent& slot, const TraceEvent& event, std::uint64_t time) {
  // Stored field by field, because a volatile copy of the whole struct is not possible.
  put(slot.time, time);
  put(slot.kind, event.kind);
  put(slot.wire, event.wire);
  put(slot.protocol, event.protocol);
  put(slot.source, event.source);
  put(slot.destination, event.destination);
  put(slot.header, event.header);
  put(slot.portal, event.portal);
  put(slot.reason, event.reason);
  put(slot.saved, event.saved);
  put(slot.sequence, event.sequence);
  put(slot.match_bits, event.match_bits);
  put(slot.bytes, event.bytes);
  put(slot.detail, event.detail);
  put(slot.a, event.a);
  put(slot.b, event.b);
}

Status check(const RecorderOptions& options) {
  if (options.capacity_events == 0 || options.capacity_events > kMaxTraceEvents) {
    return Status::error(fmt::format("trace of rank {}: a capacity of {} events is not possible; choose 1 to {}",
                                     options.rank, options.capacity_events, kMaxTraceEvents));
  }
  return {};
}

// Touches the ring's pages, because otherwise the first lap would cause a page fault at every 64th event, in the middle
// of the recorded steps. Touches at most 64 MiB, because touched pages take memory even if they are never filled.
void touch([[maybe_unused]] void* ring, [[maybe_unused]] std::uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::uint64_t kMostTouchedBytes = std::uint64_t{64} << 20U;
  // If the operating system refuses this, the first lap is slower.
  static_cast<void>(madvise(ring, std::min(bytes, kMostTouchedBytes), MADV_POPULATE_WRITE));
#endif
}

std::uint64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// The recording process. In virtual time, where equal runs leave equal files, it is 1 for all ranks, which share a
// process; and the fields that would differ between runs and machines (started_realtime_ns, host) are 0.
std::uint32_t recording_process(const Clock& clock) {
  return clock.kind() == ClockKind::virtual_ns ? 1 : static_cast<std::uint32_t>(getpid());
}

}  // namespace

std::uint64_t trace_file_bytes(const RecorderOptions& options) {
  return kTraceEventsOffset + std::bit_ceil(options.capacity_events) * kTraceEventBytes;
}

Recorder::Recorder(const Clock& clock) : clock_(clock) {}

Recorder::~Recorder() {
  close();
}

Status Recorder::open(const std::string& folder, const RecorderOptions& options) {
  if (header_ != nullptr) return Status::error(fmt::format("trace of rank {}: it is already open", options.rank));
  if (Status status = check(options); !status.ok()) return status;
  std::string path;
  void* memory = nullptr;
  if (Status status = map_new_trace_file(folder, options.rank, trace_file_bytes(options), path, memory); !status.ok()) {
    return status;
  }
  if (Status status = keep_from_children(memory, trace_file_bytes(options)); !status.ok()) {
    // The file is removed, because children would share it.
    munmap(memory, trace_file_bytes(options));
    unlink(path.c_str());
    return status;
  }
  path_ = std::move(path);
  start(static_cast<TraceHeader*>(memory), trace_file_bytes(options), options);
  touch(static_cast<std::byte*>(memory) + kTraceEventsOffset, trace_file_bytes(options) - kTraceEventsOffset);
  return {};
}

Status Recorder::open_memory(const RecorderOptions& options) {
  if (header_ != nullptr) return Status::error(fmt::format("trace of rank {}: it is already open", options.rank));
  if (Status status = check(options); !status.ok()) return status;
  const std::uint64_t bytes = trace_file_bytes(options);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status::error(fmt::format("trace of rank {}: cannot allocate {} bytes of memory: {}", options.rank, bytes,
                                     std::strerror(errno)));
  }
  start(static_cast<TraceHeader*>(memory), bytes, options);
  return {};
}

void Recorder::start(TraceHeader* header, std::uint64_t mapped_bytes, const RecorderOptions& options) {
  header_ = header;
  mapped_bytes_ = mapped_bytes;
  ring_ = reinterpret_cast<TraceEvent*>(reinterpret_cast<std::byte*>(header) + kTraceEventsOffset);
  mask_ = std::bit_ceil(options.capacity_events) - 1;
  written_ = 0;
  // The kind is stored in counter_, which saves a virtual call for each event.
  counter_ = clock_.kind() == ClockKind::tsc;
  walk_steps_wanted_ = options.walk_steps;

  header->version = kTraceVersion;
  header->header_bytes = kTraceHeaderBytes;
  header->event_bytes = kTraceEventBytes;
  header->clock = clock_.kind();
  header->rank = options.rank;
  header->size = options.size;
  header->node = options.node;
  header->process_id = recording_process(clock_);
  header->names_offset = kTraceNamesOffset;
  header->events_offset = kTraceEventsOffset;
  header->definitions_offset = kTraceDefinitionsOffset;
  header->definitions_bytes = kTraceDefinitionsBytes;
  header->capacity = mask_ + 1;
  if (clock_.kind() != ClockKind::virtual_ns) {
    header->started_realtime_ns = realtime_ns();
    header->host = host_identity();
  }
  header->keep_ns = options.keep_ns;
  header->job = options.job;
  header->flags = (options.walk_steps != 0 ? kTraceFlagWalks : 0) |
                  (options.places > options.size ? options.places << kTracePlacesShift : 0);
  anchor_distance_ticks_ = kFirstAnchorDistance;
  refresh_anchor(now_ticks());
  // The magic is stored last, because readers treat a file without it as never begun.
  put(header->magic, kTraceMagic);
  resume();
}

void Recorder::set_call_names(std::span<const std::string_view> names) {
  if (header_ == nullptr || suspended_) return;
  // Names that are counted are not changed, because the file may be read at the same time, or the rank may die.
  const std::size_t count = std::min<std::size_t>(names.size(), kMaxTraceNames);
  char* table = reinterpret_cast<char*>(header_) + kTraceNamesOffset;
  for (std::size_t i = header_->name_count; i < count; ++i) {
    std::array<std::uint64_t, kTraceNameBytes / sizeof(std::uint64_t)> words{};
    std::memcpy(words.data(), names[i].data(), std::min<std::size_t>(names[i].size(), kTraceNameBytes - 1));
    auto* target = reinterpret_cast<std::uint64_t*>(table + i * kTraceNameBytes);
    for (const std::uint64_t word : words) put(*target++, word);
    put(header_->name_count, static_cast<std::uint32_t>(i + 1));
  }
}

void Recorder::define(DefinitionKind kind, std::uint64_t number, std::uint64_t value, std::string_view text,
                      std::uint64_t since) {
  if (header_ == nullptr || suspended_) return;
  text = text.substr(0, kMaxDefinitionText);
  DefinitionHead head;
  head.bytes = static_cast<std::uint32_t>((sizeof head + text.size() + 7) / 8 * 8);
  head.kind = kind;
  head.text_bytes = static_cast<std::uint16_t>(text.size());
  head.time = since != 0 ? since : now_ticks();
  head.number = number;
  head.value = value;
  const std::uint32_t used = header_->definitions_used;
  // The lost definition is counted, so that readers can report that names are missing.
  if (head.bytes > kTraceDefinitionsBytes - used) return put(header_->definitions_lost, header_->definitions_lost + 1);
  std::vector<std::uint64_t> words(head.bytes / 8);
  std::memcpy(words.data(), &head, sizeof head);
  if (!text.empty()) std::memcpy(reinterpret_cast<std::byte*>(words.data()) + sizeof head, text.data(), text.size());
  auto* target =
      reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(header_) + kTraceDefinitionsOffset + used);
  for (const std::uint64_t word : words) put(*target++, word);
  // The length is stored after the definition, so that a reader sees only whole definitions.
  put(header_->definitions_used, used + head.bytes);
}

// The checksum covers the ring from its oldest event on. The flag is stored last, so a reader of a closed file finds
// the checksum and everything that it covers.
void Recorder::seal() {
  const auto* const file = reinterpret_cast<const std::byte*>(header_);
  refresh_anchor(now_ticks());
  TraceChecksum checksum(*header_, TraceCloser::rank);
  checksum.add({file + kTraceNamesOffset, header_->name_count * kTraceNameBytes});
  checksum.add({file + kTraceDefinitionsOffset, header_->definitions_used});
  const std::span events(ring_, std::min(written_, mask_ + 1));
  const std::size_t oldest = written_ > mask_ ? written_ & mask_ : 0;
  checksum.add(std::as_bytes(events.subspan(oldest)));
  checksum.add(std::as_bytes(events.first(oldest)));
  put(header_->checksum, checksum.value());
  put(header_->flags, header_->flags | kTraceFlagClosed);
}

// A run of many ranks would otherwise fill a disk with zeros: a rank's ring has 4 MiB by default.
void Recorder::release_unused() {
  const auto release = [this](std::uint64_t from, std::uint64_t to) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t first = (from + page - 1) / page * page;
    // A file system without holes keeps the blocks.
    if (first < to) static_cast<void>(madvise(reinterpret_cast<std::byte*>(header_) + first, to - first, MADV_REMOVE));
  };
  release(kTraceDefinitionsOffset + header_->definitions_used, kTraceEventsOffset);
  release(kTraceEventsOffset + std::min(written_, mask_ + 1) * kTraceEventBytes, mapped_bytes_);
}

void Recorder::close() {
  if (header_ == nullptr) return;
  if (is_own()) {
    // A suspended file is sealed already; a child must not seal its parent's.
    if (!suspended_) seal();
    if (!path_.empty()) release_unused();
  }
  remove_own_pages(header_);
  munmap(header_, mapped_bytes_);
  suspended_ = false;
  pause();
  header_ = nullptr;
  ring_ = nullptr;
  path_.clear();
}

void Recorder::suspend() {
  if (header_ == nullptr || suspended_ || !is_own()) return;
  seal();
  suspended_ = true;
  pause();
}

void Recorder::reopen() {
  // A file that close() has sealed is unmapped and stays complete.
  if (header_ == nullptr || !suspended_) return;
  // The flag is cleared first, because between the two stores the file must not seem closed with a checksum of 0.
  put(header_->flags, header_->flags & ~kTraceFlagClosed);
  put(header_->checksum, std::uint64_t{0});
  suspended_ = false;
  resume();
}

// In a forked child, private zero pages are in the file's place (own_mapping), so process_id is 0.
bool Recorder::is_own() const {
  return header_->process_id == recording_process(clock_);
}

void Recorder::resume() {
  on_ = header_ != nullptr;
  walk_steps_ = on_ ? walk_steps_wanted_ : 0;
  observing_ = on_ || observing_wanted_;
}

void Recorder::record(const TraceEvent& event, std::uint64_t stamp) {
  MARGAY_ASSERT(ring_ != nullptr);
  put_event(ring_[written_ & mask_], event, stamp);
  // The count is stored after the event, so that a reader after a crash finds only whole events.
  put(header_->written, ++written_);
  if (stamp >= next_anchor_ticks_) [[unlikely]] {
    refresh_anchor(stamp);
  }
}

void Recorder::refresh_anchor(std::uint64_t now_ticks) {
  const std::uint64_t number = header_->anchor_count;
  const ClockAnchor anchor = take_anchor(clock_);
  ClockAnchor& slot = header_->anchors[anchor_slot(number)];
  put(slot.ticks, anchor.ticks);
  put(slot.time_ns, anchor.time_ns);
  // The count is stored after the anchor, because a reader uses only anchors that are counted.
  put(header_->anchor_count, number + 1);
  next_anchor_ticks_ = now_ticks + anchor_distance_ticks_;
  anchor_distance_ticks_ = std::min(anchor_distance_ticks_ * 2, kMostAnchorDistance);
}

std::vector<TraceEvent> Recorder::events() const {
  MARGAY_ASSERT(ring_ != nullptr);
  std::vector<TraceEvent> result;
  const std::uint64_t kept = std::min(written_, mask_ + 1);
  result.reserve(kept);
  const TickScale scale(clock_.kind(), header_->anchors[0], take_anchor(clock_));
  for (std::uint64_t i = written_ - kept; i < written_; ++i) {
    result.push_back(ring_[i & mask_]);
    result.back().time = scale.to_ns(result.back().time);
  }
  return result;
}

std::vector<Definition> Recorder::definitions() const {
  MARGAY_ASSERT(header_ != nullptr);
  const auto* const room = reinterpret_cast<const std::byte*>(header_) + kTraceDefinitionsOffset;
  std::vector<Definition> result;
  static_cast<void>(parse_definitions({room, header_->definitions_used}, result));
  const TickScale scale(clock_.kind(), header_->anchors[0], take_anchor(clock_));
  for (Definition& definition : result) definition.time = scale.to_ns(definition.time);
  return result;
}

void Recorder::clear() {
  MARGAY_ASSERT(header_ != nullptr);
  written_ = 0;
  put(header_->written, written_);
}

}  // namespace margay::sim
