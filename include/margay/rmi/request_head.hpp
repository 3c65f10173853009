// The layout of one request in an aggregation buffer, and its parser (paper, 6.1 and 6.3).
//
//   offset  bytes
//   0       4      hash of the functor (functor_table.hpp)
//   4       4      id of the object
//   8       4      bytes of the whole request, a multiple of 8, plus the 0 to 7 unused bytes at its end
//   12      1      flags
//   13      3      checksum of all words before the arguments
//   16      8      the call, if a result is wanted: opaque to this layer; the reply returns it
//   ..      8      the method word, if the method is a pointer to member (method_word.hpp)
//   ..      8      the id of its module, if it is not the functor's
//   ..             the packed arguments, then zero bytes up to a multiple of 8
//
// All numbers are in the byte order of the machine; a job has one. Requests of a buffer follow one another, each
// aligned to 8 bytes. A request has 32 bytes, as in the paper, for a pointer to member with one or two ints, or for a
// method<&Class::function> with three or four.
//
// The checksum detects accidents, and prevents a jump to a damaged function offset. It leaves out the arguments,
// because the wires have checksums of their own, and damaged arguments are an error or harmless: unpacking never trusts
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "margay/rmi/bytes.hpp"
#include "margay/rmi/error.hpp"

namespace margay::rmi {

// The bytes of the head that each request has; also the least size of a request.
inline constexpr std::size_t kRequestHeadBytes = 16;

// The flags of a request. They decide which words follow the head, so they are covered by the checksum.
enum RequestFlag : std::uint8_t {
  kReplyWanted = 1,   // sync_rmi: the result travels back; the call's word is there
  kMethodWord = 2,    // a method word is there
  kModuleWord = 4,    // and a module's id
  kNonAtomic = 8,     // other requests may run on the object meanwhile (paper, 5.1)
  kFenceParity = 16,  // the parity of the sender's fence, for the fence's sum
};
inline constexpr std::uint8_t kRequestFlags = 31;

// The number of words between the first two and the arguments, by flags: the call, the method word, the module's id. A
// table in a constant, because this is on the way of each request at both ends.
constexpr std::size_t extra_words(std::uint8_t flags) {
  constexpr std::uint32_t kCounts = 0x32212110;  // of bits in 0 to 7, a hexadecimal digit each
  return kCounts >> (4 * (flags & 7)) & 15;
}

// The bytes before the arguments.
constexpr std::size_t head_bytes(std::uint8_t flags) {
  return kRequestHeadBytes + 8 * extra_words(flags);
}

namespace detail {

// Each word of a head is multiplied by an odd number of irregular bits, so that each damaged bit changes the sum's top.
inline constexpr std::array<std::uint64_t, 5> kHeadMultipliers = {
    0x9E3779B97F4A7C15U, 0xC2B2AE3D27D4EB4FU, 0x165667B19E3779F9U, 0xD6E8FEB86659FD93U, 0xA0761D6478BD642FU};
// The 24 bits of the second word that are the checksum.
inline constexpr std::uint64_t kChecksumBits = ~std::uint64_t{0} << 40;

// The checksum from the sum of products: its upper 24 bits, with the 24 bits below them folded in.
inline std::uint64_t head_checksum(std::uint64_t sum) {
  return (sum ^ sum << 24) & kChecksumBits;
}

// A word of a request: 8 bytes that the caller has found to be inside the buffer.
inline std::uint64_t load_word(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Writes the head of a request of `bytes` bytes, a multiple of 8, of which the last `tail` are unused. `at` has room.
// `extra`: the words that `flags` names. In registers throughout: a head put together in memory by its fields costs
// more than all else.
template <std::size_t Extra>
[[gnu::always_inline]] inline void write_head(std::byte* at, std::uint32_t functor, std::uint32_t object,
                                              std::size_t bytes, std::size_t tail, std::uint8_t flags,
                                              const std::array<std::uint64_t, Extra>& extra) {
  const std::uint64_t first = functor | std::uint64_t{object} << 32;
  const std::uint64_t second = bytes | tail | std::uint64_t{flags} << 32;
  std::uint64_t sum = first * kHeadMultipliers[0] + second * kHeadMultipliers[1];
  for (std::size_t i = 0; i < Extra; ++i) {
    sum += extra[i] * kHeadMultipliers[2 + i];
    std::memcpy(at + kRequestHeadBytes + 8 * i, &extra[i], 8);
  }
  const std::uint64_t sealed = second | head_checksum(sum);
  std::memcpy(at, &first, 8);
  std::memcpy(at + 8, &sealed, 8);
}

}  // namespace detail

// A parsed request. A view: its bytes stay where they are, unchanged, and outlive it. Cheap to copy. The accessors
// check nothing, because parse() has checked what they need.
class RequestView {
 public:
  // The request at the begin of `bytes`, which may have others behind it. Never reads past them. Throws `error` for a
  // request that is cut off, misaligned or damaged; the message says which ("damaged buffer: ..." or "damaged request:
  // ..."). Arguments are checked later, when they are unpacked. The order of the checks matters: the length is checked
  // before the checksum, because the words under the checksum must lie inside the buffer.
  [[nodiscard]] static RequestView parse(std::span<const std::byte> bytes) {
    if (bytes.size() < kRequestHeadBytes) fail("damaged buffer: it ends inside the head of a request");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kPackedAlignment != 0)
      fail("damaged buffer: a request is not aligned to 8 bytes");
    const RequestView view(bytes.data());
    if (view.bytes() > bytes.size() || view.bytes() < head_bytes(view.flags()) + view.tail())
      fail("damaged request: its length does not fit its buffer");
    if (!view.is_sealed()) fail("damaged request: the checksum of its head does not fit");
    if (!view.ends_in_zeros()) fail("damaged request: bytes behind its arguments are not zero");
    return view;
  }

  [[nodiscard]] std::uint32_t functor() const { return static_cast<std::uint32_t>(first_); }
  [[nodiscard]] std::uint32_t object() const { return static_cast<std::uint32_t>(first_ >> 32); }
  [[nodiscard]] std::uint8_t flags() const { return static_cast<std::uint8_t>(second_ >> 32); }
  // The bytes of the whole request: the next one begins so far behind this one.
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::uint32_t>(second_) & ~std::uint32_t{7}; }
  // The packed arguments.
  [[nodiscard]] std::span<const std::byte> arguments() const {
    const std::size_t before = head_bytes(flags());
    return {at_ + before, bytes() - before - tail()};
  }

  [[nodiscard]] bool wants_reply() const { return (flags() & kReplyWanted) != 0; }
  [[nodiscard]] bool atomic() const { return (flags() & kNonAtomic) == 0; }
  [[nodiscard]] bool parity() const { return (flags() & kFenceParity) != 0; }
  // The call's word, for the reply. Requires: wants_reply().
  [[nodiscard]] std::uint64_t call() const { return extra(0); }
  // The method word, and its module's id. Requires: the flags kMethodWord and kModuleWord.
  [[nodiscard]] std::uint64_t method() const { return extra(flags() & kReplyWanted); }
  [[nodiscard]] std::uint64_t module() const { return extra(extra_words(flags()) - 1); }

 private:
  // Requires: at least kRequestHeadBytes bytes at `at`, aligned to 8.
  explicit RequestView(const std::byte* at)
      : at_(at), first_(detail::load_word(at)), second_(detail::load_word(at + 8)) {}

  // The word of this index behind the first two.
  [[nodiscard]] std::uint64_t extra(std::size_t index) const {
    return detail::load_word(at_ + kRequestHeadBytes + 8 * index);
  }
  // The unused bytes at the end.
  [[nodiscard]] std::size_t tail() const { return second_ & 7; }

  // Whether checksum and flags are right. Requires: the words are inside the buffer. Unknown flags, and a module
  // without a method word, are damage although their checksum fits, because no sender writes them.
  [[nodiscard]] bool is_sealed() const {
    const std::uint64_t unsealed = second_ & ~detail::kChecksumBits;
    std::uint64_t sum = first_ * detail::kHeadMultipliers[0] + unsealed * detail::kHeadMultipliers[1];
    for (std::size_t i = 0; i < extra_words(flags()); ++i) sum += extra(i) * detail::kHeadMultipliers[2 + i];
    const bool module_alone = (flags() & (kMethodWord | kModuleWord)) == kModuleWord;
    return (second_ ^ detail::head_checksum(sum)) >> 40 == 0 && (flags() & ~kRequestFlags) == 0 && !module_alone;
  }
  // Whether the unused bytes at the end are zero. A tail is less than a word, so the last word is inside the request.
  [[nodiscard]] bool ends_in_zeros() const {
    return tail() == 0 || detail::load_word(at_ + bytes() - 8) >> (8 * (8 - tail())) == 0;
  }

  const std::byte* at_;
  std::uint64_t first_;
  std::uint64_t second_;
};

}  // namespace margay::rmi
