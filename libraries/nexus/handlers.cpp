#include "libraries/nexus/handlers.hpp"

#include <utility>

#include "margay/nexus/error.hpp"

namespace margay::nexus::core {

std::uint32_t handler_number(std::string_view name) {
  // FNV-1a, folded to the bits of a number.
  std::uint32_t hash = 2166136261U;
  for (const char each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
  const std::uint32_t number = (hash >> kHandlerBits ^ hash) & ((1U << kHandlerBits) - 1);
  return number == 0 ? 1 : number;
}

void check_handler_name(const char* call, std::string_view name) {
  if (name.empty()) fail(std::string(call) + ": the handler's name is empty");
  if (name.size() > kHandlerNameMost) {
    fail(std::string(call) + ": the handler's name has " + std::to_string(name.size()) + " bytes; use at most " +
         std::to_string(kHandlerNameMost));
  }
}

void Handlers::add(const std::string& name, Handler handler, Run run) {
  check_handler_name("register_handler", name);
  if (!handler) fail("register_handler: the handler \"" + name + "\" is empty");
  std::unique_ptr<Registered>& place = by_number_[handler_number(name)];
  if (place != nullptr && place->name == name)
    fail("register_handler: the handler \"" + name + "\" is already registered; choose another name");
  if (place != nullptr) {
    fail("register_handler: the names \"" + name + "\" and \"" + place->name +
         "\" have the same number; rename one of them");
  }
  place = std::make_unique<Registered>(Registered{name, std::move(handler), run});
  any_in_thread_ = any_in_thread_ || run == Run::in_thread;
}

Registered* Handlers::find(std::uint32_t number) {
  const auto at = by_number_.find(number);
  return at == by_number_.end() ? nullptr : at->second.get();
}

}  // namespace margay::nexus::core
