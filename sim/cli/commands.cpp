#include "sim/cli/commands.hpp"

#include <CLI/CLI.hpp>

#if __has_include("sim/cli/trace_command.hpp")
#include "sim/cli/trace_command.hpp"
#define MARGAY_HAS_TRACE_COMMAND 1
#endif

namespace margay::sim {

int run_cli(int argc, char** argv) {
  CLI::App app("margay: an MPI on emulated Puma portals");
  app.require_subcommand(1);
  app.set_version_flag("--version", "margay 0.1.0");
  app.add_subcommand("run", "start an MPI job: margay run --help");
#ifdef MARGAY_HAS_TRACE_COMMAND
  add_trace_command(app);
#endif
  CLI11_PARSE(app, argc, argv);
  return 0;
}

}  // namespace margay::sim
