// Datatype constructors and inquiries (MPI 4.0, chapter 5.1): contiguous, vector and their kin.
#include <utility>

#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/object/type_build.hpp"

using namespace margay::mpi_adi;

namespace {

int hand_out(Call& call, Datatype&& built, MPI_Datatype* newtype) {
  Datatype* added = call.rank().add_datatype(std::move(built));
  if (added == nullptr) {
    call.error(MPI_ERR_OTHER, "too many datatypes are alive (2^18); free some first");
  } else {
    *newtype = added->handle;
  }
  return call.done();
}

void check_size(Call& call, std::int64_t count, std::int64_t block_length, const Datatype* old) {
  if (!call.ok() || can_build(count, block_length, *old)) return;
  call.error(MPI_ERR_COUNT, std::to_string(count) + " blocks of " + std::to_string(block_length) +
                                " elements make a type of more than 2^24 pieces or 2^62 bytes; build it in steps, or "
                                "send several");
}

}  // namespace

extern "C" int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_contiguous">);
  call.count(count);
  const Datatype* old = call.any_datatype(oldtype);
  call.not_null(newtype, "newtype");
  check_size(call, 1, count, old);
  if (!call.ok()) return call.failed();
  return hand_out(call, type_contiguous(count, *old), newtype);
}
MARGAY_ALIAS(Type_contiguous)

extern "C" int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_vector">);
  call.count(count);
  call.count(blocklength, "blocklength");
  const Datatype* old = call.any_datatype(oldtype);
  call.not_null(newtype, "newtype");
  check_size(call, count, blocklength, old);
  if (!call.ok()) return call.failed();
  return hand_out(call, type_hvector(count, blocklength, stride * old->extent, *old), newtype);
}
MARGAY_ALIAS(Type_vector)

extern "C" int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                                        MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_create_hvector">);
  call.count(count);
  call.count(blocklength, "blocklength");
  const Datatype* old = call.any_datatype(oldtype);
  call.not_null(newtype, "newtype");
  check_size(call, count, blocklength, old);
  if (!call.ok()) return call.failed();
  return hand_out(call, type_hvector(count, blocklength, stride, *old), newtype);
}
MARGAY_ALIAS(Type_create_hvector)

extern "C" int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_dup">);
  Datatype* old = call.any_datatype(oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  Datatype copy = *old;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (const int code = hand_out(call, std::move(copy), &made); code != MPI_SUCCESS) return code;
  Datatype* added = call.rank().datatype(made);
  const bool copied = copy_attributes(call, *old, *added);
  if (!copied) call.rank().free_datatype(*added);
  *newtype = copied ? made : MPI_DATATYPE_NULL;
  return call.done();
}
MARGAY_ALIAS(Type_dup)

extern "C" int PMPI_Type_commit(MPI_Datatype* datatype) {
  Call call(call_name<"MPI_Type_commit">);
  call.not_null(datatype, "datatype");
  if (!call.ok()) return call.failed();
  Datatype* type = call.any_datatype(*datatype);
  if (call.ok()) type->committed = true;
  return call.done();
}
MARGAY_ALIAS(Type_commit)

extern "C" int PMPI_Type_free(MPI_Datatype* datatype) {
  Call call(call_name<"MPI_Type_free">);
  call.not_null(datatype, "datatype");
  if (!call.ok()) return call.failed();
  Datatype* type = call.any_datatype(*datatype);
  if (call.ok() && type->predefined) call.error(MPI_ERR_TYPE, "a predefined datatype cannot be freed");
  if (!call.ok() || !delete_attributes(call, *type)) return call.failed();
  // Looked up again: a callback may have freed it.
  type = call.any_datatype(*datatype);
  if (!call.ok()) return call.failed();
  call.rank().free_datatype(*type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_free)

extern "C" int PMPI_Type_size(MPI_Datatype datatype, int* size) {
  Call call(call_name<"MPI_Type_size">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  if (call.ok()) *size = type->size > INT32_MAX ? MPI_UNDEFINED : static_cast<int>(type->size);
  return call.done();
}
MARGAY_ALIAS(Type_size)

extern "C" int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  Call call(call_name<"MPI_Type_size_x">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  if (call.ok()) *size = static_cast<MPI_Count>(type->size);
  return call.done();
}
MARGAY_ALIAS(Type_size_x)

extern "C" int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  Call call(call_name<"MPI_Type_get_extent">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(lb, "lb");
  call.not_null(extent, "extent");
  if (!call.ok()) return call.failed();
  *lb = type->lower_bound;
  *extent = type->extent;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_get_extent)

extern "C" int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  Call call(call_name<"MPI_Type_extent">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(extent, "extent");
  if (call.ok()) *extent = type->extent;
  return call.done();
}
MARGAY_ALIAS(Type_extent)

extern "C" int PMPI_Get_address(const void* location, MPI_Aint* address) {
  Call call(call_name<"MPI_Get_address">);
  call.not_null(address, "address");
  if (call.ok()) *address = reinterpret_cast<MPI_Aint>(location);
  return call.done();
}
MARGAY_ALIAS(Get_address)
