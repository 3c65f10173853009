#include "portals/memory/block.hpp"

namespace margay::portals {

Passed admit_bytes(std::uint64_t bytes, std::uint64_t used, const Options& options, const Header& header) {
  const std::uint64_t wanted = moved_bytes(header);
  const bool receiver_managed = options.offset_by == OffsetBy::receiver;
  const bool moves = header.kind == Kind::get || has(options.save, Save::body);
  // Full is tested before the direction, as in an independent block, because storage without room is passed over,
  // whatever the message. An empty message always has room.
  if (moves && receiver_managed && wanted > 0 && used == bytes) return Passed::no_room;
  if (!direction_fits(options, header)) return Passed::wrong_direction;
  if (!moves) return Passed::taken;
  const std::uint64_t offset = receiver_managed ? used : header.offset;
  // Tested separately, because the sender may write any offset into its header, and the subtraction below must not
  // wrap.
  if (offset > bytes) return Passed::offset_out_of_range;
  return wanted > bytes - offset ? Passed::too_small : Passed::taken;
}

void reserve_bytes(const Region& memory, std::uint64_t& used, const Options& options, const Header& header,
                   Verdict& verdict) {
  verdict.outcome = header.kind == Kind::get ? Outcome::reply : Outcome::deposit;
  verdict.acknowledge = acknowledges(options, header);
  if (header.kind != Kind::get && !has(options.save, Save::body)) return;
  const bool receiver_managed = options.offset_by == OffsetBy::receiver;
  const std::uint64_t wanted = moved_bytes(header);
  verdict.offset = receiver_managed ? used : header.offset;
  verdict.landing = memory.slice(verdict.offset, wanted);
  verdict.moved_offset = receiver_managed;
  if (receiver_managed) used += wanted;
}

void release_bytes(std::uint64_t& used, const Verdict& verdict) {
  // Only the last reservation can be undone, because the bytes of later reservations are not moved.
  if (verdict.moved_offset && used == verdict.offset + verdict.landing.bytes()) used = verdict.offset;
}

Passed SingleBlock::admit(const Options& options, const Header& header) const {
  return admit_bytes(memory_.bytes, local_offset_, options, header);
}

void SingleBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  // A get saves no body, but the options may save its header.
  const auto kept = header.kind == Kind::get ? static_cast<unsigned>(options.save) & static_cast<unsigned>(Save::header)
                                             : static_cast<unsigned>(options.save);
  verdict.saved = static_cast<Saved>(kept);
  reserve_bytes(Region(memory_), local_offset_, options, header, verdict);
}

void SingleBlock::commit(const Verdict& verdict, const Header& header) {
  if (verdict.saved == Saved::header || verdict.saved == Saved::both) saved_header_ = header;
}

void SingleBlock::give_back(const Verdict& verdict) {
  release_bytes(local_offset_, verdict);
}

Passed CombinedBlock::admit(const Options& options, const Header& header) const {
  return admit_bytes(memory_.bytes(), local_offset_, options, header);
}

void CombinedBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  verdict.saved = header.kind == Kind::get ? Saved::nothing : Saved::body;
  reserve_bytes(memory_, local_offset_, options, header, verdict);
}

// A combined block does not save headers.
void CombinedBlock::commit(const Verdict& /*verdict*/, const Header& /*header*/) {}

void CombinedBlock::give_back(const Verdict& verdict) {
  release_bytes(local_offset_, verdict);
}

}  // namespace margay::portals
