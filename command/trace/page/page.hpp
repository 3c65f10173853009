// The page of `margay trace view`: one HTML file that holds its script and its data.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "command/trace/page/page_input.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Called from time to time, with how many of all stories are told.
using StoriesTold = std::function<void(std::size_t told, std::size_t all)>;

// `frame`: the built page (viewer/), in which one line stands for the data. Errors: it has no such line. What `out`
// could not take is in its state.
[[nodiscard]] portals::Status write_page(std::string_view frame, const PageInput& input, const std::string& title,
                                         const StoriesTold& told, std::ostream& out);

}  // namespace margay::command
