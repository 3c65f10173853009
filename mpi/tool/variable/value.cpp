#include "mpi/tool/variable/value.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mpi_adi/device/options.hpp"
#include "portals/base/assert.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/wire/shm/long_method.hpp"

namespace margay::mpi {

namespace {

template <typename Value>
constexpr EnumerationItem item(const char* name, Value value) {
  return {name, static_cast<int>(value)};
}

// The names are those of the options of `margay run`.
constexpr std::array kLongProtocols{item("puma", DeviceOptions::LongProtocol::puma),
                                    item("rendezvous", DeviceOptions::LongProtocol::rendezvous)};
constexpr std::array kLongMethods{item("auto", sim::LongMethod::automatic), item("ring", sim::LongMethod::ring),
                                  item("cma", sim::LongMethod::cma)};
constexpr std::array kWaitPolicies{item("spin", sim::WaitPolicy::spin), item("yield", sim::WaitPolicy::yield),
                                   item("auto", sim::WaitPolicy::automatic)};
constexpr std::array kTcpBackends{item("auto", TcpBackendAsked::automatic), item("epoll", TcpBackendAsked::epoll),
                                  item("uring", TcpBackendAsked::uring)};
constexpr std::array kHeaps{item("first", 0), item("second", 1)};

// In the order of the functions below; a handle is an index into it.
constexpr std::array kEnumerations{Enumeration{"long_protocols", kLongProtocols},
                                   Enumeration{"long_methods", kLongMethods},
                                   Enumeration{"wait_policies", kWaitPolicies},
                                   Enumeration{"tcp_backends", kTcpBackends}, Enumeration{"heaps", kHeaps}};

}  // namespace

const Enumeration& long_protocols() {
  return kEnumerations[0];
}
const Enumeration& long_methods() {
  return kEnumerations[1];
}
const Enumeration& wait_policies() {
  return kEnumerations[2];
}
const Enumeration& tcp_backends() {
  return kEnumerations[3];
}
const Enumeration& heaps_in_use() {
  return kEnumerations[4];
}

// A handle is the index in the table, from 1, not an address, so nothing that a program passes is dereferenced.
MPI_T_enum enumeration_handle(const Enumeration* enumeration) {
  if (enumeration == nullptr) return MPI_T_ENUM_NULL;
  return reinterpret_cast<MPI_T_enum>(static_cast<std::uintptr_t>(enumeration - kEnumerations.data()) + 1);
}

const Enumeration* find_enumeration(MPI_T_enum handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  return number == 0 || number > kEnumerations.size() ? nullptr : &kEnumerations[number - 1];
}

bool has_item(const Enumeration& enumeration, int value) {
  return std::any_of(enumeration.items.begin(), enumeration.items.end(),
                     [value](const EnumerationItem& item) { return item.value == value; });
}

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMillionths = 1e6;

// Words of times are nanoseconds, words of shares millionths.
double words_per_unit(ValueType type) {
  return type == ValueType::seconds ? kNsPerSecond : kMillionths;
}

// Saturates, as converting a double beyond the range is undefined in C++.
Word word_of(double value) {
  constexpr double kTooLarge = 18446744073709551616.0;  // 2^64
  // Written so that NaN is 0, too.
  if (!(value > 0)) return 0;
  return value >= kTooLarge ? std::numeric_limits<Word>::max() : static_cast<Word>(value);
}

// By memcpy: the program's buffer need not be aligned.
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

// Words are unsigned; the program's type may be signed or floating.
void store_word(ValueType type, Word word, void* out) {
  MARGAY_ASSERT(type != ValueType::text);
  if (type == ValueType::integer) return copy_out(static_cast<int>(word), out);
  if (type == ValueType::count) return copy_out(static_cast<unsigned long long>(word), out);
  copy_out(static_cast<double>(word) / words_per_unit(type), out);
}

Word load_word(ValueType type, const void* in) {
  MARGAY_ASSERT(type != ValueType::text);
  // Negative values keep their bits: they match no item of an enumeration.
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
  // Also after truncation, so that the program can call again with enough room.
  *length = static_cast<int>(text.size()) + 1;
}

}  // namespace margay::mpi
