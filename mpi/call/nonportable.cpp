#include "mpi/call/nonportable.hpp"

#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/op/names.hpp"
#include "mpi_adi/op/operation.hpp"

namespace margay::mpi {

void report_nonportable(TypeCheck& check, MPI_Op op, MPI_Datatype type) {
  if (is_nonportable(op, type)) check.nonportable(operation_word(op) + " on " + type_word(type), "6.9.2");
}

}  // namespace margay::mpi
