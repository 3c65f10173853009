#include "sim/kernel/decision_log.hpp"

#include "portals/base/assert.hpp"
#include "portals/memory/block.hpp"

namespace margay::sim {

namespace {

// Bytes of the memory from the message's offset on. The offset is the sender's, or `used` if the receiver manages it.
std::uint64_t left(std::uint64_t bytes, std::uint64_t used, const portals::Options& options,
                   const portals::Header& header) {
  const std::uint64_t offset = options.offset_by == portals::OffsetBy::sender ? header.offset : used;
  return offset > bytes ? 0 : bytes - offset;
}

// The link that the walk follows from an entry that it passed over for the reason `passed`. From an inactive entry the
// walk follows the no-match link. Meaningless for an entry that ends the walk.
portals::Link followed(const portals::Links& links, portals::Passed passed) {
  if (passed == portals::Passed::no_room) return links.no_room;
  if (passed == portals::Passed::too_small) return links.too_small;
  return links.no_match;
}

}  // namespace

std::optional<std::uint64_t> room_left(const portals::Descriptor& memory, const portals::Options& options,
                                       const portals::Header& header) {
  if (memory.type() == portals::DescriptorType::single_block) {
    const auto& block = static_cast<const portals::SingleBlock&>(memory);
    return left(block.memory().bytes, block.local_offset(), options, header);
  }
  if (memory.type() == portals::DescriptorType::combined_block) {
    const auto& block = static_cast<const portals::CombinedBlock&>(memory);
    return left(block.memory().bytes(), block.local_offset(), options, header);
  }
  return std::nullopt;
}

void DecisionLog::keep(std::size_t limit) {
  limit_ = limit;
  // A smaller limit keeps the latest decisions.
  while (decisions_.size() > limit_) decisions_.pop_front();
  if (limit_ == 0) missed_ = 0;
}

std::optional<Decision> DecisionLog::take() {
  if (decisions_.empty()) return std::nullopt;
  std::optional<Decision> oldest(std::move(decisions_.front()));
  decisions_.pop_front();
  return oldest;
}

void DecisionLog::record_walk(const portals::Header& header, std::span<const portals::Step> steps) {
  MARGAY_ASSERT(on());
  stops_.clear();
  for (const portals::Step& step : steps) {
    Stop stop;
    stop.entry = step.entry;
    stop.passed = step.passed;
    if (step.entry != nullptr) {
      stop.criteria = step.entry->criteria();
      stop.link = followed(step.entry->links(), step.passed);
    }
    // Copied now, because the entry may be gone when the decision is reported.
    const portals::Descriptor& memory = step.entry != nullptr ? *step.entry->memory() : *step.memory;
    const portals::Options& options = step.entry != nullptr ? step.entry->options() : step.options;
    stop.type = memory.type();
    stop.room_bytes = room_left(memory, options, header);
    stops_.push_back(stop);
  }
}

void DecisionLog::record_decision(const portals::Header& header, std::uint64_t sequence, WireId wire,
                                  const portals::Verdict& verdict, bool held) {
  MARGAY_ASSERT(wants(header) && decisions_.size() <= limit_);
  if (decisions_.size() == limit_) {
    decisions_.pop_front();
    ++missed_;
  }
  Decision& decision = decisions_.emplace_back();
  decision.header = header;
  decision.sequence = sequence;
  decision.wire = wire;
  decision.outcome = verdict.outcome;
  decision.reason = verdict.reason;
  decision.held = held;
  decision.saved = verdict.saved;
  decision.acknowledge = verdict.acknowledge;
  if (verdict.descriptor != nullptr) decision.type = verdict.descriptor->type();
  decision.offset = verdict.offset;
  decision.bytes = verdict.landing.bytes();
  decision.row = verdict.row;
  // record_walk() was called for the same message just before, and filled in stops_.
  decision.stops = std::move(stops_);
  stops_.clear();
}

}  // namespace margay::sim
