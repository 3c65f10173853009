// One collective call as its members tell of it, one after the other: whether all of them make the same call, and what
// one sends to another is what that one expects from it. The judge's part of call_check; it sends nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "collectives/portal/call_record.hpp"

namespace margay::collectives {

class CallMatch {
 public:
  // A member's report, who is rank `by` of the world. The result: nothing, or the first two calls that differ, as
  // words. Requires: that member has told nothing of this call yet, and no two calls differed.
  [[nodiscard]] std::string add(CallReport report, std::uint32_t by);
  // Members that told of it.
  [[nodiscard]] std::uint32_t seen() const { return seen_; }
  // The first of them, as words: "rank 2 calls MPI_Barrier, MPI_COMM_WORLD".
  [[nodiscard]] std::string first() const { return first_.words(); }

 private:
  struct Told {
    CallRecord record;
    std::uint32_t by = 0;
    [[nodiscard]] std::string words() const { return words(record.of.data()); }
    // With `of` in place of what the call is of.
    [[nodiscard]] std::string words(const std::string& of) const;
  };
  struct Member {
    Told told;
    Shares sends;
    std::shared_ptr<const Shares> expects;
  };

  [[nodiscard]] static bool same_call(const CallRecord& one, const CallRecord& other);
  [[nodiscard]] std::string add_alike(Member& member);
  [[nodiscard]] std::string compare_with_peers(const Member& member) const;
  // Of what `from` sends to `to`.
  [[nodiscard]] static std::string compare(const Member& from, const Member& to);

  std::uint32_t seen_ = 0;
  Told first_;                              // the first that knows the root
  std::map<std::int32_t, Member> members_;  // those that send or expect something each from each
  // Of each group: who was the first to tell what all of it expect alike.
  std::array<const Member*, 2> first_alike_{};
};

}  // namespace margay::collectives
