#include "portals/base/verdict.hpp"

namespace margay::portals {

// As in header.cpp: the switches list all values, and the last line is for values from a damaged trace.
std::string_view name(DropReason reason) {
  switch (reason) {
    case DropReason::none:
      return "none";
    case DropReason::no_such_portal:
      return "no such portal";
    case DropReason::no_match:
      return "no match";
    case DropReason::no_room:
      return "no room";
    case DropReason::too_small:
      return "too small";
    case DropReason::read_only:
      return "read only";
    case DropReason::write_only:
      return "write only";
    case DropReason::offset_out_of_range:
      return "offset out of range";
    case DropReason::peer_lost:
      return "peer lost";
  }
  return "unknown reason";
}

std::string_view name(Passed passed) {
  switch (passed) {
    case Passed::inactive:
      return "inactive";
    case Passed::no_match:
      return "no match";
    case Passed::no_room:
      return "no room";
    case Passed::too_small:
      return "too small";
    case Passed::wrong_direction:
      return "wrong direction";
    case Passed::offset_out_of_range:
      return "offset out of range";
    case Passed::taken:
      return "taken";
  }
  return "unknown";
}

}  // namespace margay::portals
