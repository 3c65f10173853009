#include "sim/program/explain.hpp"

#include <fmt/format.h>

namespace margay::sim {

using portals::Kind;
using portals::Link;
using portals::Outcome;
using portals::Passed;
using portals::Saved;

namespace {

std::string message(const Decision& decision, const Names& names) {
  const portals::Header& header = decision.header;
  std::string text = fmt::format("{} from rank {} to {}, match bits 0x{:x}", name(header.kind), header.source.rank,
                                 names.portal(header.portal), header.match_bits);
  switch (header.kind) {
    case Kind::get:
      return text + fmt::format(", wants {} bytes at offset {}\n", header.return_length, header.offset);
    case Kind::acknowledgment:
      return text +
             fmt::format(": saved {}, {} bytes\n", name(static_cast<Saved>(header.user_data[0])), header.return_length);
    case Kind::put:
    case Kind::reply:
      break;
  }
  return text + fmt::format(", {} bytes for offset {}\n", header.length, header.offset);
}

// Which of the criteria the message does not meet.
std::string mismatch(const portals::Criteria& criteria, const portals::Header& header) {
  const portals::MatchBits differ = (header.match_bits ^ criteria.match_bits) & ~criteria.ignore_bits;
  if (differ != 0) {
    return fmt::format("it asks for bits 0x{:x} but for 0x{:x}, and 0x{:x} differ", criteria.match_bits,
                       criteria.ignore_bits, differ);
  }
  if (criteria.source_rank != portals::kAnyRank && criteria.source_rank != header.source.rank) {
    return fmt::format("it asks for source rank {}", criteria.source_rank);
  }
  return fmt::format("it asks for source group {}", criteria.source_group);
}

std::uint64_t wanted_bytes(const portals::Header& header) {
  return header.kind == Kind::get ? header.return_length : header.length;
}

std::string why(const Stop& stop, const portals::Header& header) {
  switch (stop.passed) {
    case Passed::inactive:
      return "it is inactive";
    case Passed::no_match:
      return mismatch(stop.criteria, header);
    case Passed::no_room:
      return stop.type == portals::DescriptorType::independent_block ? "no buffer is available"
             : stop.type == portals::DescriptorType::dynamic_block   ? "the heap has no block that is large enough"
                                                                     : "it is full";
    case Passed::too_small:
      return fmt::format("{} bytes", wanted_bytes(header)) +
             (stop.room_bytes ? fmt::format(" do not fit in {}", *stop.room_bytes) : " do not fit in its buffer");
    case Passed::wrong_direction:
      return header.kind == Kind::get ? "it cannot be read from" : "it cannot be written to";
    case Passed::offset_out_of_range:
      return fmt::format("offset {} is past its end", header.offset);
    case Passed::taken:
      break;
  }
  return "it matches and has room";
}

std::string where(const Stop& stop, const Names& names) {
  switch (stop.passed) {
    case Passed::taken:
      return {};
    case Passed::wrong_direction:
    case Passed::offset_out_of_range:
      return "; no link leads on from that";
    default:
      break;
  }
  const std::string_view link = stop.passed == Passed::no_room     ? "no-room"
                                : stop.passed == Passed::too_small ? "too-small"
                                                                   : "no-match";
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

std::string line(const Stop& stop, const Decision& decision, const Names& names) {
  if (!stop.has_entry) {
    return fmt::format("  the portal's own descriptor: {}\n",
                       stop.passed == Passed::taken ? "it has room" : std::string(name(stop.passed)));
  }
  return fmt::format("  {}: {}, {}{}\n", names.entry(stop.entry), name(stop.passed), why(stop, decision.header),
                     where(stop, names));
}

std::string place(const Decision& decision) {
  switch (decision.type) {
    case portals::DescriptorType::independent_block:
      return fmt::format("buffer {}", decision.row);
    case portals::DescriptorType::dynamic_block:
      return "the heap";
    default:
      return fmt::format("offset {}", decision.offset);
  }
}

std::string verdict(const Decision& decision) {
  switch (decision.outcome) {
    case Outcome::reply:
      return fmt::format("  => reply: {} bytes from {} of the {}\n", decision.bytes, place(decision),
                         name(decision.type));
    case Outcome::deposit:
      return fmt::format("  => deposit in the {}: saved {}, {} bytes at {}{}\n", name(decision.type),
                         name(decision.saved), decision.bytes, place(decision),
                         decision.acknowledge ? "; acknowledged" : "");
    case Outcome::drop:
      break;
  }
  return fmt::format("  => {}: {}\n", decision.held ? "held on the wire" : "dropped", name(decision.reason));
}

}  // namespace

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
  for (const Stop& stop : decision.stops) text += line(stop, decision, names);
  return text + verdict(decision);
}

}  // namespace margay::sim
