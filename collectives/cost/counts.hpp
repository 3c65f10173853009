// What a call takes, counted: what cost formulas come to; and the time that this takes on a machine.
#pragma once

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

// What a cost takes: where each rank has a processor, its path; where not, what all ranks have to do, by the
// processors, and the turns.
struct Facts;
struct Rates;
[[nodiscard]] double seconds(const Cost& cost, const Facts& facts, const Rates& rates);

}  // namespace margay::collectives
