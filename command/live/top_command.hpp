// `margay top`: what runs.
#pragma once

namespace CLI {
class App;
}

namespace margay::command {

void add_top_command(CLI::App& app);

}  // namespace margay::command
