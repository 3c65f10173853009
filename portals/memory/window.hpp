// The arithmetic that single and combined blocks share: a window of bytes, an offset managed by the sender or by the
// receiver, and whether a message fits. Internal to portals.
#pragma once

#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// Bytes that the message moves: the body of a deposit, or what a get asks for.
[[nodiscard]] inline std::uint64_t moved_bytes(const Header& header) {
  return header.kind == Kind::get ? header.return_length : header.length;
}

// The bit that `save` and `saved` share.
[[nodiscard]] inline bool has(Save save, Save part) {
  return (static_cast<unsigned>(save) & static_cast<unsigned>(part)) != 0;
}

[[nodiscard]] inline bool direction_fits(const Options& options, const Header& header) {
  return (options.direction == Direction::read_only) == (header.kind == Kind::get);
}

[[nodiscard]] inline bool acknowledges(const Options& options, const Header& header) {
  return options.acknowledge && header.return_portal != kNoPortal &&
         (header.kind == Kind::put || header.kind == Kind::reply);
}

// Whether a message fits in a window of `bytes`, `used` of which a receiver-managed offset has passed.
[[nodiscard]] Passed admit_in_window(std::uint64_t bytes, std::uint64_t used, const Options& options,
                                     const Header& header);

// Sets the verdict's outcome, offset, landing and acknowledge, and moves a receiver-managed offset on.
// Requires: admit_in_window() == taken.
void reserve_in_window(const Region& memory, std::uint64_t& used, const Options& options, const Header& header,
                       Verdict& verdict);

// Moves a receiver-managed offset back when nothing was placed after the verdict's message: a gap cannot be given back.
void give_back_in_window(std::uint64_t& used, const Verdict& verdict);

}  // namespace margay::portals
