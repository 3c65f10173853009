// An environment variable with another value while the object exists.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace margay {

class Variable {
 public:
  // Without a value the variable is unset.
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const old = getenv(name); old != nullptr) old_ = old;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(old_); }

 private:
  void set(const std::optional<std::string>& value) const {
    static_cast<void>(value ? setenv(name_, value->c_str(), 1) : unsetenv(name_));
  }

  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace margay
