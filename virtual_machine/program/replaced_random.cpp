// libc's random numbers from the state of the calling rank: functions without a state argument call those with one.

#include <cstdint>
#include <cstdlib>

#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"

using margay::virtual_machine::RankState;
using margay::virtual_machine::Real;

namespace {

using Words = unsigned short;

constinit Real<int()> real_rand("rand");
constinit Real<long()> real_random("random");
constinit Real<void(unsigned)> real_srandom("srandom");
constinit Real<char*(unsigned, char*, std::size_t)> real_initstate("initstate");
constinit Real<char*(char*)> real_setstate("setstate");
constinit Real<double()> real_drand48("drand48");
constinit Real<double(Words*)> real_erand48("erand48");
constinit Real<long()> real_lrand48("lrand48");
constinit Real<long(Words*)> real_nrand48("nrand48");
constinit Real<long()> real_mrand48("mrand48");
constinit Real<long(Words*)> real_jrand48("jrand48");
constinit Real<void(long)> real_srand48("srand48");
constinit Real<Words*(Words*)> real_seed48("seed48");
constinit Real<void(Words*)> real_lcong48("lcong48");

[[nodiscard]] random_data* random_of_caller() {
  RankState* const rank = RankState::calling();
  return rank == nullptr ? nullptr : &rank->random().random_state();
}

[[nodiscard]] drand48_data* drand48_of_caller() {
  RankState* const rank = RankState::calling();
  return rank == nullptr ? nullptr : &rank->random().drand48_state();
}

// initstate and setstate return the previous buffer; the state begins one word into it.
[[nodiscard]] char* buffer_of(const random_data& state) {
  return reinterpret_cast<char*>(state.state - 1);
}

[[nodiscard]] long next(random_data& state) {
  std::int32_t result = 0;
  ::random_r(&state, &result);
  return result;
}

template <typename Result, typename Function, typename... Arguments>
[[nodiscard]] Result draw(Function* function, Arguments... arguments) {
  Result result = {};
  function(arguments..., &result);
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int rand() noexcept {
  random_data* const state = random_of_caller();
  return state == nullptr ? real_rand() : static_cast<int>(next(*state));
}

long random() noexcept {
  random_data* const state = random_of_caller();
  return state == nullptr ? real_random() : next(*state);
}

void srandom(unsigned seed) noexcept {
  random_data* const state = random_of_caller();
  if (state == nullptr) return real_srandom(seed);
  ::srandom_r(seed, state);
}

void srand(unsigned seed) noexcept {
  ::srandom(seed);  // one generator in glibc
}

char* initstate(unsigned seed, char* buffer, std::size_t bytes) noexcept {
  random_data* const state = random_of_caller();
  if (state == nullptr) return real_initstate(seed, buffer, bytes);
  char* const previous = buffer_of(*state);
  return ::initstate_r(seed, buffer, bytes, state) == 0 ? previous : nullptr;
}

char* setstate(char* buffer) noexcept {
  random_data* const state = random_of_caller();
  if (state == nullptr) return real_setstate(buffer);
  char* const previous = buffer_of(*state);
  return ::setstate_r(buffer, state) == 0 ? previous : nullptr;
}

double drand48() noexcept {
  drand48_data* const state = drand48_of_caller();
  return state == nullptr ? real_drand48() : draw<double>(::drand48_r, state);
}

double erand48(Words* words) noexcept {
  drand48_data* const state = drand48_of_caller();
  return state == nullptr ? real_erand48(words) : draw<double>(::erand48_r, words, state);
}

long lrand48() noexcept {
  drand48_data* const state = drand48_of_caller();
  return state == nullptr ? real_lrand48() : draw<long>(::lrand48_r, state);
}

long nrand48(Words* words) noexcept {
  drand48_data* const state = drand48_of_caller();
  return state == nullptr ? real_nrand48(words) : draw<long>(::nrand48_r, words, state);
}

long mrand48() noexcept {
  drand48_data* const state = drand48_of_caller();
  return state == nullptr ? real_mrand48() : draw<long>(::mrand48_r, state);
}

long jrand48(Words* words) noexcept {
  drand48_data* const state = drand48_of_caller();
  return state == nullptr ? real_jrand48(words) : draw<long>(::jrand48_r, words, state);
}

void srand48(long seed) noexcept {
  drand48_data* const state = drand48_of_caller();
  if (state == nullptr) return real_srand48(seed);
  ::srand48_r(seed, state);
}

// Returns the previous words, which the state keeps.
Words* seed48(Words* words) noexcept {
  drand48_data* const state = drand48_of_caller();
  if (state == nullptr) return real_seed48(words);
  ::seed48_r(words, state);
  return state->__old_x;
}

void lcong48(Words* words) noexcept {
  drand48_data* const state = drand48_of_caller();
  if (state == nullptr) return real_lcong48(words);
  ::lcong48_r(words, state);
}

}  // extern "C"
#pragma GCC visibility pop
