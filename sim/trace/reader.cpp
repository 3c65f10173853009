#include "sim/trace/reader.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "sim/trace/format.hpp"

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
  file.closed = (header.flags & kTraceFlagClosed) != 0;
  file.keep_ns = header.keep_ns;
  file.job = header.job;
  file.started_realtime_ns = header.started_realtime_ns;
  file.host = header.host;
  file.first_anchor = header.anchors[0];
  file.last_anchor = header.anchors[header.anchor_count == 0 ? 0 : anchor_slot(header.anchor_count - 1)];
}

Status read_names(const Source& source, std::uint32_t count, TraceFile& file) {
  std::vector<char> table(count * kTraceNameBytes);
  if (Status status = source.read(table.data(), table.size(), kTraceNamesOffset); !status.ok()) return status;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* begin = table.data() + i * kTraceNameBytes;
    file.names.push_back(printable({begin, strnlen(begin, kTraceNameBytes)}));
  }
  return {};
}

Status read_definitions(const Source& source, const TraceHeader& header, TraceFile& file) {
  std::vector<std::byte> room(header.definitions_used);
  if (Status status = source.read(room.data(), room.size(), kTraceDefinitionsOffset); !status.ok()) return status;
  const std::size_t good = parse_definitions(room, file.definitions);
  if (good != room.size()) {
    return source.error(fmt::format("is damaged: no definition begins at byte {}", kTraceDefinitionsOffset + good));
  }
  file.definitions_lost = header.definitions_lost;
  return {};
}

// Events [from, until) that are of a kind, piece by piece: a damaged count may speak of gigabytes that are holes.
Status read_ring(const Source& source, std::uint64_t capacity, std::uint64_t from, std::uint64_t until, TraceFile& file,
                 std::vector<std::uint64_t>& numbers) {
  constexpr std::uint64_t kPiece = 4096;
  std::vector<TraceEvent> piece;
  for (std::uint64_t number = from; number < until;) {
    const std::uint64_t slot = number & (capacity - 1);
    piece.resize(std::min({kPiece, until - number, capacity - slot}));
    Status status =
        source.read(piece.data(), piece.size() * kTraceEventBytes, kTraceEventsOffset + slot * kTraceEventBytes);
    if (!status.ok()) return status;
    for (const TraceEvent& event : piece) {
      if (event.kind != TraceKind::none) {
        file.events.push_back(event);
        numbers.push_back(number);
      }
      ++number;
    }
  }
  return {};
}

// The ring from its oldest event to its newest. The writer may go on meanwhile, or have been killed half way through an
// event: what it may have touched since `written` was read is counted as lost.
Status read_events(const Source& source, const TraceHeader& header, TraceFile& file) {
  const std::uint64_t capacity = header.capacity;
  const std::uint64_t until = header.written;
  std::vector<std::uint64_t> numbers;  // of file.events
  const std::uint64_t oldest = until > capacity ? until - capacity : 0;
  if (Status status = read_ring(source, capacity, oldest, until, file, numbers); !status.ok()) return status;
  std::uint64_t now_written = 0;
  const std::uint64_t place = offsetof(TraceHeader, written);
  if (Status status = source.read(&now_written, sizeof now_written, place); !status.ok()) return status;
  now_written = std::max(now_written, until);
  const std::uint64_t in_doubt = file.closed ? 0 : 1;
  std::uint64_t from = now_written >= capacity ? now_written - capacity + in_doubt : 0;
  from = std::min(from, until);

  file.written = until;
  file.lost = from;
  const auto first = std::lower_bound(numbers.begin(), numbers.end(), from) - numbers.begin();
  file.events.erase(file.events.begin(), file.events.begin() + first);
  file.damaged = until - from - file.events.size();
  return {};
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

}  // namespace

Status read_trace_counts(const std::string& path, TraceCounts& counts) {
  TraceHeader header;
  if (Status status = read_header(Source(path), header); !status.ok()) return status;
  counts = {header.written, header.capacity, header.keep_ns};
  return {};
}

Status read_trace_file(const std::string& path, TraceFile& file) {
  file = TraceFile();
  file.path = path;
  const Source source(file.path);
  TraceHeader header;
  if (Status status = read_header(source, header); !status.ok()) return status;
  take_header(header, file);
  if (Status status = read_names(source, header.name_count, file); !status.ok()) return status;
  if (Status status = read_definitions(source, header, file); !status.ok()) return status;
  return read_events(source, header, file);
}

std::string call_name(const TraceFile& file, std::uint32_t call) {
  if (call < file.names.size() && !file.names[call].empty()) return file.names[call];
  return fmt::format("call {}", call);
}

}  // namespace margay::sim
