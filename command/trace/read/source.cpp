#include "command/trace/read/source.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "command/trace/read/mapped_writers.hpp"
#include "sim/base/text.hpp"
#include "sim/trace/checksum.hpp"

namespace margay::command {

using portals::Status;

namespace {

bool known(sim::ClockKind clock) {
  return clock == sim::ClockKind::monotonic || clock == sim::ClockKind::tsc || clock == sim::ClockKind::virtual_ns;
}

}  // namespace

// Folders of traces may belong to others: a link must not lead to another file, and a named pipe in place of the file
// must not block the open.
TraceSource::TraceSource(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {}

TraceSource::~TraceSource() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status TraceSource::error(const std::string& sentence) const {
  return Status::error("trace: " + sim::one_line(path_) + ": " + sentence);
}

Status TraceSource::measure(std::uint64_t& bytes) const {
  if (descriptor_ < 0) {
    return error(errno == ELOOP ? "is a symbolic link" : fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  struct stat about {};
  if (fstat(descriptor_, &about) != 0) return error(fmt::format("cannot be examined: {}", std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) return error("not a regular file");
  bytes = static_cast<std::uint64_t>(about.st_size);
  return {};
}

// pread() leaves no position to restore between reads.
Status TraceSource::read(void* target, std::uint64_t bytes, std::uint64_t offset) const {
  auto* place = static_cast<std::byte*>(target);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, place, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error(fmt::format("reading at byte {}: {}", offset, std::strerror(errno)));
    // The file was cut off after its length was measured.
    if (got == 0) return error(fmt::format("ends at byte {}", offset));
    place += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
  return {};
}

// A read lease is granted only if no process has the file open, or mapped, for writing. If the lease proves nothing, or
// leases are not available, the mappings of all processes are searched.
bool TraceSource::may_be_written() const {
  if (descriptor_ < 0) return false;
  // A process that opens the file for writing breaks the lease, and this process gets a signal: SIGURG, which is
  // ignored by default, instead of SIGIO, which would end it.
  static_cast<void>(fcntl(descriptor_, F_SETSIG, SIGURG));
  const bool given = fcntl(descriptor_, F_SETLEASE, F_RDLCK) == 0;
  if (!given && errno == EAGAIN) return true;
  if (given) static_cast<void>(fcntl(descriptor_, F_SETLEASE, F_UNLCK));
  return !(given && leases_prove(descriptor_)) && is_mapped_for_writing(descriptor_);
}

// Checks the fields that the rank and the launcher write when they close the file. If the rank closed the file, the
// launcher may have added the rank's end.
Status TraceSource::check_end(const sim::TraceHeader& header) const {
  if ((header.flags & sim::kTraceFlagClosed) != 0 && header.checksum == 0) {
    return error("is damaged: it is closed and has no checksum");
  }
  const bool has_end = header.launcher_checksum != 0 || header.end != sim::TraceEnd::none || header.end_value != 0;
  if (header.checksum == 0 || !has_end) return {};
  if (header.launcher_checksum != sim::TraceChecksum(header, sim::TraceCloser::launcher).value()) {
    return error("is damaged: the end of its rank, added after the rank had closed it, does not match its checksum");
  }
  return {};
}

// Checks the fields in this order, because each test relies on the preceding ones.
Status TraceSource::check(const sim::TraceHeader& header, std::uint64_t file_bytes) const {
  if (header.magic == 0) return error("is damaged: its header is blank");
  if (header.magic != sim::kTraceMagic) return error("not a margay trace (it does not begin with \"mrgtrace\")");
  if (header.version != sim::kTraceVersion) {
    return error(fmt::format("is of version {}; this margay reads version {}", header.version, sim::kTraceVersion));
  }
  const auto expect = [&](std::string_view field, std::uint64_t value, std::uint64_t wanted) {
    if (value == wanted) return Status();
    return error(fmt::format("is damaged: {} is {}, not {}", field, value, wanted));
  };
  if (Status s = expect("header_bytes", header.header_bytes, sim::kTraceHeaderBytes); !s.ok()) return s;
  if (Status s = expect("event_bytes", header.event_bytes, sim::kTraceEventBytes); !s.ok()) return s;
  if (Status s = expect("names_offset", header.names_offset, sim::kTraceNamesOffset); !s.ok()) return s;
  if (Status s = expect("definitions_offset", header.definitions_offset, sim::kTraceDefinitionsOffset); !s.ok())
    return s;
  if (Status s = expect("definitions_bytes", header.definitions_bytes, sim::kTraceDefinitionsBytes); !s.ok()) return s;
  if (Status s = expect("events_offset", header.events_offset, sim::kTraceEventsOffset); !s.ok()) return s;
  if (!known(header.clock)) {
    return error(fmt::format("is damaged: clock kind {}", static_cast<std::uint32_t>(header.clock)));
  }
  if (header.rank >= header.size) {
    return error(fmt::format("is damaged: rank {} of {}", header.rank, header.size));
  }
  if (Status s = check_end(header); !s.ok()) return s;
  if (header.name_count > sim::kMaxTraceNames) {
    return error(fmt::format("is damaged: {} names, at most {}", header.name_count, sim::kMaxTraceNames));
  }
  if (header.definitions_used > sim::kTraceDefinitionsBytes) {
    return error(fmt::format("is damaged: {} bytes of definitions, at most {}", header.definitions_used,
                             sim::kTraceDefinitionsBytes));
  }
  // Readers find a slot by masking an event's number, which needs a power of two.
  if (!std::has_single_bit(header.capacity) || header.capacity > sim::kMaxTraceEvents) {
    return error(fmt::format("is damaged: capacity of {} events", header.capacity));
  }
  const std::uint64_t wanted =
      // At most 4 GiB, so the sum cannot overflow.
      sim::kTraceEventsOffset + header.capacity * sim::kTraceEventBytes;
  if (file_bytes < wanted) {
    return error(fmt::format("was cut off: {} bytes instead of {}", file_bytes, wanted));
  }
  return {};
}

Status TraceSource::read_header(sim::TraceHeader& header) const {
  std::uint64_t bytes = 0;
  if (Status status = measure(bytes); !status.ok()) return status;
  if (bytes < sim::kTraceHeaderBytes) {
    return error(fmt::format("was cut off: {} bytes, less than the {} of its header", bytes, sim::kTraceHeaderBytes));
  }
  // A read is not atomic. If the rank reopens its trace meanwhile, the copy may have the old flag with the cleared
  // checksum. The next read cannot, because the rank clears the flag before the checksum.
  constexpr int kReads = 4;
  for (int i = 0; i < kReads; ++i) {
    if (Status status = read(&header, sizeof header, 0); !status.ok()) return status;
    if ((header.flags & sim::kTraceFlagClosed) == 0 || header.checksum != 0) break;
  }
  return check(header, bytes);
}

}  // namespace margay::command
