#include "libraries/nexus/methods.hpp"

#include <algorithm>
#include <utility>

namespace margay::nexus::core {
namespace {

std::string key_of(const Method& method, std::span<const Target> targets, std::string_view variant) {
  std::string key = method.name() + '\0' + std::string(variant);
  for (const Target& each : targets) {
    key += '\0' + std::to_string(each.context) + '\0';
    key.append(reinterpret_cast<const char*>(each.descriptor.data()), each.descriptor.size());
  }
  return key;
}

}  // namespace

Method& Methods::add(std::unique_ptr<Module> module, bool is_host) {
  Method& method = methods_.emplace_back();
  method.module = std::move(module);
  method.traits = method.module->traits();
  method.is_host = is_host;
  method.number = static_cast<std::uint8_t>(methods_.size() - 1);
  if (!method.traits.has(MARGAY_NEXUS_TRANSFORM)) method.is_reachable = method.module->descriptor(method.own);
  any_polled_ = any_polled_ || method.polls_itself();
  return method;
}

Method* Methods::find(std::string_view name) {
  const auto at = std::ranges::find_if(methods_, [name](const Method& each) { return each.module->name() == name; });
  return at == methods_.end() ? nullptr : &*at;
}

portals::Status Methods::open(Method& method, std::span<const Target> targets, std::string_view variant, SharedWay& out) {
  std::string key = key_of(method, targets, variant);
  if (const auto at = ways_.find(key); at != ways_.end()) {
    if (!at->second->failed.empty()) return portals::Status::error(at->second->failed);
    out = at->second;
    return {};
  }
  auto way = std::make_shared<Way>();
  way->method = &method;
  way->context = targets.front().context;
  if (portals::Status status = method.module->open(targets, way->object); !status.ok()) return status;
  out = ways_.emplace(std::move(key), std::move(way)).first->second;
  return {};
}

std::string Methods::failure(const Method& method, const Target& target) const {
  const auto at = ways_.find(key_of(method, {&target, 1}, {}));
  return at == ways_.end() ? std::string() : at->second->failed;
}

void Methods::finish() {
  // Links may still refer to ways, but not use them: the context is over.
  for (const auto& [key, way] : ways_) {
    way->failed = "Nexus has ended";
    way->object.reset();
  }
  ways_.clear();
  for (Method& method : methods_) method.module->finish();
  methods_.clear();
}

}  // namespace margay::nexus::core
