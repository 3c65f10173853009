// RMI: remote method invocation of STAPL (paper 004), the communication of a parallel library of containers and
// algorithms. Link with margay::rmi (CMake) or margay-rmi (pkg-config), and start the program with `margay run`.
//
//   struct Counter {
//     int total = 0;
//     void add(int x) { total += x; }
//     int get() const { return total; }
//   };
//   int program(int, char**) {
//     Counter counter;
//     margay::rmi::rmi_object<Counter> handle(counter);            // collective: one id on all nodes
//     margay::rmi::async_rmi(1, &counter, &Counter::add, 5);       // on node 1's counter; returns at once
//     margay::rmi::rmi_fence();                                    // all requests of all nodes are executed
//     return margay::rmi::sync_rmi(1, &counter, &Counter::get);    // waits for the answer
//   }
//   int main(int argc, char** argv) { return margay::rmi::run(argc, argv, program); }
//
// A node is a process or a thread (paper, 5): all begin the same program at once. An object is local to its node. All
// nodes register their objects together (rmi_object), so that each node names another node's object by the address of
// its own. Arguments and results are copies. Methods run only inside calls of RMI (polling; paper, 6.2), never during a
// computation or a call of MPI. With another scheduler (set_scheduler()) a thread of the library runs them, beside the
// program: its own accesses to an object then need an rmi_monitor, except where no request can be under way.
//
// Requests from one node to another begin in the order of their calls; with a communication thread, those of the
// program and those of its methods have an order each. A method called by RMI runs as in a monitor of its object (5.1):
// two methods of one object never overlap, even while one of them waits. A method may send requests, but does not wait
// for room in buffers. A call that waits for all nodes is an error inside a method.
//
// All functions throw `error` before start() and after stop(), for a node or object that does not exist, and when a
// node is lost. A node belongs to the thread that called start(): RMI is called by that thread, and by methods.
// Define MARGAY_RMI_STAPL before the include to use the paper's namespace `stapl`.
//
// The calls, whether all nodes must make them together, what they do in a method, and their messages among p nodes:
//
//   call                   collective   in a method     messages
//   async_rmi              no           never waits     one for each full buffer, not for each request
//   broadcast_rmi          no           never waits     one request to each other node
//   sync_rmi               no           waits, serves   2: the request and the reply
//   sync_rmi_nonblocking   no           as async_rmi    2 as well
//   collect_rmi            yes          an error        2 (p - 1) requests
//   rmi_fence              yes          an error        about p log2(p) in a wave of the usual tree
//   rmi_object             yes          an error        those of a barrier
//   rmi_group, split       yes          an error        4 (p - 1) requests among the members of the parent
//   rmi_monitor            no           waits, serves   none of its own
//   rmi_wait               no           waits, serves   none of its own
//   rmi_poll               no           sends only      the buffers that are being filled
//
// A call that waits serves: it executes requests of others meanwhile, so that nodes that wait for one another make
// progress. With a communication thread, that thread executes them.
//
// broadcast_rmi, collect_rmi and rmi_fence also take a group (group.hpp) as their first argument. p is then the number
// of its members, and the collective calls are collective over it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "margay/rmi/execute.hpp"
#include "margay/rmi/group.hpp"
#include "margay/rmi/node.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi {

// --- Begin and end. ---

// Chooses how this process's nodes schedule requests (paper, 6.2), before start() or run(). It has precedence over
// MARGAY_RMI_SCHEDULER, whose values are polling, interrupt, blocking and nonblocking. Nodes may differ, but a node
// that does not choose `interrupt` itself does not interrupt others. Throws `error` on a thread that is a node.
inline void set_scheduler(Scheduler scheduler) {
  core::set_scheduler(scheduler);
}
// Joins the job: the calling thread becomes a node. Collective, before all other calls. The usual way is run().
//
// Throws `error` for an invalid MARGAY_RMI_* variable, if the process cannot join (host::join()), and if the nodes run
// different programs ("different programs in one job: node 0 runs ..., node 1 runs ..."); the thread is then no node.
// "rmi::start() is called twice" is an error without an effect. Cost: a barrier, and two messages between node 0 and
// each other node, by which the programs are compared; and a thread, if the scheduler needs one.
inline void start() {
  core::start(program_identity());
}
// A fence, then leaves the job. Collective, outside of a method. Throws as rmi_fence(), and the thread then remains a
// node.
//
// An rmi_object may be destroyed after it. Each rmi_handle must have ended before, by wait() or by its destructor:
// otherwise throws `error`; end the handles and call stop() again.
inline void stop() {
  core::stop();
}
namespace detail {

// run() in one rank. The exception must not leave it: the other nodes would wait for this one, so the job ends.
inline int run_node(int argc, char** argv, int (*program)(int, char**)) {
  try {
    start();
    const int code = program(argc, argv);
    stop();
    return code;
  } catch (const std::exception& exception) {
    core::give_up(exception.what());
  }
}

}  // namespace detail

// start(), `program`, stop(), in this process or in each of its threads that is a node (`margay run --threads N`);
// returns the first status of `program` that is not 0. An exception that leaves `program` ends the job, because the
// other nodes would wait for this one. With threads, the nodes of a process share global variables.
inline int run(int argc, char** argv, int (*program)(int, char**)) {
  return core::run_nodes(argc, argv, &detail::run_node, program);
}

// The number of nodes of the job, and this node's number, from 0. Both are constant from start() to stop(), and cost
// one load. They are `int` because the paper's programs compute with them.
[[nodiscard]] inline int get_num_nodes() {
  return static_cast<int>(core::node_of("get_num_nodes").nodes);
}
[[nodiscard]] inline int get_node_id() {
  return static_cast<int>(core::node_of("get_node_id").rank);
}

// --- Objects. ---

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
  explicit rmi_object(T& object) : object_(&object), id_(core::add_object(&object, typeid(T))) {}
  ~rmi_object() { core::remove_object(id_); }
  rmi_object(const rmi_object&) = delete;
  rmi_object& operator=(const rmi_object&) = delete;

  // This node's object.
  [[nodiscard]] T& object() const { return *object_; }
  // The object's number in requests, equal on all nodes.
  [[nodiscard]] std::uint32_t id() const { return id_; }

 private:
  T* object_;
  std::uint32_t id_;
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

// --- Requests (paper, 5). `object`: this node's own address of a registered object, or its rmi_object. `method`: see
// margay/rmi/method.hpp. ---

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
// of the method is thrown by this node's next fence. A request to the own node is executed at once, unless a method is
// in execution, after which or during whose wait it is then executed, or a communication thread runs the methods.
//
// The arguments are packed before it returns, so the caller may change or free its own. The request leaves with its
// buffer (paper, 6.3): when that is full, when it has as many requests as set_aggregation() allows, or at a call that
// polls or waits. Nothing sends it by time: a program that makes one request and then computes calls rmi_poll().
//
// While the receiver is slower, a call outside of a method waits for a free buffer, and serves meanwhile. Inside a
// method, and while the program holds an rmi_monitor, it executes nothing and never waits.
//
// Throws `error`:
// - for an invalid node: "async_rmi: invalid node 7; there are nodes 0 to 3"
// - for an object that is not registered: "async_rmi: the object, a Counter, is not registered; register it on all
//   nodes by rmi_object"
// - for a method or an argument that cannot travel, if only a run can see it (request.hpp)
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
// A node has at most 256 calls at once. A call counts until wait() or the handle's destructor, whether its result is
// here or not.
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
  // threw, and `error` if the wait needs a node that is lost, or for damaged bytes. After a result or a remote_error
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
// Throws `remote_error` if the method threw, and `error` as async_rmi() does, if a node is lost that it needs, and in a
// method that waits for an atomic method of its own object on this node, which could run only after it: "a method waits
// for another method of its own object, which runs after it; call that method directly". The same error for a call of
// the program to its own node, for an object whose rmi_monitor it holds. The same cycle over several nodes is a
// deadlock, which `margay run --deadlock abort` proves.
//
// Cost: two messages, the request with what was in its buffer, and the reply. A result of more than about 2 KiB is
// fetched, in two further messages. To the own node: no message.
template <class Object, class Method, class... Argument>
detail::ModeResult<Method> sync_rmi(int node, const Object& object, Method method, Argument&&... argument) {
  return detail::ask("sync_rmi", node, object, method, std::forward<Argument>(argument)...).complete("sync_rmi");
}
// The same without the wait for the result. A node with 256 calls at once waits here, and in sync_rmi(), until one has
// ended. If none can end meanwhile, because the program holds the handles of all, the call throws `error`; beside a
// communication thread, which may hold some, it waits. A program that asks more questions waits for the first handle
// before it asks the next one.
template <class Object, class Method, class... Argument>
[[nodiscard]] rmi_handle<detail::ModeResult<Method>> sync_rmi_nonblocking(int node, const Object& object, Method method,
                                                                          Argument&&... argument) {
  constexpr const char* kCall = "sync_rmi_nonblocking";
  auto handle = detail::ask(kCall, node, object, method, std::forward<Argument>(argument)...);
  handle.finish(kCall);
  return handle;
}

namespace detail {

// The places to which `place` forwards a broadcast of `root`: the children in the hypercube tree, counted from the
// root. At most log2(size), rounded up.
template <class Function>
void for_each_forward(std::uint32_t place, std::uint32_t root, std::uint32_t size, Function&& function) {
  const std::uint32_t from_root = (place + size - root) % size;
  std::uint64_t most = 1;
  while (most < size) most *= 2;
  // The largest part of the tree first.
  for (std::uint64_t bit = most / 2; bit != 0; bit /= 2) {
    const std::uint64_t child = from_root + bit;
    if ((from_root & (2 * bit - 1)) == 0 && child < size) function(static_cast<std::uint32_t>((child + root) % size));
  }
}

// A broadcast on its way: a method of the object itself, so that its monitor and its order are those of other requests,
// and the fence counts it. `root`: the caller's place in the group. `words`: the packed request that each node
// executes.
//
// It forwards first and executes then, so that a long method does not delay the nodes below. A failure goes to the
// root, which is the caller, and not to the node that forwarded.
template <class T>
struct Forward {
  void operator()(T& object, std::uint32_t group, std::uint32_t root, std::span<const std::uint64_t> words) const {
    constexpr const char* kCall = "broadcast_rmi";
    core::Here& here = core::node_of(kCall);
    const core::GroupView members = core::view_group(kCall, group);
    const auto size = static_cast<std::uint32_t>(members.nodes.size());
    if (root >= size) fail("damaged request: a broadcast of a node that is not in the group");
    const RequestView request = RequestView::parse(std::as_bytes(words));
    for_each_forward(members.place, root, size, [&](std::uint32_t place) {
      post<T>(here.writers[members.nodes[place]], Envelope{.object = request.object(), .atomic = request.atomic()},
              Forward(), group, root, words);
    });
    const auto find = [&](std::uint32_t /*id*/) { return core::ObjectEntry{&object, &typeid(T)}; };
    Failure failure;
    if (!execute(request, find, nullptr, failure)) core::report_failure(members.nodes[root], std::move(failure));
  }
};

}  // namespace detail

// Broadcasts in a group: from this node, a member, to all members; see the next function. Throws `error` if this node
// is not a member. The group must not be freed before a fence has ended its broadcasts, because members forward by it.
template <class Object, class Method, class... Argument>
void broadcast_rmi(const rmi_group& group, const Object& object, Method method, Argument&&... argument) {
  constexpr const char* kCall = "broadcast_rmi";
  using T = detail::ObjectClassOf<Object>;
  core::Here& here = core::node_of(kCall);
  const std::uint32_t number = group.number(kCall);
  const Envelope envelope{.object = detail::object_id(here, kCall, object)};
  std::vector<std::uint64_t> words(8);
  for (;;) {
    const Written written =
        write_request<T>(std::as_writable_bytes(std::span(words)), envelope, method, std::as_const(argument)...);
    words.resize(written.bytes / sizeof(std::uint64_t));
    if (written.fits) break;
  }
  post<T>(here.writers[here.rank], envelope, detail::Forward<T>(), number, core::view_group(kCall, number).place,
          std::span<const std::uint64_t>(words));
}
// "makes a statement to all nodes", the own one too, and does not wait for its execution. Not collective. An exception
// of the method on any node is thrown by this node's next fence. The request travels down a binomial tree, so its order
// relative to this node's other requests is kept only at the nodes to which this node itself sends it. Broadcasts of
// different nodes have no common order.
//
// The arguments are packed once, and copied for each node; an argument that can only be moved is a compile-time error.
// Throws as async_rmi(). Cost: one request to each other node, of which a node sends at most log2(nodes), rounded up.
// Each has the packed request, with a head of its own.
template <class Object, class Method, class... Argument>
requires(!std::is_same_v<Object, rmi_group>) void broadcast_rmi(const Object& object, Method method,
                                                                Argument&&... argument) {
  broadcast_rmi(rmi_group(), object, method, std::forward<Argument>(argument)...);
}

namespace detail {

// The bytes of a part of a collection: a reply's, so that a part may be a failure. Grows as the writer asks.
class PartSink final : public ReplySink {
 public:
  [[nodiscard]] std::span<std::byte> reserve(std::size_t least) override {
    words_.resize(least / sizeof(std::uint64_t) + 8);
    return std::as_writable_bytes(std::span(words_));
  }
  void commit(std::size_t used) override { bytes_ = used; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)).first(bytes_); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t bytes_ = 0;
};

}  // namespace detail

namespace detail {

// The state of one collection: this node's part, or the first failure. After a failure the node still takes and sends
// parts, because its neighbours in the tree wait for them; the failure is then its part.
template <class Out>
class Collecting {
 public:
  explicit Collecting(const core::Collection& collection) : collection_(collection) {}
  // Calls `step`, and keeps the first exception.
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const std::exception& exception) {
      const int node = static_cast<int>(core::node_of("collect_rmi").rank);
      if (!failed_) failure_ = make_failure("collect_rmi", "node " + std::to_string(node) + ": " + exception.what());
      failed_ = true;
    }
  }
  void send(std::uint32_t node) {
    PartSink sink;
    if (failed_)
      write_failure(sink, failure_);
    else
      write_result(sink, part);
    core::send_part(node, collection_.number, sink.bytes());
  }
  // Waits for the part of a node, and calls `step` with it.
  template <class Step>
  void take(std::uint32_t node, Step&& step) {
    const std::span<const std::byte> bytes = core::take_part(node, collection_.number);
    attempt([&] { step(read_reply<Out>(bytes, static_cast<int>(node))); });
  }
  // The result of all, which is a failure if any node's part was, replaces this node's part or failure.
  void forget_failure() { failed_ = false; }
  void throw_failure() {
    if (failed_) throw remote_error(static_cast<int>(core::node_of("collect_rmi").rank), std::move(failure_));
  }

  Out part{};

 private:
  const core::Collection collection_;
  Failure failure_;
  bool failed_ = false;
};

}  // namespace detail

// Collects in a group: all members get the parts combined in the order of places. Collective over the group; see the
// next function. Throws `error` if this node is not a member.
template <class T, class Method, class In, class Out, class Combine = std::plus<>>
void collect_rmi(const rmi_group& group, T* object, Method method, const In& input, Out& output, Combine combine = {}) {
  constexpr const char* kCall = "collect_rmi";
  const core::Collection collection = core::begin_collect(kCall, group.number(kCall));
  detail::Collecting<Out> all(collection);
  all.attempt([&] {
    const rmi_monitor monitor(object);
    MethodOf<Method>::call(*object, method, input, all.part);
  });
  for (const std::uint32_t child : collection.children) {
    all.take(child, [&](Out theirs) { all.part = combine(std::move(all.part), std::move(theirs)); });
  }
  if (collection.parent != core::kNoNode) {
    all.send(collection.parent);
    all.forget_failure();
    all.take(collection.parent, [&](Out result) { all.part = std::move(result); });
  }
  for (const std::uint32_t child : collection.children) all.send(child);
  // The buffers leave without a further call.
  core::poll(kCall);
  all.throw_failure();
  output = std::move(all.part);
}

// "asks all": calls method(input, part) on each node's own object, with a value-initialised part, and gives all nodes
// the parts combined in the order of nodes: combine(part of node 0, part of node 1), and so on. Collective, outside of
// a method.
//
// `object`: this node's own, which need not be registered, because no request names it. `method`: called directly, in
// the object's monitor if that is registered. `input`: this node's argument, which is not sent. `combine`: associative,
// because the parts are combined along a tree; called on any node. `output`: set to the result, and unchanged on an
// exception. `Out`: default-constructible, and able to travel (travel.hpp).
//
// Throws `remote_error` on all nodes if a method or a combination threw on any; its text names that node. Throws
// `error` inside a method, and if a node is lost.
//
// Cost: 2 * (nodes - 1) requests, each with a packed part or the result, up and down a binomial tree; at most 2 *
// log2(nodes) of them follow one another. It is no fence: other requests may be on their way before and after it.
template <class T, class Method, class In, class Out, class Combine = std::plus<>>
void collect_rmi(T* object, Method method, const In& input, Out& output, Combine combine = {}) {
  collect_rmi(rmi_group(), object, method, input, output, std::move(combine));
}

// --- Synchronisation (paper, 5.1). ---

// Waits until all nodes have arrived and all requests of all nodes are executed, those of methods too; executes
// requests meanwhile. Collective, outside of a method.
//
// Throws the first exception of the asynchronous methods that this node called since its last fence, as a
// `remote_error` with the number of the others in its text. The fence is over then, on this node as on the others.
// Throws `error` inside a method ("rmi_fence is called inside a method, which must not wait for all nodes"), and if a
// node is lost.
//
// Cost: one wave if no method ran after a node's arrival, otherwise two or more. For a wave by `exchange`, the usual
// tree, each node sends about log2(nodes) messages of 48 bytes; by another tree each node but node 0 sends one and gets
// one. Threads of one process use memory and no messages. docs/rmi.md explains why the paper's rule for the end, "as
// soon as the sum equals zero" (6.5), is not used.
inline void rmi_fence() {
  core::fence();
}
// The same by this tree instead of the one that MARGAY_RMI_FENCE selects, for experiments. Throws `error` for central
// and mcs unless all nodes are threads of one process. Requires: the same tree on all nodes; otherwise the job ends with
// an error that names two nodes and their trees, or, if no message shows it, the nodes wait for one another.
inline void rmi_fence(Tree tree) {
  core::fence(tree);
}
// Waits until all members of the group have arrived, and all requests of members to members are executed, those of
// methods too, as far as each request on the way went from a member to a member. Collective over the group, outside of
// a method. Throws as rmi_fence(). Cost: at least two waves among the members (libraries/rmi/fence.hpp), by messages
// even if all nodes are threads of one process; for the group of all nodes, that of rmi_fence().
inline void rmi_fence(const rmi_group& group) {
  core::fence_group(group.number("rmi_fence"));
}
// Waits until any request has been executed on this node since this call began: for a program that reacts to requests
// and has nothing else to do. Requests of RMI itself count, such as the parts of a collection, so the caller tests its
// own condition in a loop. With a communication thread, a request that was executed between that test and this call is
// missed: use the next function. Throws `error` if a node is lost.
inline void rmi_wait() {
  core::wait_for_request();
}
// Waits until more than `seen` requests have been executed on this node. With the value of requests_executed() from
// before the program looked whether it has to wait, no request is missed. Throws `error` if a node is lost.
inline void rmi_wait(std::uint64_t seen) {
  core::wait_for_request(seen);
}
// Sends all requests that still lie in buffers, and executes the requests that have arrived (paper, 6.2). Inside a
// method it sends only, because methods run only while another one waits; so it does where a communication thread runs
// the methods. A node that polls explicitly and computes for long calls it in its loop; otherwise it answers no other
// node. Without anything to do it costs a progress round of the host.
inline void rmi_poll() {
  core::poll("rmi_poll");
}
// Makes every `calls`-th asynchronous call of this node poll (paper, 6.2): 1024 unless set. A low value answers others
// sooner, and sends smaller buffers. Sending a buffer polls in any case. Throws `error` for 0.
inline void set_poll_rate(std::uint32_t calls) {
  core::set_poll_rate(calls);
}
// Sets the number of requests after which the buffer to `node` is sent, full or not (paper, 6.3), from its next buffer
// on. Unless set, it is MARGAY_RMI_FACTOR, or 128 for nodes that share memory and 512 for others. A large value saves
// messages and delays requests. No effect for the own node, unless a communication thread runs the methods. Throws
// `error` for 0 and for an invalid node.
inline void set_aggregation(int node, std::uint32_t requests) {
  core::set_aggregation(node, requests);
}
// Requests executed on this node since start(), those of RMI itself included. For tests and measurements.
[[nodiscard]] inline std::uint64_t requests_executed() {
  return core::requests_executed();
}

// --- Parallel tasks (paper, 5). ---

// The base class of an algorithm's object: execute() is the algorithm, which each node runs on its own object. Requests
// between the tasks name the destination's task by the caller's own `this`.
class parallel_task {
 public:
  virtual ~parallel_task() = default;
  virtual void execute() = 0;
};

// Registers the task of each node under one id, so that `this` names it towards any node, runs execute(), and ends its
// requests by a fence. Collective, outside of a method. `Task`: the class whose methods are called. The caller owns the
// task. Throws what execute() throws, without the fence: the other nodes then wait in theirs, unless all nodes threw.
// Cost: a registration and a fence.
template <class Task>
void execute_parallel_task(Task* task) {
  const rmi_object<Task> registered(*task);
  task->execute();
  rmi_fence();
}

}  // namespace margay::rmi

#ifdef MARGAY_RMI_STAPL
namespace stapl = margay::rmi;
#endif
