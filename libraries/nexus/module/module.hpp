// A communication module in one context: the C++ side of margay/nexus_module.h. The built-in methods (local, shm, tcp)
// and the compiled-in modules implement it; CheckedModule (libraries/nexus/modules) implements it for a table of C
// functions. The contract of each function is that of its namesake in the C header. All functions are called under the
// process lock, and do not wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libraries/nexus/module/frame.hpp"
#include "margay/host.hpp"
#include "margay/nexus_module.h"

namespace margay::nexus::core {

class Module;

// Services for modules; made by the context, and alive until finish() has returned.
class Services {
 public:
  Services() = default;
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  virtual ~Services() = default;
  [[nodiscard]] virtual host::Rank& rank() = 0;
  [[nodiscard]] virtual std::uint32_t node() = 0;
  [[nodiscard]] virtual std::uint32_t nodes() = 0;
  [[nodiscard]] virtual std::uint64_t session() = 0;
  // Delivers a message inside poll(); copies both. The header is the one that send() received, by encode() if the
  // module carries bytes. Returns false if it was dropped as damaged.
  virtual bool deliver(Module& module, std::uint32_t source, std::span<const std::byte> header,
                       std::span<const std::byte> body) = 0;
  virtual void report_lost(Module& module, std::uint32_t source, std::uint64_t messages) = 0;
  virtual void report_dropped(Module& module, std::uint64_t messages, const std::string& why) = 0;
  [[nodiscard]] virtual bool derive_key(std::string_view label, std::uint32_t one, std::uint32_t other,
                                        std::span<std::byte> key) = 0;
  [[nodiscard]] virtual bool is_lost(std::uint32_t context) = 0;
  // Switches a module off because of an error, which the context's next call reports. Its traffic moves to other
  // methods.
  virtual void switch_off(Module& module, const std::string& why) = 0;
};

// A parameter by name.
struct Parameter {
  std::string name, value;
};

// The facts of a module; see margay_nexus_module.
struct Traits {
  std::uint32_t bits = 0;  // MARGAY_NEXUS_ORDERED and so on
  std::uint32_t latency_ns = 0;
  std::uint32_t poll_cost_ns = 0;
  std::uint64_t bytes_per_second = 0;
  std::uint64_t body_most = ~std::uint64_t{0};
  [[nodiscard]] bool has(std::uint32_t bit) const { return (bits & bit) != 0; }
};

// A communication object: a module's state for one peer, or several. Shared by the startpoints that use it.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
};

// The result of a send, as in the C header.
enum class Sent : std::uint8_t { taken = MARGAY_NEXUS_TAKEN, full = MARGAY_NEXUS_FULL, failed = MARGAY_NEXUS_FAILED };

// A piece of a body.
using Bytes = std::span<const std::byte>;

// A peer and its descriptor.
struct Target {
  std::uint32_t context = 0;
  Bytes descriptor;
};

class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;
  [[nodiscard]] virtual Traits traits() const = 0;

  [[nodiscard]] virtual portals::Status init(Services& services, std::span<const Parameter> parameters) = 0;
  virtual void finish() {}
  // Returns false if the context cannot be reached by this method.
  [[nodiscard]] virtual bool descriptor(std::vector<std::byte>& out) = 0;
  // Why the method does not reach the peer; empty: it does.
  [[nodiscard]] virtual std::string why_not(Bytes own, const Target& peer, std::uint32_t content) = 0;
  // One target, or several for a module with MARGAY_NEXUS_MULTICAST.
  [[nodiscard]] virtual portals::Status open(std::span<const Target> peers, std::unique_ptr<Object>& out) = 0;

  // Not for transforms. `why` is set if it failed.
  [[nodiscard]] virtual Sent send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why) {
    static_cast<void>(object), static_cast<void>(frame), static_cast<void>(body);
    why = "a transform sends nothing";
    return Sent::failed;
  }
  // The number of delivered messages; negative: failed.
  [[nodiscard]] virtual int poll(int most, std::string& why) {
    static_cast<void>(most), static_cast<void>(why);
    return 0;
  }
  [[nodiscard]] virtual int wait_descriptor() { return -1; }

  // Transforms only. Both replace `out`. Fail with the reason. `limit`: the most bytes of a decoded body.
  [[nodiscard]] virtual portals::Status encode(Object& object, const Frame& frame, std::span<const Bytes> body,
                                               std::vector<std::byte>& out) {
    static_cast<void>(object), static_cast<void>(frame), static_cast<void>(body), static_cast<void>(out);
    return portals::Status::error("the module transforms nothing");
  }
  [[nodiscard]] virtual portals::Status decode(std::uint32_t source, const Frame& frame, Bytes body,
                                               std::uint64_t limit, std::vector<std::byte>& out) {
    static_cast<void>(source), static_cast<void>(frame), static_cast<void>(body), static_cast<void>(limit),
        static_cast<void>(out);
    return portals::Status::error("the module transforms nothing");
  }

  [[nodiscard]] virtual portals::Status set_parameter(const Parameter& parameter) {
    return portals::Status::error("the method " + std::string(name()) + " has no parameter \"" + parameter.name + "\"");
  }
  [[nodiscard]] virtual std::vector<Parameter> parameters() { return {}; }
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::uint64_t>> statistics() { return {}; }
};

}  // namespace margay::nexus::core
