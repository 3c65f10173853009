// The choice of a collective call's algorithm: the one of least cost, or the one that the user requested. A pure
// function of facts that all members of the communicator have, because they must choose the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "collectives/cost/facts.hpp"
#include "collectives/cost/rates.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

// The user's requests: algorithms by name (--collective), rates (--rates).

// Parses "bcast=bucket,allreduce=hybrid:2x4". Fails with a message that names the entry if the operation is unknown or
// does not have the algorithm.
[[nodiscard]] portals::Status parse_requested_algorithms(std::string_view text, RequestedAlgorithms& out);
// The names of an operation's algorithms, "tree|direct|bucket"; empty if it has none to choose from.
[[nodiscard]] std::string algorithms_of(Operation operation);

// Parses the rates by which a job chooses (Job::rates): "usual" or nothing, "paragon", or a text of rates, from the
// user or from a calibration. On failure `out` is unchanged.
[[nodiscard]] portals::Status parse_requested_rates(std::string_view text, Rates& out);
// The same where an error can no longer be reported: an invalid text counts as empty. So all ranks of a job that have
// the same text choose by the same rates.
[[nodiscard]] Rates rates_of_job(std::string_view text);

// A class of lengths with one choice, whose cost is computed for `judged_as` bytes. All lengths up to kHandshakeBytes
// are one class, so that ranks that name different short lengths use the same algorithm. Above it, where receivers send
// ready notices, a class ends at each power of two.
struct LengthClass {
  // From 0, below kLengthClasses; an index of Chosen's tables.
  std::size_t number;
  // In bytes; the class includes both ends.
  std::uint64_t shortest, longest, judged_as;
};
inline constexpr std::size_t kLengthClasses = 48;
[[nodiscard]] LengthClass class_of(std::uint64_t bytes);

// The choices for a class, by least seconds(). `best`: among the algorithms that can do its shortest length. `of_all`:
// among those that can also do its longest length.
struct ClassChoice {
  Algorithm best;
  Algorithm of_all;
};
[[nodiscard]] ClassChoice choose_for(Operation operation, const LengthClass& lengths, const Facts& facts,
                                     bool in_order);

// Chooses the algorithm of a call. `bytes`: of one rank's data, equal on all members (of blocks: of one block); 0 for a
// barrier. `in_order`: the operation does not commute. A requested algorithm that cannot do the call is passed over.
[[nodiscard]] Algorithm choose(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order = false);

// The choices made on one communicator, by operation and class. A call looks up its choice in a few nanoseconds; the
// first call of a class makes the choice.
class Chosen {
 public:
  // As choose(). Requires: the same `facts` each time.
  [[nodiscard]] Algorithm of(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
  // The cheapest plan of a hybrid. Requires: the hybrid can do the call.
  [[nodiscard]] HybridPlan hybrid_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);

 private:
  // The choice for a class, and a hybrid's plan; nullopt until first needed.
  struct Entry {
    std::optional<ClassChoice> choice;
    std::optional<HybridPlan> plan;
  };
  using Classes = std::array<Entry, kLengthClasses>;
  [[nodiscard]] Entry& entry(Operation operation, const LengthClass& lengths, bool in_order);

  // By operation and in_order; allocated at the first use.
  std::array<std::array<std::unique_ptr<Classes>, 2>, kOperationCount> known_;
};

}  // namespace margay::collectives
