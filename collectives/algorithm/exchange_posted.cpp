// Every block straight from its owner to whom it is for, inside a node, through what its ranks post (portal/post): each
// posts a table of its blocks, and with it the short ones; long ones are read where they lie, by those that they are
// for. Cost, k blocks out and m in, n bytes of all of a rank's: no message; a short block is written once and read
// once, 2 n β; a long one is read once, n β, by a call of the operating system. Nobody waits for those that read short
// blocks; who shows long ones is done when they are read: two turns of a processor, where messages take four (ready,
// header, body, acknowledgment).
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

namespace {

// Longer ones are read where they lie: the operating system's call, 1 us and 0.1 for each page, costs less than a
// second copy then.
constexpr std::uint64_t kShortBlockBytes = std::uint64_t{16} << 10;
// A block in more pieces is copied into one: to name a piece to the operating system costs more than to copy a few
// hundred bytes.
constexpr std::size_t kPiecesMost = 64;

// A table of blocks, as it is posted: how many, then an entry for each.
struct TableHead {
  std::uint64_t blocks = 0;
};
struct TableEntry {
  std::uint64_t bytes = 0;
  std::uint64_t where = 0;   // behind the posting's beginning; of what is read where it lies: sim::ReadOffer::address
  std::uint32_t pieces = 0;  // 0: in the posting; else ReadOffer::count
  std::int32_t peer = 0;
};
static_assert(sizeof(TableEntry) == 24);

// What a rank shows of its blocks, and keeps until they are read.
class BlockTable {
 public:
  explicit BlockTable(std::span<const PeerMessage> out) {
    entries_.reserve(out.size());
    for (const PeerMessage& block : out) {
      if (block.moves()) entries_.push_back({block.data.bytes(), 0, 0, block.peer});
    }
    bytes_ = sizeof(TableHead) + entries_.size() * sizeof(TableEntry);
    auto entry = entries_.begin();
    for (const PeerMessage& block : out) {
      if (!block.moves()) continue;
      if (entry->bytes <= kShortBlockBytes && bytes_ + entry->bytes <= kPostedBytes) {
        entry->where = bytes_;
        bytes_ += entry->bytes;
      } else {
        show_where_it_lies(*entry, block.data);
      }
      ++entry;
    }
  }
  // Of the posting.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<TableEntry>& entries() const { return entries_; }
  void write(std::byte* posting, std::span<const PeerMessage> out) const {
    const TableHead head{entries_.size()};
    std::memcpy(posting, &head, sizeof head);
    if (entries_.empty()) return;
    std::memcpy(posting + sizeof head, entries_.data(), entries_.size() * sizeof(TableEntry));
    auto entry = entries_.begin();
    for (const PeerMessage& block : out) {
      if (!block.moves()) continue;
      if (entry->pieces == 0) portals::copy(portals::Region(posting + entry->where, entry->bytes), block.data);
      ++entry;
    }
  }

 private:
  void show_where_it_lies(TableEntry& entry, const portals::Region& data) {
    std::vector<portals::Buffer> pieces;
    for (portals::RegionCursor cursor(data); cursor.left() != 0 && pieces.size() <= kPiecesMost;) {
      pieces.push_back(cursor.peek(cursor.left()));
      cursor.skip(pieces.back().bytes);
    }
    if (pieces.size() > kPiecesMost) {
      copies_.push_back(std::make_unique_for_overwrite<std::byte[]>(data.bytes()));
      const portals::Region copy(copies_.back().get(), data.bytes());
      portals::copy(copy, data);
      pieces = {copy.single()};
    }
    entry.pieces = static_cast<std::uint32_t>(pieces.size());
    const void* const offered = pieces.size() == 1 ? pieces.front().base : static_cast<const void*>(pieces.data());
    entry.where = reinterpret_cast<std::uintptr_t>(offered);
    if (pieces.size() > 1) tables_.push_back(std::move(pieces));
  }

  std::uint64_t bytes_ = 0;
  std::vector<TableEntry> entries_;
  std::vector<std::vector<portals::Buffer>> tables_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
};

// A reader's entry in what a member posted, looked for from the `likely`-th on. nullopt: it has none for this reader.
std::optional<TableEntry> find_entry(std::span<const std::byte> posting, int reader, std::size_t likely) {
  TableHead head;
  std::memcpy(&head, posting.data(), sizeof head);
  if (head.blocks > (posting.size() - sizeof head) / sizeof(TableEntry)) return std::nullopt;
  for (std::size_t look = 0; look < head.blocks; ++look) {
    const std::size_t at = (likely + look) % head.blocks;
    TableEntry entry;
    std::memcpy(&entry, posting.data() + sizeof head + at * sizeof entry, sizeof entry);
    if (entry.peer != reader) continue;
    const bool here = entry.where <= posting.size() && entry.bytes <= posting.size() - entry.where;
    if (entry.pieces != 0 || here) return entry;
    break;
  }
  return std::nullopt;
}

}  // namespace

// Whom a block of another length is for leaves it, goes on, and has the error when the others have read its own.
Steps exchange_posted(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in) {
  const BlockTable blocks(out);
  Post post(collective, team, Post::Own{blocks.bytes()});
  if (!blocks.entries().empty()) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    blocks.write(post.mine(), out);
    post.show();
    for (const TableEntry& entry : blocks.entries()) post.tell(entry.peer);
  }
  bool differs = false;
  bool shown_memory = false;
  for (std::size_t at = 0; at < in.size(); ++at) {
    const PeerMessage& block = in[at];
    if (!block.moves()) continue;
    co_await post.of(block.peer);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    const std::span<const std::byte> posting = post.shown(block.peer);
    const std::optional<TableEntry> entry = find_entry(posting, collective.rank(), at);
    if (!entry || entry->bytes != block.data.bytes()) {
      differs = true;
    } else if (entry->pieces == 0) {
      // The region is only read.
      std::byte* const from = const_cast<std::byte*>(posting.data()) + entry->where;
      post.note_read(block.peer, entry->bytes);
      portals::copy(block.data, portals::Region(from, entry->bytes));
    } else {
      shown_memory = true;
      if (!post.read(block.peer, {entry->where, entry->pieces}, block.data)) co_return;
    }
  }
  if (shown_memory || differs) post.have_read();
  for (const TableEntry& entry : blocks.entries()) {
    if (entry.pieces == 0) continue;
    co_await post.read_by(entry.peer);
    if (collective.error_class() != MPI_SUCCESS) co_return;
  }
  if (differs) collective.named_other_bytes();
}

}  // namespace margay::collectives
