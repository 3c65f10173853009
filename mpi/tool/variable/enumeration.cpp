#include "mpi/tool/variable/enumeration.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "mpi_adi/device/options.hpp"
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

// In the order of the functions below; a handle tells the place in it.
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

// The handle's number is the place in the table, from 1, and no address: nothing that a program passes is followed.
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

}  // namespace margay::mpi
