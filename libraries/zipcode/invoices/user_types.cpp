#include "libraries/zipcode/invoices/user_types.hpp"

#include <algorithm>
#include <utility>

#include "libraries/zipcode/invoices/format.hpp"
#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

thread_local long method_space = -1;
thread_local int method_conversion = -1;

}  // namespace

std::string UserTypes::add(UserType type) {
  if (!is_identifier(type.name))
    return "the name '" + type.name + "' is not a C identifier; use letters, digits and '_', and begin with no digit";
  if (type.name.size() == 1 && builtin_bytes(type.name[0]) != 0)
    return "the name '" + type.name + "' is that of a built-in type; choose another one";
  const std::pair<const Method*, const char*> methods[] = {
      {type.in, "in"}, {type.out, "out"}, {type.len, "len"}, {type.align, "align"}};
  for (const auto& [method, role] : methods)
    if (std::string error = kind_error(method, ZIP_METHOD_CONVERSION, role); !error.empty()) return error;
  auto shared = std::make_shared<const UserType>(std::move(type));
  const std::lock_guard lock(mutex_);
  for (const auto& other : types_) {
    if (other->name == shared->name)
      return "the type '" + shared->name + "' is registered already; unregister it first, or choose another name";
  }
  types_.push_back(std::move(shared));
  return {};
}

std::string UserTypes::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(types_.begin(), types_.end(), [&](const auto& type) { return type->name == name; });
  if (found == types_.end()) return "the type '" + std::string(name) + "' is not registered";
  types_.erase(found);
  return {};
}

std::shared_ptr<const UserType> UserTypes::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const auto& type : types_)
    if (type->name == name) return type;
  return nullptr;
}

bool UserTypes::has(const UserType& type) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(types_.begin(), types_.end(), [&](const auto& other) { return other.get() == &type; });
}

UserTypes& user_types() {
  static UserTypes types;
  return types;
}

MethodScope::MethodScope(long space, int conversion)
    : outer_space_(method_space), outer_conversion_(method_conversion) {
  method_space = space;
  method_conversion = conversion;
}

MethodScope::~MethodScope() {
  method_space = outer_space_;
  method_conversion = outer_conversion_;
}

}  // namespace margay::zipcode::core

long zip_method_space(void) {
  return margay::zipcode::core::method_space;
}

int zip_method_conversion(void) {
  return margay::zipcode::core::method_conversion;
}
