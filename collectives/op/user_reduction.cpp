#include "collectives/op/user_reduction.hpp"

#include <algorithm>
#include <climits>

#include "collectives/op/reducer.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/rank/callback.hpp"

namespace margay::collectives {

using mpi_adi::Datatype;

UserReduction::Shaped::Shaped(const Datatype& type, std::int64_t count) {
  // The true bounds, because a resized type may have data outside its bounds.
  mpi_adi::TypeBounds bounds = type.definition->true_bounds;
  const std::int64_t last = std::max<std::int64_t>(count - 1, 0) * type.extent;
  bounds.lower += std::min<std::int64_t>(last, 0);
  bounds.upper += std::max<std::int64_t>(last, 0);
  // `below` is rounded up to the alignment, so that the elements' address is aligned like the allocation.
  constexpr auto kAlignment = static_cast<std::int64_t>(alignof(std::max_align_t));
  const std::int64_t below = (-bounds.lower + kAlignment - 1) / kAlignment * kAlignment;
  memory_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(std::max<std::int64_t>(below + bounds.upper, 1)));
  // Integer arithmetic, because elements at absolute addresses begin far outside the memory.
  elements_ = reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(memory_.get()) + below);
}

UserReduction::UserReduction(mpi_adi::MpiRank& rank, const mpi_adi::Operation& operation, Datatype& type,
                             std::int64_t count)
    : rank_(rank), operation_(operation), type_(type), count_(count) {
  if (vectors_are_memory() || vector_bytes() == 0) return;
  in_ = Shaped(type, count);
  inout_ = Shaped(type, count);
}

void UserReduction::pack(std::byte* vector, const void* buffer, std::int64_t count) const {
  mpi_adi::Pieces pieces;
  const portals::Region from = pieces.to_send(buffer, count, type_);
  if (from.bytes() != 0) portals::copy(portals::Region(vector, from.bytes()), from);
}

void UserReduction::unpack(void* buffer, const std::byte* vector, std::int64_t count) const {
  mpi_adi::Pieces pieces;
  const portals::Region to = pieces.to_receive(buffer, count, type_);
  // Region has no read-only form; this region is only read.
  if (to.bytes() != 0) portals::copy(to, portals::Region(const_cast<std::byte*>(vector), to.bytes()));
}

void UserReduction::combine(const void* in, void* inout, std::int64_t count) const {
  if (vectors_are_memory()) return combine_in_memory(in, inout, count);
  unpack(in_.elements(), static_cast<const std::byte*>(in), count);
  unpack(inout_.elements(), static_cast<const std::byte*>(inout), count);
  combine_in_memory(in_.elements(), inout_.elements(), count);
  pack(static_cast<std::byte*>(inout), inout_.elements(), count);
}

void UserReduction::combine_in_memory(const void* in, void* inout, std::int64_t count) const {
  // MPI's function type takes a non-const pointer to data that it must not change.
  auto* from = static_cast<std::byte*>(const_cast<void*>(in));
  auto* to = static_cast<std::byte*>(inout);
  // A nonblocking call may outlive the program's handle of the type: then the function gets a temporary one.
  const bool lives = rank_.handles().datatype(type_.handle) == &type_;
  MPI_Datatype handle = lives ? type_.handle : rank_.handles().datatypes().add(type_);
  const auto call = [&] {
    if (operation_.function_c != nullptr) {
      MPI_Count length = count;
      operation_.function_c(from, to, &length, &handle);
      return 0;
    }
    // The function with int counts is called several times for longer vectors.
    for (std::int64_t done = 0; done < count;) {
      int length = static_cast<int>(std::min<std::int64_t>(count - done, INT_MAX));
      const std::int64_t these = length;  // the function could change `length`
      std::byte* const these_in = from + done * type_.extent;
      std::byte* const these_inout = to + done * type_.extent;
      if (operation_.cxx_caller != nullptr) {
        operation_.cxx_caller(these_in, these_inout, length, handle, operation_.function);
      } else {
        operation_.function(these_in, these_inout, &length, &handle);
      }
      done += these;
    }
    return 0;
  };
  // Without the process lock: the function may take long, or call MPI.
  mpi_adi::call_program(rank_, call);
  if (!lives && handle != 0) rank_.handles().datatypes().remove(handle);
}

void Reducer::call_user(const void* in, void* inout, std::size_t count) const {
  user_->combine(in, inout, static_cast<std::int64_t>(count));
}

}  // namespace margay::collectives
