// Packing (MPI 4.0, 5.2): into the machine's own representation, without anything before or between the elements, so
// that packed units can be put together and sent as MPI_PACKED.
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/datatype/type_call.hpp"

using namespace margay::mpi_adi;
using margay::portals::Region;

namespace {

// Checks that `bytes` fit behind `position` in a packed buffer of `room` bytes.
void check_room(Call& call, const void* packed, const char* packed_name, int room, const char* room_name,
                const int* position, std::uint64_t bytes) {
  if (room < 0) call.error(MPI_ERR_ARG, std::string(room_name) + " is " + std::to_string(room) + ", below 0");
  call.not_null(position, "position");
  if (!call.ok()) return;
  if (bytes != 0 && packed == nullptr) call.error(MPI_ERR_BUFFER, std::string(packed_name) + " is a null pointer");
  if (*position < 0) call.error(MPI_ERR_ARG, "position is " + std::to_string(*position) + ", below 0");
  if (*position <= room && bytes <= static_cast<std::uint64_t>(room - *position)) return;
  call.error(MPI_ERR_ARG, std::string(room_name) + " is " + std::to_string(room) + " and position " +
                              std::to_string(*position) + "; the elements take " + std::to_string(bytes) + " bytes");
}

std::uint64_t packed_bytes(const Datatype* type, int count) {
  return type == nullptr || count < 0 ? 0 : type->size * static_cast<std::uint64_t>(count);
}

}  // namespace

extern "C" int PMPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
                         int* position, MPI_Comm comm) {
  Call call(call_name<"MPI_Pack">);
  static_cast<void>(call.communicator(comm));
  call.count(incount, "incount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(inbuf, incount, type, "inbuf");
  const std::uint64_t bytes = packed_bytes(type, incount);
  check_room(call, outbuf, "outbuf", outsize, "outsize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) {
    Pieces pieces;
    const Region source = pieces.to_send(inbuf, incount, *type);
    margay::portals::copy(Region(static_cast<std::byte*>(outbuf) + *position, bytes), source);
  }
  *position += static_cast<int>(bytes);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pack)

extern "C" int PMPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                           MPI_Datatype datatype, MPI_Comm comm) {
  Call call(call_name<"MPI_Unpack">);
  static_cast<void>(call.communicator(comm));
  call.count(outcount, "outcount");
  const Datatype* type = call.datatype(datatype);
  call.buffer(outbuf, outcount, type, "outbuf");
  const std::uint64_t bytes = packed_bytes(type, outcount);
  check_room(call, inbuf, "inbuf", insize, "insize", position, bytes);
  if (!call.ok()) return call.failed();
  if (bytes != 0) {
    Pieces pieces;
    // A region is read or written; this one is only read.
    auto* const packed = const_cast<std::byte*>(static_cast<const std::byte*>(inbuf) + *position);
    margay::portals::copy(pieces.to_receive(outbuf, outcount, *type), Region(packed, bytes));
  }
  *position += static_cast<int>(bytes);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Unpack)

extern "C" int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  Call call(call_name<"MPI_Pack_size">);
  static_cast<void>(call.communicator(comm));
  call.count(incount, "incount");
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(size, "size");
  if (!call.ok()) return call.failed();
  const std::uint64_t bytes = packed_bytes(type, incount);
  *size = bytes > INT32_MAX ? MPI_UNDEFINED : static_cast<int>(bytes);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Pack_size)
