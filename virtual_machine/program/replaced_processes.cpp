// Functions that start processes or threads, or load libraries: errors in a rank, because all ranks are one process
// with one thread, and each has data of its own only in modules that the process began with. Each error names the
// function and the cure.

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <threads.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "virtual_machine/program/module.hpp"
#include "virtual_machine/program/process.hpp"
#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"

using margay::virtual_machine::is_in_module;
using margay::virtual_machine::is_shared_library;
using margay::virtual_machine::RankState;
using margay::virtual_machine::Real;

namespace {

using Strings = char* const*;
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Strings, Strings);
using ThreadFunction = void* (*)(void*);

constinit Real<pid_t()> real_fork("fork");
constinit Real<pid_t()> real_plain_fork("_Fork");
constinit Real<int(const char*, Strings)> real_execv("execv");
constinit Real<int(const char*, Strings)> real_execvp("execvp");
constinit Real<int(const char*, Strings, Strings)> real_execve("execve");
constinit Real<int(const char*, Strings, Strings)> real_execvpe("execvpe");
constinit Real<int(int, Strings, Strings)> real_fexecve("fexecve");
constinit Real<Spawn> real_posix_spawn("posix_spawn");
constinit Real<Spawn> real_posix_spawnp("posix_spawnp");
constinit Real<int(const char*)> real_system("system");
constinit Real<FILE*(const char*, const char*)> real_popen("popen");
constinit Real<int(int, int)> real_daemon("daemon");
constinit Real<int(pthread_t*, const pthread_attr_t*, ThreadFunction, void*)> real_pthread_create("pthread_create");
constinit Real<int(thrd_t*, thrd_start_t, void*)> real_thrd_create("thrd_create");
constinit Real<void*(const char*, int)> real_dlopen("dlopen");
constinit Real<int(int (*)(void*), void*, int, void*, void*, void*, void*)> real_clone("clone");

void require_no_rank(const char* function, const char* cure) {
  if (RankState* const rank = RankState::calling()) rank->fail(std::string("called ") + function + "; " + cure);
}

void require_no_process(const char* function) {
  require_no_rank(function, "a simulated rank cannot start a process; run the program with margay run");
}

void require_no_thread(const char* function) {
  require_no_rank(function,
                  "a simulated rank has one thread; set OMP_NUM_THREADS=1 if the program uses OpenMP, or run it with "
                  "margay run");
}

// The arguments of execl, execlp and execle: the first one, then those of the list up to its null pointer.
[[nodiscard]] std::vector<char*> listed(const char* first, va_list list) {
  std::vector<char*> arguments = {const_cast<char*>(first)};
  while (arguments.back() != nullptr) arguments.push_back(va_arg(list, char*));
  return arguments;
}

// Whether a rank may load the library: one of the system, one of which each rank has its own data, or the one that
// contains this code.
[[nodiscard]] bool may_load(void* handle) {
  const link_map* library = nullptr;
  Dl_info own = {};
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0 || *library->l_name == '\0') return true;
  if (is_shared_library(library->l_name) || is_in_module(library->l_ld)) return true;
  const auto load_address = reinterpret_cast<void*>(library->l_addr);
  return ::dladdr(reinterpret_cast<const void*>(&may_load), &own) != 0 && own.dli_fbase == load_address;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

pid_t fork() noexcept {
  require_no_process("fork");
  return real_fork();
}

pid_t _Fork() noexcept {
  require_no_process("_Fork");
  return real_plain_fork();
}

// Outside of ranks it is fork(), because a child of vfork() must not return from the function that called it: this one.
pid_t vfork() noexcept {
  require_no_process("vfork");
  return real_fork();
}

int execv(const char* path, Strings arguments) noexcept {
  require_no_process("execv");
  return real_execv(path, arguments);
}

int execvp(const char* file, Strings arguments) noexcept {
  require_no_process("execvp");
  return real_execvp(file, arguments);
}

int execve(const char* path, Strings arguments, Strings environment) noexcept {
  require_no_process("execve");
  return real_execve(path, arguments, environment);
}

int execvpe(const char* file, Strings arguments, Strings environment) noexcept {
  require_no_process("execvpe");
  return real_execvpe(file, arguments, environment);
}

int fexecve(int file, Strings arguments, Strings environment) noexcept {
  require_no_process("fexecve");
  return real_fexecve(file, arguments, environment);
}

int execl(const char* path, const char* argument, ...) noexcept {
  require_no_process("execl");
  va_list list;
  va_start(list, argument);
  const std::vector<char*> arguments = listed(argument, list);
  va_end(list);
  return real_execv(path, arguments.data());
}

int execlp(const char* file, const char* argument, ...) noexcept {
  require_no_process("execlp");
  va_list list;
  va_start(list, argument);
  const std::vector<char*> arguments = listed(argument, list);
  va_end(list);
  return real_execvp(file, arguments.data());
}

int execle(const char* path, const char* argument, ...) noexcept {
  require_no_process("execle");
  va_list list;
  va_start(list, argument);
  const std::vector<char*> arguments = listed(argument, list);
  char* const* const environment = va_arg(list, char* const*);
  va_end(list);
  return real_execve(path, arguments.data(), environment);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, Strings arguments, Strings environment) {
  require_no_process("posix_spawn");
  return real_posix_spawn(process, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, Strings arguments, Strings environment) {
  require_no_process("posix_spawnp");
  return real_posix_spawnp(process, file, actions, attributes, arguments, environment);
}

int system(const char* command) {
  require_no_process("system");
  return real_system(command);
}

FILE* popen(const char* command, const char* mode) {
  require_no_process("popen");
  return real_popen(command, mode);
}

int daemon(int keeps_folder, int keeps_streams) noexcept {
  require_no_process("daemon");
  return real_daemon(keeps_folder, keeps_streams);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, ThreadFunction function,
                   void* argument) noexcept {
  require_no_thread("pthread_create");
  return real_pthread_create(thread, attributes, function, argument);
}

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  require_no_thread("thrd_create");
  return real_thrd_create(thread, function, argument);
}

// The optional arguments, which depend on the flags, are read always; libc's own clone does the same.
int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  require_no_thread("clone");
  va_list list;
  va_start(list, argument);
  void* const parent = va_arg(list, void*);
  void* const thread_data = va_arg(list, void*);
  void* const child = va_arg(list, void*);
  va_end(list);
  return real_clone(function, stack, flags, argument, parent, thread_data, child);
}

// A library that the program is not linked with would have the same data in all ranks.
void* dlopen(const char* file, int mode) noexcept {
  void* const handle = real_dlopen(file, mode);
  if (handle != nullptr && RankState::calling() != nullptr && !may_load(handle)) {
    require_no_rank("dlopen",
                    "ranks would share the data of a library that is loaded at run time; link the program with it");
  }
  return handle;
}

}  // extern "C"
#pragma GCC visibility pop
