// Packing in external32, the representation that all machines share (MPI 4.0, 5.3). Positions are MPI_Aint, which is
// MPI_Count here.
#include "mpi/call/binding.hpp"
#include "mpi/datatype/pack_call.hpp"
#include "mpi_adi/datatype/external32.hpp"

using namespace margay::mpi;

namespace {

// Elements may have other sizes in external32 than in memory.
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
  // Also valid for a type that is not committed: no data is packed.
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  const std::uint64_t bytes = external_bytes(call, type, incount);
  if (call.ok()) *size = static_cast<MPI_Aint>(bytes);
  return call.done();
}

}  // namespace

MARGAY_TWINS(Pack_external,
             (const char* datarep, const void* inbuf, Count incount, MPI_Datatype datatype, void* outbuf,
              Address outsize, Address* position),
             {
               Call call(called);
               return pack(call, datarep, inbuf, incount, datatype, outbuf, outsize, position);
             })

MARGAY_TWINS(Unpack_external,
             (const char datarep[], const void* inbuf, Address insize, Address* position, void* outbuf, Count outcount,
              MPI_Datatype datatype),
             {
               Call call(called);
               return unpack(call, datarep, inbuf, insize, position, outbuf, outcount, datatype);
             })

MARGAY_TWINS(Pack_external_size, (const char* datarep, Count incount, MPI_Datatype datatype, Address* size), {
  Call call(called);
  return pack_size(call, datarep, incount, datatype, size);
})
