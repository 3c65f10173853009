#include "sim/wire/shm/long_method.hpp"

#include <array>

#include "sim/wire/shm/own_process.hpp"
#include "sim/wire/shm/process_memory.hpp"

namespace margay::sim {

std::string_view name(LongMethod method) {
  constexpr std::array<std::string_view, 3> kNames = {"auto", "ring", "cma"};
  const auto index = static_cast<std::size_t>(method);
  return index < kNames.size() ? kNames[index] : "unknown";
}

portals::Status parse_long_method(std::string_view text, LongMethod& out) {
  for (const LongMethod method : {LongMethod::automatic, LongMethod::ring, LongMethod::cma}) {
    if (text != name(method) && !(text.empty() && method == LongMethod::automatic)) continue;
    out = method;
    return {};
  }
  return portals::Status::error("--method long=" + std::string(text) +
                                ": unknown method for long messages inside a node; methods are auto, ring and cma");
}

LongChoice choose_long_method(LongMethod asked, const RankArea& mine, const RankArea& peer) {
  if (asked == LongMethod::ring) return {false, false, "--method long=ring"};
  if (const ReadFault fault = try_reading(peer); fault != ReadFault::none) {
    return {false, false, std::string(fault_text(fault))};
  }
  // A request for cma is considered after the test. If cma does not work, the ring replaces it, and `reason` names the
  // fault.
  if (asked == LongMethod::cma) return {true, false, "--method long=cma"};
  // One copy and no system call.
  if (is_this_process(peer)) return {true, false, "both ranks are threads of one process"};
  if (mine.only_processor == 0 || mine.only_processor != peer.only_processor) {
    return {true, true, "whichever the receiver measures to be faster"};
  }
  // If both ranks share one processor, the ring needs a switch of processes for each ringful; reading needs none.
  return {true, false, "both ranks may run on processor " + std::to_string(mine.only_processor - 1) + " only"};
}

}  // namespace margay::sim
