// The match bits of one-sided messages. "The first 32 match bits in this entry are set to the send context identifier
// in the RMA communicator. The second 32 match bits are set to a special tag value" (paper 001, 4.1).
#pragma once

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/ask.hpp"
#include "mpi_adi/rma/reply.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::mpi_adi {

inline constexpr std::uint32_t kWindowTag = 0x0052'4d41;  // "RMA"
// What is asked of a target's device stands above it, from 1 on, for whoever reads a trace.
inline constexpr unsigned kWindowAskShift = 24;
inline constexpr auto kWindowAsks = static_cast<std::uint32_t>(Ask::announced) + 1;
static_assert(kWindowTag >> kWindowAskShift == 0);
inline constexpr std::uint32_t kPiecesTag = 0x5052'4d41;  // "RMAP": a body that was described before

[[nodiscard]] inline portals::MatchBits window_bits(const Window& window) {
  return portals::MatchBits{window.communicator->context} << 32 | kWindowTag;
}
[[nodiscard]] inline portals::MatchBits ask_bits(const Window& window, Ask what) {
  return window_bits(window) | (portals::MatchBits{static_cast<std::uint8_t>(what)} + 1) << kWindowAskShift;
}
[[nodiscard]] constexpr std::uint32_t context_of_window_bits(portals::MatchBits bits) {
  return static_cast<std::uint32_t>(bits >> 32);
}
// Of an answer, at its origin: like those of a receive that pulls (reply_bits), which have no long bit.
[[nodiscard]] inline portals::MatchBits reply_bits_of(const Reply& answer) {
  return reply_bits(answer.pooled.index, answer.pooled.generation) | kLongBit;
}
// Of a described body, at its target: the origin's number for it.
[[nodiscard]] constexpr portals::MatchBits pieces_bits(std::uint32_t number) {
  return portals::MatchBits{number} << 32 | kPiecesTag;
}

}  // namespace margay::mpi_adi
