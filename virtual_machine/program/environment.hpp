// A rank's environment variables. libc's setenv reallocates the array that it allocated last, which may be another
// rank's; this one allocates per rank. `environ` itself is part of the rank's image, and libc's getenv reads it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace margay::virtual_machine {

// The functions change the visible rank's `environ`, also after the program has assigned it.
class Environment {
 public:
  // setenv(): without `overwrite` a present value stays.
  void set(std::string_view name, std::string_view value, bool overwrite);
  // Adds the program's own string "NAME=VALUE", or removes NAME if it has no "=".
  void put(char* text);
  // Removes the variable, if there is one.
  void unset(std::string_view name);
  // Removes all variables.
  void clear();

 private:
  // Makes `environ` point to entries_, with the entries of the array to which it pointed.
  void adopt();
  // Replaces the entry of this name, or adds one. `text` is "NAME=VALUE", and is not copied.
  void replace(std::string_view name, char* text);

  // Null-terminated; `environ` points to it once a function above was called.
  std::vector<char*> entries_;
  // The strings of set(). A replaced one stays until the rank's end, because getenv may have returned it.
  std::vector<std::unique_ptr<char[]>> strings_;
};

}  // namespace margay::virtual_machine
