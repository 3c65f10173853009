// Fences, waits and collections of node.hpp.
#include <algorithm>
#include <utility>

#include "libraries/rmi/node.hpp"
#include "libraries/rmi/tree.hpp"
#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi::core {
namespace {

// Throws the first failure of an asynchronous method that this node called, and counts the others in its text.
void throw_failures(Node& node) {
  if (node.failures.empty()) return;
  auto [where, first] = std::move(node.failures.front());
  const std::size_t others = node.failures.size() - 1;
  // Before the exception: the next fence must not throw them again.
  node.failures.clear();
  if (others != 0) first.what += " (and " + std::to_string(others) + " more methods failed before this fence)";
  throw remote_error(static_cast<int>(where), std::move(first));
}

}  // namespace

void fence(Tree tree) {
  constexpr char kCall[] = "rmi_fence";
  Node& node = this_node(kCall);
  node.refuse_in_method(kCall);
  node.check_tree(kCall, tree);
  {
    const host::Call call(node.rank, kCall);
    // This fence's requests are all sent; those of methods that run from here on have the other parity.
    node.flush_all(Flush::fence);
    const bool parity = node.outbox.parity();
    const auto ended_ever = [&node] { return node.ended(false) + node.ended(true); };
    const auto counts = [&] { return Sums{node.begun(false) + node.begun(true), ended_ever(), ended_ever()}; };
    const Sums of_fence{.sent = node.begun(parity), .executed = node.ended(parity), .executed_ever = ended_ever()};
    // After the counts and after flush_all(): no buffer has requests of both parities.
    node.outbox.set_parity(!parity);
    const auto wait_in = [&](auto& fence, const Sums& first) {
      fence.arrive(tree, first);
      node.serve_until(kCall, portals::kAnyRank, Flush::fence, [&] { return fence.advance(counts); });
    };
    if (is_of_threads(tree))
      wait_in(node.thread_fence, of_fence);
    else
      wait_in(node.fence, node.settings.rule == Rule::paper ? counts() : of_fence);
  }
  // Outside of the call, and after the fence has ended: an exception before its end would leave the other nodes in it.
  throw_failures(node);
}

void fence() {
  fence(this_node("rmi_fence").usual_tree);
}

void wait_for_request() {
  constexpr char kCall[] = "rmi_wait";
  Node& node = this_node(kCall);
  const std::uint64_t before = node.inbox.executed();
  const host::Call call(node.rank, kCall);
  node.serve_until(kCall, portals::kAnyRank, Flush::wait, [&] { return node.inbox.executed() != before; });
}

void set_poll_rate(std::uint32_t calls) {
  Node& node = this_node("set_poll_rate");
  if (calls == 0) fail("set_poll_rate: every 0-th call cannot poll; 1 polls in every call");
  node.here.poll_rate = node.here.calls_to_poll = calls;
}

void set_aggregation(int destination, std::uint32_t requests) {
  constexpr char kCall[] = "set_aggregation";
  Node& node = this_node(kCall);
  static_cast<void>(writer_of(node.here, kCall, destination));
  if (requests == 0) fail("set_aggregation: a buffer of 0 requests is never sent; 1 sends each request by itself");
  const auto number = static_cast<std::uint32_t>(destination);
  if (number != node.here.rank) node.outbox.set_factor(number, requests);
}

std::uint64_t requests_executed() {
  return this_node("requests_executed").inbox.executed();
}

std::uint64_t begin_collect() {
  Node& node = this_node("collect_rmi");
  node.refuse_in_method("collect_rmi");
  // Equal on all nodes, because collections are collective: number and sender identify a part.
  return ++node.collects;
}

std::span<const std::uint32_t> collect_children() {
  return this_node("collect_rmi").collect_children;
}

std::uint32_t collect_parent() {
  return parent_of(Tree::hypercube, this_node("collect_rmi").here.rank);
}

void send_part(std::uint32_t destination, std::uint64_t collect, std::span<const std::byte> bytes) {
  Node& node = this_node("collect_rmi");
  std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  // Not atomic: the method neither waits nor calls the program, so it needs no monitor.
  post<Service>(node.here.writers[destination], Envelope{.object = kServiceObject, .atomic = false},
                method<&Service::take_part>, node.here.rank, collect, words, std::uint64_t{bytes.size()});
}

std::span<const std::byte> take_part(std::uint32_t source, std::uint64_t collect) {
  constexpr char kCall[] = "collect_rmi";
  Node& node = this_node(kCall);
  const std::pair key{collect, source};
  const host::Call call(node.rank, kCall);
  // Any lost node: `source` may wait for it, and so send nothing.
  node.serve_until(kCall, portals::kAnyRank, Flush::sync, [&] { return node.parts.contains(key); });
  // Moved to a member, because the caller reads it while further parts change the map.
  node.taken_part = std::move(node.parts.extract(key).mapped());
  return node.taken_part;
}

}  // namespace margay::rmi::core
