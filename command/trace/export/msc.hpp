// A message sequence chart in Mscgen's language: `mscgen -T svg -i FILE -o FILE.svg` draws it.
#pragma once

#include <ostream>

#include "command/trace/export/chart.hpp"

namespace margay::command {

// As write_mermaid(): a line is a rank, an arrow a hop, a note what a rank does with the message.
void write_msc(const Chart& chart, std::ostream& out);

}  // namespace margay::command
