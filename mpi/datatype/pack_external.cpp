// Packing in the representation that all machines share (MPI 4.0, 5.3). Positions are MPI_Aint, which is MPI_Count
// here.
#include "mpi/call/binding.hpp"
#include "mpi/datatype/pack_call.hpp"
#include "mpi_adi/datatype/external32.hpp"

using namespace margay::mpi;

namespace {

std::uint64_t external_bytes(Call& call, const Datatype* type, std::int64_t count) {
  return type == nullptr ? 0 : total_bytes(call, count, type->definition->external_size);
}

int pack(Call& call, const char* datarep, const void* inbuf, std::int64_t incount, MPI_Datatype datatype, void* outbuf,
         MPI_Aint outsize, MPI_Aint* position) {
  check_external32(call, datarep);
  call.count(incount, "incount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(inbuf, incount, type, "inbuf");
  const std::uint64_t bytes = external_bytes(call, type, incount);
  check_room(call, outbuf, "outbuf", outsize, "outsize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) {
    pack_external32(*type->definition, inbuf, static_cast<std::uint64_t>(incount),
                    static_cast<std::byte*>(outbuf) + *position);
  }
  *position += static_cast<MPI_Aint>(bytes);
  return MPI_SUCCESS;
}

int unpack(Call& call, const char* datarep, const void* inbuf, MPI_Aint insize, MPI_Aint* position, void* outbuf,
           std::int64_t outcount, MPI_Datatype datatype) {
  check_external32(call, datarep);
  call.count(outcount, "outcount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(outbuf, outcount, type, "outbuf");
  const std::uint64_t bytes = external_bytes(call, type, outcount);
  check_room(call, inbuf, "inbuf", insize, "insize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) {
    unpack_external32(*type->definition, outbuf, static_cast<std::uint64_t>(outcount),
                      static_cast<const std::byte*>(inbuf) + *position);
  }
  *position += static_cast<MPI_Aint>(bytes);
  return MPI_SUCCESS;
}

int pack_size(Call& call, const char* datarep, std::int64_t incount, MPI_Datatype datatype, MPI_Aint* size) {
  check_external32(call, datarep);
  call.count(incount, "incount");
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  const std::uint64_t bytes = external_bytes(call, type, incount);
  if (call.ok()) *size = static_cast<MPI_Aint>(bytes);
  return call.done();
}

}  // namespace

extern "C" int PMPI_Pack_external(const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype,
                                  void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  Call call(call_name<"MPI_Pack_external">);
  return pack(call, datarep, inbuf, incount, datatype, outbuf, outsize, position);
}
MARGAY_ALIAS(Pack_external)

extern "C" int PMPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype,
                                    void* outbuf, MPI_Count outsize, MPI_Count* position) {
  Call call(call_name<"MPI_Pack_external_c">);
  return pack(call, datarep, inbuf, incount, datatype, outbuf, outsize, position);
}
MARGAY_ALIAS(Pack_external_c)

extern "C" int PMPI_Unpack_external(const char datarep[], const void* inbuf, MPI_Aint insize, MPI_Aint* position,
                                    void* outbuf, int outcount, MPI_Datatype datatype) {
  Call call(call_name<"MPI_Unpack_external">);
  return unpack(call, datarep, inbuf, insize, position, outbuf, outcount, datatype);
}
MARGAY_ALIAS(Unpack_external)

extern "C" int PMPI_Unpack_external_c(const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position,
                                      void* outbuf, MPI_Count outcount, MPI_Datatype datatype) {
  Call call(call_name<"MPI_Unpack_external_c">);
  return unpack(call, datarep, inbuf, insize, position, outbuf, outcount, datatype);
}
MARGAY_ALIAS(Unpack_external_c)

extern "C" int PMPI_Pack_external_size(const char* datarep, int incount, MPI_Datatype datatype, MPI_Aint* size) {
  Call call(call_name<"MPI_Pack_external_size">);
  return pack_size(call, datarep, incount, datatype, size);
}
MARGAY_ALIAS(Pack_external_size)

extern "C" int PMPI_Pack_external_size_c(const char* datarep, MPI_Count incount, MPI_Datatype datatype,
                                         MPI_Count* size) {
  Call call(call_name<"MPI_Pack_external_size_c">);
  return pack_size(call, datarep, incount, datatype, size);
}
MARGAY_ALIAS(Pack_external_size_c)
