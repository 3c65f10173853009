// Tests of loading modules: tables that lie, files that are no modules, modules that crash or never return.
#include "libraries/nexus/modules/loader.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/libraries/nexus/modules/ending.hpp"
#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

// The shared object of broken_module.c with this number.
static std::string broken_module(int number) {
  return std::string(MARGAY_BROKEN_MODULES) + "/libbroken_" + std::to_string(number) + ".so";
}

TEST_CASE("a right module is loaded, and begins") {
  std::unique_ptr<core::Module> module;
  const portals::Status status = core::load_shared_object(broken_module(0), module);
  CHECK(status.sentence() == "");
  REQUIRE(module);
  CHECK(module->name() == "broken");
  FakeServices services(0, 2);
  CHECK(module->init(services, {}).ok());
  module->finish();
}

TEST_CASE("each module with a table that lies is refused, with its path") {
  for (int number = 1; number <= 12; ++number) {
    CAPTURE(number);
    std::unique_ptr<core::Module> module;
    const portals::Status status = core::load_shared_object(broken_module(number), module);
    CHECK_FALSE(status.ok());
    CHECK(status.sentence().find(broken_module(number)) != std::string::npos);
    CHECK_FALSE(module);
  }
}

TEST_CASE("paths that name no shared object") {
  for (const char* path : {"fifo.so", "/nowhere/fifo.so", "/tmp", "/proc/self/status", "/dev/null"}) {
    CAPTURE(path);
    std::unique_ptr<core::Module> module;
    CHECK_FALSE(core::load_shared_object(path, module).ok());
  }
}

TEST_CASE("a module that crashes while it is loaded ends the process with its path and the function") {
  for (const auto& row : {std::pair(13, "margay_nexus_module_table"), std::pair(14, "constructor")}) {
    const int number = row.first;
    const char* const function = row.second;
    CAPTURE(number);
    const Ending ending = ending_of([number] {
      std::unique_ptr<core::Module> module;
      static_cast<void>(core::load_shared_object(broken_module(number), module));
    });
    CHECK(ending.failed);
    CHECK(ending.text.find(broken_module(number)) != std::string::npos);
    CHECK(ending.text.find(function) != std::string::npos);
  }
}

TEST_CASE("a module that crashes in init, or never returns, ends the process with its name and the function") {
  for (const char* how : {"crash", "null", "abort", "forever"}) {
    CAPTURE(how);
    const Ending ending = ending_of([how] {
      setenv("BROKEN_INIT", how, 1);
      setenv("MARGAY_NEXUS_MODULE_LIMIT_MS", "200", 1);
      std::unique_ptr<core::Module> module;
      if (!core::load_shared_object(broken_module(0), module).ok()) return;
      FakeServices services(0, 2);
      static_cast<void>(module->init(services, {}));
    });
    CHECK(ending.failed);
    CHECK(ending.text.find("module broken ") != std::string::npos);
    CHECK(ending.text.find("init()") != std::string::npos);
  }
}

}  // namespace margay::nexus::test
