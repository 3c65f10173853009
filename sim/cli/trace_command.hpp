// `margay trace print DIR` and `margay trace check DIR`.
#pragma once

namespace CLI {
class App;
}

namespace margay::sim {

// Adds the command to `app`. It runs while `app` parses; a failure is thrown as CLI::RuntimeError with the exit status
// (1: bad trace or bad option, 2: the check found violations), which CLI::App::exit() turns into that status.
void add_trace_command(CLI::App& app);

}  // namespace margay::sim
