// The comparison of the reports of one collective call: whether all members make the same call, and whether each block
// that is sent is the block that its receiver expects. The judge's part of call_check; it sends nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collectives/portal/call_record.hpp"
#include "sim/base/source_lines.hpp"

namespace margay::collectives {

// Compares the members' reports of one call. Reports the first difference, and after it only the first difference of
// functions. A report costs O(log members) for each of its shares, and a comparison for each peer that has reported.
class CallMatch {
 public:
  // A report's record and the rank in the world that sent it.
  struct Reported {
    CallRecord record;
    std::uint32_t by = 0;
  };
  // `lines` formats the locations of calls and outlives this; null: messages have no locations.
  explicit CallMatch(sim::SourceLines* lines = nullptr) : lines_(lines) {}

  // Adds the report of the member with rank `by` in the world. Returns an empty string, or a message that names two
  // different calls: the first such pair, and later the first pair with different functions. Requires: that member has
  // not reported this call yet.
  [[nodiscard]] std::string add(CallReport report, std::uint32_t by);
  // Whether members called different functions. If so, their later calls with equal numbers need not belong together.
  [[nodiscard]] bool out_of_step() const { return out_of_step_; }
  // Number of members that have reported this call.
  [[nodiscard]] std::uint32_t seen() const { return seen_; }
  // The two calls that the last message of add() names. In the message, the first one is in front of "where".
  [[nodiscard]] const std::vector<Reported>& differing() const { return differing_; }
  // The first report, and the same formatted: "rank 2 calls MPI_Barrier, MPI_COMM_WORLD".
  [[nodiscard]] const Reported& first_report() const { return first_; }
  [[nodiscard]] std::string first() const { return call_text(first_); }

 private:
  // A member's report, with the blocks that it sends and expects. Members of a group that expect the same blocks share
  // one list.
  struct Member {
    Reported reported;
    Shares sends;
    std::shared_ptr<const Shares> expects;
  };

  // "rank ... calls ...".
  [[nodiscard]] std::string call_text(const Reported& reported) const {
    return call_text(reported, reported.record.of.data());
  }
  // The same, with `of` in place of the record's description of the data.
  [[nodiscard]] std::string call_text(const Reported& reported, const std::string& of) const;
  // Stores the two calls in differing_, and returns a message that names both. `of_one` and `of_other` replace the
  // records' descriptions of the data.
  [[nodiscard]] std::string differ(const Reported& one, const std::string& of_one, const Reported& other,
                                   const std::string& of_other);
  [[nodiscard]] std::string differ(const Reported& one, const Reported& other) {
    return differ(one, one.record.of.data(), other, other.record.of.data());
  }
  // Compares a report with the first one, and with those of its peers.
  [[nodiscard]] std::string difference_of(CallReport report, std::uint32_t by);
  // Whether function, root's group and, where both members name it, root and operation are equal.
  [[nodiscard]] static bool same_call(const CallRecord& one, const CallRecord& other);
  // Compares what `member` expects with what the first member of its group expects.
  [[nodiscard]] std::string add_alike(Member& member);
  // Compares `member` with every member that reported before.
  [[nodiscard]] std::string compare_with_peers(const Member& member);
  // Compares what `from` sends to `to` with what `to` expects from it.
  [[nodiscard]] std::string compare(const Member& from, const Member& to);

  sim::SourceLines* lines_;
  bool differs_ = false;  // a difference was reported
  bool out_of_step_ = false;
  std::uint32_t seen_ = 0;
  std::vector<Reported> differing_;
  Reported first_;                          // the first report of a member that names the root, else the first of all
  std::map<std::int32_t, Member> members_;  // by rank in the communicator: members that send or expect blocks
  // For each group: the first reported member whose `expects` must be equal on all members of the group.
  std::array<const Member*, 2> first_alike_{};
};

}  // namespace margay::collectives
