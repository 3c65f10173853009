// The page of `margay trace view` as it was built from viewer/, a part of this command.
#pragma once

#include <string_view>

namespace margay::command {

// Empty when the command was built without (MARGAY_PAGE, or no npm).
[[nodiscard]] std::string_view page();

}  // namespace margay::command
