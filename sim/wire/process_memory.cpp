#include "sim/wire/process_memory.hpp"

#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "portals/base/assert.hpp"

namespace margay::sim {
namespace {

using portals::Buffer;

static_assert(sizeof(Buffer) == 16 && offsetof(Buffer, bytes) == 8, "the table of pieces is read as it lies");

iovec remote(std::uint64_t address, std::uint64_t bytes) {
  return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), static_cast<std::size_t>(bytes)};
}

// What could be read: possibly less than asked, never 0 with `none`.
ReadFault read_from(std::uint32_t pid, std::span<const iovec> to, std::span<const iovec> from, std::uint64_t& got) {
  for (;;) {
    const ssize_t bytes =
        ::process_vm_readv(static_cast<pid_t>(pid), to.data(), to.size(), from.data(), from.size(), 0);
    got = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
    if (bytes > 0) return ReadFault::none;
    if (bytes == 0) return ReadFault::unreadable;
    switch (errno) {
      case EINTR:
        continue;
      case ESRCH:
        return ReadFault::gone;
      case EPERM:
      case EACCES:
      case ENOSYS:
        return ReadFault::refused;
      default:
        return ReadFault::unreadable;
    }
  }
}

}  // namespace

void open_for_reading(RankArea& mine, std::uint64_t& test_word, bool allow) {
  // Unlike anything that another process (of another PID namespace) would have at the same address.
  if (::getrandom(&test_word, sizeof test_word, GRND_NONBLOCK) != sizeof test_word) {
    test_word =
        reinterpret_cast<std::uintptr_t>(&test_word) * 0x9e37'79b9'7f4a'7c15 ^ static_cast<std::uint64_t>(::getpid());
  }
  mine.test_word = test_word;
  mine.test_address = reinterpret_cast<std::uintptr_t>(&test_word);
  // Without Yama there is nothing to permit, and the call is refused; either way the first test tells.
  if (allow) ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

std::string_view words(ReadFault fault) {
  switch (fault) {
    case ReadFault::none:
      return "";
    case ReadFault::gone:
      return "its process ended while its memory was read";
    case ReadFault::refused:
      return "the operating system does not allow reading its memory (ptrace rules, or another PID namespace)";
    case ReadFault::unreadable:
      return "its memory cannot be read with process_vm_readv";
    case ReadFault::malformed:
      return "an offered body whose table of pieces contradicts its header";
  }
  return "";
}

ReadFault try_reading(const RankArea& peer) {
  std::uint64_t word = 0;
  std::uint64_t got = 0;
  const std::array to{iovec{&word, sizeof word}};
  const std::array from{remote(peer.test_address, sizeof word)};
  const ReadFault fault = read_from(peer.pid, to, from, got);
  const bool right = fault == ReadFault::none && got == sizeof word && word == peer.test_word;
  return right ? ReadFault::none : ReadFault::refused;
}

ReadFault BodyReader::begin(const RankArea& peer, const ReadOffer& offer, std::uint64_t length) {
  if (offer.number % 2 == 0 || offer.bytes != length) return ReadFault::malformed;
  if (offer.count == 0 || offer.count > kOfferPiecesMax) return ReadFault::malformed;
  peer_ = &peer;
  next_address_ = offer.address;
  next_count_ = offer.count;
  left_ = length;
  at_ = count_ = 0;
  return ReadFault::none;
}

// The next pieces of the table, and the test word with them: the number may be another process's by now.
ReadFault BodyReader::fetch_table() {
  if (next_count_ == 0) return ReadFault::malformed;  // the pieces are shorter than the body
  const std::size_t pieces = std::min<std::uint64_t>(kReadPieces, next_count_);
  const std::size_t bytes = pieces * sizeof(Buffer);
  std::uint64_t word = 0;
  std::uint64_t got = 0;
  const std::array to{iovec{&word, sizeof word}, iovec{table_, bytes}};
  const std::array from{remote(peer_->test_address, sizeof word), remote(next_address_, bytes)};
  if (const ReadFault fault = read_from(peer_->pid, to, from, got); fault != ReadFault::none) return fault;
  if (word != peer_->test_word) return ReadFault::gone;
  if (got != sizeof word + bytes) return ReadFault::unreadable;
  next_address_ += bytes;
  next_count_ -= pieces;
  at_ = 0;
  count_ = pieces;
  return ReadFault::none;
}

ReadFault BodyReader::step(portals::RegionCursor& landing, std::uint64_t limit) {
  MARGAY_ASSERT(limit != 0 && landing.left() == left_);
  while (at_ < count_ && table_[at_].bytes == 0) ++at_;
  if (at_ == count_) {
    if (const ReadFault fault = fetch_table(); fault != ReadFault::none) return fault;
    while (at_ < count_ && table_[at_].bytes == 0) ++at_;
    if (at_ == count_) return ReadFault::none;  // empty pieces only: the next step fetches on
  }
  std::array<iovec, kReadPieces> to;
  std::array<iovec, kReadPieces> from;
  const std::uint64_t most = std::min(limit, left_);
  std::size_t to_count = 0;
  portals::RegionCursor ahead = landing;
  for (std::uint64_t bytes = 0; bytes < most && to_count < kReadPieces;) {
    const Buffer piece = ahead.peek(most - bytes);
    to[to_count++] = {piece.base, piece.bytes};
    ahead.skip(piece.bytes);
    bytes += piece.bytes;
  }
  std::size_t from_count = 0;
  std::uint64_t offered = 0;
  for (std::size_t i = at_; i < count_ && offered < most; ++i) {
    if (table_[i].bytes == 0) continue;
    const std::uint64_t bytes = std::min<std::uint64_t>(table_[i].bytes, most - offered);
    from[from_count++] = remote(reinterpret_cast<std::uintptr_t>(table_[i].base), bytes);
    offered += bytes;
  }
  std::uint64_t got = 0;
  const ReadFault fault = read_from(peer_->pid, std::span(to).first(to_count), std::span(from).first(from_count), got);
  if (fault != ReadFault::none) return fault;
  landing.skip(got);
  pass(got);
  return ReadFault::none;
}

void BodyReader::pass(std::uint64_t bytes) {
  MARGAY_ASSERT(bytes <= left_);
  left_ -= bytes;
  while (bytes != 0) {
    MARGAY_ASSERT(at_ < count_);
    Buffer& piece = table_[at_];
    const std::uint64_t here = std::min<std::uint64_t>(bytes, piece.bytes);
    // Integers, not pointers of ours: no address of the peer is ever followed here.
    piece.base = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(piece.base) + here);
    piece.bytes -= static_cast<std::size_t>(here);
    bytes -= here;
    if (piece.bytes == 0) ++at_;
  }
}

}  // namespace margay::sim
