#include "sim/wire/shm/direct_body.hpp"

namespace margay::sim {

void DirectReader::begin(std::uint64_t number, std::uint64_t address, std::span<std::byte> landing,
                         bool help_expected) {
  address_ = address;
  landing_ = landing;
  chunks_ = BodyChunks(landing.size());
  help_expected_ = help_expected;
  finished_ = false;
  read_bytes_ = 0;
  // A body of one chunk is not worth sharing.
  if (chunks_.count() > 1) {
    shared_.open(number, reinterpret_cast<std::uintptr_t>(landing.data()), chunks_.count());
  }
}

ReadFault DirectReader::read(std::uint64_t chunk, std::uint64_t count, std::uint64_t now_ns) {
  const std::uint64_t offset = chunks_.offset(chunk);
  const auto bytes = static_cast<std::size_t>(chunks_.bytes(chunk, count));
  read_bytes_ += bytes;
  const std::span<std::byte> part = landing_.subspan(static_cast<std::size_t>(offset), bytes);
  // To read the test word as well costs 0.25 us, so this is done only when the last proof is too old.
  if (proof_.fresh(now_ns)) return read_memory(*sender_, address_ + offset, part);
  const ReadFault fault = read_tested(*sender_, address_ + offset, part);
  if (fault == ReadFault::none) proof_.record_proof(now_ns);
  return fault;
}

ReadFault DirectReader::step(std::uint64_t budget, std::uint64_t now_ns, std::uint64_t& moved) {
  if (chunks_.count() == 1) {
    finished_ = true;
    moved = landing_.size();
    return read(0, 1, now_ns);
  }
  for (moved = 0; moved < budget;) {
    std::uint64_t chunk = 0;
    // Chunks are claimed one by one only if the sender's help is expected, because each claim then costs a system call
    // of its own, half a microsecond.
    const std::uint64_t count = shared_.claim(help_expected_ ? 1 : chunks_.within(budget - moved), chunk);
    if (count == 0) return look_at_rest(now_ns);
    if (const ReadFault fault = read(chunk, count, now_ns); fault != ReadFault::none) return fault;
    moved += chunks_.bytes(chunk, count);
  }
  return ReadFault::none;
}

// Ends a body when no chunk is left to claim. If the sender is still writing its chunk, the next step() tests again. If
// the sender failed to write its chunk, reads that chunk here.
ReadFault DirectReader::look_at_rest(std::uint64_t now_ns) {
  std::uint64_t failed = 0;
  const SharedBodyReceiver::Remainder remainder = shared_.remainder(failed);
  if (remainder == SharedBodyReceiver::Remainder::coming) return ReadFault::none;
  if (remainder == SharedBodyReceiver::Remainder::damaged) return ReadFault::malformed;
  finished_ = true;
  return remainder == SharedBodyReceiver::Remainder::failed ? read(failed, 1, now_ns) : ReadFault::none;
}

bool DirectWriter::help(std::uint64_t number, std::span<const std::byte> body) {
  const BodyChunks chunks(body.size());
  if (chunks.count() == 1 || !works_) return false;
  std::uint64_t chunk = 0;
  std::uint64_t landing = 0;
  if (!shared_.claim(number, chunks.count(), chunk, landing)) return false;
  // The process number may belong to another process by now, and a write cannot be undone, so the receiver's identity
  // is proven before the write.
  const std::uint64_t now_ns = clock_->now_ns();
  if (!proof_.fresh(now_ns)) {
    works_ = try_reading(*receiver_) == ReadFault::none;
    proof_.record_proof(now_ns);
  }
  const std::uint64_t offset = chunks.offset(chunk);
  const auto part = body.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(chunks.bytes(chunk)));
  works_ = works_ && write_memory(*receiver_, landing + offset, part) == ReadFault::none;
  // Reported after a failure too, because the receiver waits for this chunk, and then reads it itself.
  shared_.report(number, !works_);
  return true;
}

}  // namespace margay::sim
