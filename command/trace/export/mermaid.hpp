// Mermaid's sequence diagram, which GitHub, GitLab and many editors draw within Markdown.
#pragma once

#include <ostream>

#include "command/trace/export/chart.hpp"

namespace margay::command {

// A participant is a rank, a message's hop an arrow (a reply or an acknowledgment a broken one, a lost one ends in a
// cross), a note what a rank does with the message; each with its microseconds.
void write_mermaid(const Chart& chart, std::ostream& out);

}  // namespace margay::command
