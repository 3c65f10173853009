#include "mpi_adi/rma/elements.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/op/operation.hpp"
#include "sim/shm/atomic_elements.hpp"

namespace margay::mpi_adi {

std::uint32_t accumulate_element_bytes(MPI_Datatype type) {
  const TypeDefinition* const definition = predefined_definition(type);
  return definition == nullptr ? 0 : static_cast<std::uint32_t>(definition->extent());
}

std::uint32_t accumulate_data_bytes(MPI_Datatype type) {
  const TypeDefinition* const definition = predefined_definition(type);
  return definition == nullptr ? 0 : static_cast<std::uint32_t>(definition->true_bounds.upper);
}

bool accumulates(MPI_Op op, MPI_Datatype type) {
  // Fails for a type that is not predefined or has no data.
  if (accumulate_element_bytes(type) == 0) return false;
  return op == MPI_REPLACE || op == MPI_NO_OP || predefined_combine(op, type) != nullptr;
}

namespace {

// A table made at compile time, because it is read for each accumulate.
constexpr auto kIntegerWords = [] {
  std::array<bool, kBasicTypeSlots> words{};
  for (const MPI_Datatype type : {MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4, MPI_UNSIGNED, MPI_UINT32_T, MPI_LONG,
                                  MPI_LONG_LONG_INT, MPI_INT64_T, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT,
                                  MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T}) {
    words[basic_index(type)] = true;
  }
  return words;
}();

}  // namespace

bool is_integer_word(MPI_Datatype type) {
  return is_basic_datatype(type) && basic_index(type) < kBasicTypeSlots && kIntegerWords[basic_index(type)];
}

// These operations accept the standard's integers, logicals and bytes.
bool swaps(MPI_Datatype type) {
  return accumulates(MPI_BAND, type) || (accumulates(MPI_LAND, type) && !is_nonportable(MPI_LAND, type));
}

namespace {

// Applies `change` to one element in an atomic loop; the previous element goes to `old` unless it is null. `change`
// gets memory that is aligned for any element. It is called again if another process has changed the element meanwhile.
template <typename Word, typename Change>
void update_word(std::byte* at, std::byte* old, Change& change) {
  const Word before = sim::fetch_update(reinterpret_cast<Word*>(at), [&change](Word value) {
    change(reinterpret_cast<std::byte*>(&value));
    return value;
  });
  if (old != nullptr) std::memcpy(old, &before, sizeof before);
}

// The same for elements that are too large or misaligned for the processor's atomic instructions.
template <typename Change>
void update_locked(std::byte* at, std::uint32_t bytes, std::byte* old, sim::AccumulateLock& lock, Change& change) {
  // A copy, because `at` may have any address and `change` needs alignment.
  alignas(16) std::byte value[kElementBytesMax];
  const std::lock_guard guard(lock);
  std::memcpy(value, at, bytes);
  if (old != nullptr) std::memcpy(old, value, bytes);
  change(value);
  std::memcpy(at, value, bytes);
}

template <typename Change>
void update(std::byte* at, std::uint32_t bytes, std::byte* old, sim::AccumulateLock& lock, Change change) {
  // Every origin chooses the same of the two methods for an element, so the methods never mix on it.
  if (!sim::is_atomic_element(at, bytes)) return update_locked(at, bytes, old, lock, change);
  switch (bytes) {
    case 1:
      return update_word<std::uint8_t>(at, old, change);
    case 2:
      return update_word<std::uint16_t>(at, old, change);
    case 4:
      return update_word<std::uint32_t>(at, old, change);
    default:
      return update_word<std::uint64_t>(at, old, change);
  }
}

// Adds integers with one instruction each, without a loop that retries.
template <typename Word>
void add_words(std::byte* target, const std::byte* operand, std::byte* result, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Word with;
    std::memcpy(&with, operand + i * sizeof(Word), sizeof with);
    const Word before = sim::fetch_add(reinterpret_cast<Word*>(target) + i, with);
    if (result != nullptr) std::memcpy(result + i * sizeof(Word), &before, sizeof before);
  }
}

}  // namespace

void accumulate_elements(std::byte* target, const std::byte* operand, std::byte* result, std::uint64_t count, MPI_Op op,
                         MPI_Datatype type, sim::AccumulateLock& lock) {
  const std::uint32_t bytes = accumulate_element_bytes(type);
  // All elements of the array have the first element's alignment.
  if (op == MPI_SUM && is_integer_word(type) && sim::is_atomic_element(target, bytes)) {
    if (bytes == sizeof(std::uint64_t)) return add_words<std::uint64_t>(target, operand, result, count);
    if (bytes == sizeof(std::uint32_t)) return add_words<std::uint32_t>(target, operand, result, count);
  }
  const std::uint32_t data = accumulate_data_bytes(type);
  const Combine combine = predefined_combine(op, type);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::byte* const old = result != nullptr ? result + i * bytes : nullptr;
    const std::byte* const with = operand != nullptr ? operand + i * bytes : nullptr;
    update(target + i * bytes, data, old, lock, [=](std::byte* value) {
      if (op == MPI_NO_OP) return;
      if (op == MPI_REPLACE) {
        std::memcpy(value, with, data);
      } else {
        // Operands come out of a message's body, at any address.
        alignas(16) std::byte aligned[kElementBytesMax];
        std::memcpy(aligned, with, data);
        combine(aligned, value, 1);
      }
    });
  }
}

void swap_element(std::byte* target, const std::byte* operand, const std::byte* compare, std::byte* result,
                  std::uint32_t bytes, sim::AccumulateLock& lock) {
  update(target, bytes, result, lock, [=](std::byte* value) {
    if (std::memcmp(value, compare, bytes) == 0) std::memcpy(value, operand, bytes);
  });
}

}  // namespace margay::mpi_adi
