// The links of a startpoint in this context: the mobile part (LinkData), and the method in use.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libraries/nexus/methods.hpp"
#include "libraries/nexus/table.hpp"

namespace margay::nexus::core {

struct Link : LinkData {
  // The object in use, its row in the table, and the objects of transforms before it; nullptr: not selected yet.
  SharedWay way;
  std::size_t row = 0;
  std::uint32_t forwarder = kNoContext;
  std::vector<SharedWay> before;
  // The link's number in messages to its context (0 until its method changes), and the number of changes so far.
  std::uint16_t number = 0;
  std::uint32_t epoch = 0;
  // Whether a request was sent by `way`.
  bool is_used = false;
  // The rate that it has reserved, at the method of this name.
  std::uint64_t reserved = 0;
  std::string reserved_at;
};

// The state of a startpoint.
struct StartpointState {
  std::uint32_t life = 0;  // incarnation of its context
  std::vector<std::unique_ptr<Link>> links;
  bool is_light = false;
  // The object by which one send reaches all links, if their method can do so.
  SharedWay group;
};

}  // namespace margay::nexus::core
