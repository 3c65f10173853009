// A member's report of one of its collective calls (call_check).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi_adi/datatype/signature.hpp"
#include "portals/base/region.hpp"
#include "sim/base/source_lines.hpp"

namespace margay::collectives {

// An amount of data that a call names. Members may describe the same amount by different datatypes, so amounts are
// compared by fits().
struct Amount {
  std::uint64_t bytes = 0;
  mpi_adi::Signature signature;
  // The same number of bytes, of types whose signatures fit each other (MPI 4.0, 6.1).
  [[nodiscard]] bool fits(const Amount& other) const { return bytes == other.bytes && signature.fits(other.signature); }
};

// The amount that a member sends to, or expects from, each of `peers` consecutive ranks, the first of which is `first`.
// In an intercommunicator the ranks number the members of both groups, one group behind the other.
struct Share {
  std::int32_t first = 0;
  std::int32_t peers = 1;
  Amount amount;
  [[nodiscard]] std::int32_t end() const { return first + peers; }
};
// Ordered by peer. Several blocks for one peer are in the order in which they are sent.
using Shares = std::vector<Share>;

// Adds a share for one more peer. Extends the last share if the peer is the next one and the amount is the same.
void add_share(Shares& shares, std::int32_t peer, const Amount& amount);

// The part of a report that has a fixed size. It travels as raw bytes, because all processes of a job run the same
// library.
struct CallRecord {
  // Identifies a communicator among all that exist at a time.
  struct Key {
    std::uint64_t generation = 0;
    std::uint32_t context = 0;
    // The world rank of its first member.
    std::uint32_t leader = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): as in sim/base/endpoint.hpp
    auto operator<=>(const Key&) const = default;
  };
  // The call has no root.
  static constexpr std::int32_t kNoRoot = -1;
  // The caller passed MPI_PROC_NULL: the root is another rank of its group.
  static constexpr std::int32_t kUnknownRoot = -2;

  Key key;
  // The number of members, of both groups of an intercommunicator.
  std::uint32_t members = 0;
  // The caller's rank among the members.
  std::uint32_t rank = 0;
  // Whether this is the report of MPI_Finalize.
  bool ends = false;
  std::uint8_t group = 0;       // the caller's group of an intercommunicator (0 or 1)
  std::uint8_t root_group = 0;  // the root's group
  // Whether `expects` must be the same on all members of the caller's group; it then has an amount for each rank
  // (recvcounts).
  bool expects_alike = false;
  // The arguments that must be equal on all members. A member that does not name the root (kUnknownRoot) names neither
  // operation nor amount.
  std::int32_t root = kNoRoot;
  // 0: the call has no operation.
  std::int32_t operation = 0;
  // The amount, for calls in which all members must name the same one; empty for other calls.
  Amount alike;
  // The call formatted, in four strings that end with a zero: its name, the description of its data, the remaining
  // arguments, and the communicator. Truncated if they do not fit.
  std::array<char, 48> function{};
  std::array<char, 96> of{};
  std::array<char, 64> details{};
  std::array<char, 160> communicator{};
  // The location of the call in the program.
  sim::SourceLocation location;
  // Numbers of shares that follow in the message.
  std::uint32_t sends = 0, expects = 0;

  // Whether the member names the root, and with it operation and amount.
  [[nodiscard]] bool has_known_root() const { return root != kUnknownRoot; }
};

// A record with its shares, as sender and judge handle it.
struct CallReport {
  CallRecord record;
  // Blocks that the member sends and expects, by peer; empty if the call has none.
  Shares sends;
  Shares expects;

  // The report as one message. Omits the shares if the message would be longer than kBytesMax; the judge then does not
  // compare blocks.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  [[nodiscard]] std::vector<std::byte> message() const;
  // Parses a message; nullopt if it is malformed.
  [[nodiscard]] static std::optional<CallReport> read(const portals::Buffer& message);
};

}  // namespace margay::collectives
