// Functions of libc with a hidden state, which here is that of the calling rank: environment, strtok, dates, getopt,
// signals; and timers, which have no effect.

#include <getopt.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"

using margay::virtual_machine::describe_signal;
using margay::virtual_machine::RankState;
using margay::virtual_machine::Real;

namespace {

constinit Real<int(const char*, const char*, int)> real_setenv("setenv");
constinit Real<int(const char*)> real_unsetenv("unsetenv");
constinit Real<int(char*)> real_putenv("putenv");
constinit Real<int()> real_clearenv("clearenv");
constinit Real<char*(char*, const char*)> real_strtok("strtok");
constinit Real<std::tm*(const std::time_t*)> real_localtime("localtime");
constinit Real<std::tm*(const std::time_t*)> real_gmtime("gmtime");
constinit Real<char*(const std::tm*)> real_asctime("asctime");
constinit Real<char*(const std::time_t*)> real_ctime("ctime");
constinit Real<int(int, char* const*, const char*)> real_getopt("getopt");
constinit Real<int(int, char* const*, const char*, const option*, int*)> real_getopt_long("getopt_long");
constinit Real<int(int, char* const*, const char*, const option*, int*)> real_getopt_long_only("getopt_long_only");
constinit Real<int(int, const struct sigaction*, struct sigaction*)> real_sigaction("sigaction");
constinit Real<sighandler_t(int, sighandler_t)> real_signal("signal");
constinit Real<int(int)> real_raise("raise");
constinit Real<int(pid_t, int)> real_kill("kill");
constinit Real<unsigned(unsigned)> real_alarm("alarm");
constinit Real<int(__itimer_which_t, const itimerval*, itimerval*)> real_setitimer("setitimer");

[[nodiscard]] bool is_variable_name(const char* name) {
  return *name != '\0' && std::strchr(name, '=') == nullptr;
}

[[nodiscard]] int fail_with(int error) {
  errno = error;
  return -1;
}

// libc's getopt keeps its position between calls; optind = 0 makes it begin again, as it must for another rank.
void begin_options() {
  RankState* const rank = RankState::calling();
  if (rank == nullptr || rank->text().are_options_begun) return;
  rank->text().are_options_begun = true;
  if (optind == 1) optind = 0;
}

[[nodiscard]] bool is_signal(int number) {
  return number > 0 && number < NSIG;
}

[[nodiscard]] int raise_in(RankState& rank, int number) {
  if (!is_signal(number)) return fail_with(EINVAL);
  if (rank.signals().raise(number)) return 0;
  rank.die_of(number, ", which it raised");
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int setenv(const char* name, const char* value, int overwrite) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_setenv(name, value, overwrite);
  if (!is_variable_name(name)) return fail_with(EINVAL);
  rank->environment().set(name, value, overwrite != 0);
  return 0;
}

int unsetenv(const char* name) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_unsetenv(name);
  if (!is_variable_name(name)) return fail_with(EINVAL);
  rank->environment().unset(name);
  return 0;
}

int putenv(char* text) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_putenv(text);
  rank->environment().put(text);
  return 0;
}

int clearenv() noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_clearenv();
  rank->environment().clear();
  return 0;
}

char* strtok(char* text, const char* separators) noexcept {
  RankState* const rank = RankState::calling();
  return rank == nullptr ? real_strtok(text, separators) : ::strtok_r(text, separators, &rank->text().token_rest);
}

std::tm* localtime(const std::time_t* time) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_localtime(time);
  ::tzset();  // localtime does, localtime_r need not
  return ::localtime_r(time, &rank->text().date);
}

std::tm* gmtime(const std::time_t* time) noexcept {
  RankState* const rank = RankState::calling();
  return rank == nullptr ? real_gmtime(time) : ::gmtime_r(time, &rank->text().date);
}

char* asctime(const std::tm* date) noexcept {
  RankState* const rank = RankState::calling();
  return rank == nullptr ? real_asctime(date) : ::asctime_r(date, rank->text().date_text.data());
}

char* ctime(const std::time_t* time) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_ctime(time);
  const std::tm* const date = ::localtime(time);
  return date == nullptr ? nullptr : ::asctime(date);
}

int getopt(int argc, char* const* argv, const char* options) noexcept {
  begin_options();
  return real_getopt(argc, argv, options);
}

int getopt_long(int argc, char* const* argv, const char* options, const option* names, int* index) noexcept {
  begin_options();
  return real_getopt_long(argc, argv, options, names, index);
}

int getopt_long_only(int argc, char* const* argv, const char* options, const option* names, int* index) noexcept {
  begin_options();
  return real_getopt_long_only(argc, argv, options, names, index);
}

int sigaction(int number, const struct sigaction* action, struct sigaction* previous) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr) return real_sigaction(number, action, previous);
  if (!is_signal(number) || number == SIGKILL || number == SIGSTOP) return fail_with(EINVAL);
  const struct sigaction known = rank->signals().exchange(number, action);
  if (previous != nullptr) *previous = known;
  return 0;
}

sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (RankState::calling() == nullptr) return real_signal(number, handler);
  struct sigaction action = {};
  struct sigaction previous = {};
  action.sa_handler = handler;
  return ::sigaction(number, &action, &previous) == 0 ? previous.sa_handler : SIG_ERR;
}

int raise(int number) noexcept {
  RankState* const rank = RankState::calling();
  return rank == nullptr ? real_raise(number) : raise_in(*rank, number);
}

int kill(pid_t process, int number) noexcept {
  RankState* const rank = RankState::calling();
  if (rank == nullptr || process != ::getpid() || number == 0) return real_kill(process, number);
  return raise_in(*rank, number);
}

// Timers have no effect in a rank. They usually end a program that hangs, which the world detects.
unsigned alarm(unsigned seconds) noexcept {
  return RankState::calling() == nullptr ? real_alarm(seconds) : 0;
}

int setitimer(__itimer_which_t which, const itimerval* timer, itimerval* previous) noexcept {
  if (RankState::calling() == nullptr) return real_setitimer(which, timer, previous);
  if (previous != nullptr) *previous = {};
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
