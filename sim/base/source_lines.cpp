#include "sim/base/source_lines.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/clock.hpp"
#include "sim/base/loaded_module.hpp"

namespace margay::sim {

namespace {

// The longest wait for the command's answer: debug information may be on a slow disk.
constexpr std::uint64_t kPatienceNs = 10'000'000'000;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_fortran_binding(const LoadedModule& module) {
  const std::string_view name = base_name(module.path);
  return name.starts_with("libmpichfort") || name.starts_with("libmpifort") || name.starts_with("libfmpich");
}

struct StackWalk {
  LoadedModules& modules;
  // This library.
  LoadedModule library;
  // The outermost return address inside the library so far.
  std::uintptr_t in_library = 0;
  const void* found = nullptr;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<StackWalk*>(data);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (walk.library.has(address)) {
    walk.in_library = address;
    return _URC_NO_REASON;
  }
  const LoadedModule* const module = walk.modules.of(address);
  if (module != nullptr && is_fortran_binding(*module)) return _URC_NO_REASON;
  // The first frame outside the library and the bindings is the program's call.
  walk.found = reinterpret_cast<const void*>(address);
  return _URC_END_OF_STACK;
}

// Walks the stack out of this library and the bindings. Nothing when this library is part of the program itself.
std::optional<StackWalk> walk_to_program(LoadedModules& modules) {
  const LoadedModule* const library = modules.of(reinterpret_cast<std::uintptr_t>(&call_from_program));
  // Linked statically, library and program have the same addresses, so no frame would be the first outside.
  if (library == nullptr || library->is_program) return std::nullopt;
  StackWalk walk{.modules = modules, .library = *library};
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk;
}

// The name of an exported function. The lookup uses the byte before the return address, which belongs to the call
// itself.
std::string function_at(std::uintptr_t returns_to) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(returns_to - 1), &info) == 0 || info.dli_sname == nullptr) return {};
  return info.dli_sname;
}

// The command's path beside this library, in the build tree and where both are installed.
std::string path_of_command() {
  Dl_info info{};
  std::array<char, PATH_MAX> real{};
  if (::dladdr(reinterpret_cast<const void*>(&path_of_command), &info) == 0) return {};
  if (::realpath(info.dli_fname, real.data()) == nullptr) return {};
  std::string folder = real.data();
  for (int up = 0; up < 4 && !folder.empty(); ++up) {
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
    std::string candidate = folder + "/bin/margay";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// Starts the command with `descriptor` as its standard input and output. The command inherits no other descriptor of
// this rank, and no variable except LD_LIBRARY_PATH, because the rank's belong to its job. -1: the command could not be
// started.
pid_t start_command(const std::string& path, int descriptor) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, descriptor, 0);
  ::posix_spawn_file_actions_adddup2(&actions, descriptor, 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string libraries = "LD_LIBRARY_PATH=";
  if (const char* const value = std::getenv("LD_LIBRARY_PATH"); value != nullptr) libraries += value;
  std::string order = "source-lines";
  std::string name = "margay";
  char* const arguments[] = {name.data(), order.data(), nullptr};
  char* const environment[] = {libraries.data(), nullptr};
  pid_t pid = -1;
  if (::posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments, environment) != 0) pid = -1;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

bool send_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string receive_all(int descriptor) {
  std::string answer;
  std::array<char, 4096> part{};
  const std::uint64_t deadline = real_clock().now_ns() + kPatienceNs;
  while (real_clock().now_ns() < deadline) {
    // Waits in slices of 100 ms, so that the deadline holds even if nothing arrives.
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, 100) <= 0) continue;
    const ssize_t received = ::recv(descriptor, part.data(), part.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) break;
    answer.append(part.data(), static_cast<std::size_t>(received));
  }
  return answer;
}

// Returns a line for each line of `questions`; fewer when the command does not exist or fails.
std::string ask_command(const std::string& questions) {
  const std::string path = path_of_command();
  int ends[2];
  if (path.empty() || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const pid_t pid = start_command(path, ends[1]);
  // Closes the command's end of the pair here, because the answer would otherwise have no end.
  ::close(ends[1]);
  std::string answer;
  if (pid > 0) {
    if (send_all(ends[0], questions) && ::shutdown(ends[0], SHUT_WR) == 0) answer = receive_all(ends[0]);
    // The command has answered, or takes too long.
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  return answer;
}

std::string in_parentheses(const std::string& name) {
  return name.empty() ? name : " (" + name + ")";
}

}  // namespace

SourceLocation source_location(const void* address) {
  LoadedModules modules;
  return source_location(address, modules);
}

SourceLocation source_location(const void* address, LoadedModules& modules) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const LoadedModule* const module = at == 0 ? nullptr : modules.of(at);
  return module == nullptr ? SourceLocation() : SourceLocation{build_number(*module), at - module->begin};
}

const void* call_from_program() {
  LoadedModules modules;
  const std::optional<StackWalk> walk = walk_to_program(modules);
  return walk ? walk->found : nullptr;
}

ProgramCall function_called_by_program() {
  LoadedModules modules;
  const std::optional<StackWalk> walk = walk_to_program(modules);
  if (!walk || walk->found == nullptr) return {};
  return {walk->found, function_at(walk->in_library)};
}

const void* SourceLines::skip_bindings(const void* caller) {
  const std::lock_guard guard(modules_mutex_);
  const LoadedModule* const module = modules_.of(reinterpret_cast<std::uintptr_t>(caller));
  if (module == nullptr || !is_fortran_binding(*module)) return caller;
  const std::optional<StackWalk> walk = walk_to_program(modules_);
  return walk && walk->found != nullptr ? walk->found : caller;
}

std::string source_question(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::optional<LoadedModule> module = at == 0 ? std::nullopt : loaded_module_of(at);
  if (!module || module->path.find('\n') != std::string::npos) return {};
  return fmt::format("{} {:x} {}", module->build_id, at - module->begin, module->path);
}

void SourceLines::look_up(std::span<const SourceLocation> locations) {
  const std::lock_guard guard(mutex_);
  look_up_with_lock(locations);
}

void SourceLines::look_up_with_lock(std::span<const SourceLocation> locations) {
  std::string questions;
  std::vector<std::string*> asked;
  for (const SourceLocation& location : locations) {
    const auto [known, is_new] = known_.try_emplace({location.build, location.offset});
    if (!is_new || location.build == 0) continue;
    const std::optional<LoadedModule> module = loaded_module_of_build(location.build);
    // A location in another program of the job, which this process has not loaded.
    if (!module) continue;
    // The name without debug information, which stays when the command fails.
    known->second = fmt::format("{}+{:#x}", base_name(module->path), location.offset);
    const std::string question = source_question(reinterpret_cast<const void*>(module->begin + location.offset));
    if (question.empty()) continue;
    questions += question + "\n";
    asked.push_back(&known->second);
  }
  if (asked.empty()) return;
  const std::string answers = ask_command(questions);
  std::string_view left = answers;
  for (std::string* const name : asked) {
    const std::size_t end = left.find('\n');
    if (end == std::string_view::npos) return;
    if (end != 0) *name = left.substr(0, end);
    left.remove_prefix(end + 1);
  }
}

std::string SourceLines::name_with_lock(SourceLocation location) {
  look_up_with_lock({&location, 1});
  return known_[{location.build, location.offset}];
}

std::string SourceLines::name(SourceLocation location) {
  const std::lock_guard guard(mutex_);
  return name_with_lock(location);
}

std::string SourceLines::location_suffix(SourceLocation location) {
  return in_parentheses(name(location));
}

std::string SourceLines::location_suffix_soon(const void* address) {
  constexpr int kTries = 100;
  constexpr useconds_t kBetweenTriesUs = 1000;
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kTries && !lock.owns_lock(); ++i) {
    ::usleep(kBetweenTriesUs);
    static_cast<void>(lock.try_lock());
  }
  return lock.owns_lock() ? in_parentheses(name_with_lock(source_location(address))) : std::string();
}

}  // namespace margay::sim
