#include "command/live/board_reader.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

namespace margay::command {

namespace {

using portals::Status;

// A rank writes the first 16 bytes of its call's name by one store, so a shorter name is whole. A longer name that
// changed between two reads may be a mixture of two calls.
constexpr std::size_t kOneStoreBytes = 16;
constexpr int kReads = 4;

// False if the file ends before the last byte, as a truncated file does.
bool read_at(int descriptor, void* to, std::size_t bytes, std::uint64_t offset) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t read = ::pread(descriptor, at, bytes, static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    at += read;
    bytes -= static_cast<std::size_t>(read);
    offset += static_cast<std::uint64_t>(read);
  }
  return true;
}

// The counter of calls distinguishes two calls of the same function.
bool same_call(const sim::BoardBlock& one, const sim::BoardBlock& other) {
  return one.calls == other.calls && one.mpi_call == other.mpi_call;
}
bool same_wait(const sim::BoardBlock& one, const sim::BoardBlock& other) {
  return std::ranges::equal(std::as_bytes(std::span(&one.wait, 1)), std::as_bytes(std::span(&other.wait, 1)));
}

// All sizes must agree with the file's length, so later reads stay inside it.
std::string wrong_with(const sim::BoardHeader& header, std::uint64_t file_bytes) {
  // The launcher writes the magic last.
  if (header.magic == 0) return "is not complete";
  if (header.magic != sim::kBoardMagic) return "is not a job board";
  if (header.version != sim::kBoardVersion) {
    return fmt::format("is of version {} of the board, and this margay's is {}: use the margay that runs the job",
                       header.version, sim::kBoardVersion);
  }
  const bool sizes_fit = header.size >= 1 && header.size <= sim::kRanksMax && header.ways >= 1 &&
                         header.ways <= sim::kWayCodes &&
                         sim::Board::bytes_for(header.size, header.ways) == file_bytes &&
                         header.total_bytes == file_bytes && header.node_count >= 1 && header.node_count <= header.size;
  return sizes_fit ? ""
                   : fmt::format("has {} bytes, which do not fit {} ranks on {} nodes", file_bytes, header.size,
                                 header.node_count);
}

}  // namespace

BoardReader::~BoardReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void BoardReader::swap(BoardReader& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(header_, other.header_);
  std::swap(nodes_, other.nodes_);
  std::swap(file_, other.file_);
}

// `out` changes on success only.
Status BoardReader::open(int descriptor, BoardReader& out) {
  BoardReader reader;
  reader.descriptor_ = descriptor;
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) return Status::error("is not a memory file");
  const auto file_bytes = static_cast<std::uint64_t>(info.st_size);
  if (!read_at(descriptor, &reader.header_, sizeof(sim::BoardHeader), 0)) {
    return Status::error("is shorter than a board's header");
  }
  if (std::string wrong = wrong_with(reader.header_, file_bytes); !wrong.empty()) return Status::error(wrong);
  reader.file_ = {info.st_dev, info.st_ino};
  reader.nodes_.resize(reader.size());
  if (!read_at(descriptor, reader.nodes_.data(), reader.nodes_.size() * sizeof(std::uint32_t),
               sizeof(sim::BoardHeader))) {
    return Status::error("has become shorter");
  }
  const std::uint32_t nodes = reader.header_.node_count;
  if (std::ranges::any_of(reader.nodes_, [nodes](std::uint32_t node) { return node >= nodes; })) {
    return Status::error(fmt::format("names nodes that its {} nodes do not have", nodes));
  }
  out = std::move(reader);
  return {};
}

bool BoardReader::refresh() {
  sim::BoardHeader header;
  if (!read_at(descriptor_, &header, sizeof header, 0)) return false;
  if (header.magic != sim::kBoardMagic || header.size != header_.size || header.ways != header_.ways ||
      header.node_count != header_.node_count)
    return false;
  header_ = header;
  return true;
}

// Two equal copies in succession count as consistent.
bool BoardReader::read_block(std::uint32_t rank, sim::BoardBlock& out) const {
  const std::uint64_t offset = sim::Board::block_offset(rank, size(), header_.ways);
  sim::BoardBlock before;
  if (!read_at(descriptor_, &out, sizeof out, offset)) return false;
  bool call = false;
  bool wait = false;
  // A rank that changes its state all the time could defeat any number of reads, so they are bounded.
  for (int reads = 1; reads < kReads && !(call && wait); ++reads) {
    before = out;
    if (!read_at(descriptor_, &out, sizeof out, offset)) return false;
    call = same_call(before, out);
    wait = same_wait(before, out);
  }
  if (!call && ::strnlen(out.mpi_call.data(), out.mpi_call.size()) >= kOneStoreBytes) out.mpi_call[0] = '\0';
  if (!wait) out.wait = {};
  return true;
}

}  // namespace margay::command
