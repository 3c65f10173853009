// The choice of a collective call's algorithm: that of the least cost, or the one that the user asked for. A pure
// function of facts that all members of the communicator share: they must choose the same.
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

// What the user asks for: algorithms by name (--collective), rates (--rates).

// "bcast=bucket,allreduce=hybrid:2x4". An unknown operation, or one that does not go by the algorithm, is an error that
// names it.
[[nodiscard]] portals::Status parse_asked_for(std::string_view text, AskedFor& out);
// "tree|direct|bucket", of an operation; empty where there is nothing to choose.
[[nodiscard]] std::string algorithms_of(Operation operation);

// The rates that a job chooses by (Job::rates), out of their text: the user's word, or what calibration has kept.
// "usual" or nothing, "paragon", or a text of rates. `out` is as it was where there is an error.
[[nodiscard]] portals::Status parse_asked_rates(std::string_view text, Rates& out);
// The same where an error can no longer be reported: a wrong entry counts as none. So all ranks of a job that got the
// same text choose by the same rates.
[[nodiscard]] Rates rates_of_job(std::string_view text);

// Lengths that are judged alike, as `judged_as`: all up to kHandshakeBytes, so that ranks which name different ones of
// them meet in one algorithm; above, where receivers are asked, from one power of two to the next one.
struct LengthClass {
  std::size_t number;
  std::uint64_t shortest, longest, judged_as;
};
inline constexpr std::size_t kLengthClasses = 48;
[[nodiscard]] LengthClass class_of(std::uint64_t bytes);

// Of a class, by least seconds() (cost): of all algorithms, and of those that can do each length of it.
struct ClassChoice {
  Algorithm best;
  Algorithm of_all;
};
[[nodiscard]] ClassChoice choose_for(Operation operation, const LengthClass& lengths, const Facts& facts,
                                     bool in_order);

// `bytes`: of one rank's data, the same on all (of blocks: of one block); 0 for a barrier. What was asked for by name
// and cannot do the call is passed over.
[[nodiscard]] Algorithm choose(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order = false);

// What was chosen on one communicator, by operation and class: a call looks it up in a few nanoseconds; what was not
// asked for yet is chosen then.
class Chosen {
 public:
  // As choose(). Requires: `facts` are the same each time.
  [[nodiscard]] Algorithm of(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
  // The cheapest one that it can go by. Requires: the hybrid can do the call.
  [[nodiscard]] HybridPlan hybrid_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);

 private:
  struct Entry {
    std::optional<ClassChoice> choice;
    std::optional<HybridPlan> plan;
  };
  using Classes = std::array<Entry, kLengthClasses>;
  [[nodiscard]] Entry& entry(Operation operation, const LengthClass& lengths, bool in_order);

  std::array<std::array<std::unique_ptr<Classes>, 2>, kOperationCount> known_;  // by operation and whether in order
};

}  // namespace margay::collectives
