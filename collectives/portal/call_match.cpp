#include "collectives/portal/call_match.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace margay::collectives {

namespace {

std::string amount_text(const Amount& amount) {
  if (amount.bytes == 0) return "nothing";
  std::string text = mpi_adi::elements_text(amount.signature, amount.bytes);
  if (amount.signature.kind == mpi_adi::Signature::Kind::mixed) text += " (" + std::to_string(amount.bytes) + " bytes)";
  return text;
}

struct TwoTexts {
  std::string one, other;
};

// Formats two amounts that differ. If they look the same (equal counts, different mixed types), the second is called
// "other".
TwoTexts amount_texts(const Amount& one, const Amount& other) {
  TwoTexts text{" of " + amount_text(one), " of " + amount_text(other)};
  if (text.one == text.other) text.other = " of other " + amount_text(other);
  return text;
}

// The shares for one peer: binary search, because shares are ordered by peer.
std::span<const Share> shares_for(const Shares& shares, std::int32_t peer) {
  const auto first = std::ranges::partition_point(shares, [&](const Share& share) { return share.end() <= peer; });
  const auto last = std::find_if(first, shares.end(), [&](const Share& share) { return share.first > peer; });
  return {first, last};
}

// The first peer for which two lists name different amounts, and the amounts.
struct Difference {
  std::int32_t peer;
  Amount one, other;
};

// Walks both lists in parallel; a range of peers ends where either list's does.
std::optional<Difference> difference(const Shares& one, const Shares& other) {
  auto a = one.begin(), b = other.begin();
  while (a != one.end() && b != other.end()) {
    const std::int32_t peer = std::max(a->first, b->first);
    if (!a->amount.fits(b->amount)) return Difference{peer, a->amount, b->amount};
    const std::int32_t end = std::min(a->end(), b->end());
    if (a->end() == end) ++a;
    if (b->end() == end) ++b;
  }
  return std::nullopt;
}

}  // namespace

std::string CallMatch::call_text(const Reported& reported, const std::string& of) const {
  const CallRecord& record = reported.record;
  return "rank " + std::to_string(reported.by) + " calls " + record.function.data() +
         (lines_ != nullptr ? lines_->location_suffix(record.location) : std::string()) + of + record.details.data() +
         (record.communicator.front() == '\0' ? "" : std::string(", ") + record.communicator.data());
}

std::string CallMatch::differ(const Reported& one, const std::string& of_one, const Reported& other,
                              const std::string& of_other) {
  differing_ = {one, other};
  return call_text(one, of_one) + ", where " + call_text(other, of_other);
}

bool CallMatch::same_call(const CallRecord& one, const CallRecord& other) {
  if (std::strcmp(one.function.data(), other.function.data()) != 0 || one.root_group != other.root_group) return false;
  // A member that passes MPI_PROC_NULL names only the root's group.
  if (!one.has_known_root() || !other.has_known_root()) return true;
  return one.root == other.root && one.operation == other.operation;
}

std::string CallMatch::add(CallReport report, std::uint32_t by) {
  const bool same_function =
      seen_ == 0 || std::strcmp(first_.record.function.data(), report.record.function.data()) == 0;
  // One difference is enough for a call. After it only a difference of functions is reported, because then no later
  // call can be compared.
  if (differs_) {
    ++seen_;
    if (same_function || out_of_step_) return {};
    out_of_step_ = true;
    return differ(first_, {report.record, by});
  }
  std::string text = difference_of(std::move(report), by);
  differs_ = !text.empty();
  out_of_step_ = !same_function;
  return text;
}

std::string CallMatch::difference_of(CallReport report, std::uint32_t by) {
  Member member{{report.record, by}, std::move(report.sends), nullptr};
  const CallRecord& record = member.reported.record;
  if (seen_++ == 0) first_ = member.reported;
  if (!same_call(first_.record, record)) return differ(first_, member.reported);
  member.expects = std::make_shared<const Shares>(std::move(report.expects));
  if (record.expects_alike) {
    if (std::string differing = add_alike(member); !differing.empty()) return differing;
  }
  if (first_.record.has_known_root() && record.has_known_root() && !first_.record.alike.fits(record.alike)) {
    return differ(first_, member.reported);
  }
  // Later members are compared with a report that has root, operation and amount.
  if (!first_.record.has_known_root()) first_ = member.reported;
  if (member.sends.empty() && member.expects->empty()) return {};
  const auto rank = static_cast<std::int32_t>(record.rank);
  const Member& kept = members_.insert_or_assign(rank, std::move(member)).first->second;
  const Member*& first = first_alike_[record.group];
  if (kept.reported.record.expects_alike && first == nullptr) first = &kept;
  return compare_with_peers(kept);
}

// Members with equal `expects` share one list, because each list has an entry for each rank of the communicator.
std::string CallMatch::add_alike(Member& member) {
  const Member* const first = first_alike_[member.reported.record.group];
  if (first == nullptr || first->expects->empty() || member.expects->empty()) return {};
  if (const auto found = difference(*first->expects, *member.expects)) {
    const TwoTexts of = amount_texts(found->one, found->other);
    const std::string index = " as recvcounts[" + std::to_string(found->peer - first->expects->front().first) + "]";
    return differ(first->reported, of.one + index, member.reported, of.other + index);
  }
  member.expects = first->expects;
  return {};
}

std::string CallMatch::compare_with_peers(const Member& member) {
  const auto compare_all = [&](const Shares& shares, auto compare_one) -> std::string {
    for (const Share& share : shares) {
      for (auto peer = members_.lower_bound(share.first); peer != members_.end() && peer->first < share.end(); ++peer) {
        if (std::string text = compare_one(peer->second); !text.empty()) return text;
      }
    }
    return {};
  };
  std::string text = compare_all(member.sends, [&](const Member& peer) { return compare(member, peer); });
  if (!text.empty()) return text;
  return compare_all(*member.expects, [&](const Member& peer) { return compare(peer, member); });
}

// Compares the blocks that both sides name. One side may name fewer: its own block with MPI_IN_PLACE, or an edge of a
// graph that only one of its ends has named.
std::string CallMatch::compare(const Member& from, const Member& to) {
  const auto sent = shares_for(from.sends, static_cast<std::int32_t>(to.reported.record.rank));
  const auto expected = shares_for(*to.expects, static_cast<std::int32_t>(from.reported.record.rank));
  for (std::size_t at = 0; at < std::min(sent.size(), expected.size()); ++at) {
    if (sent[at].amount.fits(expected[at].amount)) continue;
    const TwoTexts of = amount_texts(sent[at].amount, expected[at].amount);
    return differ(from.reported, of.one + " to rank " + std::to_string(to.reported.by), to.reported,
                  of.other + " from rank " + std::to_string(from.reported.by));
  }
  return {};
}

}  // namespace margay::collectives
