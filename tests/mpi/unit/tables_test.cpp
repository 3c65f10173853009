// Tests of the tables of variables: each row is complete, names are unique, and MPI's rules of types and classes hold.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "mpi/tool/variable/category.hpp"
#include "mpi/tool/variable/control.hpp"
#include "mpi/tool/variable/performance.hpp"
#include "mpi/tool/variable/value.hpp"

namespace margay::mpi {
namespace {

TEST_CASE("control variables are complete and consistent") {
  std::set<std::string> names;
  for (const ControlVariable& row : control_variables()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(std::string(row.description).empty());
    CHECK((row.type == ValueType::text) == (row.read_text != nullptr));
    CHECK((row.type == ValueType::text) != (row.read != nullptr));
    CHECK((row.type == ValueType::integer) == (row.items != nullptr));
    CHECK(row.writable() == (row.write != nullptr || row.write_text != nullptr));
    CHECK((row.check_text == nullptr) == (row.write_text == nullptr));
    CHECK(row.writable() == (row.scope == MPI_T_SCOPE_LOCAL));
    CHECK(row.category != Category::margay);
  }
}

TEST_CASE("performance variables are complete, and their types are those of their class") {
  std::set<std::string> names;
  for (const PerformanceVariable& row : performance_variables()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(std::string(row.description).empty());
    CHECK((row.read != nullptr));
    CHECK((row.var_class == MPI_T_PVAR_CLASS_STATE) == (row.type == ValueType::integer));
    CHECK((row.var_class == MPI_T_PVAR_CLASS_STATE) == (row.items != nullptr));
    CHECK((row.var_class == MPI_T_PVAR_CLASS_PERCENTAGE) == (row.type == ValueType::share));
    CHECK((row.var_class == MPI_T_PVAR_CLASS_TIMER) == (row.type == ValueType::seconds));
    CHECK((!row.per_member || row.of_communicator));
    CHECK(row.category != Category::margay);
  }
}

TEST_CASE("without MPI, variables have the values of the options, which also limit writes") {
  const auto find = [](std::string_view name) -> const ControlVariable& {
    for (const ControlVariable& row : control_variables()) {
      if (name == row.name) return row;
    }
    FAIL("no variable ", std::string(name));
    return control_variables()[0];
  };
  Settings settings;
  settings.device.heap_bytes = 1U << 20;
  settings.device.short_limit_tcp = 1U << 30;
  const ControlVariable& limit = find("short_limit_shm");
  CHECK(limit.read(settings) == 16 * 1024);
  CHECK(find("short_limit_tcp").read(settings) == 1U << 18);  // a quarter of the heap
  CHECK(limit.check(settings, 1) == MPI_SUCCESS);
  CHECK(limit.check(settings, 1U << 18) == MPI_SUCCESS);
  CHECK(limit.check(settings, (1U << 18) + 1) == MPI_T_ERR_INVALID);
  CHECK(limit.check(settings, 0) == MPI_T_ERR_INVALID);
  const ControlVariable& policy = find("wait_policy");
  CHECK(policy.read(settings) == 2);
  settings.options.set("wait", "yield");
  CHECK(policy.read(settings) == 1);
  CHECK(policy.check(settings, 2) == MPI_SUCCESS);
  CHECK(policy.check(settings, 3) == MPI_T_ERR_INVALID);
  settings.options.set("method", "long=cma");
  CHECK(find("long_method").read(settings) == 2);
  for (const auto& [asked, value] :
       {std::pair{"epoll", TcpBackendAsked::epoll}, std::pair{"uring", TcpBackendAsked::uring}}) {
    settings.options.set("wire_tcp", asked);
    CHECK(find("tcp_backend").read(settings) == static_cast<Word>(value));
  }
  settings.options.set("stall_seconds", "1.5");
  CHECK(find("stall_seconds").read(settings) == 1'500'000'000);
  settings.options.set("iface", "lo");
  CHECK(find("interface").read_text(settings) == "lo");
}

TEST_CASE("an enumeration is found by its handle, and an invalid handle finds none") {
  for (const Enumeration* one :
       {&long_protocols(), &long_methods(), &wait_policies(), &tcp_backends(), &heaps_in_use()})
    CHECK(find_enumeration(enumeration_handle(one)) == one);
  CHECK(enumeration_handle(nullptr) == MPI_T_ENUM_NULL);
  CHECK(find_enumeration(MPI_T_ENUM_NULL) == nullptr);
  int other = 0;
  CHECK(find_enumeration(reinterpret_cast<MPI_T_enum>(&other)) == nullptr);
  CHECK(has_item(wait_policies(), 0));
  CHECK_FALSE(has_item(wait_policies(), -1));
}

}  // namespace
}  // namespace margay::mpi
