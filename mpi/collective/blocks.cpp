#include "mpi/collective/blocks.hpp"

#include <limits>

namespace margay::mpi {

namespace {

// The standard's names of a side's arguments.
struct ArgumentNames {
  const char *buffer, *count, *counts, *types, *whose;
};
constexpr ArgumentNames kSendNames{"sendbuf", "sendcount", "sendcounts", "sendtypes", "of the send"};
constexpr ArgumentNames kReceiveNames{"recvbuf", "recvcount", "recvcounts", "recvtypes", "of the receive"};

const ArgumentNames& argument_names(Side side) {
  return side == Side::send ? kSendNames : kReceiveNames;
}

std::string element(const char* array, int at) {
  return std::string(array) + "[" + std::to_string(at) + "]";
}

// Integer arithmetic, because the buffer may be MPI_BOTTOM, and the type's offsets absolute addresses.
std::byte* address_in(const void* buffer, std::int64_t bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(bytes));
}

// Multiplies as unsigned: the program's displacement is used as it is, even where it passes 2^63.
std::int64_t bytes_between(std::int64_t steps, std::int64_t step) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(steps) * static_cast<std::uint64_t>(step));
}

}  // namespace

void Blocks::check(Call& call, const BlockArguments& arguments, int blocks, Side side) {
  if (!call.ok()) return;
  size_ = blocks;
  if (arguments.sort == BlockArguments::Sort::even) {
    check_even(call, arguments, blocks, side);
  } else {
    check_varying(call, arguments, blocks, side);
  }
  call.append_part(argument_names(side).whose);
}

// One check of the count covers all blocks; a dense type makes them one run.
void Blocks::check_even(Call& call, const BlockArguments& arguments, int blocks, Side side) {
  const ArgumentNames& names = argument_names(side);
  call.count(arguments.count, names.count);
  Datatype* const type = call.datatype(arguments.type);
  if (blocks > 0) call.buffer(arguments.buffer, arguments.count, type, names.buffer);
  if (!call.ok()) return;
  if (blocks > 0 && static_cast<std::uint64_t>(arguments.count) > type->count_max / static_cast<unsigned>(blocks)) {
    return call.error(MPI_ERR_COUNT, std::string(names.count) + " is " + std::to_string(arguments.count) +
                                         "; as many elements of " + std::to_string(type->size) + " bytes for each of " +
                                         std::to_string(blocks) + " ranks exceed 2^63 bytes");
  }
  type_ = type;
  if (type->dense()) {
    run_ = address_in(arguments.buffer, 0);
    run_bytes_ = static_cast<std::uint64_t>(arguments.count) * type->size;
    bytes_ = run_bytes_ * static_cast<unsigned>(blocks);
    return;
  }
  regions_.reserve(static_cast<std::size_t>(blocks));
  pieces_.resize(1);
  for (int at = 0; at < blocks; ++at) {
    add(address_in(arguments.buffer, arguments.count * type->extent * at), arguments.count, *type, pieces_.front());
  }
}

// Each block has its own count and displacement, and in MPI_Alltoallw its own type.
void Blocks::check_varying(Call& call, const BlockArguments& arguments, int blocks, Side side) {
  const ArgumentNames& names = argument_names(side);
  const bool typed = arguments.sort == BlockArguments::Sort::typed;
  if (blocks > 0) {
    call.not_null(arguments.counts.address(), names.counts);
    call.not_null(arguments.displacements.address(), arguments.displacements_name);
    if (typed) call.not_null(arguments.types, names.types);
  }
  Datatype* one = typed ? nullptr : call.datatype(arguments.type);
  if (!call.ok()) return;
  regions_.reserve(static_cast<std::size_t>(blocks));
  pieces_.resize(typed ? static_cast<std::size_t>(blocks) : 1);
  type_ = one;
  for (int at = 0; at < blocks; ++at) {
    const auto slot = static_cast<std::size_t>(at);
    // A block without elements needs no type of its own and no valid address.
    const std::int64_t count = arguments.counts[slot];
    if (count < 0) call.count(count, element(names.counts, at).c_str());
    if (typed) {
      one = call.datatype(arguments.types[at], count);
      call.append_part(element(names.types, at).c_str());
      if (one != nullptr) more_types_.push_back(one);
    }
    if (!call.ok()) return;
    const std::int64_t displacement = bytes_between(arguments.displacements[slot], typed ? 1 : one->extent);
    call.buffer(arguments.buffer, count, one, names.buffer, displacement);
    if (!call.ok()) return;
    add(address_in(arguments.buffer, displacement), count, *one, pieces_[typed ? slot : 0]);
    // Each block is below 2^63 bytes, so one check for each keeps the sum from wrapping.
    if (bytes_ > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return call.error(MPI_ERR_COUNT, std::string(names.counts) + ": all blocks together exceed 2^63 bytes");
    }
  }
}

void Blocks::add(std::byte* address, std::int64_t count, Datatype& type, Pieces& pieces) {
  regions_.push_back(pieces.to_receive(address, count, type));
  bytes_ += regions_.back().bytes();
}

}  // namespace margay::mpi
