// Objects: their registration under one id on all nodes, and their monitors (paper, 5 and 5.1). Part of margay/rmi.hpp.
//
//   Counter counter;
//   rmi_object<Counter> handle(counter);            // collective: the n-th registration of each node is one object
//   async_rmi(1, &counter, &Counter::add, 5);       // by the address of this node's own object,
//   async_rmi(1, handle, &Counter::add, 5);         // or by the registration, which needs no look-up
//   rmi_fence();                                    // before the registration ends: no request for it is on its way
//
//   {
//     const rmi_monitor monitor(&counter);          // beside a communication thread: no method of `counter` runs
//     print(counter.total);
//   }
//
// The objects of two nodes with one id are two objects: each has its own values and its own monitor.
#pragma once

#include <cstdint>
#include <type_traits>
#include <typeinfo>

#include "margay/rmi/node.hpp"

namespace margay::rmi {

// The registration of an object whose methods other nodes may call. Construction is collective, outside of a method,
// and returns when all nodes have registered theirs: the n-th rmi_object of each node is one object to requests. The
// caller owns the object, which must outlive the registration and must not move. Destruction is local. A fence before
// it ends the requests for the object; a later request fails at its caller, and the error names the method and the
// object. (A collective destruction would wait for all nodes when an exception unwinds one of them.)
//
// `T` is the class by which requests name the object: the static type of the pointer that a call passes. An object may
// be registered by several types, once by each; each registration is an object with a monitor of its own. All nodes
// register the same classes in the same order. RMI does not compare them: a request that reaches an object of another
// class fails at its caller.
//
// Cost: a barrier, in which the node executes requests. The library keeps a few words for each registration until
// stop(), also after the destruction, because ids are not used again.
template <class T>
class rmi_object {
 public:
  // Throws `error` inside a method, and if a node is lost.
  explicit rmi_object(T& object) : object_(&object) { core::add_object(&object, typeid(T), id_); }
  ~rmi_object() { core::remove_object(id_); }
  rmi_object(const rmi_object&) = delete;
  rmi_object& operator=(const rmi_object&) = delete;

  // This node's object.
  [[nodiscard]] T& object() const { return *object_; }
  // The object's number in requests, equal on all nodes.
  [[nodiscard]] std::uint32_t id() const { return id_; }

 private:
  T* object_;
  std::uint32_t id_ = core::kNoObject;
};

namespace detail {

// The class of an object, and its id, from a pointer to it or from its rmi_object. A pointer costs a comparison with
// the object that was looked up last, or a search; an rmi_object has the id.
template <class T>
[[nodiscard]] std::uint32_t object_id(core::Here& node, const char* call, T* object) {
  return core::id_of(node, call, object, typeid(T));
}
template <class T>
[[nodiscard]] std::uint32_t object_id(core::Here& /*node*/, const char* /*call*/, const rmi_object<T>& object) {
  return object.id();
}
// No `type` for anything but a pointer or an rmi_object: the call does not compile.
template <class Object>
struct ObjectClass {};
// A const object may be named too: whether its method may change it is checked against `T` without const.
template <class T>
struct ObjectClass<T*> {
  using type = std::remove_const_t<T>;
};
template <class T>
struct ObjectClass<rmi_object<T>> {
  using type = T;
};
// The class of the objects that a call's `object` argument names.
template <class Object>
using ObjectClassOf = typename ObjectClass<std::remove_cvref_t<Object>>::type;

}  // namespace detail

// The monitor of an object (paper, 5.1), held by the program: while this exists, no atomic method of the object runs.
// For the program's own accesses to an object, beside a communication thread; it works with every scheduler. Waits for
// a method in execution, and serves meanwhile. Throws `error` if this thread holds the monitor already, as a method of
// the object does, and if a node is lost. Without effect for an object that is not registered. A fence and other calls
// for all nodes are errors meanwhile. The thread that constructs it destroys it.
class rmi_monitor {
 public:
  template <class T>
  explicit rmi_monitor(T* object) : object_(core::enter_monitor("rmi_monitor", object, typeid(T))) {}
  ~rmi_monitor() { core::leave_monitor(object_); }
  rmi_monitor(const rmi_monitor&) = delete;
  rmi_monitor& operator=(const rmi_monitor&) = delete;

 private:
  std::uint32_t object_;
};

}  // namespace margay::rmi
