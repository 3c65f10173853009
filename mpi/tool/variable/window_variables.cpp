// The rows of one-sided communication: accesses and bytes, by the method that reaches the target.
#include <array>

#include "mpi/tool/variable/performance.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi {

namespace {

ProtocolCounts::Count window_count(const Reading& reading, std::uint32_t which) {
  // Reading does not create the layer: without a window all counts are 0.
  const Rma* const rma = reading.rank->rma_if_any();
  return rma == nullptr ? ProtocolCounts::Count{} : rma->counts().by_method[which];
}

// `which`: an index of which_of().
void window_accesses(const Reading& reading, std::uint32_t which, std::span<Word> out) {
  out[0] = window_count(reading, which).messages;
}

void window_bytes(const Reading& reading, std::uint32_t which, std::span<Word> out) {
  out[0] = window_count(reading, which).bytes;
}

// The index of a kind of access and a method in Rma's counts.
constexpr std::uint32_t which_of(sim::CountedAccess access, WindowMethod method) {
  return static_cast<std::uint32_t>(sim::index_of(access, static_cast<std::size_t>(method)));
}

constexpr PerformanceVariable accesses(const char* name, const char* description, sim::CountedAccess access,
                                       WindowMethod method) {
  return {name,
          description,
          Category::windows,
          MPI_T_VERBOSITY_USER_BASIC,
          MPI_T_PVAR_CLASS_COUNTER,
          ValueType::count,
          &window_accesses,
          which_of(access, method)};
}

constexpr PerformanceVariable aggregate(const char* name, const char* description, sim::CountedAccess access,
                                        WindowMethod method) {
  return {name,
          description,
          Category::windows,
          MPI_T_VERBOSITY_USER_DETAIL,
          MPI_T_PVAR_CLASS_AGGREGATE,
          ValueType::count,
          &window_bytes,
          which_of(access, method)};
}

// Accumulates have no row for system calls, which cannot combine.
using enum sim::CountedAccess;
using enum WindowMethod;

constexpr std::array kWindowRows{
    accesses("puts_direct", "puts of this rank, copied by itself into memory that is mapped here", put, direct),
    aggregate("puts_direct_bytes", "bytes of the puts that puts_direct counts", put, direct),
    accesses("puts_process", "puts of this rank that the operating system copied", put, process),
    aggregate("puts_process_bytes", "bytes of the puts that puts_process counts", put, process),
    accesses("puts_message", "puts of this rank that went as messages", put, message),
    aggregate("puts_message_bytes", "bytes of the puts that puts_message counts", put, message),
    accesses("gets_direct", "gets of this rank, copied by itself out of memory that is mapped here", get, direct),
    aggregate("gets_direct_bytes", "bytes of the gets that gets_direct counts", get, direct),
    accesses("gets_process", "gets of this rank that the operating system copied", get, process),
    aggregate("gets_process_bytes", "bytes of the gets that gets_process counts", get, process),
    accesses("gets_message", "gets of this rank that went as messages", get, message),
    aggregate("gets_message_bytes", "bytes of the gets that gets_message counts", get, message),
    accesses("accumulates_direct", "accumulates of this rank of any kind, done by itself in memory that is mapped here",
             accumulate, direct),
    aggregate("accumulates_direct_bytes", "bytes of the accumulates that accumulates_direct counts", accumulate,
              direct),
    accesses("accumulates_message", "accumulates of this rank of any kind that the target's device carried out",
             accumulate, message),
    aggregate("accumulates_message_bytes", "bytes of the accumulates that accumulates_message counts", accumulate,
              message),
};

}  // namespace

std::span<const PerformanceVariable> window_variables() {
  return kWindowRows;
}

}  // namespace margay::mpi
