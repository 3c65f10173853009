// Sizes and bounds (MPI 4.0, 5.1.4 to 5.1.8). A value that does not fit the caller's integer is MPI_UNDEFINED.

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"

// Addresses (MPI 4.0, 5.1.5) are integers, which serve as displacements in types. Their addition and subtraction use no
// state, so they need no Call and are valid at any time.

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

// Unsigned arithmetic, so that addresses in the upper half wrap instead of overflowing.
extern "C" MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(disp));
}
MARGAY_ALIAS(Aint_add)

extern "C" MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uint64_t>(addr1) - static_cast<std::uint64_t>(addr2));
}
MARGAY_ALIAS(Aint_diff)

using namespace margay::mpi;

namespace {

// `which`: the bounds that include markers, or the true bounds of the data.
template <typename Integer>
int bounds_of(Call& call, MPI_Datatype datatype, TypeBounds TypeDefinition::*which, Integer* lower, Integer* extent,
              const char* lower_name, const char* extent_name) {
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(lower, lower_name);
  call.not_null(extent, extent_name);
  if (!call.ok()) return call.failed();
  const TypeBounds& bounds = (*type->definition).*which;
  *lower = bounds.lower;
  *extent = bounds.upper - bounds.lower;
  return MPI_SUCCESS;
}

// The body of MPI-1's inquiries, each of which returns one number. MPI 3.0 removed them, but old programs and MPICH's
// ABI have them.
int bound(Call& call, MPI_Datatype datatype, MPI_Aint* out, const char* name,
          MPI_Aint (*value)(const TypeDefinition&)) {
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(out, name);
  if (call.ok()) *out = value(*type->definition);
  return call.done();
}

// The size counts data only, without gaps.
template <typename Integer>
int size_of(Call& call, MPI_Datatype datatype, Integer* size) {
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  if (call.ok()) *size = bounded<Integer>(type->size);
  return call.done();
}

}  // namespace

MARGAY_TWINS(Type_size, (MPI_Datatype datatype, Count* size), {
  Call call(called);
  return size_of(call, datatype, size);
})

extern "C" int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  Call call(call_name<"MPI_Type_size_x">);
  return size_of(call, datatype, size);
}
MARGAY_ALIAS(Type_size_x)

MARGAY_TWINS(Type_get_extent, (MPI_Datatype datatype, Address* lb, Address* extent), {
  Call call(called);
  return bounds_of(call, datatype, &TypeDefinition::bounds, lb, extent, "lb", "extent");
})

extern "C" int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  Call call(call_name<"MPI_Type_get_extent_x">);
  return bounds_of(call, datatype, &TypeDefinition::bounds, lb, extent, "lb", "extent");
}
MARGAY_ALIAS(Type_get_extent_x)

MARGAY_TWINS(Type_get_true_extent, (MPI_Datatype datatype, Address* true_lb, Address* true_extent), {
  Call call(called);
  return bounds_of(call, datatype, &TypeDefinition::true_bounds, true_lb, true_extent, "true_lb", "true_extent");
})

extern "C" int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  Call call(call_name<"MPI_Type_get_true_extent_x">);
  return bounds_of(call, datatype, &TypeDefinition::true_bounds, true_lb, true_extent, "true_lb", "true_extent");
}
MARGAY_ALIAS(Type_get_true_extent_x)

extern "C" int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  Call call(call_name<"MPI_Type_extent">);
  return bound(call, datatype, extent, "extent", [](const TypeDefinition& type) -> MPI_Aint { return type.extent(); });
}
MARGAY_ALIAS(Type_extent)

extern "C" int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  Call call(call_name<"MPI_Type_lb">);
  return bound(call, datatype, displacement, "displacement",
               [](const TypeDefinition& type) -> MPI_Aint { return type.bounds.lower; });
}
MARGAY_ALIAS(Type_lb)

extern "C" int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  Call call(call_name<"MPI_Type_ub">);
  return bound(call, datatype, displacement, "displacement",
               [](const TypeDefinition& type) -> MPI_Aint { return type.bounds.upper; });
}
MARGAY_ALIAS(Type_ub)
