#include "mpi/tool/variable/value.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "portals/base/assert.hpp"

namespace margay::mpi {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMillionths = 1e6;

double words_per_unit(ValueType type) {
  return type == ValueType::seconds ? kNsPerSecond : kMillionths;
}

Word word_of(double value) {
  constexpr double kTooLarge = 18446744073709551616.0;  // 2^64
  if (!(value > 0)) return 0;
  return value >= kTooLarge ? std::numeric_limits<Word>::max() : static_cast<Word>(value);
}

template <typename T>
void copy_out(T value, void* out) {
  std::memcpy(out, &value, sizeof value);
}

template <typename T>
T copy_in(const void* in) {
  T value{};
  std::memcpy(&value, in, sizeof value);
  return value;
}

}  // namespace

MPI_Datatype mpi_type(ValueType type) {
  switch (type) {
    case ValueType::integer:
      return MPI_INT;
    case ValueType::count:
      return MPI_UNSIGNED_LONG_LONG;
    case ValueType::seconds:
    case ValueType::share:
      return MPI_DOUBLE;
    case ValueType::text:
      return MPI_CHAR;
  }
  return MPI_DATATYPE_NULL;
}

std::size_t element_bytes(ValueType type) {
  if (type == ValueType::integer) return sizeof(int);
  return type == ValueType::text ? 1 : sizeof(Word);
}

void store_word(ValueType type, Word word, void* out) {
  MARGAY_ASSERT(type != ValueType::text);
  if (type == ValueType::integer) return copy_out(static_cast<int>(word), out);
  if (type == ValueType::count) return copy_out(static_cast<unsigned long long>(word), out);
  copy_out(static_cast<double>(word) / words_per_unit(type), out);
}

Word load_word(ValueType type, const void* in) {
  MARGAY_ASSERT(type != ValueType::text);
  if (type == ValueType::integer) return static_cast<Word>(copy_in<int>(in));
  if (type == ValueType::count) return copy_in<unsigned long long>(in);
  return word_of(copy_in<double>(in) * words_per_unit(type));
}

void give_text(std::string_view text, char* out, int* length) {
  if (length == nullptr) return;
  if (out != nullptr && *length > 0) {
    const std::size_t bytes = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(out, text.data(), bytes);
    out[bytes] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

}  // namespace margay::mpi
