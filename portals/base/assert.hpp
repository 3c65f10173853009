// Assertions and requirements. An assertion holds what this program believes about itself. Nothing that comes from a
// wire, a file or a user may reach one, nor what another process wrote into shared memory.
//
// MARGAY_ASSERT stays on in release builds. MARGAY_DEBUG_ASSERT is for the way of a short message, where each
// instruction is counted, and for checks that walk a whole structure: it is on in builds with sanitizers and without
// optimisation (presets asan, tsan and dev), and is never evaluated in others.
#pragma once

namespace margay::portals {

[[noreturn, gnu::noinline, gnu::cold]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace margay::portals

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the expression's text is part of the message.
#define MARGAY_ASSERT(expression)                     \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::margay::portals::assertion_failed(#expression, __FILE__, __LINE__))

#ifdef MARGAY_DEBUG_ASSERTIONS
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): as above.
#define MARGAY_DEBUG_ASSERT(expression) MARGAY_ASSERT(expression)
#else
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): as above. Compiled, so that it cannot rot, but not evaluated.
#define MARGAY_DEBUG_ASSERT(expression) static_cast<void>(sizeof(static_cast<bool>(expression)))
#endif

// What a program that uses portals has to keep to, checked in every build. Where a function has no Status to return, a
// program that breaks its contract is told so, with the mend, and aborted there, where a debugger shows who called.
// docs/portals_api.md has the list.

namespace margay::portals {

[[noreturn, gnu::noinline, gnu::cold]] void misused(const char* sentence);

// `sentence`: what is wrong, and how to mend it.
inline void require(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    misused(sentence);
}

}  // namespace margay::portals
