#include "sim/trace/reader.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "sim/trace/checksum.hpp"
#include "sim/trace/event_check.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/tick_scale.hpp"

namespace margay::sim {

using portals::Status;

namespace {

// An open file and how to complain about it.
class Source {
 public:
  explicit Source(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] Status error(const std::string& sentence) const {
    return Status::error("trace: " + path_ + ": " + sentence);
  }

  [[nodiscard]] Status measure(std::uint64_t& bytes) const {
    if (descriptor_ < 0) {
      return error(errno == ELOOP ? "is a symbolic link" : fmt::format("cannot be opened: {}", std::strerror(errno)));
    }
    struct stat about {};
    if (fstat(descriptor_, &about) != 0) return error(fmt::format("cannot be looked at: {}", std::strerror(errno)));
    if (!S_ISREG(about.st_mode)) return error("is no regular file");
    bytes = static_cast<std::uint64_t>(about.st_size);
    return {};
  }

  [[nodiscard]] Status read(void* target, std::uint64_t bytes, std::uint64_t offset) const {
    auto* place = static_cast<std::byte*>(target);
    while (bytes > 0) {
      const ssize_t got = pread(descriptor_, place, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return error(fmt::format("reading at byte {}: {}", offset, std::strerror(errno)));
      if (got == 0) return error(fmt::format("ends at byte {}", offset));
      place += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::uint64_t>(got);
    }
    return {};
  }

 private:
  const std::string& path_;
  int descriptor_;
};

bool known(ClockKind clock) {
  return clock == ClockKind::monotonic || clock == ClockKind::tsc || clock == ClockKind::virtual_ns;
}

// Every field of the header that anything below depends on.
Status check(const Source& source, const TraceHeader& header, std::uint64_t file_bytes) {
  if (header.magic != kTraceMagic) return source.error("is no margay trace (it does not begin with \"mrgtrace\")");
  if (header.version != kTraceVersion) {
    return source.error(fmt::format("is of version {}; this margay reads version {}", header.version, kTraceVersion));
  }
  const auto expect = [&](std::string_view field, std::uint64_t value, std::uint64_t wanted) {
    if (value == wanted) return Status();
    return source.error(fmt::format("is damaged: {} is {}, not {}", field, value, wanted));
  };
  if (Status s = expect("header_bytes", header.header_bytes, kTraceHeaderBytes); !s.ok()) return s;
  if (Status s = expect("event_bytes", header.event_bytes, kTraceEventBytes); !s.ok()) return s;
  if (Status s = expect("names_offset", header.names_offset, kTraceNamesOffset); !s.ok()) return s;
  if (Status s = expect("definitions_offset", header.definitions_offset, kTraceDefinitionsOffset); !s.ok()) return s;
  if (Status s = expect("definitions_bytes", header.definitions_bytes, kTraceDefinitionsBytes); !s.ok()) return s;
  if (Status s = expect("events_offset", header.events_offset, kTraceEventsOffset); !s.ok()) return s;
  if (!known(header.clock)) {
    return source.error(fmt::format("is damaged: clock kind {}", static_cast<std::uint32_t>(header.clock)));
  }
  if (header.rank >= header.size) {
    return source.error(fmt::format("is damaged: rank {} of {}", header.rank, header.size));
  }
  if ((header.flags & kTraceFlagClosed) != 0 && header.checksum == 0) {
    return source.error("is damaged: it is closed and has no checksum");
  }
  if (header.name_count > kMaxTraceNames) {
    return source.error(fmt::format("is damaged: {} names, at most {}", header.name_count, kMaxTraceNames));
  }
  if (header.definitions_used > kTraceDefinitionsBytes) {
    return source.error(fmt::format("is damaged: {} bytes of definitions, at most {}", header.definitions_used,
                                    kTraceDefinitionsBytes));
  }
  if (!std::has_single_bit(header.capacity) || header.capacity > kMaxTraceEvents) {
    return source.error(fmt::format("is damaged: capacity of {} events", header.capacity));
  }
  const std::uint64_t wanted = kTraceEventsOffset + header.capacity * kTraceEventBytes;  // at most 4 GiB: no wrap
  if (file_bytes < wanted) {
    return source.error(fmt::format("was cut off: {} bytes, {} belong to it", file_bytes, wanted));
  }
  return {};
}

void take_header(const TraceHeader& header, TraceFile& file) {
  file.rank = header.rank;
  file.size = header.size;
  file.node = header.node;
  file.process_id = header.process_id;
  file.clock = header.clock;
  file.walks = (header.flags & kTraceFlagWalks) != 0;
  file.closed = header.checksum != 0;
  file.keep_ns = header.keep_ns;
  file.job = header.job;
  file.started_realtime_ns = header.started_realtime_ns;
  file.host = header.host;
  file.first_anchor = header.anchors[0];
  file.last_anchor = header.anchors[header.anchor_count == 0 ? 0 : anchor_slot(header.anchor_count - 1)];
}

template <typename Value>
std::span<const std::byte> bytes_of(const std::vector<Value>& values) {
  return std::as_bytes(std::span<const Value>(values));
}

Status read_names(const Source& source, const TraceHeader& header, TraceChecksum& checksum, TraceFile& file) {
  std::vector<char> table(header.name_count * kTraceNameBytes);
  if (Status status = source.read(table.data(), table.size(), kTraceNamesOffset); !status.ok()) return status;
  checksum.add(bytes_of(table));
  for (std::uint32_t i = 0; i < header.name_count; ++i) {
    const char* begin = table.data() + i * kTraceNameBytes;
    file.names.push_back(printable({begin, strnlen(begin, kTraceNameBytes)}));
  }
  return {};
}

Status read_definitions(const Source& source, const TraceHeader& header, TraceChecksum& checksum, TraceFile& file) {
  std::vector<std::byte> room(header.definitions_used);
  if (Status status = source.read(room.data(), room.size(), kTraceDefinitionsOffset); !status.ok()) return status;
  checksum.add(room);
  const std::size_t good = parse_definitions(room, file.definitions);
  if (good != room.size()) {
    return source.error(fmt::format("is damaged: no definition begins at byte {}", kTraceDefinitionsOffset + good));
  }
  for (std::size_t i = 0; i < file.definitions.size() && !file.closed; ++i) {
    const auto kind = static_cast<std::uint16_t>(file.definitions[i].kind);
    if (kind == 0 || kind >= kDefinitionKindCount || file.definitions[i].time < header.anchors[0].ticks) {
      return source.error(fmt::format("is damaged: definition {} is of kind {} and of tick {}, before the first", i,
                                      kind, file.definitions[i].time));
    }
  }
  file.definitions_lost = header.definitions_lost;
  return {};
}

// Events [from, until), piece by piece: a damaged count may speak of gigabytes that are holes.
Status read_ring(const Source& source, std::uint64_t capacity, std::uint64_t from, std::uint64_t until,
                 TraceChecksum& checksum, std::vector<TraceEvent>& events) {
  constexpr std::uint64_t kPiece = 4096;
  std::vector<TraceEvent> piece;
  for (std::uint64_t number = from; number < until; number += piece.size()) {
    const std::uint64_t slot = number & (capacity - 1);
    piece.resize(std::min({kPiece, until - number, capacity - slot}));
    Status status =
        source.read(piece.data(), piece.size() * kTraceEventBytes, kTraceEventsOffset + slot * kTraceEventBytes);
    if (!status.ok()) return status;
    checksum.add(bytes_of(piece));
    // What no recorder ever wrote; a ring of holes ends here.
    if (piece.front().kind == TraceKind::none) {
      return source.error(fmt::format("is damaged: event {} is of no kind", number));
    }
    events.insert(events.end(), piece.begin(), piece.end());
  }
  return {};
}

Status check_events(const Source& source, const TraceHeader& header, const TraceFile& file) {
  EventCheck check(header);
  std::uint64_t number = file.lost;
  for (const TraceEvent& event : file.events) {
    const std::string fault = check.fault_of(event, number);
    if (!fault.empty()) return source.error(fmt::format("is damaged: event {}: {}", number, fault));
    ++number;
  }
  return {};
}

// The ring from its oldest event to its newest. The writer may go on meanwhile, or have been killed half way through an
// event: what it may have touched since `written` was read is counted as lost.
Status read_events(const Source& source, const TraceHeader& header, TraceChecksum& checksum, TraceFile& file) {
  const std::uint64_t capacity = header.capacity;
  const std::uint64_t until = header.written;
  const std::uint64_t oldest = until > capacity ? until - capacity : 0;
  if (Status status = read_ring(source, capacity, oldest, until, checksum, file.events); !status.ok()) return status;
  std::uint64_t now_written = 0;
  const std::uint64_t place = offsetof(TraceHeader, written);
  if (Status status = source.read(&now_written, sizeof now_written, place); !status.ok()) return status;
  const std::uint64_t from = std::min(lost_events(std::max(now_written, until), capacity, file.closed), until);
  file.written = until;
  file.lost = from;
  file.events.erase(file.events.begin(), file.events.begin() + static_cast<std::ptrdiff_t>(from - oldest));
  if (!file.closed) return check_events(source, header, file);
  if (checksum.value() == header.checksum) return {};
  return source.error(
      "is damaged: its checksum does not fit what it holds; copy it anew from where it was recorded, or record the run "
      "again");
}

Status read_header(const Source& source, TraceHeader& header) {
  std::uint64_t bytes = 0;
  if (Status status = source.measure(bytes); !status.ok()) return status;
  if (bytes < kTraceHeaderBytes) {
    return source.error(fmt::format("was cut off: {} bytes, its header alone has {}", bytes, kTraceHeaderBytes));
  }
  if (Status status = source.read(&header, sizeof header, 0); !status.ok()) return status;
  return check(source, header, bytes);
}

Status read_all(const Source& source, const TraceHeader& header, TraceFile& file) {
  take_header(header, file);
  TraceChecksum checksum(header);
  if (Status status = read_names(source, header, checksum, file); !status.ok()) return status;
  if (Status status = read_definitions(source, header, checksum, file); !status.ok()) return status;
  return read_events(source, header, checksum, file);
}

}  // namespace

std::uint64_t lost_events(std::uint64_t written, std::uint64_t capacity, bool closed) {
  const std::uint64_t in_doubt = closed ? 0 : 1;
  return written >= capacity ? written - capacity + in_doubt : 0;
}

Status read_trace_counts(const std::string& path, TraceCounts& counts) {
  const Source source(path);
  TraceHeader header;
  if (Status status = read_header(source, header); !status.ok()) return status;
  TraceFile file;
  take_header(header, file);
  counts = {header.written,
            lost_events(header.written, header.capacity, file.closed),
            header.capacity,
            header.keep_ns,
            0,
            header.definitions_lost};
  if (counts.lost >= counts.written) return {};
  const auto time_of = [&](std::uint64_t number, std::uint64_t& ns) {
    TraceEvent event;
    const std::uint64_t slot = number & (header.capacity - 1);
    Status status = source.read(&event, sizeof event, kTraceEventsOffset + slot * kTraceEventBytes);
    ns = TickScale(file.clock, file.first_anchor, file.last_anchor).to_ns(event.time);
    return status;
  };
  std::uint64_t oldest_ns = 0, newest_ns = 0;
  if (Status status = time_of(counts.lost, oldest_ns); !status.ok()) return status;
  if (Status status = time_of(counts.written - 1, newest_ns); !status.ok()) return status;
  counts.held_ns = newest_ns > oldest_ns ? newest_ns - oldest_ns : 0;
  return {};
}

bool was_begun(const std::string& path) {
  const Source source(path);
  TraceHeader header;
  std::uint64_t bytes = 0;
  if (!source.measure(bytes).ok() || bytes < sizeof header || !source.read(&header, sizeof header, 0).ok()) return true;
  return header.magic != decltype(header.magic){} || header.version != 0;
}

Status read_trace_file(const std::string& path, TraceFile& file) {
  const Source source(path);
  // Its rank may go on while it is read: lap the reader, close the file, take it up again (sessions). What does not fit
  // then is no damage.
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    file = TraceFile();
    file.path = path;
    TraceHeader header;
    if (Status status = read_header(source, header); !status.ok()) return status;
    if (i == kTries) header.checksum = 0;  // nothing but what a rank that runs is held to
    Status status = read_all(source, header, file);
    TraceHeader now;
    if (status.ok() || i == kTries || !source.read(&now, sizeof now, 0).ok()) return status;
    if (now.checksum == header.checksum && now.written == header.written) return status;
  }
}

std::string call_name(const TraceFile& file, std::uint32_t call) {
  if (call < file.names.size() && !file.names[call].empty()) return file.names[call];
  return fmt::format("call {}", call);
}

}  // namespace margay::sim
