#include "collectives/cost/parts.hpp"

#include <cmath>

#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

namespace {

Cost through_memory(double polls_path, double polls_all, const Moved& moved, const Moved& combined) {
  Cost cost;
  cost.path.shared_polls = polls_path;
  cost.all.shared_polls = polls_all;
  cost.path.shared_bytes = moved.path;
  cost.all.shared_bytes = moved.all;
  cost.path.combined_bytes = combined.path;
  cost.all.combined_bytes = combined.all;
  cost.turns = 1;
  return cost;
}

}  // namespace

Cost barriers(double ranks, const Moved& moved, const Moved& combined, double count) {
  // The counter's line visits each rank in turn; each also polls the flag.
  Cost cost = through_memory(ranks * count, 2 * ranks * count, moved, combined);
  cost.turns = count;
  return cost;
}

Cost post(double polls, const Moved& moved, const Moved& combined) {
  Cost cost = through_memory(polls, polls, moved, combined);
  cost.one_way = true;
  return cost;
}

Cost read_in_place(double polls, const Moved& moved) {
  // Reader and owner wait for each other: a poll and a turn each.
  Cost cost = through_memory(2 * polls, 2 * polls, moved, {0, 0});
  cost.turns = 2;
  return cost;
}

Cost post_by_all(double ranks, double shown, double read, const Moved& combined) {
  const double others = ranks - 1;
  return through_memory(others, ranks * others, {shown + others * read, ranks * (shown + others * read)}, combined);
}

double barriers_of(double bytes) {
  // One more: a reduction shows the result of a strip with the next strip, so the last result needs a barrier of its
  // own.
  return std::ceil(bytes / static_cast<double>(sim::kStripBytes)) + 1;
}

Cost chain_of_posts(double n, double ranks) {
  Cost cost = post(ranks - 1, {(ranks - 1) * n, (ranks - 1) * n}, {(ranks - 1) * n, (ranks - 1) * n});
  cost.turns = ranks - 1;
  return cost;
}

}  // namespace margay::collectives
