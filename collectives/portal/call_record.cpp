#include "collectives/portal/call_record.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace margay::collectives {

static_assert(std::is_trivially_copyable_v<CallRecord> && std::is_trivially_copyable_v<Share>);

namespace {

std::size_t bytes_of_shares(std::size_t shares) {
  return shares * sizeof(Share);
}

bool same(const Amount& one, const Amount& other) {
  const mpi_adi::Signature &a = one.signature, &b = other.signature;
  return one.bytes == other.bytes && a.kind == b.kind && a.leaf == b.leaf && a.hash == b.hash;
}

std::byte* append(std::byte* at, const Shares& shares) {
  if (!shares.empty()) std::memcpy(at, shares.data(), bytes_of_shares(shares.size()));
  return at + bytes_of_shares(shares.size());
}

const std::byte* extract(const std::byte* at, std::size_t count, Shares& shares) {
  shares.resize(count);
  if (count != 0) std::memcpy(shares.data(), at, bytes_of_shares(count));
  return at + bytes_of_shares(count);
}

// Whether the peers of received shares are in range, so that Share::end() cannot overflow.
bool in_range(const Shares& shares) {
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  return std::ranges::all_of(shares, [](const Share& share) {
    return share.first >= 0 && share.peers > 0 && share.peers <= kMax - share.first;
  });
}

}  // namespace

void add_share(Shares& shares, std::int32_t peer, const Amount& amount) {
  if (!shares.empty() && shares.back().end() == peer && same(shares.back().amount, amount)) {
    ++shares.back().peers;
  } else {
    shares.push_back({peer, 1, amount});
  }
}

std::vector<std::byte> CallReport::message() const {
  const std::size_t shares = sends.size() + expects.size();
  // Long lists are omitted, not cut, because the judge would compare a cut list as a complete one.
  const bool fits = bytes_of_shares(shares) <= kBytesMax - sizeof record;
  CallRecord head = record;
  head.sends = fits ? static_cast<std::uint32_t>(sends.size()) : 0;
  head.expects = fits ? static_cast<std::uint32_t>(expects.size()) : 0;
  std::vector<std::byte> bytes(sizeof head + (fits ? bytes_of_shares(shares) : 0));
  std::memcpy(bytes.data(), &head, sizeof head);
  if (fits) append(append(bytes.data() + sizeof head, sends), expects);
  return bytes;
}

std::optional<CallReport> CallReport::read(const portals::Buffer& message) {
  CallReport report;
  CallRecord& record = report.record;
  if (message.bytes < sizeof record || message.bytes > kBytesMax) return std::nullopt;
  std::memcpy(&record, message.base, sizeof record);
  const std::size_t shares = std::size_t{record.sends} + record.expects;
  // The counts come from a wire. The shares' length must not overflow, and must be the remainder of the message.
  if (shares > kBytesMax / sizeof(Share) || message.bytes != sizeof record + bytes_of_shares(shares)) {
    return std::nullopt;
  }
  // Ends the strings, and limits the groups to the indices 0 and 1.
  record.function.back() = record.of.back() = record.details.back() = record.communicator.back() = '\0';
  record.group &= 1U;
  record.root_group &= 1U;
  extract(extract(message.base + sizeof record, record.sends, report.sends), record.expects, report.expects);
  if (!in_range(report.sends) || !in_range(report.expects)) return std::nullopt;
  return report;
}

}  // namespace margay::collectives
