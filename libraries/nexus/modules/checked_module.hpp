// A module whose functions are a table of C functions (margay/nexus_module.h), such as one that dlopen() has loaded.
// Checks every result. After an invalid one it switches the module off, with an error that names module and function,
// and calls none of its functions again. A module that crashes, or does not return, ends the process (guard.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/modules/host_functions.hpp"
#include "margay/nexus_module.h"

namespace margay::nexus::core {

// The most bytes of a module's description that are shown.
inline constexpr std::size_t kDescriptionMost = 120;

// Why a table is not one of this version's modules, with the name of the wrong field: version, size, name, traits, or a
// missing function; empty: it is. Requires: `table.size` bytes are readable, at most sizeof(margay_nexus_module). The
// name may be any pointer into readable memory of 16 bytes.
[[nodiscard]] std::string check_table(const margay_nexus_module& table);

class CheckedModule final : public Module, private FaultSink {
 public:
  // Calls `unload`, if any, when it ends without an invalid answer. Requires: check_table() accepts the table, of which
  // it makes a copy.
  explicit CheckedModule(const margay_nexus_module& table, void (*unload)(void*) = nullptr, void* loaded = nullptr);
  ~CheckedModule() override;

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view description() const override { return description_; }
  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] portals::Status init(Services& services, std::span<const Parameter> parameters) override;
  void finish() override;
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override;
  [[nodiscard]] std::string why_not(Bytes own, const Target& peer, std::uint32_t content) override;
  [[nodiscard]] portals::Status open(std::span<const Target> peers, std::unique_ptr<Object>& out) override;
  [[nodiscard]] Sent send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why) override;
  [[nodiscard]] int poll(int most, std::string& why) override;
  [[nodiscard]] int wait_descriptor() override;
  [[nodiscard]] portals::Status encode(Object& object, const Frame& frame, std::span<const Bytes> body,
                                       std::vector<std::byte>& out) override;
  [[nodiscard]] portals::Status decode(std::uint32_t source, const Frame& frame, Bytes body, std::uint64_t limit,
                                       std::vector<std::byte>& out) override;
  [[nodiscard]] portals::Status set_parameter(const Parameter& parameter) override;
  [[nodiscard]] std::vector<Parameter> parameters() override;
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> statistics() override;

  // The invalid answer after which the module is off; empty: it is on.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  friend class CheckedObject;

  const std::string& fail(const char* function, const std::string& what) override;
  [[nodiscard]] bool is_off() const override { return !fault_.empty(); }
  [[nodiscard]] portals::Status off() const;
  void close(void* object);

  const margay_nexus_module table_;
  const std::string name_;
  const std::string description_;
  void (*const unload_)(void*);
  void* const loaded_;

  Services* services_ = nullptr;
  HostTable host_;
  void* state_ = nullptr;
  bool begun_ = false;
  std::string fault_;
};

}  // namespace margay::nexus::core
