// The services that a foreign module gets: the C functions of margay_nexus_host, on Services. They check the module's
// arguments, as CheckedModule checks its answers.
#pragma once

#include <cstdint>
#include <string>

#include "libraries/nexus/module/module.hpp"
#include "margay/nexus_module.h"

namespace margay::nexus::core {

// The receiver of faults: invalid calls or results.
class FaultSink {
 public:
  FaultSink() = default;
  FaultSink(const FaultSink&) = delete;
  FaultSink& operator=(const FaultSink&) = delete;
  // Switches the module off. Returns the message, which names the module, `function` and `what` it did.
  virtual const std::string& fail(const char* function, const std::string& what) = 0;
  [[nodiscard]] virtual bool is_off() const = 0;

 protected:
  ~FaultSink() = default;
};

// The table of one module, and its deliveries.
class HostTable {
 public:
  // `body_most`: the longest body that the module may deliver. All live as long as this object.
  HostTable(Module& module, FaultSink& faults, std::uint64_t body_most)
      : module_(module), faults_(faults), body_most_(body_most) {}
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  // The table, for the module's init(). Valid as long as this object.
  [[nodiscard]] const margay_nexus_host* begin(Services& services);
  // The beginning of a poll that may deliver `most` messages; and its end, which returns how many were delivered.
  void begin_poll(int most);
  [[nodiscard]] int end_poll();

 private:
  struct Functions;

  Module& module_;
  FaultSink& faults_;
  const std::uint64_t body_most_;
  Services* services_ = nullptr;
  margay_nexus_host table_{};
  bool is_polling_ = false;
  int delivered_ = 0;
  int most_ = 0;
};

}  // namespace margay::nexus::core
