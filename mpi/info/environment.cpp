#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/info/table.hpp"
#include "sim/boot/options.hpp"
#include "sim/boot/parse.hpp"

namespace margay::mpi {

namespace {

// The tokens of this process's command line, for programs that pass none. Empty if /proc is not mounted.
std::vector<std::string> own_command_line() {
  std::vector<std::string> tokens;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/cmdline", "rb"), &std::fclose);
  if (file == nullptr) return tokens;
  std::string token;
  for (int byte = std::fgetc(file.get()); byte != EOF; byte = std::fgetc(file.get())) {
    if (byte != 0) {
      token += static_cast<char>(byte);
      continue;
    }
    tokens.push_back(token);
    token.clear();
  }
  return tokens;
}

// Sets a pair; a value that is too long is truncated.
void set(Info& info, const char* key, const std::string& value) {
  if (!value.empty()) info.set(key, value.substr(0, MPI_MAX_INFO_VAL));
}

}  // namespace

JobFacts facts_of_environment() {
  JobFacts facts{.initial_handler = sim::Options::from_environment(environ).text("initial_errhandler")};
  // Without a launcher: a singleton.
  const bool alone = std::getenv("PMI_FD") == nullptr;
  if (alone) facts.program_ranks = 1;
  // Under another launcher the size of its job need not be this program's.
  if (alone || std::getenv("MARGAY_BOARD_FD") == nullptr) return facts;
  const char* ranks = std::getenv("MARGAY_PROGRAM_RANKS");
  if (ranks == nullptr) ranks = std::getenv("PMI_SIZE");
  if (ranks == nullptr || !sim::parse_number(std::string_view(ranks), facts.program_ranks)) facts.program_ranks = 0;
  return facts;
}

// Pairs whose values are unknown are left out.
Info environment_info(int argc, char** argv, const JobFacts& facts) {
  std::vector<std::string> tokens;
  for (int i = 0; argv != nullptr && i < argc && argv[i] != nullptr; ++i) tokens.emplace_back(argv[i]);
  // A program that passes no arguments gets its own command line.
  if (tokens.empty()) tokens = own_command_line();
  std::string arguments;
  for (std::size_t i = 1; i < tokens.size(); ++i) arguments += (i > 1 ? " " : "") + tokens[i];
  utsname machine{};
  uname(&machine);
  char folder[PATH_MAX] = {};
  if (getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  Info info;
  if (!tokens.empty()) set(info, "command", tokens[0]);
  set(info, "argv", arguments);
  if (facts.program_ranks != 0) set(info, "maxprocs", std::to_string(facts.program_ranks));
  set(info, "mpi_initial_errhandler", facts.initial_handler);
  set(info, "host", machine.nodename);
  set(info, "arch", machine.machine);
  set(info, "wdir", folder);
  return info;
}

}  // namespace margay::mpi
