// The cost of a collective call in counts of messages, bytes and other steps; and the time of such a cost on a machine.
#pragma once

namespace margay::collectives {

// Messages and bytes of one kind of connection. Ready notices count as messages without bytes.
struct Load {
  double messages = 0;
  double bytes = 0;
};

// The result of a cost formula: the critical path, all ranks' work, and turns. Formulas add costs up with operator+
// (parts.hpp).
struct Cost {
  // The longest chain of dependent steps.
  struct Path {
    Load inside, between;  // inside a node, and between nodes; each message a start-up
    // Further messages of a rank that has several in progress; each costs less than a start-up.
    double busy_inside = 0, busy_between = 0;
    // Bytes that reductions combine, one step after the other.
    double combined_bytes = 0;
    // Polls of shared memory that find what another rank wrote, one after the other.
    double shared_polls = 0;
    // Bytes written to shared memory and read from it.
    double shared_bytes = 0;
    // Dependent messages, one behind the other.
    [[nodiscard]] double depth() const { return inside.messages + between.messages; }
  } path;
  // The work of all ranks together, which the processors share.
  struct All {
    Load inside, between;
    double combined_bytes = 0;
    double shared_polls = 0;
    double shared_bytes = 0;
    [[nodiscard]] double messages() const { return inside.messages + between.messages; }
    [[nodiscard]] double bytes() const { return inside.bytes + between.bytes; }
  } all;
  // If ranks outnumber processors: how many times, one after the other, some rank has to be scheduled until the call is
  // complete.
  double turns = 0;
  // Whether no two ranks wait for each other, and no message waits for a ready notice. If so, a rank that is scheduled
  // does its part of several consecutive calls, up to the next gate (portal/call_number).
  bool one_way = false;
};

// The time of a cost in seconds. If each rank has a processor, it is the time of the path. Otherwise it is the time of
// all ranks' work divided by the processors, plus the turns and the part of the path that the processors cannot share.
struct Facts;
struct Rates;
[[nodiscard]] double seconds(const Cost& cost, const Facts& facts, const Rates& rates);

}  // namespace margay::collectives
