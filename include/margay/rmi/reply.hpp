// A reply: the result of a method, or the failure that it ended with (paper, 6.4: "the sender blocks until the return
// value is returned"). It travels apart from requests, and its address, the call, is the library's: none of it is in
// these bytes.
//
//   0   4   1: a result, 2: a failure
//   4   4   length in bytes of the part after this head
//   8       the packed result, nothing for void; or a packed Failure
//
//   class Slot : public ReplySink { ... };                 // at the destination: where execute() writes
//   long total = read_reply<long>(bytes, node);            // at the caller, which knows the type from the method
//
// The result has the format of an argument of its type (value.hpp, containers.hpp, type.hpp). Reference results are
// copied: int& get() gives the caller an int.
//
// A reply of up to about 2 KiB is one message; the caller's node fetches a longer one. A result of more than 4 GiB
// throws `error` at the node of the method, and reaches the caller as a failure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "margay/rmi/core.hpp"
#include "margay/rmi/type.hpp"

namespace margay::rmi {

// The content of a reply. Any other number is a damaged reply. Begins at 1, so that cleared memory is none.
enum class ReplyKind : std::uint32_t { result = 1, failure = 2 };

// The bytes of the head. A multiple of kPackedAlignment, so that the result is packed as arguments are.
inline constexpr std::size_t kReplyHeadBytes = 8;

namespace detail {

// Writes the head. `bytes`: of the part after it, at most 32 bits, which the caller has checked.
inline void write_reply_head(std::byte* at, ReplyKind kind, std::size_t bytes) {
  const auto small = static_cast<std::uint32_t>(bytes);
  std::memcpy(at, &kind, sizeof kind);
  std::memcpy(at + sizeof kind, &small, sizeof small);
}

// Writes a reply with `value`. If it does not fit the first room, it is packed again into one that it fits: most
// results are small, and a first pass for the size would cost all of them a second one.
template <class T>
void write_reply_value(ReplySink& sink, ReplyKind kind, const T& value) {
  std::span<std::byte> room = sink.reserve(kReplyHeadBytes + Value<T>::kMinimum);
  for (;;) {
    Packer packer(room.subspan(kReplyHeadBytes));
    pack(packer, value);
    if (packer.size() > std::numeric_limits<std::uint32_t>::max() - kReplyHeadBytes)
      fail("a result has more than 4 GiB");
    if (packer.fits()) {
      write_reply_head(room.data(), kind, packer.size());
      return sink.commit(kReplyHeadBytes + packer.size());
    }
    room = sink.reserve(kReplyHeadBytes + packer.size());
  }
}

}  // namespace detail

// Writes the result of a method that returned: a copy, also if the method returned a reference. Throws `error` if it
// cannot be packed.
template <class Result>
void write_result(ReplySink& sink, const Result& result) {
  detail::write_reply_value(sink, ReplyKind::result, result);
}
// The reply of a method that returns nothing: the head alone. It still travels, because the caller waits for the end of
// the method.
inline void write_done(ReplySink& sink) {
  detail::write_reply_head(sink.reserve(kReplyHeadBytes).data(), ReplyKind::result, 0);
  sink.commit(kReplyHeadBytes);
}
// Writes the failure of a method, or of RMI before the method ran: at most about 2 KiB (kFailureTextMax).
inline void write_failure(ReplySink& sink, const Failure& failure) {
  detail::write_reply_value(sink, ReplyKind::failure, failure);
}

// The result of a reply, at the caller, as a copy: `bytes` may be freed after it. `node`: the node that the request was
// sent to, for messages. Throws `remote_error` if the reply is a failure, and `error` ("damaged reply: ...", "damaged
// request: ...") if it is damaged or of another type. Bytes behind the length in the head are ignored.
template <class Result>
Result read_reply(std::span<const std::byte> bytes, int node) {
  if (bytes.size() < kReplyHeadBytes) fail("damaged reply: it ends inside its head");
  ReplyKind kind{};
  std::uint32_t size = 0;
  std::memcpy(&kind, bytes.data(), sizeof kind);
  std::memcpy(&size, bytes.data() + sizeof kind, sizeof size);
  if (size > bytes.size() - kReplyHeadBytes) fail("damaged reply: its length does not fit its buffer");
  Unpacker unpacker(bytes.subspan(kReplyHeadBytes, size));
  if (kind == ReplyKind::failure) throw remote_error(node, unpack<Failure>(unpacker));
  if (kind != ReplyKind::result) fail("damaged reply: it is neither a result nor a failure");
  if constexpr (std::is_void_v<Result>) {
    unpacker.finish();
  } else {
    Result result = unpack<Result>(unpacker);
    unpacker.finish();
    return result;
  }
}

// A failure as it is sent, from a method's name and an exception's text, both cut at kFailureTextMax bytes. Cut here,
// where it is made, so that no later step of its way meets a longer one.
[[nodiscard]] inline Failure make_failure(std::string method, std::string what) {
  method.resize(std::min(method.size(), kFailureTextMax));
  what.resize(std::min(what.size(), kFailureTextMax));
  return {std::move(method), std::move(what)};
}

}  // namespace margay::rmi
