#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

constinit thread_local ProgramCall program_call;

void run_for_program(const std::function<void()>& function) {
  if (program_call.rank != nullptr) return run_outside(*program_call.rank, [&] { function(); });
  const ProgramCall saved = std::exchange(program_call, {});
  function();
  program_call = saved;
}

}  // namespace margay::zipcode::core
