// The page of `margay trace view`: one HTML file with its script and its data.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "command/trace/page/page_input.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Progress callback, called on the thread of write_page() after each block of stories has been given to another thread.
// `progress`: number of stories before that block. `all`: number of all stories.
using StoriesWritten = std::function<void(std::size_t progress, std::size_t all)>;

// Writes the page. `frame`: the built page of viewer/, in which one line stands for the data. Error: `frame` lacks that
// line. Write errors show in `out`'s state. Requires: the trace has events.
[[nodiscard]] portals::Status write_page(std::string_view frame, const PageInput& input, const std::string& title,
                                         const StoriesWritten& progress, std::ostream& out);

}  // namespace margay::command
