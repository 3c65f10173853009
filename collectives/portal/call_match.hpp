// One collective call as its members tell of it, one after the other: whether all of them make the same call, and what
// one sends to another is what that one expects from it. The judge's part of call_check; it sends nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "collectives/portal/call_record.hpp"
#include "sim/base/source_lines.hpp"

namespace margay::collectives {

class CallMatch {
 public:
  // `lines` names the places of calls; null: nobody does.
  explicit CallMatch(sim::SourceLines* lines = nullptr) : lines_(lines) {}

  // A member's report, who is rank `by` of the world. The result: nothing, or two calls that differ, as words: the
  // first two, and the first two whose functions do. Requires: that member has told nothing of this call yet.
  [[nodiscard]] std::string add(CallReport report, std::uint32_t by);
  // The members called different functions, so the calls behind this one need not be one call's either.
  [[nodiscard]] bool out_of_step() const { return out_of_step_; }
  // Members that told of it.
  [[nodiscard]] std::uint32_t seen() const { return seen_; }
  // The first of them, as words: "rank 2 calls MPI_Barrier, MPI_COMM_WORLD".
  [[nodiscard]] std::string first() const { return words(first_); }

 private:
  struct Told {
    CallRecord record;
    std::uint32_t by = 0;
  };
  struct Member {
    Told told;
    Shares sends;
    std::shared_ptr<const Shares> expects;
  };

  [[nodiscard]] std::string words(const Told& told) const { return words(told, told.record.of.data()); }
  // With `of` in place of what the call is of.
  [[nodiscard]] std::string words(const Told& told, const std::string& of) const;
  [[nodiscard]] std::string difference_of(CallReport report, std::uint32_t by);
  [[nodiscard]] static bool same_call(const CallRecord& one, const CallRecord& other);
  [[nodiscard]] std::string add_alike(Member& member);
  [[nodiscard]] std::string compare_with_peers(const Member& member) const;
  // Of what `from` sends to `to`.
  [[nodiscard]] std::string compare(const Member& from, const Member& to) const;

  sim::SourceLines* lines_;
  bool told_ = false;  // of two calls that differ
  bool out_of_step_ = false;
  std::uint32_t seen_ = 0;
  Told first_;                              // the first that knows the root
  std::map<std::int32_t, Member> members_;  // those that send or expect something each from each
  // Of each group: who was the first to tell what all of it expect alike.
  std::array<const Member*, 2> first_alike_{};
};

}  // namespace margay::collectives
