#include "sim/wire/direct_body.hpp"

namespace margay::sim {

ReadFault DirectReader::begin(const ReadOffer& offer, std::span<std::byte> landing) {
  if (offer.number % 2 == 0 || offer.bytes != landing.size()) return ReadFault::malformed;
  address_ = offer.address;
  landing_ = landing;
  chunks_ = BodyChunks(landing.size());
  finished_ = false;
  if (chunks_.count() > 1) {
    shared_.open(offer.number, reinterpret_cast<std::uintptr_t>(landing.data()), chunks_.count());
  }
  return ReadFault::none;
}

ReadFault DirectReader::read(std::uint64_t chunk) {
  const std::uint64_t offset = chunks_.offset(chunk);
  const auto bytes = static_cast<std::size_t>(chunks_.bytes(chunk));
  const std::span<std::byte> part = landing_.subspan(static_cast<std::size_t>(offset), bytes);
  return chunk == 0 ? read_tested(*sender_, address_, part) : read_memory(*sender_, address_ + offset, part);
}

ReadFault DirectReader::step(std::uint64_t budget, std::uint64_t& moved) {
  if (chunks_.count() == 1) {
    finished_ = true;
    moved = landing_.size();
    return read(0);
  }
  for (moved = 0; moved < budget;) {
    std::uint64_t chunk = 0;
    if (!shared_.claim(chunk)) return look_at_rest();
    if (const ReadFault fault = read(chunk); fault != ReadFault::none) return fault;
    moved += chunks_.bytes(chunk);
  }
  return ReadFault::none;
}

// Nothing is left to claim.
ReadFault DirectReader::look_at_rest() {
  std::uint64_t failed = 0;
  switch (shared_.rest(failed)) {
    case SharedBodyReceiver::Rest::coming:
      return ReadFault::none;
    case SharedBodyReceiver::Rest::failed:
      finished_ = true;
      return read(failed);
    case SharedBodyReceiver::Rest::done:
      break;
  }
  finished_ = true;
  return ReadFault::none;
}

bool DirectWriter::help(std::uint64_t number, std::span<const std::byte> body) {
  const BodyChunks chunks(body.size());
  if (chunks.count() == 1 || !works_) return false;
  std::uint64_t chunk = 0;
  std::uint64_t landing = 0;
  if (!shared_.claim(number, chunks.count(), chunk, landing)) return false;
  // Once for each body: the number may be another process's by now, and what is written there is not taken back.
  if (tested_ != number) works_ = try_reading(*receiver_) == ReadFault::none;
  tested_ = number;
  const std::uint64_t offset = chunks.offset(chunk);
  const auto part = body.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(chunks.bytes(chunk)));
  works_ = works_ && write_memory(*receiver_, landing + offset, part) == ReadFault::none;
  shared_.report(number, !works_);
  return true;
}

}  // namespace margay::sim
