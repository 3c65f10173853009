// A function of libc that this library replaces, by its name: the next definition in the order of the loaded libraries.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

namespace margay::virtual_machine {

// Constant-initialized and looked up at the first call, because libraries call replaced functions before any
// constructor has run. One thread at a time may make the first call; all write the same value.
// `Function`: the function's type, such as int(pid_t, int).
template <typename Function>
class Real;

template <typename Result, typename... Arguments>
class Real<Result(Arguments...)> {
 public:
  // `name`: as libc exports it, a literal.
  constexpr explicit Real(const char* name) : name_(name) {}

  Result operator()(Arguments... arguments) {
    if (function_ == nullptr) function_ = reinterpret_cast<Result (*)(Arguments...)>(::dlsym(RTLD_NEXT, name_));
    if (function_ == nullptr) std::abort();  // libc lacks a function that its headers declare
    return function_(arguments...);
  }

 private:
  const char* name_;
  Result (*function_)(Arguments...) = nullptr;
};

}  // namespace margay::virtual_machine
