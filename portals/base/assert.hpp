// Assertions on margay's own invariants, and requirements on programs that use portals. Input from a wire, a file, a
// user, or another process's shared memory must not reach an assertion: it is checked and reported as a `Status`.
//
// MARGAY_ASSERT is enabled in every build, release included. MARGAY_DEBUG_ASSERT is for the path of a short message,
// where each instruction is counted, and for checks that walk a whole structure. It is enabled in builds with
// sanitizers and without optimisation (presets asan, tsan and dev). Other builds never evaluate it.
#pragma once

namespace margay::portals {

// Prints the expression with its file and line to stderr and aborts. Out of line and cold, so that a passed assertion
// costs its caller the test alone.
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

// Requirements on a program that uses portals, checked in every build. A function that has no Status to return prints
// the mistake and its cure and aborts in place, where a debugger shows the caller. docs/portals_api.md has the list.

namespace margay::portals {

// Prints `sentence` to stderr and aborts.
[[noreturn, gnu::noinline, gnu::cold]] void misused(const char* sentence);

// Aborts with `sentence` unless `holds`. `sentence`: the mistake and its cure, a constant with static lifetime.
inline void require(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    misused(sentence);
}

}  // namespace margay::portals
