#include "mpi/datatype/type_call.hpp"

#include <cstring>
#include <utility>

namespace margay::mpi {

// A new type is not committed.
int hand_out_type(Call& call, TypePtr made, MPI_Datatype* newtype) {
  // The constructors return null for sizes that their arithmetic cannot represent.
  if (made == nullptr) {
    call.error(MPI_ERR_COUNT, "the new type would have more than 2^62 bytes, or a bound beyond 63 bits");
    return call.failed();
  }
  const Datatype* added = call.rank().handles().add_datatype(Datatype(std::move(made)));
  if (added == nullptr) {
    call.error(MPI_ERR_OTHER, "too many datatypes are alive (2^18); free some first");
  } else {
    *newtype = added->handle;
  }
  return call.done();
}

void bad_element(Call& call, const char* what, std::size_t i, std::int64_t value, const char* why) {
  call.error(MPI_ERR_ARG, std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(value) + ", " + why);
}

void check_external32(Call& call, const char* datarep) {
  call.not_null(datarep, "datarep");
  if (!call.ok() || std::strcmp(datarep, "external32") == 0) return;
  call.error(MPI_ERR_ARG, "datarep is \"" + std::string(datarep) + "\"; \"external32\" is the one that is known");
}

}  // namespace margay::mpi
