// Packing (MPI 4.0, 5.2): into the machine's own representation, without headers or padding, so that packed units can
// be joined and sent as MPI_PACKED.
#include "mpi/call/binding.hpp"
#include "mpi/datatype/pack_call.hpp"

using namespace margay::mpi;

namespace {

// Copies by the type's layout directly: a Region in between would cost 15 ns.
void pack_bytes(std::byte* packed, const void* buffer, const Datatype& type, std::uint64_t bytes) {
  if (type.dense()) {
    margay::portals::copy_bytes(packed, static_cast<const std::byte*>(buffer), bytes);
  } else {
    type.definition->in_a_row->gather(static_cast<const std::byte*>(buffer), 0, {packed, bytes});
  }
}

void unpack_bytes(const std::byte* packed, void* buffer, const Datatype& type, std::uint64_t bytes) {
  if (type.dense()) {
    margay::portals::copy_bytes(static_cast<std::byte*>(buffer), packed, bytes);
  } else {
    type.definition->in_a_row->scatter(static_cast<std::byte*>(buffer), 0, {packed, bytes});
  }
}

// `Count` is int, or MPI_Count in the functions for large counts. The communicator is only checked: all processes have
// one representation.
template <typename Count>
int pack(Call& call, const void* inbuf, Count incount, MPI_Datatype datatype, void* outbuf, Count outsize,
         Count* position, MPI_Comm comm) {
  static_cast<void>(call.communicator(comm));
  call.count(incount, "incount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(inbuf, incount, type, "inbuf");
  const std::uint64_t bytes = packed_bytes(call, type, incount);
  check_room(call, outbuf, "outbuf", outsize, "outsize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) pack_bytes(static_cast<std::byte*>(outbuf) + *position, inbuf, *type, bytes);
  *position += static_cast<Count>(bytes);
  return MPI_SUCCESS;
}

template <typename Count>
int unpack(Call& call, const void* inbuf, Count insize, Count* position, void* outbuf, Count outcount,
           MPI_Datatype datatype, MPI_Comm comm) {
  static_cast<void>(call.communicator(comm));
  call.count(outcount, "outcount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(outbuf, outcount, type, "outbuf");
  const std::uint64_t bytes = packed_bytes(call, type, outcount);
  check_room(call, inbuf, "inbuf", insize, "insize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) unpack_bytes(static_cast<const std::byte*>(inbuf) + *position, outbuf, *type, bytes);
  *position += static_cast<Count>(bytes);
  return MPI_SUCCESS;
}

// Exact: packing adds nothing to the data.
template <typename Count>
int pack_size(Call& call, Count incount, MPI_Datatype datatype, MPI_Comm comm, Count* size) {
  static_cast<void>(call.communicator(comm));
  call.count(incount, "incount");
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  const std::uint64_t bytes = packed_bytes(call, type, incount);
  if (call.ok()) *size = bounded<Count>(bytes);
  return call.done();
}

}  // namespace

MARGAY_TWINS(Pack,
             (const void* inbuf, Count incount, MPI_Datatype datatype, void* outbuf, Count outsize, Count* position,
              MPI_Comm comm),
             {
               Call call(called);
               return pack(call, inbuf, incount, datatype, outbuf, outsize, position, comm);
             })

MARGAY_TWINS(Unpack,
             (const void* inbuf, Count insize, Count* position, void* outbuf, Count outcount, MPI_Datatype datatype,
              MPI_Comm comm),
             {
               Call call(called);
               return unpack(call, inbuf, insize, position, outbuf, outcount, datatype, comm);
             })

MARGAY_TWINS(Pack_size, (Count incount, MPI_Datatype datatype, MPI_Comm comm, Count* size), {
  Call call(called);
  return pack_size(call, incount, datatype, comm, size);
})
