#include "command/trace/read/close_for.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <vector>

#include "command/trace/read/reader.hpp"
#include "command/trace/read/source.hpp"
#include "sim/trace/checksum.hpp"

namespace margay::command {

using portals::Status;

namespace {

// Whether a writer remains. The operating system may release the mappings of a process shortly after it was reaped, so
// the test is repeated for up to 0.1 s.
bool is_written_yet(const TraceSource& source) {
  constexpr int kLooks = 50;
  constexpr timespec kBetween = {0, 2'000'000};
  for (int i = 0; i < kLooks; ++i) {
    if (!source.may_be_written()) return false;
    nanosleep(&kBetween, nullptr);
  }
  return true;
}

// Reads in pieces: a trace may be larger than memory that the launcher should use.
Status add_range(const TraceSource& source, std::uint64_t offset, std::uint64_t bytes, sim::TraceChecksum& checksum) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  std::vector<std::byte> piece;
  for (const std::uint64_t end = offset + bytes; offset < end; offset += piece.size()) {
    piece.resize(std::min(kPiece, end - offset));
    if (Status status = source.read(piece.data(), piece.size(), offset); !status.ok()) return status;
    checksum.add(piece);
  }
  return {};
}

// The checksum over what the rank left. In a full ring the slot after the newest event is excluded, since the rank may
// have begun to overwrite it.
Status checksum_of(const TraceSource& source, const sim::TraceHeader& header, std::uint64_t& value) {
  sim::TraceChecksum checksum(header, sim::TraceCloser::launcher);
  Status status = add_range(source, sim::kTraceNamesOffset, header.name_count * sim::kTraceNameBytes, checksum);
  if (status.ok()) status = add_range(source, sim::kTraceDefinitionsOffset, header.definitions_used, checksum);
  const std::uint64_t oldest = lost_events(header.written, header.capacity, false);
  for (std::uint64_t number = oldest; status.ok() && number < header.written;) {
    const std::uint64_t slot = number & (header.capacity - 1);
    const std::uint64_t events = std::min(header.written - number, header.capacity - slot);
    status = add_range(source, sim::kTraceEventsOffset + slot * sim::kTraceEventBytes, events * sim::kTraceEventBytes,
                       checksum);
    number += events;
  }
  value = checksum.value();
  return status;
}

// A second descriptor, for writing: a lease needs one that is open for reading only.
class EndWriter {
 public:
  explicit EndWriter(const std::string& path) : descriptor_(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) {}
  EndWriter(const EndWriter&) = delete;
  EndWriter& operator=(const EndWriter&) = delete;
  ~EndWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  // The header's bytes [offset, offset + bytes).
  [[nodiscard]] bool write(const sim::TraceHeader& header, std::size_t offset, std::size_t bytes) const {
    const auto* const from = reinterpret_cast<const std::byte*>(&header) + offset;
    return pwrite(descriptor_, from, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

 private:
  int descriptor_;
};

constexpr std::size_t kSealOffset = offsetof(sim::TraceHeader, launcher_checksum);
constexpr std::size_t kEndOffset = offsetof(sim::TraceHeader, end);
constexpr std::size_t kEndBytes = sizeof(sim::TraceHeader::end) + sizeof(sim::TraceHeader::end_value);
static_assert(kSealOffset + sizeof(sim::TraceHeader::launcher_checksum) == kEndOffset);
static_assert(kEndOffset + sizeof(sim::TraceHeader::end) == offsetof(sim::TraceHeader, end_value));

// Writes the end first and the checksum last: until then the file counts as not closed. In a file that its rank closed,
// one call writes end and checksum, because there an end without a checksum counts as damage.
Status write_end(const std::string& path, const TraceSource& source, const sim::TraceHeader& header) {
  const EndWriter writer(path);
  const bool at_once = header.checksum != 0;
  if (writer.is_open() &&
      (at_once ? writer.write(header, kSealOffset, sizeof(sim::TraceHeader::launcher_checksum) + kEndBytes)
               : writer.write(header, kEndOffset, kEndBytes) &&
                     writer.write(header, kSealOffset, sizeof(sim::TraceHeader::launcher_checksum)))) {
    return {};
  }
  return source.error(fmt::format("cannot be closed for its rank: {}", std::strerror(errno)));
}

// Sets the launcher's checksum. In a file that its rank closed, the launcher's checksum covers the header alone,
// because the rank's own checksum covers the remainder.
Status seal(const TraceSource& source, sim::TraceHeader& header) {
  if (header.checksum == 0) return checksum_of(source, header, header.launcher_checksum);
  header.launcher_checksum = sim::TraceChecksum(header, sim::TraceCloser::launcher).value();
  return {};
}

}  // namespace

// Tests first without waiting, since most files need nothing.
Status close_trace_for(const std::string& path, std::uint64_t job, const ProcessEnd& end) {
  const TraceSource source(path);
  if (beginning_of(path) != TraceBeginning::begun) return {};
  sim::TraceHeader header;
  if (Status status = source.read_header(header); !status.ok()) return status;
  const auto is_done = [&] {
    // The launcher's child may be a shell that started the rank; then the rank's own end is unknown.
    const bool has_end = header.process_id == end.process_id;
    const bool ended_well = end.end == sim::TraceEnd::exit_status && end.value == 0;
    return header.job != job || header.launcher_checksum != 0 || (header.checksum != 0 && (!has_end || ended_well));
  };
  if (is_done()) return {};
  if (is_written_yet(source)) {
    return source.error("stays unclosed: a process that its rank started may still write to it");
  }
  // The writer may have changed the header before it ended, so it is read and judged again.
  if (Status status = source.read_header(header); !status.ok()) return status;
  if (is_done()) return {};
  if (header.process_id == end.process_id) {
    header.end = end.end;
    header.end_value = end.value;
  }
  if (Status status = seal(source, header); !status.ok()) return status;
  return write_end(path, source, header);
}

}  // namespace margay::command
