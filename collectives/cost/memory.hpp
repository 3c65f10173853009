// What cost formulas of calls through memory are made of: all ranks of a node see it, and no message is sent.
#pragma once

#include "collectives/cost/counts.hpp"

namespace margay::collectives {

// Bytes that are written or read there, and that are combined: on the path, and of all ranks.
struct Moved {
  double path;
  double all;
};

// All show something, `meetings` times; a counter goes from one to the next, then a flag is set: all are there.
[[nodiscard]] Cost meet(double ranks, const Moved& moved, const Moved& combined, double meetings = 1);
// So many are needed for `bytes` of each rank, strip by strip.
[[nodiscard]] double meetings_of(double bytes);
// Nobody waits for those that read, so of calls that follow each other one is read while the next one is written: on
// the path is the longer of the two.
[[nodiscard]] Cost post(double looks, const Moved& moved, const Moved& combined = {0, 0});
// A chain of ranks: each reads what the ranks before it come to, and shows what it makes of that.
[[nodiscard]] Cost chain_of_posts(double n, double ranks);
// What is read where it lies: who shows it waits until it is read.
[[nodiscard]] Cost read_in_place(double looks, const Moved& moved);
// Each shows `shown` bytes and reads `read` of those of all others.
[[nodiscard]] Cost post_by_all(double ranks, double shown, double read, const Moved& combined);

}  // namespace margay::collectives
