// `margay top`: what runs.
#pragma once

namespace CLI {
class App;
}

namespace margay::sim {

void add_top_command(CLI::App& app);

}  // namespace margay::sim
