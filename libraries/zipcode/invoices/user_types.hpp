// The registered user types of invoices: names with four methods each. One registry per process.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "margay/zipcode_invoices.h"

namespace margay::zipcode::core {

// Constant after registration. An invoice shares it, and asks the registry whether it is still registered.
struct UserType {
  std::string name;
  const Method* in = nullptr;
  const Method* out = nullptr;
  const Method* len = nullptr;
  const Method* align = nullptr;
  // From an item to the next one in memory; 0: unknown.
  std::size_t item_bytes = 0;
};

// May be called by several threads.
class UserTypes {
 public:
  // Both return an empty string, or an error: an invalid name, a built-in type's name, a name that is taken, a method
  // of another kind; a name that is not registered.
  [[nodiscard]] std::string add(UserType type);
  [[nodiscard]] std::string remove(std::string_view name);
  // nullptr: not registered.
  [[nodiscard]] std::shared_ptr<const UserType> find(std::string_view name) const;
  // Whether this very registration still exists; another one may have its name.
  [[nodiscard]] bool has(const UserType& type) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const UserType>> types_;
};

// The registry of this process.
[[nodiscard]] UserTypes& user_types();

// Sets what zip_method_space() and zip_method_conversion() return in this thread, while a method runs.
class MethodScope {
 public:
  MethodScope(long space, int conversion);
  ~MethodScope();
  MethodScope(const MethodScope&) = delete;
  MethodScope& operator=(const MethodScope&) = delete;

 private:
  long outer_space_;
  int outer_conversion_;
};

}  // namespace margay::zipcode::core
