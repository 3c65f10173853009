#include "sim/trace/close_for.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <vector>

#include "sim/trace/checksum.hpp"
#include "sim/trace/reader.hpp"
#include "sim/trace/source.hpp"

namespace margay::sim {

using portals::Status;

namespace {

// The kernel may give up the mappings of a process a moment after it was reaped.
bool is_written_yet(const TraceSource& source) {
  constexpr int kLooks = 50;
  constexpr timespec kBetween = {0, 2'000'000};
  for (int i = 0; i < kLooks; ++i) {
    if (!source.may_be_written()) return false;
    nanosleep(&kBetween, nullptr);
  }
  return true;
}

Status add_range(const TraceSource& source, std::uint64_t offset, std::uint64_t bytes, TraceChecksum& checksum) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  std::vector<std::byte> piece;
  for (const std::uint64_t end = offset + bytes; offset < end; offset += piece.size()) {
    piece.resize(std::min(kPiece, end - offset));
    if (Status status = source.read(piece.data(), piece.size(), offset); !status.ok()) return status;
    checksum.add(piece);
  }
  return {};
}

// What the rank left, but for the slot after the newest of a full ring, which it may have begun to overwrite.
Status checksum_of(const TraceSource& source, const TraceHeader& header, std::uint64_t& value) {
  TraceChecksum checksum(header, TraceCloser::launcher);
  Status status = add_range(source, kTraceNamesOffset, header.name_count * kTraceNameBytes, checksum);
  if (status.ok()) status = add_range(source, kTraceDefinitionsOffset, header.definitions_used, checksum);
  const std::uint64_t oldest = lost_events(header.written, header.capacity, false);
  for (std::uint64_t number = oldest; status.ok() && number < header.written;) {
    const std::uint64_t slot = number & (header.capacity - 1);
    const std::uint64_t events = std::min(header.written - number, header.capacity - slot);
    status = add_range(source, kTraceEventsOffset + slot * kTraceEventBytes, events * kTraceEventBytes, checksum);
    number += events;
  }
  value = checksum.value();
  return status;
}

class EndWriter {
 public:
  explicit EndWriter(const std::string& path) : descriptor_(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) {}
  EndWriter(const EndWriter&) = delete;
  EndWriter& operator=(const EndWriter&) = delete;
  ~EndWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  template <typename Value>
  [[nodiscard]] bool write(const Value& value, std::size_t offset) const {
    return pwrite(descriptor_, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
  }

 private:
  int descriptor_;
};

// The checksum last: without it the file is one that nobody closed.
Status write_end(const std::string& path, const TraceSource& source, const TraceHeader& header) {
  const EndWriter writer(path);
  if (writer.write(header.end_value, offsetof(TraceHeader, end_value)) &&
      writer.write(header.end, offsetof(TraceHeader, end)) &&
      writer.write(header.launcher_checksum, offsetof(TraceHeader, launcher_checksum))) {
    return {};
  }
  return source.error(fmt::format("cannot be closed for its rank: {}", std::strerror(errno)));
}

}  // namespace

Status close_trace_for(const std::string& path, std::uint64_t job, TraceEnd end, std::uint32_t end_value) {
  const TraceSource source(path);
  if (beginning_of(path) != TraceBeginning::begun) return {};
  TraceHeader header;
  if (Status status = source.read_header(header); !status.ok()) return status;
  if (header.job != job || header.checksum != 0 || header.launcher_checksum != 0) return {};
  if (is_written_yet(source)) {
    return source.error("stays unclosed: a process that its rank started may still write to it");
  }
  // Now nobody does.
  if (Status status = source.read_header(header); !status.ok()) return status;
  if (header.checksum != 0) return {};
  header.end = end;
  header.end_value = end_value;
  if (Status status = checksum_of(source, header, header.launcher_checksum); !status.ok()) return status;
  return write_end(path, source, header);
}

}  // namespace margay::sim
