#include "sim/boot/board.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {
namespace {

using portals::Status;

constexpr std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return (bytes + kBoardPageBytes - 1) / kBoardPageBytes * kBoardPageBytes;
}

// After the node map, rounded up because the map may have an odd number of elements.
constexpr std::uint64_t places_offset(std::uint32_t size) {
  return sizeof(BoardHeader) + (std::uint64_t{size} + 1) / 2 * 2 * sizeof(std::uint32_t);
}

// Regions are page-aligned, so that no two ranks write into one cache line.
constexpr std::uint64_t head_bytes(std::uint32_t size) {
  return round_up_to_page(places_offset(size) + std::uint64_t{size} * sizeof(BoardPlace));
}

constexpr std::uint64_t region_bytes(std::uint32_t size, std::uint32_t ways) {
  return round_up_to_page(sizeof(BoardBlock) + std::uint64_t{size} * ways * (2 + kDropReasons) * sizeof(std::uint64_t));
}

Status map(int descriptor, std::uint64_t bytes, std::byte*& base) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) {
    return Status::error("cannot map the job board (" + std::to_string(bytes) + " bytes, descriptor " +
                         std::to_string(descriptor) + "): " + std::strerror(errno));
  }
  base = static_cast<std::byte*>(address);
  return {};
}

}  // namespace

std::uint64_t Board::bytes_for(std::uint32_t size, std::uint32_t ways) {
  return head_bytes(size) + size * region_bytes(size, ways);
}

std::uint64_t Board::block_offset(std::uint32_t rank, std::uint32_t size, std::uint32_t ways) {
  MARGAY_ASSERT(rank < size);
  return head_bytes(size) + rank * region_bytes(size, ways);
}

Status Board::attach(int descriptor, Board& out) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    return Status::error("the job board's descriptor " + std::to_string(descriptor) +
                         " is not open: was it closed by a " + "wrapper between `margay run` and the program?");
  }
  // The file's own size bounds every access, because a header that contradicts it must not lead past the file's end.
  const auto file_bytes = static_cast<std::uint64_t>(info.st_size);
  if (file_bytes < sizeof(BoardHeader)) return Status::error("the job board is shorter than its header");
  // Mapped into a local object first. After a failure below, its destructor unmaps the board, and `out` keeps its
  // value.
  Board board;
  if (Status status = map(descriptor, file_bytes, board.base_); !status.ok()) return status;
  board.bytes_ = file_bytes;
  const BoardHeader& header = board.header();
  if (header.magic != kBoardMagic || header.version != kBoardVersion) {
    return Status::error(
        "the job board was made by another version of margay: run the program with its own `margay run`");
  }
  // The range is tested first: up to kRanksMax, bytes_for() cannot overflow.
  const bool right_ways = header.ways == 1 || header.ways == kWayCodes;
  if (header.size == 0 || header.size > kRanksMax || !right_ways || bytes_for(header.size, header.ways) != file_bytes) {
    return Status::error("the job board's size does not fit its " + std::to_string(header.size) + " ranks");
  }
  board.size_ = header.size;
  board.ways_ = header.ways;
  out = std::move(board);
  return {};
}

Status Board::create(int descriptor, std::uint32_t size, Board& out, std::uint32_t ways) {
  MARGAY_ASSERT(size >= 1 && size <= kRanksMax && (ways == 1 || ways == kWayCodes));
  Board board;
  if (Status status = map(descriptor, bytes_for(size, ways), board.base_); !status.ok()) return status;
  board.bytes_ = bytes_for(size, ways);
  board.size_ = size;
  board.ways_ = ways;
  // The magic comes last, by publish().
  board.header().version = kBoardVersion;
  board.header().size = board.header().first_ranks = board.header().used = size;
  board.header().ways = ways;
  board.header().total_bytes = board.bytes_;
  out = std::move(board);
  return {};
}

Board::~Board() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

void Board::swap(Board& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(ways_, other.ways_);
}

// Directly after the header; u32, which the header's size keeps aligned.
std::uint32_t* Board::node_of_rank() const {
  return reinterpret_cast<std::uint32_t*>(base_ + sizeof(BoardHeader));
}

std::byte* Board::region(std::uint32_t rank) const {
  return base_ + block_offset(rank, size_, ways_);
}

// The number comes from the file, so it is checked.
std::uint32_t Board::used() const {
  return std::min(published_number(header().used), size_);
}

BoardPlace& Board::place(std::uint32_t rank) const {
  MARGAY_ASSERT(rank < size_);
  return reinterpret_cast<BoardPlace*>(base_ + places_offset(size_))[rank];
}

BoardBlock& Board::block(std::uint32_t rank) const {
  return *reinterpret_cast<BoardBlock*>(region(rank));
}

std::uint64_t* Board::sent(std::uint32_t rank) const {
  return reinterpret_cast<std::uint64_t*>(region(rank) + sizeof(BoardBlock));
}

std::uint64_t* Board::delivered(std::uint32_t rank) const {
  return sent(rank) + std::size_t{size_} * ways_;
}

std::uint64_t* Board::dropped(std::uint32_t rank) const {
  return delivered(rank) + std::size_t{size_} * ways_;
}

}  // namespace margay::sim
