// The execution of a request at its destination (paper, 6.1 and 6.3).
//
//   while (!rest.empty()) {                                          // a buffer that arrived, executed in its order
//     const RequestView request = RequestView::parse(rest);          // throws for a damaged buffer: nothing behind is
//     safe if (!execute(request, core::find_object, &sink, failure)) ...  // `failure` goes back to the caller rest =
//     rest.subspan(request.bytes());
//   }
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <typeinfo>
#include <utility>

#include "margay/rmi/core.hpp"
#include "margay/rmi/functor_table.hpp"
#include "margay/rmi/method_word.hpp"
#include "margay/rmi/reply.hpp"
#include "margay/rmi/request_head.hpp"

namespace margay::rmi {

namespace detail {

// The demangled name of a type of method; of a NamedMethod, its function's: "Counter::add" is what the reader of a
// message looks for, not the template around it.
[[nodiscard]] inline std::string name_of_method_type(const std::type_info& type) {
  std::string name = demangled(type.name());
  const std::string named = "margay::rmi::NamedMethod<&";
  if (name.compare(0, named.size(), named) != 0) return name;
  name = name.substr(named.size(), name.size() - named.size() - 1);
  return name.front() == '(' ? name.substr(1, name.size() - 2) : name;
}

}  // namespace detail

// The name of a request's method for messages: demangled if the loader has its symbol, else its type and, for a pointer
// to member, its place in its module.
[[nodiscard]] inline std::string method_name(const RequestView& request) {
  const FunctorEntry* functor = find_functor(request.functor());
  if (functor == nullptr) return "an unknown method";
  const std::string name = detail::name_of_method_type(functor->method());
  if ((request.flags() & kMethodWord) == 0 || request.method() >> 48 == kVirtualTag) return name;
  const Module* module = &functor->module();
  if ((request.flags() & kModuleWord) != 0) module = module_of_id(request.module());
  if (module == nullptr) return name;
  const auto offset = static_cast<std::uint32_t>(request.method());
  Dl_info symbol{};
  if (::dladdr(reinterpret_cast<void*>(module->base + offset), &symbol) != 0 && symbol.dli_sname != nullptr &&
      symbol.dli_saddr == reinterpret_cast<void*>(module->base + offset))
    return demangled(symbol.dli_sname);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::uint32_t rest = offset; rest != 0 || text.empty(); rest /= 16)
    text.insert(text.begin(), kDigits[rest % 16]);
  return name + " at " + module->path.substr(module->path.find_last_of('/') + 1) + "+0x" + text;
}

namespace detail {

// Ends a request whose method, or whose execution, threw `what`: in the reply, if one is wanted, and in `failure`.
[[gnu::noinline, gnu::cold]] inline void record_failure(const RequestView& request, const char* what, ReplySink* reply,
                                                        Failure& failure) {
  std::string name = "an unknown method";
  try {
    name = method_name(request);
  } catch (const error&) {  // functors with equal hashes: `what` has that message already
  }
  failure = make_failure(std::move(name), what);
  if (request.wants_reply() && reply != nullptr) write_failure(*reply, failure);
}

// Throws `error` for an object that is not registered here or is of another class than the functor's: the two mistakes
// that a program can make with an id.
[[gnu::noinline, gnu::cold]] inline void refuse_object(const FunctorEntry& functor, const core::ObjectEntry& object,
                                                       std::uint32_t id) {
  const std::string name = "object " + std::to_string(id);
  if (object.address == nullptr && object.type != nullptr) {
    fail(name + ", a " + demangled(object.type->name()) +
         ", was removed on this node before this request; end an rmi_object after a fence that ends its requests");
  }
  if (object.address == nullptr) fail(name + " is not registered on this node: never created here");
  fail(name + " is a " + demangled(object.type->name()) + ", the request is for a " +
       demangled(functor.object().name()));
}

}  // namespace detail

// Executes a request: finds the functor and the object, unpacks the arguments, calls the method, and writes the reply
// if one is wanted. Returns true when the method has returned. False if anything was thrown, by the method or by the
// checks of the request; then `failure` says what, and the reply, if wanted, has the same.
//
// An exception of the method ends here, because its caller is on another node, and
// learns of it by its reply, or by its next fence for a request without one.
//
// `find_object`: called with the object's id, returns core::ObjectEntry. Requires: the caller holds the object's
// monitor if the request is atomic; the request's bytes stay until this returns. `reply` may be null if no result is
// wanted.
template <class FindObject>
[[nodiscard]] bool execute(const RequestView& request, FindObject&& find_object, ReplySink* reply, Failure& failure) {
  try {
    const FunctorEntry* functor = find_functor(request.functor());
    if (functor == nullptr) fail("damaged request, or its sender is another program: its functor is unknown here");
    const core::ObjectEntry object = find_object(request.object());
    if (object.address == nullptr || (object.type != &functor->object() && *object.type != functor->object()))
      detail::refuse_object(*functor, object, request.object());
    functor->execute()(request, object.address, reply);
    return true;
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is cancelled
  } catch (const std::exception& exception) {
    detail::record_failure(request, exception.what(), reply, failure);
  } catch (...) {
    detail::record_failure(request, "an exception that does not derive from std::exception", reply, failure);
  }
  return false;
}

}  // namespace margay::rmi
