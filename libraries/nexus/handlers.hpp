// The handlers of one context, by name and by the number that requests carry: a hash of the name, so that contexts need
// not agree on an order of registration.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "libraries/nexus/library.hpp"
#include "margay/nexus/context.hpp"

namespace margay::nexus::core {

struct Registered {
  std::string name;
  Handler function;
  Run run = Run::in_poll;
};

// The number of a name: never 0, below 2^kHandlerBits.
[[nodiscard]] std::uint32_t handler_number(std::string_view name);
// Throws `error` in the name of `call` for an empty or long name.
void check_handler_name(const char* call, std::string_view name);

class Handlers {
 public:
  // Throws `error`; see register_handler().
  void add(const std::string& name, Handler handler, Run run);
  // nullptr: unknown number. The address is stable.
  [[nodiscard]] Registered* find(std::uint32_t number);
  [[nodiscard]] bool any_in_thread() const { return any_in_thread_; }

 private:
  std::map<std::uint32_t, std::unique_ptr<Registered>> by_number_;
  bool any_in_thread_ = false;
};

}  // namespace margay::nexus::core
