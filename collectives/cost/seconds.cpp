#include "collectives/cost/counts.hpp"

#include <algorithm>

#include "collectives/cost/facts.hpp"
#include "collectives/cost/rates.hpp"
#include "collectives/portal/call_number.hpp"
#include "collectives/portal/tree_portal.hpp"

namespace margay::collectives {

namespace {

double seconds_of(const Load& load, double further, const Rates::Message& message) {
  return load.messages * message.startup + further * message.busy + load.bytes * message.byte;
}

// A short body inside a node is copied into shared memory and out of it, so its byte costs at least two accesses; a
// long body is copied once, or by both processors at once.
Rates::Message inside_of(const Load& load, const Rates& rates) {
  Rates::Message message = rates.inside;
  if (load.bytes <= load.messages * static_cast<double>(kHandshakeBytes))
    message.byte = std::max(message.byte, 2 * rates.shared.byte);
  return message;
}

// Processor time: sender and receiver are both busy with a message and its bytes.
double work_of(const Load& load, const Rates::Message& message) {
  return 2 * (load.messages * message.busy + load.bytes * message.byte);
}

}  // namespace

// If ranks outnumber processors, Brent's bound holds: p processors need the time of a p-th of the work, and of the part
// of the path that they cannot share. Consecutive one-way calls share path and turns: these count once for each gate.
double seconds(const Cost& cost, const Facts& facts, const Rates& rates) {
  const Cost::Path& path = cost.path;
  const double longest = seconds_of(path.inside, path.busy_inside, inside_of(path.inside, rates)) +
                         seconds_of(path.between, path.busy_between, rates.between) +
                         path.combined_bytes * rates.combined + path.shared_polls * rates.shared.poll +
                         path.shared_bytes * rates.shared.byte;
  if (!facts.crowded) return longest;
  // If the number of processors is unknown, half the number of ranks is assumed.
  const double processors = std::max(facts.processors > 0 ? facts.processors : facts.ranks / 2.0, 1.0);
  const double work = work_of(cost.all.inside, inside_of(cost.all.inside, rates)) +
                      work_of(cost.all.between, rates.between) + cost.all.combined_bytes * rates.combined +
                      cost.all.shared_polls * rates.shared.poll + cost.all.shared_bytes * rates.shared.byte;
  const double turns = cost.turns * std::max(facts.ranks / processors, 1.0) * rates.turn;
  const double waits = longest * (1 - 1 / processors) + turns;
  return work / processors + (cost.one_way ? waits / CallNumber::kGateCalls : waits);
}

}  // namespace margay::collectives
