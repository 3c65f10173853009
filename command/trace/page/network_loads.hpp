// The networks of a simulated run and the loads of their links, for the page's view of the network.
#pragma once

#include <string>

#include "command/trace/page/page_input.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Reads network.json from the folder of a trace into `text`; empties it if there is none. Error: a file that cannot be
// read or is damaged.
[[nodiscard]] portals::Status read_network(const std::string& folder, std::string& text);

// Adds the file's text to the page, which decodes it when the view is shown.
void add_network(const PageInput& input, PageData& data);

}  // namespace margay::command
