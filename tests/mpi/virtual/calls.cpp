// The calls that know how a process begins and ends, for ranks of a virtual machine. They take the place of the
// library's as those of a profiling tool would: MPI's names are weak there.
#include <cstdio>
#include <cstdlib>

#include "collectives/mpi/end_communication.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/call.hpp"
#include "tests/mpi/virtual/machine.hpp"

using namespace margay::mpi_adi;
using margay::testing::Seat;

namespace {

int begin(int thread_level) {
  if (const auto status = Seat::mine().begin(thread_level); !status.ok()) {
    std::fprintf(stderr, "MPI_Init: %s\n", status.sentence().c_str());
    std::_Exit(1);
  }
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int MPI_Init(int*, char***) {
  return begin(MPI_THREAD_SINGLE);
}

// Threads of a rank would run beside the turns.
int MPI_Init_thread(int*, char***, int required, int* provided) {
  *provided = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
  return begin(*provided);
}

int MPI_Initialized(int* flag) {
  *flag = Seat::mine().begun() ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
  *flag = Seat::mine().finalized() ? 1 : 0;
  return MPI_SUCCESS;
}

// As the library's, without the accounts for a launcher. The rank stays: the virtual machine looks at it when all have
// ended.
int MPI_Finalize() {
  {
    Call call(call_name<"MPI_Finalize">);
    MpiRank& rank = call.rank();
    delete_attributes_at_end(call, rank.self());
    delete_attributes_at_end(call, rank.world());
    if (!margay::collectives::end_communication(call)) return call.failed();
    rank.process().finish([&rank] { return rank.device().progress(); });
    rank.end_world();
  }
  Seat::mine().end();
  return MPI_SUCCESS;
}

}  // extern "C"
