// The match bits of one-sided messages. Paper 001, 4.1: "The first 32 match bits in this entry are set to the send
// context identifier in the RMA communicator. The second 32 match bits are set to a special tag value."
#pragma once

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/reply.hpp"
#include "mpi_adi/rma/window.hpp"
#include "mpi_adi/rma/window_request.hpp"

namespace margay::mpi_adi {

// The special tag value of the paper: the letters "RMA".
inline constexpr std::uint32_t kWindowTag = 0x0052'4d41;  // "RMA"
// The kind of a window request is encoded above the tag, counted from 1, so that the reader of a trace can name the
// kind.
inline constexpr unsigned kWindowRequestShift = 24;
// Number of kinds of window requests; a trace's reader compares with it.
inline constexpr auto kWindowRequestKinds = static_cast<std::uint32_t>(WindowRequestKind::announced) + 1;
static_assert(kWindowTag >> kWindowRequestShift == 0);
inline constexpr std::uint32_t kPiecesTag = 0x5052'4d41;  // "RMAP": a body that a window request described before

// The bits of puts and gets.
[[nodiscard]] inline portals::MatchBits window_bits(const Window& window) {
  return portals::MatchBits{window.communicator->context} << 32 | kWindowTag;
}
// The bits of a window request. Their portal accepts any bits.
[[nodiscard]] inline portals::MatchBits window_request_bits(const Window& window, WindowRequestKind kind) {
  return window_bits(window) | (portals::MatchBits{static_cast<std::uint8_t>(kind)} + 1) << kWindowRequestShift;
}
// The context of a window's message, by which the target finds the window.
[[nodiscard]] constexpr std::uint32_t context_of_window_bits(portals::MatchBits bits) {
  return static_cast<std::uint32_t>(bits >> 32);
}
// The bits of an answer, at its origin. They are the bits of a receive that pulls (reply_bits), with the long bit
// added. So an answer's entry and a receive's entry never match each other's messages.
[[nodiscard]] inline portals::MatchBits reply_bits_of(const Reply& answer) {
  return reply_bits(answer.pooled.index, answer.pooled.generation) | kLongBit;
}
// The bits of a described body, at its target: the number that the origin chose for it. Origins choose numbers
// independently; the source rank in the entry's criteria distinguishes them.
[[nodiscard]] constexpr portals::MatchBits pieces_bits(std::uint32_t number) {
  return portals::MatchBits{number} << 32 | kPiecesTag;
}

}  // namespace margay::mpi_adi
