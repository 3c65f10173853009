// Direct exchange of blocks inside a node through postings (portal/post): each rank posts a table of its blocks, with
// the bytes of the short ones. Receivers read long blocks in the owner's memory. Cost, n bytes in all blocks of a rank,
// and no message:
//   short blocks   2 n β, because they are written once and read once; a rank does not wait for their readers
//   long blocks    n β, because they are read once, each by a system call; a rank waits until they are read
// A rank with long blocks needs two turns of a processor, where messages take four (ready, header, body,
// acknowledgment).
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

namespace {

// The most pieces of a block that are offered. A block in more pieces is first copied into one piece, because each
// further piece costs the operating system more time than copying a few hundred bytes.
constexpr std::size_t kPiecesMost = 64;

// The head of a posted table. Behind it: an entry for each posted block, an entry for each block to be read in place,
// then the bytes of the posted ones in the order of their entries. A few short blocks fit one cache line.
struct TableHead {
  std::uint32_t posted = 0;
  std::uint32_t in_place_blocks = 0;
};
struct Posted {
  std::int32_t peer;
  std::uint32_t bytes;
};
struct InPlaceBlock {
  std::int32_t peer;
  std::uint32_t pieces;  // sim::ReadOffer::count
  std::uint64_t bytes;
  std::uint64_t address;  // sim::ReadOffer::address
};
static_assert(kReadInPlaceBytes <= kPostedBytes && kPostedBytes <= std::numeric_limits<std::uint32_t>::max());

// The table of a rank's blocks, with the copies and lists of pieces that readers need until they are done.
class BlockTable {
 public:
  explicit BlockTable(std::span<const PeerMessage> out) {
    posted_.reserve(out.size());
    bytes_ = sizeof(TableHead);
    for (const PeerMessage& block : out) {
      if (!block.moves()) continue;
      const std::uint64_t posted = sizeof(Posted) + block.data.bytes();
      if (block.data.bytes() <= kReadInPlaceBytes &&
          bytes_ + posted <= kPostedBytes - room_for_in_place_blocks(out.size())) {
        posted_.push_back({block.peer, static_cast<std::uint32_t>(block.data.bytes())});
        bytes_ += posted;
      } else {
        add_in_place_block(block);
        bytes_ += sizeof(InPlaceBlock);
      }
    }
  }
  // Bytes of the posting.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // The memory of all blocks that are read in place.
  [[nodiscard]] std::span<const portals::Buffer> pieces() const { return pieces_; }
  // Replaces blocks that others cannot read (memfd_secret) by copies.
  void copy_in_place_blocks(std::span<const PeerMessage> out) {
    auto next = in_place_blocks_.begin();
    for (const PeerMessage& block : out) {
      if (next == in_place_blocks_.end()) break;
      if (!block.moves() || block.peer != next->peer) continue;
      next->pieces = 1;
      next->address = reinterpret_cast<std::uintptr_t>(copy_of(block.data).base);
      ++next;
    }
  }
  [[nodiscard]] std::span<const Posted> posted() const { return posted_; }
  [[nodiscard]] std::span<const InPlaceBlock> in_place_blocks() const { return in_place_blocks_; }
  void write(std::byte* to, std::span<const PeerMessage> out) const {
    const TableHead head{static_cast<std::uint32_t>(posted_.size()),
                         static_cast<std::uint32_t>(in_place_blocks_.size())};
    const auto put = [&to](const void* from, std::size_t bytes) {
      portals::copy_bytes(to, static_cast<const std::byte*>(from), bytes);
      to += bytes;
    };
    put(&head, sizeof head);
    put(posted_.data(), posted_.size() * sizeof(Posted));
    put(in_place_blocks_.data(), in_place_blocks_.size() * sizeof(InPlaceBlock));
    auto next = posted_.begin();
    for (const PeerMessage& block : out) {
      if (next == posted_.end()) break;
      if (!block.moves() || block.peer != next->peer) continue;
      portals::copy(portals::Region(to, next->bytes), block.data);
      to += next->bytes;
      ++next;
    }
  }

 private:
  // The room for entries of blocks that are read in place. Reserved for every block, because each may turn out to need
  // it.
  [[nodiscard]] static std::uint64_t room_for_in_place_blocks(std::size_t blocks) {
    return blocks * sizeof(InPlaceBlock);
  }

  void add_in_place_block(const PeerMessage& block) {
    std::vector<portals::Buffer> pieces;
    for (portals::RegionCursor cursor(block.data); cursor.left() != 0 && pieces.size() <= kPiecesMost;) {
      pieces.push_back(cursor.peek(cursor.left()));
      cursor.skip(pieces.back().bytes);
    }
    if (pieces.size() > kPiecesMost) {
      pieces = {copy_of(block.data)};
    }
    const auto count = static_cast<std::uint32_t>(pieces.size());
    const void* const offered = count == 1 ? pieces.front().base : static_cast<const void*>(pieces.data());
    in_place_blocks_.push_back({block.peer, count, block.data.bytes(), reinterpret_cast<std::uintptr_t>(offered)});
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
    if (count > 1) tables_.push_back(std::move(pieces));
  }

  portals::Buffer copy_of(const portals::Region& data) {
    copies_.push_back(std::make_unique_for_overwrite<std::byte[]>(data.bytes()));
    const portals::Region copy(copies_.back().get(), data.bytes());
    portals::copy(copy, data);
    return copy.single();
  }

  std::uint64_t bytes_;
  std::vector<Posted> posted_;
  std::vector<InPlaceBlock> in_place_blocks_;
  std::vector<portals::Buffer> pieces_;
  std::vector<std::vector<portals::Buffer>> tables_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
};
static_assert(sim::kShmRanksMax * sizeof(InPlaceBlock) + sizeof(TableHead) <= kPostedBytes);

// A reader's block in a member's posting.
struct Found {
  std::uint64_t bytes = 0;
  const std::byte* posted = nullptr;  // null: read by the offer
  sim::ReadOffer offer = {};
};

// A guard of the data that a member offers. If it is destroyed before end(), it records that the member has left the
// call early; a reader that finds this record fails its own call.
class Showing {
 public:
  explicit Showing(const Post& post) : post_(post) {}
  ~Showing() {
    if (!over_) post_.leave_early();
  }
  Showing(const Showing&) = delete;
  Showing& operator=(const Showing&) = delete;
  void end() { over_ = true; }

 private:
  const Post& post_;
  bool over_ = false;
};

// Finds the reader's block; nullopt: the posting has none. Checks all lengths, because a member that makes another call
// may have posted anything.
std::optional<Found> find_block(std::span<const std::byte> posting, int reader) {
  TableHead head;
  std::memcpy(&head, posting.data(), sizeof head);
  std::uint64_t where = sizeof head + std::uint64_t{head.posted} * sizeof(Posted) +
                        std::uint64_t{head.in_place_blocks} * sizeof(InPlaceBlock);
  if (where > posting.size()) return std::nullopt;  // no correct member writes that
  const std::byte* at = posting.data() + sizeof head;
  for (std::uint32_t entry = 0; entry < head.posted; ++entry, at += sizeof(Posted)) {
    Posted block;
    std::memcpy(&block, at, sizeof block);
    if (block.peer == reader) {
      if (block.bytes > posting.size() - where) return std::nullopt;
      return Found{block.bytes, posting.data() + where};
    }
    where = std::min<std::uint64_t>(where + block.bytes, posting.size());
  }
  for (std::uint32_t entry = 0; entry < head.in_place_blocks; ++entry, at += sizeof(InPlaceBlock)) {
    InPlaceBlock block;
    std::memcpy(&block, at, sizeof block);
    if (block.peer == reader) return Found{block.bytes, nullptr, {block.address, block.pieces}};
  }
  return std::nullopt;
}

}  // namespace

// Every member posts, even an empty table, so a member that makes another call is detected. If a block has another
// length than its receiver expects, the receiver skips it and continues; it reports the error when the others have read
// its own blocks.
Steps exchange_posted(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in) {
  BlockTable blocks(out);
  Post post(collective, team, Post::Own{blocks.bytes()});
  if (!blocks.in_place_blocks().empty() && !post.can_be_read(blocks.pieces())) blocks.copy_in_place_blocks(out);
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  blocks.write(post.mine(), out);
  post.show();
  Showing showing(post);
  // Only the receivers of blocks are woken; no other member waits for this posting.
  for (const Posted& block : blocks.posted()) post.notify(block.peer);
  for (const InPlaceBlock& block : blocks.in_place_blocks()) post.notify(block.peer);
  bool differs = false;
  // Whether some block was read in its owner's memory: that owner waits for this member.
  bool lay = false;
  for (const PeerMessage& block : in) {
    if (!block.moves()) continue;
    co_await post.of(block.peer);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    const std::optional<Found> found = find_block(post.shown(block.peer), collective.rank());
    if (!found || found->bytes != block.data.bytes()) {
      differs = true;
    } else if (found->posted != nullptr) {
      post.record_read(block.peer, found->bytes);
      // Region has no read-only form; this region is only read.
      portals::copy(block.data, portals::Region(const_cast<std::byte*>(found->posted), found->bytes));
    } else {
      lay = true;
      if (!post.read(block.peer, found->offer, block.data)) co_return;
    }
  }
  // Also after a skipped block, because its owner waits until it is read.
  if (lay || differs) post.publish_read();
  for (const InPlaceBlock& block : blocks.in_place_blocks()) {
    co_await post.read_by(block.peer);
    if (collective.error_class() != MPI_SUCCESS) co_return;
  }
  showing.end();
  if (differs) collective.named_other_bytes();
}

namespace {

bool members_read(const CallFacts& call) {
  return call.facts.strips && call.facts.reads;
}

}  // namespace

extern constinit const Row<GatherCall> gather_by_reading{
    {Algorithm::shared, members_read,
     [](const CallFacts& call) {
       const double moved = (call.ranks() - 1) * call.n();
       return read_in_place(call.ranks() - 1, {moved, moved});
     }},
    [](Collective& collective, const Means& means, const GatherCall& call) {
      return gather_blocks(collective, means.team, call);
    }};
extern constinit const Row<ScatterCall> scatter_by_reading{
    {Algorithm::shared, members_read,
     [](const CallFacts& call) {
       return read_in_place(call.ranks() - 1, {call.n(), (call.ranks() - 1) * call.n()});
     }},
    [](Collective& collective, const Means& means, const ScatterCall& call) {
      return scatter_blocks(collective, means.team, call);
    }};
// Only for long blocks. For shorter ones other rows (posting by all, a barrier) are better, because they need no table
// of the blocks.
extern constinit const Row<AlltoallCall> alltoall_by_reading{
    {Algorithm::shared, [](const CallFacts& call) { return members_read(call) && call.bytes > kReadInPlaceBytes; },
     [](const CallFacts& call) {
       const double moved = (call.ranks() - 1) * call.n();
       return read_in_place(call.ranks() - 1, {moved, call.ranks() * moved});
     }},
    [](Collective& collective, const Means& means, const AlltoallCall& call) {
      return exchange_posted(collective, *means.team, call.out, call.in);
    }};

}  // namespace margay::collectives
