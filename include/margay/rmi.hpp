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
// program and those of its methods have an order each. A method called by RMI runs as in a monitor of
// its object (5.1): two methods of one object never overlap, even while one of them waits. A method may send requests,
// but does not wait for room in buffers. A call that waits for all nodes is an error inside a method.
//
// All functions throw `error` before start() and after stop(), for a node or object that does not exist, and when a
// node is lost. A node belongs to the thread that called start(): RMI is called by that thread only. Define
// MARGAY_RMI_STAPL before the include to use the paper's namespace `stapl`.
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

// Chooses how this process's nodes schedule requests (paper, 6.2), before start() or run(). Without it,
// MARGAY_RMI_SCHEDULER does: polling, interrupt, blocking or nonblocking. Nodes may differ, but a node that does not
// choose `interrupt` itself does not interrupt others.
inline void set_scheduler(Scheduler scheduler) {
  core::set_scheduler(scheduler);
}
// Joins the job: the calling thread becomes a node. Collective, before all other calls. Throws `error` if the nodes run
// different programs, for an invalid MARGAY_RMI_* variable, and if the process cannot join (host::join()); the thread
// is then no node. A second call without stop() in between throws, too.
inline void start() {
  core::start(program_identity());
}
// A fence, then leaves the job. Collective, outside of a method. Throws as rmi_fence(), and the thread then remains a
// node. An rmi_object may be destroyed after it.
inline void stop() {
  core::stop();
}
namespace detail {

// run() in one rank.
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

// The number of nodes of the job, and this node's number, from 0. Both are constant from start() to stop().
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
// it ends the requests for the object; a later request fails, and its error names the method and the object. (A
// collective destruction would wait for all nodes when an exception unwinds one of them.)
template <class T>
class rmi_object {
 public:
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
template <class Object>
struct ObjectClass {};
template <class T>
struct ObjectClass<T*> {
  using type = std::remove_const_t<T>;
};
template <class T>
struct ObjectClass<rmi_object<T>> {
  using type = T;
};
template <class Object>
using ObjectClassOf = typename ObjectClass<std::remove_cvref_t<Object>>::type;

}  // namespace detail

// The monitor of an object (paper, 5.1), held by the program: while this exists, no atomic method of the object runs.
// For the program's own accesses to an object, beside a communication thread; it works with every scheduler. Waits for
// a method in execution. Without effect for an object that is not registered. A fence and other calls for all nodes are
// errors meanwhile. The thread that constructs it destroys it.
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

// The method itself, and whether it is atomic.
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
// in execution or a communication thread runs the methods.
//
// The arguments are packed before it returns. The request leaves with its buffer (paper, 6.3): when that is full or has
// as many requests as set_aggregation() allows, or at a call that polls or waits. While the receiver is slower, a call
// outside of a method executes arrived requests until a buffer is free. Inside a method it throws `error` if more than
// MARGAY_RMI_QUEUE bytes of requests (64 MiB unless set) would queue.
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

// The result of a method that was called by sync_rmi_nonblocking(): "an opaque handle ... subsequently queried" (paper,
// 6.4). Movable; used by its node's thread only. Without wait(), the result, or the method's exception, is discarded
// when it arrives.
template <class Result>
class rmi_handle {
 public:
  // For sync_rmi_nonblocking().
  rmi_handle(int node, std::uint64_t call) : node_(node), call_(call) {}
  ~rmi_handle() {
    if (call_ != 0) core::end_call(call_);
  }
  rmi_handle(rmi_handle&& other) noexcept : node_(other.node_), call_(std::exchange(other.call_, 0)) {}
  rmi_handle(const rmi_handle&) = delete;
  rmi_handle& operator=(const rmi_handle&) = delete;
  rmi_handle& operator=(rmi_handle&&) = delete;

  // Whether the result has arrived. Polls once if it has not.
  [[nodiscard]] bool test() { return core::test_call("rmi_handle::test", need()); }
  // Waits for the result and returns it, executing requests of others meanwhile. Throws `remote_error` if the method
  // threw. The handle is used up: every later call of its functions throws `error`.
  Result wait() {
    core::wait_call("rmi_handle::wait", need());
    return take();
  }
  // `co_await handle`: suspends the coroutine until a call of RMI, outside of a method, finds the result. Fences wait
  // for what the coroutine does then, up to its next suspension, by the rules of a method. An exception must not leave
  // it.
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
// sent. The request may still be in its buffer: complete() or finish() sends it.
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

// "asks a question": requests the method, and waits for its result, executing requests of others meanwhile. Throws
// `remote_error` if the method threw, and `error` in a method that waits for an atomic method of its own object on this
// node, which could run only after it.
template <class Object, class Method, class... Argument>
detail::ModeResult<Method> sync_rmi(int node, const Object& object, Method method, Argument&&... argument) {
  return detail::ask("sync_rmi", node, object, method, std::forward<Argument>(argument)...).complete("sync_rmi");
}
// The same without the wait. At most 256 results are awaited at once; the next call waits for one of them.
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
// root.
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

// A broadcast on its way: a method of the object itself, so that its monitor and its order are those of other requests.
// `root`: the caller's place in the group. `words`: the packed request that each node executes.
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

// Broadcasts in a group, whose member the caller is; see the next function.
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
// relative to this node's other requests is kept only at the nodes to which this node itself sends it.
template <class Object, class Method, class... Argument>
requires(!std::is_same_v<Object, rmi_group>) void broadcast_rmi(const Object& object, Method method,
                                                                Argument&&... argument) {
  broadcast_rmi(rmi_group(), object, method, std::forward<Argument>(argument)...);
}

namespace detail {

// The bytes of a part of a collection.
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

// The state of one collection: this node's part, or the first failure.
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
  // The result of all replaces this node's part or failure.
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

// Collects in a group, in the order of places. Collective over the group; see the next function.
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
// the parts combined in the order of nodes: combine(part of node 0, part of node 1), and so on. `input`: this node's
// argument, which is not sent. `combine`: associative, because the parts are combined along a tree. `output`: set to
// the result, and unchanged on an exception. Collective, outside of a method. Throws `remote_error` on all nodes if a
// method or a combination threw.
template <class T, class Method, class In, class Out, class Combine = std::plus<>>
void collect_rmi(T* object, Method method, const In& input, Out& output, Combine combine = {}) {
  collect_rmi(rmi_group(), object, method, input, output, std::move(combine));
}

// --- Synchronisation (paper, 5.1). ---

// Waits until all nodes have arrived and all requests of all nodes are executed, those of methods too; executes
// requests meanwhile. Collective, outside of a method. Throws the first exception of the asynchronous methods that this
// node called since its last fence, as a `remote_error` with the number of the others in its text.
inline void rmi_fence() {
  core::fence();
}
// The same by this tree instead of the one that MARGAY_RMI_FENCE selects. Throws `error` for central and mcs unless all
// nodes are threads of one process. Requires: the same tree on all nodes.
inline void rmi_fence(Tree tree) {
  core::fence(tree);
}
// Waits until all members of the group have arrived, and all requests of members to members are executed, those of
// methods too, as far as each request on the way went from a member to a member. Collective over the group, outside of
// a method. Throws as rmi_fence().
inline void rmi_fence(const rmi_group& group) {
  core::fence_group(group.number("rmi_fence"));
}
// Waits until any request has been executed on this node since this call began.
inline void rmi_wait() {
  core::wait_for_request();
}
// Waits until more than `seen` requests have been executed on this node. With the value of requests_executed() from
// before the program looked whether it has to wait, no request is missed.
inline void rmi_wait(std::uint64_t seen) {
  core::wait_for_request(seen);
}
// Sends all requests that still lie in buffers, and executes the requests that have arrived.
inline void rmi_poll() {
  core::poll("rmi_poll");
}
// Makes every `calls`-th asynchronous call of this node poll (6.2): 1024 unless set. Sending a buffer polls in any
// case. Throws `error` for 0.
inline void set_poll_rate(std::uint32_t calls) {
  core::set_poll_rate(calls);
}
// Sets the number of requests after which the buffer to `node` is sent, full or not (6.3), from its next buffer on.
// Unless set, it is MARGAY_RMI_FACTOR, or 128 for nodes that share memory and 512 for others. No effect for the own
// node. Throws `error` for 0.
inline void set_aggregation(int node, std::uint32_t requests) {
  core::set_aggregation(node, requests);
}
// Requests executed on this node since start().
[[nodiscard]] inline std::uint64_t requests_executed() {
  return core::requests_executed();
}

// --- Parallel tasks (paper, 5). ---

// The base class of an algorithm's object: execute() is the algorithm, which each node runs on its own object.
class parallel_task {
 public:
  virtual ~parallel_task() = default;
  virtual void execute() = 0;
};

// Registers the task of each node under one id, so that `this` names it towards any node, runs execute(), and ends its
// requests by a fence. Collective. `Task`: the class whose methods are called.
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
