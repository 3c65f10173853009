// The four things that happen to a descriptor on a message's way, for whichever type it is. Internal to portals.
#pragma once

#include "portals/memory/descriptor.hpp"
#include "portals/verdict.hpp"

namespace margay::portals {

class Storage {
 public:
  // Whether the message can go there: taken, no_room, too_small, wrong_direction or offset_out_of_range. Changes
  // nothing.
  [[nodiscard]] static Passed admit(const Descriptor& descriptor, const Options& options, const Header& header);
  // Takes the room and fills the verdict in, all but its entry. Requires: admit() == taken, and nothing since.
  static void reserve(Descriptor& descriptor, const Options& options, const Header& header, Verdict& verdict);
  // The body is in place: counters and saved header. Requires: reserve() made the verdict.
  static void commit(const Verdict& verdict, const Header& header);
  // The body will not come.
  static void give_back(const Verdict& verdict);
};

}  // namespace margay::portals
