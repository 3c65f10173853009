#include "virtual_machine/program/rank_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/process.hpp"
#include "virtual_machine/program/signals.hpp"
#include "virtual_machine/program/standard_streams.hpp"

namespace margay::virtual_machine {
namespace {

constinit RankState* entered_rank = nullptr;

}  // namespace

RankState::RankState(std::uint32_t rank) : number_(rank), output_(rank) {}

RankState::~RankState() {
  image_layout().forget(image_);
}

RankState* RankState::entered() {
  return entered_rank;
}

RankState* RankState::calling() {
  return entered_rank != nullptr && hooks().in_rank() ? entered_rank : nullptr;
}

// errno last, because the calls above, and the world's, may change it.
void RankState::enter() {
  require_no_error(image_layout().show(image_));
  direct_standard_streams_to(&output_);
  entered_rank = this;
  errno = error_number_;
}

// errno first, because the calls below may change it.
void RankState::leave() {
  error_number_ = errno;
  pass_on_standard_output();
  direct_standard_streams_to(nullptr);
  entered_rank = nullptr;
}

void RankState::copy_arguments(const Program& program) {
  const std::span arguments(program.argv, static_cast<std::size_t>(program.argc));
  for (const char* const argument : arguments) {
    argument_text_.insert(argument_text_.end(), argument, argument + std::strlen(argument) + 1);
  }
  // The pointers are taken last, because each insertion may have moved the text.
  char* text = argument_text_.data();
  for (const char* const argument : arguments) {
    arguments_.push_back(text);
    text += std::strlen(argument) + 1;
  }
  arguments_.push_back(nullptr);
}

void RankState::run(const Program& program) noexcept {
  copy_arguments(program);
  for (const Module& module : modules()) module.run_constructors(program.argc, arguments_.data(), environ);
  this->exit(program.main(program.argc, arguments_.data(), environ));
}

// A handler may call exit again, which then runs the others.
void RankState::exit(int status) {
  exit_handlers_.run(status);
  if (!are_destructors_run_) {
    are_destructors_run_ = true;
    const std::span all = modules();
    std::for_each(all.rbegin(), all.rend(), [](const Module& module) { module.run_destructors(); });
  }
  std::fflush(nullptr);  // the rank's files, among others
  exit_at_once(status);
}

void RankState::fail(const std::string& error, int status) {
  pass_on_standard_output();
  hooks().fail("rank " + std::to_string(number_) + " " + error, status);
  std::abort();  // not reached: the compiler does not see [[noreturn]] of a virtual function
}

void RankState::die_of(int signal_number, const char* detail) {
  fail("died of " + describe_signal(signal_number) + detail, kSignalStatus + signal_number);
}

// All ranks share the buffer of stdout, so its text is written here too, although _exit() discards that of a process.
void RankState::exit_at_once(int status) {
  pass_on_standard_output();
  output_.write_partial_lines();
  hooks().exit_rank(status);
  std::abort();  // as above
}

}  // namespace margay::virtual_machine
