// Addresses (MPI 4.0, 5.1.5): integers that types may be made of, and that are added and subtracted without a Call: no
// state is touched, and they are allowed at any time.
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"

using namespace margay::mpi;

namespace {

int address_of(Call& call, const void* location, MPI_Aint* address) {
  call.not_null(address, "address");
  if (call.ok()) *address = reinterpret_cast<MPI_Aint>(location);
  return call.done();
}

}  // namespace

extern "C" int PMPI_Get_address(const void* location, MPI_Aint* address) {
  Call call(call_name<"MPI_Get_address">);
  return address_of(call, location, address);
}
MARGAY_ALIAS(Get_address)

extern "C" int PMPI_Address(void* location, MPI_Aint* address) {
  Call call(call_name<"MPI_Address">);
  return address_of(call, location, address);
}
MARGAY_ALIAS(Address)

// Unsigned, so that addresses in the upper half wrap instead of overflowing.
extern "C" MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(disp));
}
MARGAY_ALIAS(Aint_add)

extern "C" MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uint64_t>(addr1) - static_cast<std::uint64_t>(addr2));
}
MARGAY_ALIAS(Aint_diff)
