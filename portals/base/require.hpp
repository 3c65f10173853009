// What a program that uses portals has to keep to, checked in every build. Where a function has no Status to return, a
// program that breaks its contract is told so, with the mend, and aborted there, where a debugger shows who called.
// docs/portals_api.md has the list.
#pragma once

namespace margay::portals {

[[noreturn, gnu::noinline, gnu::cold]] void misused(const char* sentence);

// `sentence`: what is wrong, and how to mend it.
inline void require(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    misused(sentence);
}

}  // namespace margay::portals
