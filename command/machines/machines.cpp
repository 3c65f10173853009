#include "command/machines/machines.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command/line/line_mistakes.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "virtual_machine/model/presets.hpp"

namespace margay::command {
namespace {

namespace vm = virtual_machine;

struct MachinesOrder {
  std::string name;
  // 0: usual_ranks().
  std::uint32_t ranks = 0;
  bool toml = false;
};

void print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", sim::for_terminal(line).c_str());
}

portals::Status print_list() {
  std::vector<vm::Machine> machines;
  for (const vm::Preset& preset : vm::presets()) {
    vm::Machine machine;
    if (portals::Status status = vm::find_machine(std::string(preset.name), machine); !status.ok()) return status;
    machines.push_back(std::move(machine));
  }
  print(list_machines(machines));
  return {};
}

portals::Status print_file(const std::string& name) {
  std::string text;
  if (portals::Status status = vm::read_machine_text(name, text); !status.ok()) return status;
  std::fputs(sim::for_terminal(text).c_str(), stdout);
  return {};
}

portals::Status print_machine(const MachinesOrder& order) {
  vm::Machine machine;
  if (portals::Status status = vm::find_machine(order.name, machine); !status.ok()) return status;
  const std::uint32_t ranks = order.ranks != 0 ? order.ranks : usual_ranks(machine);
  if (portals::Status status = vm::check_ranks(machine, ranks); !status.ok()) return status;
  print(describe_machine(machine, ranks));
  return {};
}

portals::Status run_order(const MachinesOrder& order) {
  if (order.name.empty()) return print_list();
  return order.toml ? print_file(order.name) : print_machine(order);
}

}  // namespace

void add_machines_command(CLI::App& app) {
  CLI::App* machines =
      app.add_subcommand("machines", "list the machines of `margay simulate`, or explain one (docs/machines.md)");
  const auto order = std::make_shared<MachinesOrder>();
  CLI::Option* const name = machines->add_option(
      "name", order->name, "a preset, or a machine file: a name with a \"/\", or that ends with .toml");
  CLI::Option* const ranks =
      machines->add_option("-n,--ranks", order->ranks, "print the times of messages between this many ranks")
          ->check(whole_number(1, sim::kRanksMax))
          ->needs(name);
  machines->add_flag("--toml", order->toml, "print the machine's file, as a template for another one")
      ->needs(name)
      ->excludes(ranks);
  machines->callback([order] {
    const portals::Status status = run_order(*order);
    if (status.ok()) return;
    std::fprintf(stderr, "margay machines: %s\n", sim::for_terminal(status.sentence()).c_str());
    throw CLI::RuntimeError(kStatusBadCommandLine);
  });
}

}  // namespace margay::command
