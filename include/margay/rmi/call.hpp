// Calls of a method on one node: async_rmi, sync_rmi and sync_rmi_nonblocking (paper, 5 and 6.4). Part of
// margay/rmi.hpp.
//
//   async_rmi(1, &counter, &Counter::add, 5);                                // no result, no wait
//   const int total = sync_rmi(1, &counter, &Counter::get);                  // waits for the result
//   auto handle = sync_rmi_nonblocking(1, &counter, &Counter::get);          // waits later, in handle.wait()
//
//   std::vector<rmi_handle<int>> asked;                                      // a question to each node, all at once
//   for (int node = 0; node < get_num_nodes(); ++node)
//     asked.push_back(sync_rmi_nonblocking(node, &counter, &Counter::get));
//   for (rmi_handle<int>& each : asked) sum += each.wait();
//
// The arguments of all three:
//   node       the destination, from 0 to get_num_nodes() - 1; the own one is allowed
//   object     this node's own address of a registered object, or its rmi_object
//   method     &Class::function, method<&Class::function>, a lambda (method.hpp), or one of these in non_atomic()
//   argument   copies travel; travel.hpp lists the types that can
// Choose async_rmi for methods whose result is not needed, because its requests share messages. A question costs its
// caller a round trip; several at once, by handles, cost little more than one.
//
// A method that cannot be called with these arguments, and an argument or a result that cannot travel, are compile-time
// errors.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "margay/rmi/node.hpp"
#include "margay/rmi/object.hpp"
#include "margay/rmi/reply.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi {

// A method that runs although another one of its object waits (paper, 5.1: "non-atomic"):
// async_rmi(node, object, non_atomic(&Counter::get)).
template <class Method>
struct non_atomic {
  explicit non_atomic(Method named) : method(named) {}
  Method method;
};

namespace detail {

// The method itself, and whether it is atomic. Atomic unless it is wrapped in non_atomic (paper, 5.1).
template <class Method>
struct Mode {
  using Plain = Method;
  static constexpr bool kAtomic = true;
  static const Method& plain(const Method& method) { return method; }
};
template <class Method>
struct Mode<non_atomic<Method>> {
  using Plain = Method;
  static constexpr bool kAtomic = false;
  static const Method& plain(const non_atomic<Method>& method) { return method.method; }
};
template <class Method>
using ModeResult = ResultOf<typename Mode<Method>::Plain>;

}  // namespace detail

// "makes a statement": requests the method on the object of `node`, and does not wait for its execution. An exception
// of the method is thrown by this node's next fence. A request to the own node is executed at once. If a
// method is in execution, it is executed after that method, or while that method waits. If a communication thread runs
// the methods, that thread executes it.
//
// The arguments are packed before the call returns, so the caller may then change or free them. The request leaves with
// its buffer (paper, 6.3): when that is full, when it has as many requests as set_aggregation() allows, or at a call
// that polls or waits. No timer sends it: a program that makes one request and then computes calls rmi_poll().
//
// While the receiver is slower, a call outside of a method waits for a free buffer, and serves meanwhile. Inside a
// method, and while the program holds an rmi_monitor, it executes nothing and never waits.
//
// Throws `error`:
// - for an invalid node: "async_rmi: invalid node 7; there are nodes 0 to 3"
// - for an object that is not registered: "async_rmi: the object, a Counter, is not registered; register it on all
//   nodes by rmi_object"
// - for a method or an argument that cannot travel, if that is detectable only at run time (request.hpp)
// - inside a method or while an rmi_monitor is held, if more than MARGAY_RMI_QUEUE bytes of requests (64 MiB unless
//   set) would queue
// - if the wait for a free buffer needs a node that is lost
//
// Cost: 16 bytes for the head, 8 for a pointer to member, and the arguments, rounded up to 8 bytes in all. The receiver
// fetches a request of more than 16 KiB, which takes three messages.
template <class Object, class Method, class... Argument>
void async_rmi(int node, const Object& object, Method method, Argument&&... argument) {
  constexpr const char* kCall = "async_rmi";
  core::Here& here = core::node_of(kCall);
  core::Writer& writer = core::writer_of(here, kCall, node);
  using Mode = detail::Mode<Method>;
  const Envelope envelope{.object = detail::object_id(here, kCall, object), .atomic = Mode::kAtomic};
  post<detail::ObjectClassOf<Object>>(writer, envelope, Mode::plain(method), std::forward<Argument>(argument)...);
  core::count_call(here, kCall);
}

// The result of a method that was called by sync_rmi_nonblocking(): an opaque handle, queried when the result is needed
// (paper, 6.4). Movable; not used by two threads at once. Without wait(), the result, or the method's exception, is
// discarded when it arrives. Lives at most until stop(): see there.
//
// A node has at most 256 calls at once. A call counts until wait() or the handle's destructor, even if its result has
// arrived. A sync_rmi() counts until it returns, so nested methods that wait count one call each.
template <class Result>
class rmi_handle {
 public:
  // For sync_rmi_nonblocking().
  rmi_handle(int node, std::uint64_t call) : node_(node), call_(call) {}
  // Gives up the result. Never waits: a reply that is still on its way is discarded by the library.
  ~rmi_handle() {
    if (call_ != 0) core::end_call(call_);
  }
  rmi_handle(rmi_handle&& other) noexcept : node_(other.node_), call_(std::exchange(other.call_, 0)) {}
  rmi_handle(const rmi_handle&) = delete;
  rmi_handle& operator=(const rmi_handle&) = delete;
  rmi_handle& operator=(rmi_handle&&) = delete;

  // Whether the result has arrived, or the method's exception. Polls once if it has not, and so may execute requests of
  // others.
  [[nodiscard]] bool test() { return core::test_call("rmi_handle::test", need()); }
  // Waits for the result and returns it, executing requests of others meanwhile. Throws `remote_error` if the method
  // threw, and `error` if a node that the wait needs is lost, or for damaged bytes. After a result or a remote_error
  // the handle is used up: each later call of its functions throws `error`.
  Result wait() {
    core::wait_call("rmi_handle::wait", need());
    return take();
  }
  // `co_await handle`: suspends the coroutine until a call of RMI, outside of a method, or the communication thread
  // finds the result. The coroutine then runs there, up to its next suspension, and by the rules of a method: it may
  // send and ask, but not wait for all nodes. Fences wait for it as for a request. An exception must not leave it. One
  // coroutine at most awaits a handle. If it is destroyed while it is suspended, the call is given up.
  [[nodiscard]] bool await_ready() { return test(); }
  void await_suspend(std::coroutine_handle<> suspended) {
    core::await_call(
        need(), [](void* address) { std::coroutine_handle<>::from_address(address).resume(); }, suspended.address());
  }
  Result await_resume() { return wait(); }
  // For sync_rmi(), instead of core::finish_call(): sends the request and waits.
  Result complete(const char* call) {
    core::complete_call(call, need());
    return take();
  }
  // For sync_rmi_nonblocking().
  void finish(const char* call) { core::finish_call(call, need()); }

 private:
  // The call's number. Throws `error` if the handle is used up.
  [[nodiscard]] std::uint64_t need() const {
    if (call_ == 0) fail("an rmi_handle is used after wait() or after it was moved");
    return call_;
  }
  Result take() {
    // Ends the call when the result, or the exception, has been unpacked.
    struct End {
      std::uint64_t call;
      ~End() { core::end_call(call); }
    } const end{std::exchange(call_, 0)};
    return read_reply<Result>(core::reply_of(end.call), node_);
  }

  // The node that runs the method.
  int node_;
  // The number of the awaited call; 0: none (after wait(), or moved from).
  std::uint64_t call_;
};

namespace detail {

// Packs the request and begins an awaited call for its result. If packing throws, the call is cancelled and nothing is
// sent. The request may still be in its buffer: complete() or finish() sends it. The call is begun before the request
// is packed, because its number is a part of the request.
template <class Object, class Method, class... Argument>
[[nodiscard]] rmi_handle<ModeResult<Method>> ask(const char* name, int node, const Object& object, Method method,
                                                 Argument&&... argument) {
  core::Here& here = core::node_of(name);
  core::Writer& writer = core::writer_of(here, name, node);
  const std::uint32_t id = object_id(here, name, object);
  constexpr bool kAtomic = Mode<Method>::kAtomic;
  const std::uint64_t call = core::begin_call(name, static_cast<std::uint32_t>(node), kAtomic ? id : core::kNoObject);
  try {
    post_call<ObjectClassOf<Object>>(writer, Envelope{.object = id, .atomic = kAtomic, .call = call},
                                     Mode<Method>::plain(method), std::forward<Argument>(argument)...);
  } catch (...) {
    core::cancel_call(call);
    throw;
  }
  return rmi_handle<ModeResult<Method>>(node, call);
}

}  // namespace detail

// "asks a question": requests the method, and waits for its result, executing requests of others meanwhile. Requests
// that this thread has made to `node` before begin before it.
//
// Throws `remote_error` if the method threw. Throws `error`
// - as async_rmi() does, and if a node that it needs is lost
// - in a method, for an atomic method of the same object on this node, which could run only after the caller: "a method
//   waits for another method of its own object, which runs after it; call that method directly"
// - in the program, for an atomic method on this node of an object whose rmi_monitor the program holds
// The same cycle over several nodes is a deadlock, which `margay run --deadlock abort` proves.
//
// Cost: two messages, the request with what was in its buffer, and the reply. A result of more than about 2 KiB is
// fetched, in two further messages. To the own node: no message.
template <class Object, class Method, class... Argument>
detail::ModeResult<Method> sync_rmi(int node, const Object& object, Method method, Argument&&... argument) {
  return detail::ask("sync_rmi", node, object, method, std::forward<Argument>(argument)...).complete("sync_rmi");
}
// The same without the wait for the result. A node with 256 calls at once waits here, and in sync_rmi(), until one has
// ended. If none can end meanwhile, because all belong to handles of the program or to nested methods that wait, the
// call throws `error`; beside a communication thread, which may hold some, it waits. A program that asks more questions
// waits for the first handle before it asks the next one.
template <class Object, class Method, class... Argument>
[[nodiscard]] rmi_handle<detail::ModeResult<Method>> sync_rmi_nonblocking(int node, const Object& object, Method method,
                                                                          Argument&&... argument) {
  constexpr const char* kCall = "sync_rmi_nonblocking";
  auto handle = detail::ask(kCall, node, object, method, std::forward<Argument>(argument)...);
  handle.finish(kCall);
  core::count_call(core::node_of(kCall), kCall);
  return handle;
}

}  // namespace margay::rmi
