#include "mpi_adi/rma/elements.hpp"

#include <cstring>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/op/operation.hpp"
#include "sim/shm/element_update.hpp"

namespace margay::mpi_adi {

std::uint32_t accumulate_element_bytes(MPI_Datatype type) {
  if (is_basic_datatype(type)) return basic_size_bytes(type);
  switch (type) {
    case MPI_FLOAT_INT:
      return sizeof(struct {
        float value;
        int index;
      });
    case MPI_DOUBLE_INT:
      return sizeof(struct {
        double value;
        int index;
      });
    case MPI_LONG_INT:
      return sizeof(struct {
        long value;
        int index;
      });
    case MPI_SHORT_INT:
      return sizeof(struct {
        short value;
        int index;
      });
    case MPI_LONG_DOUBLE_INT:
      return sizeof(struct {
        long double value;
        int index;
      });
    default:
      return 0;
  }
}

bool accumulates(MPI_Op op, MPI_Datatype type) {
  if (accumulate_element_bytes(type) == 0) return false;
  return op == MPI_REPLACE || op == MPI_NO_OP || predefined_combine(op, type) != nullptr;
}

void accumulate_elements(std::byte* target, const std::byte* operand, std::byte* result, std::uint64_t count, MPI_Op op,
                         MPI_Datatype type) {
  const std::uint32_t bytes = accumulate_element_bytes(type);
  const Combine combine = predefined_combine(op, type);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::byte* const old = result != nullptr ? result + i * bytes : nullptr;
    const std::byte* const with = operand != nullptr ? operand + i * bytes : nullptr;
    sim::update_element(target + i * bytes, bytes, old, [&](std::byte* value) {
      if (op == MPI_NO_OP) return;
      if (op == MPI_REPLACE) {
        std::memcpy(value, with, bytes);
      } else {
        combine(with, value, 1);
      }
    });
  }
}

void swap_element(std::byte* target, const std::byte* operand, const std::byte* compare, std::byte* result,
                  std::uint32_t bytes) {
  sim::update_element(target, bytes, result, [&](std::byte* value) {
    if (std::memcmp(value, compare, bytes) == 0) std::memcpy(value, operand, bytes);
  });
}

}  // namespace margay::mpi_adi
