// A call back when storage that had no buffer left has one again. The match index leaves entries with exhausted storage
// out until then.
#pragma once

namespace margay::portals {

struct RoomWatch {
  void (*has_room)(RoomWatch& watch) = nullptr;  // the watch is off the list when this is called
  RoomWatch* next = nullptr;
  RoomWatch* previous = nullptr;
};

}  // namespace margay::portals
