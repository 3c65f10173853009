#include "sim/machine/shared_heap.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <boost/interprocess/indexes/iset_index.hpp>
#include <boost/interprocess/managed_external_buffer.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/resources.hpp"
#include "sim/shm/published.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

namespace {

using portals::Status;
namespace bi = boost::interprocess;

constexpr std::uint64_t kPageBytes = kSegmentPageBytes;
using Fit = bi::rbtree_best_fit<bi::null_mutex_family, bi::offset_ptr<void>, kPageBytes>;
using Buffer = bi::basic_managed_external_buffer<char, Fit, bi::iset_index>;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

// The arena's size: four times the machine's memory, within bounds. The size limits addresses, not memory, and
// fragmentation takes addresses, too.
std::uint64_t arena_bound() {
  std::uint64_t bytes = std::clamp(4 * physical_memory_bytes(), kHeapArenaBytesMin, kHeapArenaBytesMax);
  // The size stays below the limit on file sizes, because beyond it the process would be killed. It takes at most a
  // quarter of limited addresses, because the program needs the others.
  bytes = std::min(bytes, file_size_limit().value_or(bytes));
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    bytes = std::min<std::uint64_t>(bytes, addresses.rlim_cur / 4);
  }
  return bytes / kPageBytes * kPageBytes;
}

Status refuse_arena(const std::string& why) {
  return Status::error("cannot allocate memory that the node's ranks share: " + why);
}

Status refuse_call(const char* call) {
  return refuse_arena(std::string(call) + ": " + std::strerror(errno));
}

}  // namespace

// Boost's division of the arena into blocks. Owns no memory, because its data lie in the arena.
struct SharedHeap::Division {
  explicit Division(const SharedRange& arena) : buffer(bi::create_only, arena.data(), arena.bytes()) {}
  // nullptr: there is no room.
  std::byte* allocate(std::uint64_t bytes) { return static_cast<std::byte*>(buffer.allocate(bytes, std::nothrow)); }
  Buffer buffer;
};

SharedHeap::SharedHeap(const HeapOptions& options) : options_(options), owner_(::getpid()) {
  MARGAY_ASSERT(options.arena_bytes % kPageBytes == 0);
}

SharedHeap::~SharedHeap() {
  // The range must be unmapped before the descriptor is closed (SharedRange::map()).
  arena_ = {};
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t SharedHeap::offset_of(const void* address) const {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(arena_.data());
}

Status SharedHeap::open_arena(std::uint64_t bytes) {
  const int descriptor = ::memfd_create("margay-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return refuse_call("memfd_create");
  const auto close_and = [descriptor](Status status) {
    ::close(descriptor);
    return status;
  };
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return close_and(refuse_call("memfd of this size"));
  // A peer that maps the file relies on its size: access to a file that has shrunk would end the peer by SIGBUS.
  if (::fcntl(descriptor, F_ADD_SEALS, kHeapSeals | F_SEAL_SEAL) != 0) return close_and(refuse_call("F_ADD_SEALS"));
  SharedRange arena;
  if (Status status = SharedRange::map(descriptor, 0, bytes, arena); !status.ok()) return close_and(std::move(status));
  // The same advice as for free memory (advise()), because neighbours with equal advice share one of the 65530 mappings
  // of a process.
  static_cast<void>(::madvise(arena.data(), bytes, MADV_NOHUGEPAGE));
  division_ = std::make_unique<Division>(arena);
  arena_ = std::move(arena);
  descriptor_ = descriptor;
  return {};
}

Status SharedHeap::make_arena() {
  if (arena_.bytes() != 0) return {};
  if (options_.refuse_memfd) return refuse_arena("memfd refused by option");
  // Boost's alignment, and the holes in the file, rely on this size.
  if (const long page = ::sysconf(_SC_PAGESIZE); page != static_cast<long>(kPageBytes)) {
    return refuse_arena("this system has pages of " + std::to_string(page) + " bytes");
  }
  std::uint64_t bytes = options_.arena_bytes != 0 ? options_.arena_bytes : arena_bound();
  Status status = refuse_arena("the limits on file sizes and addresses (ulimit -f, -v) leave no room");
  // A smaller arena is better than none.
  for (; bytes >= kHeapArenaBytesMin; bytes = bytes / 2 / kPageBytes * kPageBytes) {
    status = open_arena(bytes);
    if (status.ok()) break;
  }
  if (!status.ok()) return status;
  // Allocates once to find the position of the first block, which Boost does not report.
  std::byte* const first = division_->allocate(1);
  MARGAY_ASSERT(first != nullptr);
  first_block_ = offset_of(first);
  division_->buffer.deallocate(first);
  return {};
}

Status SharedHeap::allocate(std::uint64_t bytes, void*& out, std::uint64_t alignment) {
  MARGAY_ASSERT(std::has_single_bit(alignment) && alignment <= kAlignmentMaxBytes);
  out = nullptr;
  // A child of fork() has private copies of the pages, so no peer could see its pieces.
  if (::getpid() != owner_) return refuse_arena("a child of fork() is not a rank of the job");
  if (Status status = make_arena(); !status.ok()) return status;
  const std::optional<std::uint64_t> slot_bytes = Slabs::slot_bytes(bytes, alignment);
  std::uint64_t begin = 0;
  Status status = slot_bytes ? allocate_short(bytes, *slot_bytes, begin) : allocate_pages(bytes, begin);
  if (!status.ok()) return status;
  used_bytes_ += bytes;
  out = arena_.data() + begin;
  return {};
}

Status SharedHeap::allocate_short(std::uint64_t bytes, std::uint64_t slot_bytes, std::uint64_t& begin) {
  std::optional<std::uint64_t> slot = slabs_.take(slot_bytes, bytes);
  if (!slot) {
    if (Status status = allocate_pages(Slabs::kSlabBytes, begin); !status.ok()) return status;
    // All slots of the new slab are free, so the second take() cannot fail.
    slabs_.add(begin, slot_bytes);
    slot = slabs_.take(slot_bytes, bytes);
  }
  begin = *slot;
  std::memset(arena_.data() + begin, 0, bytes);
  return {};
}

Status SharedHeap::allocate_pages(std::uint64_t bytes, std::uint64_t& begin) {
  const auto refuse_size = [&] {
    return Status::error("cannot reserve " + std::to_string(bytes) + " bytes of address space for window memory: " +
                         std::to_string(used_bytes_) + " of this rank's " + std::to_string(arena_.bytes()) +
                         " bytes of addresses are used, and no free piece is long enough");
  };
  if (bytes > arena_.bytes()) return refuse_size();
  // A block may begin at any page, so up to a huge page less one page of it lies before the first boundary of a huge
  // page, where the piece begins. The block is longer by that much.
  const bool huge = bytes >= kHugeMinBytes;
  const std::uint64_t pages = round_up(std::max<std::uint64_t>(bytes, 1), kPageBytes);
  const std::uint64_t block_bytes = pages + (huge ? kHugePageBytes - kPageBytes : 0);
  std::byte* block = division_->allocate(block_bytes);
  while (block == nullptr) {
    // Empty slabs are kept for short pieces, until pages are needed.
    const std::optional<std::uint64_t> slab = slabs_.drop_empty();
    if (!slab) return refuse_size();
    free_pages(*slab);
    block = division_->allocate(block_bytes);
  }
  const std::uint64_t at = offset_of(block);
  MARGAY_ASSERT(at % kPageBytes == 0);
  begin = huge ? round_up(at, kHugePageBytes) : at;
  const Piece piece{.bytes = bytes, .pages_end = begin + pages, .block = at, .block_end = at + block_bytes};
  // If the operating system cannot make holes, the pages are cleared, and take memory at once.
  if (!empty(begin, piece.pages_end)) std::memset(arena_.data() + begin, 0, pages);
  advise(begin, piece, true);
  pieces_.emplace(begin, piece);
  return {};
}

void SharedHeap::free(void* address) {
  // A child of fork() frees nothing; its copies end with it.
  if (::getpid() != owner_) return;
  const std::uint64_t begin = offset_of(address);
  if (const std::optional<Slabs::Piece> piece = slabs_.find(begin)) {
    MARGAY_ASSERT(piece->begin == begin);
    used_bytes_ -= piece->bytes;
    if (const std::optional<std::uint64_t> slab = slabs_.give_back(begin)) free_pages(*slab);
    return;
  }
  used_bytes_ -= pieces_.at(begin).bytes;
  free_pages(begin);
}

void SharedHeap::free_pages(std::uint64_t begin) {
  // Positions, sizes and blocks are in private memory, so no peer can make this rank free a wrong block.
  const auto found = pieces_.find(begin);
  MARGAY_ASSERT(found != pieces_.end());
  const Piece piece = found->second;
  advise(begin, piece, false);
  division_->buffer.deallocate(arena_.data() + piece.block);
  const auto after = pieces_.erase(found);
  // Boost has joined the freed block with its free neighbours. The joined block lies between the used block before it
  // and Boost's page of the used block after it; at the end of the arena, Boost uses the last page. In a free block
  // Boost uses the first page only. So two more pages may have become unused: if the block before was free, the first
  // page of the block freed here; if the block after was free, the first page of that block. The hole includes both,
  // as far as they lie in the joined block and are not its first page.
  const std::uint64_t free_end =
      after != pieces_.end() ? after->second.block - kPageBytes : arena_.bytes() - kPageBytes;
  const std::uint64_t free_begin =
      after != pieces_.begin() ? std::prev(after)->second.block_end : first_block_ - kPageBytes;
  static_cast<void>(empty(std::max(piece.block - kPageBytes, free_begin + kPageBytes),
                          std::min(piece.block_end + kPageBytes, free_end)));
}

// Makes a range a hole of the file, so that the range is zero and takes no memory. false: the operating system refused.
bool SharedHeap::empty(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end) return true;
  return ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                     static_cast<off_t>(end - begin)) == 0;
}

// Sets (`is_used`) or withdraws the advice for a piece. A piece gets advice only if fewer than kHeapAdvisedPieces
// pieces exist when it is allocated. Core dumps include such a piece with Boost's page before it, so that adjacent
// pieces stay in one mapping. A long piece gets huge pages, without Boost's page. A system without huge pages refuses
// that advice, which does no harm.
void SharedHeap::advise(std::uint64_t begin, const Piece& piece, bool is_used) const {
  if (is_used && pieces_.size() >= kHeapAdvisedPieces) return;
  std::byte* const block = arena_.data() + piece.block - kPageBytes;
  const auto dumped_bytes = static_cast<std::size_t>(piece.pages_end - (piece.block - kPageBytes));
  static_cast<void>(::madvise(block, dumped_bytes, is_used ? MADV_DODUMP : MADV_DONTDUMP));
  const std::uint64_t bytes = piece.pages_end - begin;
  if (bytes < kHugeMinBytes) return;
  static_cast<void>(::madvise(arena_.data() + begin, bytes, is_used ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
}

std::optional<HeapAddress> SharedHeap::find(const void* address, std::uint64_t bytes) const {
  const std::uint64_t offset = offset_of(address);
  if (offset >= arena_.bytes()) return std::nullopt;
  const auto covers = [&](std::uint64_t begin, std::uint64_t length) {
    // A range of 0 bytes may begin at the piece's end.
    const std::uint64_t before = offset - begin;
    return before <= length && bytes <= length - before;
  };
  if (const std::optional<Slabs::Piece> piece = slabs_.find(offset)) {
    return covers(piece->begin, piece->bytes) ? std::optional(HeapAddress{offset, bytes}) : std::nullopt;
  }
  const auto after = pieces_.upper_bound(offset);
  if (after == pieces_.begin()) return std::nullopt;
  const auto& [begin, piece] = *std::prev(after);
  if (slabs_.is_slab(begin) || !covers(begin, piece.bytes)) return std::nullopt;
  return HeapAddress{offset, bytes};
}

bool SharedHeap::owns(const void* address) const {
  const std::uint64_t offset = offset_of(address);
  if (const std::optional<Slabs::Piece> piece = slabs_.find(offset)) return piece->begin == offset;
  return pieces_.contains(offset) && !slabs_.is_slab(offset);
}

void SharedHeap::publish(RankArea& mine) const {
  struct stat about {};
  if (descriptor_ < 0 || read_published(mine.heap_descriptor) != 0 || ::fstat(descriptor_, &about) != 0) return;
  // Stored before the descriptor's number, which publishes them.
  mine.heap_bytes = arena_.bytes();
  mine.heap_file = about.st_ino;
  sim::publish(mine.heap_descriptor, static_cast<std::uint32_t>(descriptor_) + 1);
}

std::uint64_t SharedHeap::memory_bytes() const {
  constexpr std::uint64_t kStatBlockBytes = 512;
  struct stat about {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) return 0;
  return static_cast<std::uint64_t>(about.st_blocks) * kStatBlockBytes;
}

bool SharedHeap::is_sound() const {
  if (division_ == nullptr) return pieces_.empty();
  std::uint64_t end = first_block_ - kPageBytes;
  for (const auto& [begin, piece] : pieces_) {
    if (piece.block < end + kPageBytes || begin < piece.block || piece.pages_end > piece.block_end) return false;
    end = piece.block_end;
  }
  return end <= arena_.bytes() && division_->buffer.check_sanity() &&
         division_->buffer.all_memory_deallocated() == pieces_.empty();
}

}  // namespace margay::sim
