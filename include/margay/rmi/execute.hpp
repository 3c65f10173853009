// The execution of a request at its destination (paper, 6.1 and 6.3). For the library's inbox and for tests; programs
// call nothing here.
//
//   while (!rest.empty()) {                                      // a buffer that arrived, in its order
//     const RequestView request = RequestView::parse(rest);      // throws for a damaged buffer
//     if (!execute(request, find_object, &sink, failure))
//       ...                                                      // send `failure` back to the caller
//     rest = rest.subspan(request.bytes());
//   }
//
// A buffer that parse() rejects has no usable rest, because the length of the damaged request is unknown. An error
// inside execute() concerns one request only: the next one begins where request.bytes() says.
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

// The demangled name of a method's type. For a NamedMethod it is the name of the function, "Counter::add", because that
// is the name that the reader of a message looks for.
[[nodiscard]] inline std::string name_of_method_type(const std::type_info& type) {
  std::string name = demangled(type.name());
  const std::string named = "margay::rmi::NamedMethod<&";
  if (name.compare(0, named.size(), named) != 0) return name;
  name = name.substr(named.size(), name.size() - named.size() - 1);
  return name.front() == '(' ? name.substr(1, name.size() - 2) : name;
}

}  // namespace detail

// The name of a request's method, for messages only: it looks up symbols, and allocates.
//
// A method that travels as a type has its own name. A pointer to member has the loader's demangled symbol if that
// begins exactly at the function; otherwise the name of its type and its place, as "void (Counter::*)(int) at
// a.out+0x1234". A program exports symbols to the loader if it is linked with -rdynamic. A virtual function has only
// its type, because the object decides which function runs. An unknown functor gives "an unknown method". Throws as
// find_functor().
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

// Ends a request whose method, or whose own checks, threw an exception with the text `what`: writes `failure`, and also
// the reply if the request wants one. The reply begins anew, so that nothing is left of a result that was written in
// part.
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

// Throws `error` for an object that is not registered here, or is of another class than the functor's. Both are
// mistakes of a program, not damage: an object that was removed before a fence, and nodes that registered objects in
// different orders.
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
// if the request wants one. Returns true when the method has returned, and false if the method or a check of the
// request threw an exception. `failure` then has the method's name and the exception's text, and so has the reply, if
// one is wanted.
//
// An exception of the method ends here, because its caller is on another node, and gets it by the reply, or by its next
// fence if there is no reply. The exception of a cancelled thread passes.
//
// The class is compared by address first, and by name only if the addresses differ: two libraries may each have the
// type_info of one class.
//
// Threads: any, each with a sink and a failure of its own.
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
