// `margay trace check`: hold the accounts of a trace.
#pragma once

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_check(CLI::App& trace);

}  // namespace margay::command
