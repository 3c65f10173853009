#include "sim/cli/commands.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sim/boot/board.hpp"
#include "sim/cli/doctor.hpp"
#include "sim/cli/info.hpp"
#include "sim/launch/rank_environment.hpp"
#include "sim/launch/symbol_check.hpp"
#if __has_include("sim/cli/trace_command.hpp")
#include "sim/cli/trace_command.hpp"
#define MARGAY_HAS_TRACE_COMMAND 1
#endif

namespace margay::sim {
namespace {

constexpr int kStatusBadCommandLine = 2;  // as `margay run`

void print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

void add_info_command(CLI::App& app) {
  CLI::App* info = app.add_subcommand("info", "what margay would choose on this machine, and why");
  const auto protocols = std::make_shared<bool>(false);
  const auto ranks = std::make_shared<unsigned>(2);
  info->add_flag("--protocols", *protocols, "size range, protocol, method, reason");
  info->add_option("-n,--ranks", *ranks, "for a job of this many ranks")->check(CLI::Range(1U, kMaxRanks));
  info->callback([protocols, ranks] { print(*protocols ? describe_protocols() : describe_choices(*ranks)); });
}

void run_doctor() {
  constexpr const char* kWords[] = {"ok  ", "warn", "FAIL"};
  bool failed = false;
  for (const Diagnosis& diagnosis : diagnose()) {
    std::printf("%s  %s\n", kWords[static_cast<int>(diagnosis.finding)], diagnosis.what.c_str());
    if (!diagnosis.mend.empty()) std::printf("      %s\n", diagnosis.mend.c_str());
    failed = failed || diagnosis.finding == Finding::kFail;
  }
  if (failed) throw CLI::RuntimeError(1);
}

void run_check(const std::string& program, std::string folder) {
  if (folder.empty()) folder = find_library_folder();
  SymbolCheck check;
  Status status = folder.empty()
                      ? Status::error("libmpi.so.12 is not beside this command; name its folder with --library")
                      : check_symbols(program, folder, check);
  if (!status.ok()) {
    std::fprintf(stderr, "margay check: %s\n", status.sentence().c_str());
    throw CLI::RuntimeError(2);
  }
  if (!check.other_library.empty()) {
    std::printf("%s was linked with %s, another MPI with another binary interface: compile it with margay's mpicc\n",
                program.c_str(), check.other_library.c_str());
    throw CLI::RuntimeError(1);
  }
  for (const std::string& name : check.missing) std::printf("%s\n", name.c_str());
  if (!check.missing.empty()) {
    std::printf("%s: margay lacks %zu of the %zu MPI symbols it needs\n", program.c_str(), check.missing.size(),
                check.needed);
    throw CLI::RuntimeError(1);
  }
  for (const std::string& name : check.refusing) std::printf("%s\n", name.c_str());
  if (!check.refusing.empty()) {
    std::printf(
        "%s: margay has %zu of the %zu MPI symbols it needs by name only; a call of one fails with "
        "MPI_ERR_UNSUPPORTED_OPERATION\n",
        program.c_str(), check.refusing.size(), check.needed);
    throw CLI::RuntimeError(1);
  }
  std::printf("%s: %s\n", program.c_str(),
              check.uses_mpi
                  ? ("margay has all of the " + std::to_string(check.needed) + " MPI symbols it needs").c_str()
                  : "no program that uses a shared MPI library");
}

void add_check_command(CLI::App& app) {
  CLI::App* check = app.add_subcommand("check", "MPI symbols that a program needs and margay lacks");
  const auto programs = std::make_shared<std::vector<std::string>>();
  const auto folder = std::make_shared<std::string>();
  check->add_option("program", *programs, "executable")->required();
  check->add_option("--library", *folder, "folder with libmpi.so.12");
  check->callback([programs, folder] {
    for (const std::string& program : *programs) run_check(program, *folder);
  });
}

bool knows_command(CLI::App& app, const std::string& word) {
  const std::vector<CLI::App*> commands = app.get_subcommands({});
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* known) { return known->get_name() == word; });
}

}  // namespace

int run_cli(int argc, char** argv) {
  CLI::App app("margay: an MPI on emulated Puma portals");
  app.require_subcommand(1);
  app.set_version_flag("--version", "margay 0.1.0");
  app.add_subcommand("run", "start an MPI job: margay run --help");
  add_info_command(app);
  app.add_subcommand("doctor", "check this machine and print the mend")->callback(run_doctor);
  add_check_command(app);
#ifdef MARGAY_HAS_TRACE_COMMAND
  add_trace_command(app);
#endif
  if (argc > 1 && argv[1][0] != '-' && !knows_command(app, argv[1])) {
    std::fprintf(stderr, "margay: unknown command \"%s\" (`margay --help` lists them)\n", argv[1]);
    return kStatusBadCommandLine;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& failure) {
    return app.exit(failure);
  } catch (const CLI::ParseError& mistake) {  // --help and --version too, with status 0
    return app.exit(mistake) == 0 ? 0 : kStatusBadCommandLine;
  }
  return 0;
}

}  // namespace margay::sim
