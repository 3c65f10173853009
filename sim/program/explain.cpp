#include "sim/program/explain.hpp"

#include <fmt/format.h>

namespace margay::sim {

using portals::Kind;
using portals::Link;
using portals::Outcome;
using portals::Passed;
using portals::Saved;

namespace {

// The first line: the message, by its kind.
std::string message(const Decision& decision, const Names& names) {
  const portals::Header& header = decision.header;
  std::string text = fmt::format("{} from rank {} to {}, match bits 0x{:x}", name(header.kind), header.source.rank,
                                 names.portal(header.portal), header.match_bits);
  switch (header.kind) {
    case Kind::get:
      return text + fmt::format(", requests {} bytes at offset {}\n", header.return_length, header.offset);
    case Kind::acknowledgment:
      return text +
             fmt::format(": saved {}, {} bytes\n", name(static_cast<Saved>(header.user_data[0])), header.return_length);
    case Kind::put:
    case Kind::reply:
      break;
  }
  return text + fmt::format(", {} bytes for offset {}\n", header.length, header.offset);
}

// One of the criteria that the message does not meet: the match bits, otherwise the source rank, otherwise the group.
std::string mismatch(const portals::Criteria& criteria, const portals::Header& header) {
  const portals::MatchBits differ = (header.match_bits ^ criteria.match_bits) & ~criteria.ignore_bits;
  if (differ != 0) {
    return fmt::format("no match, it accepts bits 0x{:x} (ignoring 0x{:x}) and 0x{:x} differ", criteria.match_bits,
                       criteria.ignore_bits, differ);
  }
  if (criteria.source_rank != portals::kAnyRank && criteria.source_rank != header.source.rank) {
    return fmt::format("no match, it accepts source rank {} only", criteria.source_rank);
  }
  return fmt::format("no match, it accepts source group {} only", criteria.source_group);
}

// The words depend on the type, because each type is full in its own way.
std::string_view no_room(portals::DescriptorType type) {
  if (type == portals::DescriptorType::independent_block) return "no room, no buffer is available";
  if (type == portals::DescriptorType::dynamic_block) return "no room, the heap has no free block that is large enough";
  return "no room, it is full";
}

std::string why(const Stop& stop, const portals::Header& header) {
  const std::uint64_t wanted = header.kind == Kind::get ? header.return_length : header.length;
  switch (stop.passed) {
    case Passed::inactive:
      return "inactive, its criteria are not compared";
    case Passed::no_match:
      return mismatch(stop.criteria, header);
    case Passed::no_room:
      return std::string(no_room(stop.type));
    case Passed::too_small:
      return stop.room_bytes ? fmt::format("too small, {} bytes do not fit in {}", wanted, *stop.room_bytes)
                             : fmt::format("too small, {} bytes do not fit in the next buffer", wanted);
    case Passed::wrong_direction:
      return header.kind == Kind::get ? "wrong direction, it is written to and not read from"
                                      : "wrong direction, it is read from and not written to";
    case Passed::offset_out_of_range:
      return fmt::format("offset out of range, {} is past its end", header.offset);
    case Passed::taken:
      break;
  }
  return stop.entry != nullptr ? "taken, it matches and has room" : "taken, it has room";
}

// The link by which the walk continues after an entry; empty when it ends there.
std::string onward(const Stop& stop, const Names& names) {
  std::string_view link;
  switch (stop.passed) {
    case Passed::inactive:
    case Passed::no_match:
      link = "no-match";
      break;
    case Passed::no_room:
      link = "no-room";
      break;
    case Passed::too_small:
      link = "too-small";
      break;
    case Passed::wrong_direction:
    case Passed::offset_out_of_range:
    case Passed::taken:
      return {};
  }
  switch (stop.link.to) {
    case Link::To::next:
      return fmt::format("; {} link: next", link);
    case Link::To::drop:
      return fmt::format("; {} link: drop", link);
    case Link::To::entry:
      break;
  }
  return fmt::format("; {} link: {}", link, names.entry(stop.link.entry));
}

// One stop's line; a portal without a match list has no entry and no link.
std::string line(const Stop& stop, const portals::Header& header, const Names& names) {
  if (stop.entry == nullptr) return fmt::format("  the portal's {}: {}\n", name(stop.type), why(stop, header));
  const std::string_view article = stop.type == portals::DescriptorType::independent_block ? "an" : "a";
  return fmt::format("  {}, {} {}: {}{}\n", names.entry(stop.entry), article, name(stop.type), why(stop, header),
                     onward(stop, names));
}

// The place in the descriptor that took the message.
std::string range_text(const Decision& decision) {
  switch (decision.type) {
    case portals::DescriptorType::independent_block:
      return fmt::format("buffer {}", decision.row);
    case portals::DescriptorType::dynamic_block:
      return "the heap";
    case portals::DescriptorType::single_block:
    case portals::DescriptorType::combined_block:
      break;
  }
  return fmt::format("offset {}", decision.offset);
}

std::string verdict(const Decision& decision) {
  switch (decision.outcome) {
    case Outcome::reply:
      return fmt::format("  => reply: {} bytes from {}\n", decision.bytes, range_text(decision));
    case Outcome::deposit: {
      const bool body = decision.saved == Saved::body || decision.saved == Saved::both;
      // A row is named even when only the header was saved, because the header is in it.
      const bool row = decision.type == portals::DescriptorType::independent_block;
      const bool heap = decision.type == portals::DescriptorType::dynamic_block;
      const std::string preposition = row || heap ? " in " : " at ";
      return fmt::format(
          "  => deposit: saved {}{}{}{}\n", name(decision.saved), body ? fmt::format(", {} bytes", decision.bytes) : "",
          body || row ? preposition + range_text(decision) : "", decision.acknowledge ? "; acknowledged" : "");
    }
    case Outcome::drop:
      break;
  }
  return fmt::format("  => {}: {}\n", decision.held ? "held on the wire" : "dropped", name(decision.reason));
}

}  // namespace

const std::string* Names::name_of(const portals::MatchEntry& entry) const {
  const auto found = entries_.find(&entry);
  // An entry that is not marked is a new one at a reused address.
  return found == entries_.end() || !entry.named() ? nullptr : &found->second;
}

std::string Names::entry(const portals::MatchEntry* entry) const {
  const auto found = entries_.find(entry);
  return found == entries_.end() ? "an entry" : "entry \"" + found->second + '"';
}

std::string Names::portal(portals::PortalIndex portal) const {
  const auto found = portals_.find(portal);
  return fmt::format("portal {}", portal) + (found == portals_.end() ? "" : " (" + found->second + ')');
}

std::string explain(const Decision& decision, const Names& names) {
  std::string text = message(decision, names);
  for (const Stop& stop : decision.stops) text += line(stop, decision.header, names);
  return text + verdict(decision);
}

}  // namespace margay::sim
