// Assertions that stay on in release builds: they hold what this program believes about itself. Nothing that comes from
// a wire, a file or a user may reach one.
#pragma once

namespace margay::portals {

[[noreturn, gnu::noinline, gnu::cold]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace margay::portals

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the expression's text is part of the message.
#define MARGAY_ASSERT(expression)                     \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::margay::portals::assertion_failed(#expression, __FILE__, __LINE__))
