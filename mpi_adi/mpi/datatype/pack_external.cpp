// Packing in the representation that all machines share (MPI 4.0, 5.3).
#include "mpi_adi/datatype/external32.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/datatype/type_call.hpp"

using namespace margay::mpi_adi;

namespace {

std::uint64_t external_bytes(const Datatype* type, int count) {
  return type == nullptr || count < 0 ? 0 : type->definition->external_size * static_cast<std::uint64_t>(count);
}

void check_room(Call& call, const void* packed, const char* packed_name, MPI_Aint room, const char* room_name,
                const MPI_Aint* position, std::uint64_t bytes) {
  call.count(room, room_name);
  call.not_null(position, "position");
  if (!call.ok()) return;
  if (bytes != 0 && packed == nullptr) call.error(MPI_ERR_BUFFER, std::string(packed_name) + " is a null pointer");
  if (*position < 0) call.error(MPI_ERR_ARG, "position is " + std::to_string(*position) + ", below 0");
  if (*position <= room && bytes <= static_cast<std::uint64_t>(room - *position)) return;
  call.error(MPI_ERR_ARG, std::string(room_name) + " is " + std::to_string(room) + " and position " +
                              std::to_string(*position) + "; the elements take " + std::to_string(bytes) + " bytes");
}

}  // namespace

extern "C" int PMPI_Pack_external(const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype,
                                  void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  Call call(call_name<"MPI_Pack_external">);
  check_external32(call, datarep);
  call.count(incount, "incount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(inbuf, incount, type, "inbuf");
  const std::uint64_t bytes = external_bytes(type, incount);
  check_room(call, outbuf, "outbuf", outsize, "outsize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) {
    pack_external32(*type->definition, inbuf, static_cast<std::uint64_t>(incount),
                    static_cast<std::byte*>(outbuf) + *position);
  }
  *position += static_cast<MPI_Aint>(bytes);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pack_external)

extern "C" int PMPI_Unpack_external(const char datarep[], const void* inbuf, MPI_Aint insize, MPI_Aint* position,
                                    void* outbuf, int outcount, MPI_Datatype datatype) {
  Call call(call_name<"MPI_Unpack_external">);
  check_external32(call, datarep);
  call.count(outcount, "outcount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(outbuf, outcount, type, "outbuf");
  const std::uint64_t bytes = external_bytes(type, outcount);
  check_room(call, inbuf, "inbuf", insize, "insize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) {
    unpack_external32(*type->definition, outbuf, static_cast<std::uint64_t>(outcount),
                      static_cast<const std::byte*>(inbuf) + *position);
  }
  *position += static_cast<MPI_Aint>(bytes);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Unpack_external)

extern "C" int PMPI_Pack_external_size(const char* datarep, int incount, MPI_Datatype datatype, MPI_Aint* size) {
  Call call(call_name<"MPI_Pack_external_size">);
  check_external32(call, datarep);
  call.count(incount, "incount");
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  if (!call.ok()) return call.failed();
  *size = static_cast<MPI_Aint>(external_bytes(type, incount));
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pack_external_size)
