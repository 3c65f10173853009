// What a member of a communicator tells of one of its collective calls (call_check).
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

// Elements that a call names. Two sides may name one amount by different datatypes.
struct Amount {
  std::uint64_t bytes = 0;
  mpi_adi::Signature signature;
  [[nodiscard]] bool fits(const Amount& other) const { return bytes == other.bytes && signature.fits(other.signature); }
};

// What one member sends to each of some others, or expects from each: to `peers` in a row, the first of them `first`.
// They are numbered as everybody of the communicator: of two groups, the one behind the other.
struct Share {
  std::int32_t first = 0;
  std::int32_t peers = 1;
  Amount amount;
  [[nodiscard]] std::int32_t end() const { return first + peers; }
};
// In the order of the peers; those of one peer in the order in which their blocks travel.
using Shares = std::vector<Share>;

// A share for one more peer: the last one's if it is the next in the row and of the same amount.
void add_share(Shares& shares, std::int32_t peer, const Amount& amount);

// The part that all calls have. Travels as it is: the processes of a job run the same library.
struct CallRecord {
  // Which communicator: no two that live at once have all of these in common.
  struct Key {
    std::uint64_t generation = 0;
    std::uint32_t context = 0;
    std::uint32_t leader = 0;  // its first member, in the world
    auto operator<=>(const Key&) const = default;
  };
  static constexpr std::int32_t kNoRoot = -1;       // the call has none
  static constexpr std::int32_t kUnknownRoot = -2;  // MPI_PROC_NULL: another one of the caller's group

  Key key;
  std::uint32_t members = 0;    // of both groups
  std::uint32_t rank = 0;       // of the caller, among them
  bool ends = false;            // MPI_Finalize
  std::uint8_t group = 0;       // of two groups: the caller's,
  std::uint8_t root_group = 0;  // and the root's
  // `expects` are of the communicator's ranks and the same on all members of the group (recvcounts).
  bool expects_alike = false;
  // What has to be the same on all. Who does not know the root names neither operation nor amount.
  std::int32_t root = kNoRoot;
  std::int32_t operation = 0;  // 0: the call has none
  Amount alike;
  // The call as text, each ended by a zero: its name, what it is of, and all else.
  std::array<char, 48> function{};
  std::array<char, 96> of{};
  std::array<char, 160> rest{};
  sim::SourcePlace place;                // where the program makes it
  std::uint32_t sends = 0, expects = 0;  // shares behind it in a message

  [[nodiscard]] bool knows_root() const { return root != kUnknownRoot; }
};

struct CallReport {
  CallRecord record;
  Shares sends;
  Shares expects;

  // As one message. Shares that would make it longer than kBytesMax are left out: nothing is known of them then.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  [[nodiscard]] std::vector<std::byte> message() const;
  // Nothing: the bytes are no such message.
  [[nodiscard]] static std::optional<CallReport> read(const portals::Buffer& message);
};

}  // namespace margay::collectives
