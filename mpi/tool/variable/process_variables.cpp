// The rows of the operating system's figures for this process, which include its coprocessor and the program's own
// threads.
#include <sys/resource.h>

#include <array>

#include "mpi/tool/variable/performance.hpp"

namespace margay::mpi {

namespace {

constexpr int kTuner = MPI_T_VERBOSITY_TUNER_BASIC;
constexpr int kTunerDetail = MPI_T_VERBOSITY_TUNER_DETAIL;

// One system call for each read.
rusage usage() {
  rusage result{};
  getrusage(RUSAGE_SELF, &result);
  return result;
}

// The operating system counts in microseconds.
Word nanoseconds(const timeval& time) {
  constexpr Word kNsPerSecond = 1'000'000'000;
  constexpr Word kNsPerMicrosecond = 1'000;
  return static_cast<Word>(time.tv_sec) * kNsPerSecond + static_cast<Word>(time.tv_usec) * kNsPerMicrosecond;
}

void user_time(const Reading& /*reading*/, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = nanoseconds(usage().ru_utime);
}

void system_time(const Reading& /*reading*/, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = nanoseconds(usage().ru_stime);
}

void gave_processor(const Reading& /*reading*/, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = static_cast<Word>(usage().ru_nvcsw);
}

void lost_processor(const Reading& /*reading*/, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = static_cast<Word>(usage().ru_nivcsw);
}

constexpr PerformanceVariable row(const char* name, const char* description, int var_class, ReadWords read) {
  PerformanceVariable result{
      name,   description, Category::waiting,
      kTuner, var_class,   var_class == MPI_T_PVAR_CLASS_TIMER ? ValueType::seconds : ValueType::count,
      read};
  result.without_rank = true;
  if (var_class == MPI_T_PVAR_CLASS_COUNTER) result.verbosity = kTunerDetail;
  return result;
}

constexpr std::array kRows{
    row("user_time", "seconds of processor time in user mode", MPI_T_PVAR_CLASS_TIMER, &user_time),
    row("system_time", "seconds of processor time in system calls", MPI_T_PVAR_CLASS_TIMER, &system_time),
    row("processor_given", "times that this process gave its processor up: it slept, or yielded to another",
        MPI_T_PVAR_CLASS_COUNTER, &gave_processor),
    row("processor_taken", "times that its processor was taken away: others wanted it", MPI_T_PVAR_CLASS_COUNTER,
        &lost_processor),
};

}  // namespace

std::span<const PerformanceVariable> process_variables() {
  return kRows;
}

}  // namespace margay::mpi
