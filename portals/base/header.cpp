#include "portals/base/header.hpp"

namespace margay::portals {

// The switches, here and below, have no `default`, so that the compiler reports a new value without a name. The last
// line is for values from a damaged trace.
std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::put:
      return "put";
    case Kind::get:
      return "get";
    case Kind::reply:
      return "reply";
    case Kind::acknowledgment:
      return "acknowledgment";
  }
  return "unknown kind";
}

std::string_view name(Saved saved) {
  switch (saved) {
    case Saved::nothing:
      return "nothing";
    case Saved::header:
      return "header";
    case Saved::body:
      return "body";
    case Saved::both:
      return "header and body";
  }
  return "unknown";
}

}  // namespace margay::portals
