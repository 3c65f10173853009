// Calls of a method on all nodes, or on the members of a group: broadcast_rmi and collect_rmi (paper, 5). Part of
// margay/rmi.hpp.
//
//   broadcast_rmi(&counter, &Counter::add, 5);                               // by one node; does not wait
//   long sum = 0;
//   collect_rmi(&counter, &Counter::count, 'x', sum);                        // by all nodes: void count(char, long&)
//
//   call            called by      runs on                       result
//   broadcast_rmi   one node       all nodes, by a request       none; exceptions at the caller's next fence
//   collect_rmi     all nodes      all nodes, by a plain call    the parts combined, on all nodes; exceptions on all
//
// With a group as the first argument, "all nodes" are its members. A broadcast may be made in a method, a collection
// may not. Neither is a fence: requests that were made before may be executed later.
//
// Both go along a binomial tree of the members: at most log2(members) requests, rounded up, follow one another from its
// root to its leaves.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "margay/rmi/group.hpp"
#include "margay/rmi/node.hpp"
#include "margay/rmi/object.hpp"
#include "margay/rmi/reply.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi {

// Broadcasts in a group: from this node, a member, to all members; see the next function. Throws `error` if this node
// is not a member. The group must not be freed before a fence has ended its broadcasts, because members use it to
// forward them.
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
  core::broadcast(number, words);
}
// "makes a statement to all nodes", the own one too, and does not wait for its execution. Not collective. An exception
// of the method on any node is thrown by this node's next fence. The request travels down a binomial tree, so its order
// relative to this node's other requests is kept only at the nodes to which this node itself sends it. Broadcasts of
// different nodes have no common order.
//
// The arguments are packed once, and copied for each node; an argument that can only be moved is a compile-time error.
// Waits for a free buffer and throws as async_rmi(). Cost: one request to each other node, of which a node sends at
// most log2(nodes), rounded up. Each has the packed request, with a head of its own.
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

// The state of one collection: this node's part, or the first failure. After a failure the node still takes and sends
// parts, because its neighbours in the tree wait for them; the failure is then its part.
template <class Out>
class Collecting {
 public:
  explicit Collecting(const core::Collection& collection) : collection_(collection) {}
  // Calls `step`, and keeps the first exception. Passes on that of a cancelled thread.
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (const std::exception& exception) {
      keep(exception.what());
    } catch (...) {
      keep("an exception that does not derive from std::exception");
    }
  }
  // Sends this node's part, or its failure, which may be that of the packing. Does not wait.
  void send(std::uint32_t node) {
    PartSink sink;
    if (!failed_) attempt([&] { write_result(sink, part); });
    if (failed_) write_failure(sink, failure_);
    core::send_part(node, collection_.number, sink.bytes());
  }
  // Waits for the part of a node, and calls `step` with it.
  template <class Step>
  void take(std::uint32_t node, Step&& step) {
    const std::span<const std::byte> bytes = core::take_part(node, collection_.number);
    attempt([&] { step(read_reply<Out>(bytes, static_cast<int>(node))); });
  }
  // For the result of all, which replaces this node's part or failure: it is a failure if any node's part was.
  void forget_failure() { failed_ = false; }
  // Throws `remote_error` if the collection failed. Its text names the node that threw, because attempt() put it there.
  void throw_failure() {
    if (failed_) throw remote_error(static_cast<int>(core::node_of("collect_rmi").rank), std::move(failure_));
  }

  // This node's part, combined with those of the nodes below it; in the end the result. Meaningless after a failure.
  Out part{};

 private:
  void keep(const char* what) {
    const std::string node = std::to_string(core::node_of("collect_rmi").rank);
    if (!failed_) failure_ = make_failure("collect_rmi", "node " + node + ": " + what);
    failed_ = true;
  }

  const core::Collection collection_;
  Failure failure_;
  bool failed_ = false;
};

}  // namespace detail

// Collects in a group: all members get the parts combined in the order of indices. Collective over the group; see the
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
  // Up the tree: the children's parts follow this node's, in the order of indices.
  for (const std::uint32_t child : collection.children) {
    all.take(child, [&](Out theirs) { all.part = combine(std::move(all.part), std::move(theirs)); });
  }
  if (collection.parent != core::kNoNode) {
    all.send(collection.parent);
    all.forget_failure();
    all.take(collection.parent, [&](Out result) { all.part = std::move(result); });
  }
  for (const std::uint32_t child : collection.children) all.send(child);
  // Sends the buffers, which would otherwise leave at the program's next call.
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
// log2(nodes) of them follow one another. It is not a fence: other requests may be on their way before and after it.
template <class T, class Method, class In, class Out, class Combine = std::plus<>>
void collect_rmi(T* object, Method method, const In& input, Out& output, Combine combine = {}) {
  collect_rmi(rmi_group(), object, method, input, output, std::move(combine));
}

}  // namespace margay::rmi
