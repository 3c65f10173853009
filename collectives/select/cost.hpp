// What an algorithm costs: the formula at the top of its file, as a function. Pure. Counted in messages, bytes and
// combined bytes, so that a trace can be held against it; times come from a machine's rates.
#pragma once

#include <cstdint>

#include "collectives/select/choice.hpp"
#include "collectives/select/rates.hpp"

namespace margay::collectives {

// Messages and bytes by one way. The words of receivers that they are ready are messages without bytes.
struct Load {
  double messages = 0;
  double bytes = 0;
};

struct Cost {
  // On the longest chain of steps that wait for each other.
  struct Path {
    Load inside, between;                      // messages: start-ups
    double busy_inside = 0, busy_between = 0;  // further messages of a rank that has several under way
    double combined_bytes = 0;
    double shared_looks = 0;
    double shared_bytes = 0;
    // Messages one behind the other.
    [[nodiscard]] double depth() const { return inside.messages + between.messages; }
  } path;
  // Of all ranks together: what the processors are busy with.
  struct All {
    Load inside, between;
    double combined_bytes = 0;
    double shared_looks = 0;
    double shared_bytes = 0;
    [[nodiscard]] double messages() const { return inside.messages + between.messages; }
    [[nodiscard]] double bytes() const { return inside.bytes + between.bytes; }
  } all;
  // How often, one after the other, a rank has to be scheduled until the call is over, where ranks outnumber
  // processors.
  double turns = 0;
  // No rank waits for one that waits for it, and nobody is asked: of calls that follow each other a rank that is
  // scheduled does several at once, up to the next gate (portal/call_number).
  bool one_way = false;
};

// `bytes` as select() has them. Requires: the algorithm can do the call.
[[nodiscard]] Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts);
// Where each rank has a processor: the path. Where not: what all ranks have to do, by the processors, and the turns.
[[nodiscard]] double seconds(const Cost& cost, const Facts& facts, const Rates& rates);

}  // namespace margay::collectives
