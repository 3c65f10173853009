#include "sim/wire/shm/process_memory.hpp"

#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "portals/base/assert.hpp"
#include "sim/wire/shm/own_process.hpp"

namespace margay::sim {
namespace {

using portals::Buffer;

// The receiver reads the sender's table as an array of Buffer.
static_assert(sizeof(Buffer) == 16 && offsetof(Buffer, bytes) == 8, "the table of pieces is read as it lies");

// Landings that begin with a shorter piece are filled through intermediate memory, because to pass such a piece to the
// operating system costs more than to copy it.
constexpr std::size_t kLandingPieceBytes = 256;
constexpr std::size_t kBesideBytes = std::size_t{64} * 1024;

iovec remote(std::uint64_t address, std::uint64_t bytes) {
  return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), static_cast<std::size_t>(bytes)};
}

// Calls `move`, one call of process_vm_readv or process_vm_writev, until it is not interrupted. `got`: the bytes moved,
// possibly fewer than requested; with `none` at least 1.
template <typename Move>
ReadFault move_from(Move move, std::uint64_t& got) {
  for (;;) {
    const ssize_t bytes = move();
    got = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
    if (bytes > 0) return ReadFault::none;
    if (bytes == 0) return ReadFault::unreadable;
    if (const ReadFault fault = fault_of(errno); fault != ReadFault::none) return fault;
  }
}

// The copy that process_vm_readv would make, between memory of this process.
std::uint64_t copy_here(std::span<const iovec> to, std::span<const iovec> from) {
  std::uint64_t copied = 0;
  std::size_t begin = 0;  // in the first piece of `to`
  for (iovec piece : from) {
    while (piece.iov_len != 0 && !to.empty()) {
      const std::size_t bytes = std::min(piece.iov_len, to.front().iov_len - begin);
      if (bytes != 0) std::memcpy(static_cast<std::byte*>(to.front().iov_base) + begin, piece.iov_base, bytes);
      piece = {static_cast<std::byte*>(piece.iov_base) + bytes, piece.iov_len - bytes};
      copied += bytes;
      begin += bytes;
      if (begin == to.front().iov_len) to = to.subspan(1), begin = 0;
    }
  }
  return copied;
}

ReadFault read_by_call(const RankArea& peer, std::span<const iovec> to, std::span<const iovec> from,
                       std::uint64_t& got) {
  return move_from(
      [&] {
        return ::process_vm_readv(static_cast<pid_t>(peer.pid), to.data(), to.size(), from.data(), from.size(), 0);
      },
      got);
}

ReadFault read_from(const RankArea& peer, std::span<const iovec> to, std::span<const iovec> from, std::uint64_t& got) {
  if (!is_this_process(peer)) return read_by_call(peer, to, from, got);
  got = copy_here(to, from);
  return ReadFault::none;
}

// Random, so that no process of another PID namespace has the same word at the same address.
void make_test_word(std::uint64_t& word) {
  if (::getrandom(&word, sizeof word, GRND_NONBLOCK) == sizeof word) return;
  word = reinterpret_cast<std::uintptr_t>(&word) * 0x9e37'79b9'7f4a'7c15 ^ static_cast<std::uint64_t>(::getpid());
}

// The test word of all ranks of this process that other ranks of this process may access directly, and the process in
// which it was made; 0: none. Constant while such a rank is open.
struct OwnWord {
  std::uint64_t word = 0;
  std::uint32_t pid = 0;
};
constinit OwnWord own_word;

}  // namespace

bool is_this_process(const RankArea& peer) {
  // A child of fork() has its parent's word, and another number.
  return peer.test_address == reinterpret_cast<std::uintptr_t>(&own_word.word) && peer.test_word == own_word.word &&
         peer.pid == own_word.pid;
}

std::uint64_t& process_test_word() {
  static constinit std::mutex mutex;
  const std::lock_guard guard(mutex);
  if (const auto pid = static_cast<std::uint32_t>(::getpid()); own_word.pid != pid) {
    make_test_word(own_word.word);
    own_word.pid = pid;
  }
  return own_word.word;
}

void open_for_reading(RankArea& mine, std::uint64_t& test_word, bool allow) {
  if (&test_word != &own_word.word) make_test_word(test_word);
  mine.test_word = test_word;
  // The address is valid in this process only; a peer passes it to the operating system.
  mine.test_address = reinterpret_cast<std::uintptr_t>(&test_word);
  // Without Yama no permission is needed, and the call fails. In either case the first test shows whether reading
  // works.
  if (allow) ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

ReadFault fault_of(int error) {
  switch (error) {
    case EINTR:
      return ReadFault::none;
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

std::string_view fault_text(ReadFault fault) {
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
      return "an offered body whose table of pieces, or whose claimed parts, contradict its header";
  }
  return "";
}

ReadFault try_reading(const RankArea& peer) {
  std::uint64_t word = 0;
  std::uint64_t got = 0;
  const std::array to{iovec{&word, sizeof word}};
  const std::array from{remote(peer.test_address, sizeof word)};
  const ReadFault fault = read_from(peer, to, from, got);
  const bool right = fault == ReadFault::none && got == sizeof word && word == peer.test_word;
  // Any failure is `refused`, because ESRCH may also mean another PID namespace.
  return right ? ReadFault::none : ReadFault::refused;
}

bool has_ended(const RankArea& peer) {
  std::uint64_t word = 0;
  std::uint64_t got = 0;
  const std::array to{iovec{&word, sizeof word}};
  const std::array from{remote(peer.test_address, sizeof word)};
  return read_from(peer, to, from, got) == ReadFault::gone;
}

bool can_read_ends(const RankArea& peer, std::span<const Buffer> pieces) {
  // Pieces in one call. Each piece needs two addresses, and the operating system accepts 1024 addresses in a call.
  constexpr std::size_t kAtOnce = 512;
  std::array<std::byte, 2 * kAtOnce> bytes;
  std::array<iovec, 2 * kAtOnce> from;
  while (!pieces.empty()) {
    std::size_t count = 0;
    for (const Buffer& piece : pieces.first(std::min(pieces.size(), kAtOnce))) {
      if (piece.bytes == 0) continue;
      from[count++] = {piece.base, 1};
      from[count++] = {piece.base + piece.bytes - 1, 1};
    }
    pieces = pieces.subspan(std::min(pieces.size(), kAtOnce));
    if (count == 0) continue;
    const std::array to{iovec{bytes.data(), count}};
    std::uint64_t got = 0;
    // By the operating system also within this process, because the pieces may not be mapped.
    if (read_by_call(peer, to, std::span(from).first(count), got) != ReadFault::none || got != count) return false;
  }
  return true;
}

ReadFault read_tested(const RankArea& peer, std::uint64_t address, std::span<std::byte> to) {
  std::uint64_t word = 0;
  std::uint64_t got = 0;
  const std::array into{iovec{&word, sizeof word}, iovec{to.data(), to.size()}};
  const std::array from{remote(peer.test_address, sizeof word), remote(address, to.size())};
  if (const ReadFault fault = read_from(peer, into, from, got); fault != ReadFault::none) return fault;
  if (got <= sizeof word) return ReadFault::unreadable;
  // The process number has been reused, and `to` has bytes of another process, which the caller must not use.
  if (word != peer.test_word) return ReadFault::gone;
  const auto done = static_cast<std::size_t>(got - sizeof word);
  return read_memory(peer, address + done, to.subspan(done));
}

ReadFault read_memory(const RankArea& peer, std::uint64_t address, std::span<std::byte> to) {
  for (std::size_t done = 0; done < to.size();) {
    std::uint64_t got = 0;
    // A call may move less than requested, for example before a page that is not mapped.
    const std::span<std::byte> rest = to.subspan(done);
    const std::array into{iovec{rest.data(), rest.size()}};
    const std::array from{remote(address + done, rest.size())};
    if (const ReadFault fault = read_from(peer, into, from, got); fault != ReadFault::none) return fault;
    done += static_cast<std::size_t>(got);
  }
  return ReadFault::none;
}

ReadFault write_memory(const RankArea& peer, std::uint64_t address, std::span<const std::byte> from) {
  if (is_this_process(peer)) {
    std::memcpy(remote(address, from.size()).iov_base, from.data(), from.size());
    return ReadFault::none;
  }
  for (std::size_t done = 0; done < from.size();) {
    std::uint64_t got = 0;
    const std::span<const std::byte> rest = from.subspan(done);
    // The const_cast is safe, because the call only reads these bytes.
    const std::array local{iovec{const_cast<std::byte*>(rest.data()), rest.size()}};
    const std::array to{remote(address + done, rest.size())};
    const ReadFault fault = move_from(
        [&] {
          return ::process_vm_writev(static_cast<pid_t>(peer.pid), local.data(), local.size(), to.data(), to.size(), 0);
        },
        got);
    if (fault != ReadFault::none) return fault;
    done += static_cast<std::size_t>(got);
  }
  return ReadFault::none;
}

ReadFault BodyReader::begin(const RankArea& peer, const ReadOffer& offer, std::uint64_t length) {
  // The offer comes from another process, so it is checked before it is used.
  if (offer.count == 0 || offer.count > kOfferPiecesMax) return ReadFault::malformed;
  peer_ = &peer;
  next_address_ = offer.address;
  next_count_ = offer.count;
  left_ = length;
  at_ = count_ = 0;
  if (offer.count > 1) return ReadFault::none;
  // With one piece, the address is that of the body itself, and there is no table. fetch_table() proves the peer's
  // identity with each part of a table, so without a table the proof is made here.
  table_[0] = {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(offer.address)),
               static_cast<std::size_t>(length)};
  count_ = 1;
  next_count_ = 0;
  return try_reading(peer);
}

// Fetches the next pieces of the table, together with the test word, because the process number may have been reused.
ReadFault BodyReader::fetch_table() {
  // The table has ended, but its pieces are shorter than the body.
  if (next_count_ == 0) return ReadFault::malformed;
  const std::size_t pieces = std::min<std::uint64_t>(kReadPieces, next_count_);
  const std::size_t bytes = pieces * sizeof(Buffer);
  std::uint64_t word = 0;
  std::uint64_t got = 0;
  const std::array to{iovec{&word, sizeof word}, iovec{table_, bytes}};
  const std::array from{remote(peer_->test_address, sizeof word), remote(next_address_, bytes)};
  if (const ReadFault fault = read_from(*peer_, to, from, got); fault != ReadFault::none) return fault;
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
    if (at_ == count_) return ReadFault::none;  // only empty pieces: the next step fetches more
  }
  std::uint64_t most = std::min(limit, left_);
  std::uint64_t got = 0;
  const std::size_t first = landing.peek(most).bytes;
  // Short pieces may follow a long first piece; the next step decides again.
  if (first < most && first < kLandingPieceBytes) {
    if (beside_ == nullptr) beside_ = std::make_unique_for_overwrite<std::byte[]>(kBesideBytes);
    most = std::min<std::uint64_t>(most, kBesideBytes);
    const std::array to{iovec{beside_.get(), static_cast<std::size_t>(most)}};
    if (const ReadFault fault = read_pieces(to, most, got); fault != ReadFault::none) return fault;
    landing.write({beside_.get(), static_cast<std::size_t>(got)});
  } else {
    std::array<iovec, kReadPieces> to;
    std::size_t count = 0;
    portals::RegionCursor ahead = landing;
    for (std::uint64_t bytes = 0; bytes < most && count < kReadPieces;) {
      const Buffer piece = ahead.peek(most - bytes);
      to[count++] = {piece.base, piece.bytes};
      ahead.skip(piece.bytes);
      bytes += piece.bytes;
    }
    if (const ReadFault fault = read_pieces(std::span(to).first(count), most, got); fault != ReadFault::none)
      return fault;
    landing.skip(got);
  }
  pass(got);
  return ReadFault::none;
}

// Reads at most `most` bytes from the next pieces of the table.
ReadFault BodyReader::read_pieces(std::span<const iovec> to, std::uint64_t most, std::uint64_t& got) {
  std::array<iovec, kReadPieces> from;
  std::size_t count = 0;
  std::uint64_t offered = 0;
  for (std::size_t i = at_; i < count_ && offered < most; ++i) {
    if (table_[i].bytes == 0) continue;
    const std::uint64_t bytes = std::min<std::uint64_t>(table_[i].bytes, most - offered);
    from[count++] = remote(reinterpret_cast<std::uintptr_t>(table_[i].base), bytes);
    offered += bytes;
  }
  return read_from(*peer_, to, std::span(from).first(count), got);
}

void BodyReader::pass(std::uint64_t bytes) {
  MARGAY_ASSERT(bytes <= left_);
  left_ -= bytes;
  while (bytes != 0) {
    MARGAY_ASSERT(at_ < count_);
    Buffer& piece = table_[at_];
    const std::uint64_t here = std::min<std::uint64_t>(bytes, piece.bytes);
    // Integer arithmetic, because these are addresses of the peer and are never dereferenced here.
    piece.base = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(piece.base) + here);
    piece.bytes -= static_cast<std::size_t>(here);
    bytes -= here;
    if (piece.bytes == 0) ++at_;
  }
}

}  // namespace margay::sim
