// Functions of libc that end a process or register functions for its end, for one rank. A registration belongs to the
// rank if the program or a library of its own makes it; those of shared libraries stay libc's.

#include <unistd.h>

#include <cstdlib>

#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/process.hpp"
#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"

using margay::virtual_machine::hooks;
using margay::virtual_machine::is_in_module;
using margay::virtual_machine::RankState;
using margay::virtual_machine::Real;

namespace {

using CxxFunction = void (*)(void*);
using StatusFunction = void (*)(int, void*);

constinit Real<void(int)> real_exit("exit");
constinit Real<void(int)> real_exit_at_once("_exit");
constinit Real<void(int)> real_quick_exit("quick_exit");
constinit Real<int(CxxFunction, void*, void*)> real_cxa_atexit("__cxa_atexit");
constinit Real<int(CxxFunction, void*, void*)> real_cxa_thread_atexit("__cxa_thread_atexit_impl");
constinit Real<int(StatusFunction, void*)> real_on_exit("on_exit");

// The rank to which the registration belongs, or null. atexit in an executable at a fixed address passes no owner.
template <typename Function>
[[nodiscard]] RankState* owner_of(const void* owner, Function function) {
  RankState* const rank = RankState::entered();
  const void* const address = owner != nullptr ? owner : reinterpret_cast<const void*>(function);
  return rank != nullptr && is_in_module(address) ? rank : nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void exit(int status) noexcept {
  if (RankState* const rank = RankState::calling()) rank->exit(status);
  if (RankState::entered() != nullptr) hooks().end_process(status);
  real_exit(status);
  std::abort();
}

void _exit(int status) {
  if (RankState* const rank = RankState::calling()) rank->exit_at_once(status);
  if (RankState::entered() != nullptr) hooks().end_process(status);
  real_exit_at_once(status);
  std::abort();
}

void _Exit(int status) noexcept {
  ::_exit(status);
}

void quick_exit(int status) noexcept {
  if (RankState* const rank = RankState::calling()) rank->exit_at_once(status);
  real_quick_exit(status);
  std::abort();
}

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of libc
int __cxa_atexit(CxxFunction function, void* argument, void* owner) noexcept {
  RankState* const rank = owner_of(owner, function);
  if (rank == nullptr) return real_cxa_atexit(function, argument, owner);
  rank->exit_handlers().add(function, argument);
  return 0;
}

int __cxa_thread_atexit_impl(CxxFunction destructor, void* object, void* owner) noexcept {
  RankState* const rank = owner_of(owner, destructor);
  if (rank == nullptr) return real_cxa_thread_atexit(destructor, object, owner);
  rank->exit_handlers().add_thread_local(destructor, object);
  return 0;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

int on_exit(StatusFunction function, void* argument) noexcept {
  RankState* const rank = owner_of(nullptr, function);
  if (rank == nullptr) return real_on_exit(function, argument);
  rank->exit_handlers().add(function, argument);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
