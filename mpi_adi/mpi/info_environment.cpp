#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "mpi_adi/mpi/info_table.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

namespace {

// The words of this process's command line.
std::vector<std::string> own_words() {
  std::vector<std::string> words;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/cmdline", "rb"), &std::fclose);
  if (file == nullptr) return words;
  std::string word;
  for (int byte = std::fgetc(file.get()); byte != EOF; byte = std::fgetc(file.get())) {
    if (byte != 0) {
      word += static_cast<char>(byte);
      continue;
    }
    words.push_back(word);
    word.clear();
  }
  return words;
}

// A pair with a value that fits; longer ones are cut.
void tell(Info& info, const char* key, const std::string& value) {
  if (!value.empty()) info.set(key, value.substr(0, MPI_MAX_INFO_VAL));
}

}  // namespace

Info environment_info(int argc, char** argv, MpiRank* rank) {
  std::vector<std::string> words;
  for (int i = 0; argv != nullptr && i < argc && argv[i] != nullptr; ++i) words.emplace_back(argv[i]);
  if (words.empty()) words = own_words();
  std::string arguments;
  for (std::size_t i = 1; i < words.size(); ++i) arguments += (i > 1 ? " " : "") + words[i];
  utsname machine{};
  uname(&machine);
  char folder[PATH_MAX] = {};
  if (getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  Info info;
  if (!words.empty()) tell(info, "command", words[0]);
  tell(info, "argv", arguments);
  if (rank != nullptr) {
    const sim::Job& job = rank->process().job();
    tell(info, "maxprocs", std::to_string(job.program_ranks != 0 ? job.program_ranks : job.size));
    tell(info, "mpi_initial_errhandler", job.options.text("initial_errhandler"));
  }
  tell(info, "host", machine.nodename);
  tell(info, "arch", machine.machine);
  tell(info, "wdir", folder);
  return info;
}

}  // namespace margay::mpi_adi
