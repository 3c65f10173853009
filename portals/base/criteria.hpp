// What a match entry, or a search of a heap, accepts: 64 match bits, 64 ignore bits, source group and rank.
#pragma once

#include "portals/base/header.hpp"

namespace margay::portals {

struct Criteria {
  MatchBits match_bits = 0;
  MatchBits ignore_bits = 0;  // "The ignore bits can be used to mask off insignificant match bits."
  GroupId source_group = kAnyGroup;
  Rank source_rank = kAnyRank;

  [[nodiscard]] bool accepts(const Header& header) const {
    return ((header.match_bits ^ match_bits) & ~ignore_bits) == 0 &&
           (source_group == kAnyGroup || source_group == header.source.group) &&
           (source_rank == kAnyRank || source_rank == header.source.rank);
  }
};

}  // namespace margay::portals
