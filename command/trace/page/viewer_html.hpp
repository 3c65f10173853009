// The page of `margay trace view` as built from viewer/, embedded in the command.
#pragma once

#include <string_view>

namespace margay::command {

// The HTML; empty if the command was built without it (MARGAY_PAGE, or no npm). It is part of the executable, so the
// view is valid to the end of the process.
[[nodiscard]] std::string_view page();

}  // namespace margay::command
