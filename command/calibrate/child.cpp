#include "command/calibrate/child.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace margay::command {

namespace {

using portals::Status;

constexpr std::array<std::string_view, 2> kKeptVariables = {"MARGAY_SHM_DIR=", "MARGAY_REFUSE_MEMFD="};

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::vector<std::string> environment_of(const std::string& collective) {
  std::vector<std::string> entries{"MARGAY_COLLECTIVE=" + collective, "MARGAY_RATES=usual"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool kept = std::any_of(kKeptVariables.begin(), kKeptVariables.end(),
                                  [&](std::string_view name) { return text.starts_with(name); });
    if (kept || !text.starts_with("MARGAY_")) entries.emplace_back(text);
  }
  return entries;
}

std::vector<char*> pointers_of(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The first `most` of those that this process may use.
cpu_set_t first_processors(int most) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return allowed;
  for (int at = 0; at < CPU_SETSIZE; ++at) {
    if (CPU_ISSET(at, &allowed) && most-- <= 0) CPU_CLR(at, &allowed);
  }
  return allowed;
}

std::string read_all(std::FILE* file) {
  std::string text;
  std::array<char, 4096> buffer;
  std::rewind(file);
  for (std::size_t count = 1; count != 0;) {
    count = std::fread(buffer.data(), 1, buffer.size(), file);
    text.append(buffer.data(), count);
  }
  return text;
}

[[noreturn]] void become(const std::vector<char*>& words, const std::vector<char*>& environment,
                         const cpu_set_t& processors, int output, int errors) {
  if (CPU_COUNT(&processors) != 0) static_cast<void>(::sched_setaffinity(0, sizeof processors, &processors));
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execve("/proc/self/exe", words.data(), environment.data());
  constexpr int kNotStarted = 126;
  ::_exit(kNotStarted);
}

}  // namespace

Status run_margay(const std::vector<std::string>& words, const std::string& collective, int processors,
                  std::string& output) {
  const File told(std::tmpfile());
  const File errors(std::tmpfile());
  if (told == nullptr || errors == nullptr) {
    return Status::error(std::string("cannot make a temporary file: ") + std::strerror(errno));
  }
  std::vector<std::string> line{"margay"};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<std::string> environment = environment_of(collective);
  const std::vector<char*> argument_pointers = pointers_of(line);
  const std::vector<char*> environment_pointers = pointers_of(environment);
  const cpu_set_t mask = first_processors(processors);
  const pid_t child = ::fork();
  if (child < 0) return Status::error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(argument_pointers, environment_pointers, mask, ::fileno(told.get()), ::fileno(errors.get()));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  output = read_all(told.get());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::string sentence;
  for (const std::string& word : line) sentence += (sentence.empty() ? "" : " ") + word;
  sentence += WIFEXITED(status) ? " failed with exit status " + std::to_string(WEXITSTATUS(status))
                                : " was ended by signal " + std::to_string(WTERMSIG(status));
  const std::string said = read_all(errors.get());
  return Status::error(sentence + (said.empty() ? "" : ": " + said.substr(0, said.find('\n'))));
}

}  // namespace margay::command
