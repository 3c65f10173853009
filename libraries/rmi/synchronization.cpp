// Fences, waits, broadcasts and collections of node.hpp.
#include <algorithm>
#include <array>
#include <utility>

#include "libraries/rmi/node.hpp"
#include "libraries/rmi/tree.hpp"
#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi::core {
namespace {

// The names of fences' waits in reports, by Tree: if nodes make one fence by different trees and no message reveals
// that, the nodes deadlock, and the names show why.
constexpr std::array<const char*, 6> kWaits{"rmi_fence(flat)",     "rmi_fence(binary)",  "rmi_fence(hypercube)",
                                            "rmi_fence(exchange)", "rmi_fence(central)", "rmi_fence(mcs)"};
constexpr char kGroupWait[] = "rmi_fence(group)";

// Throws the first failure of an asynchronous method that this node called, and counts the others in its text.
void throw_failures(Node& node) {
  std::vector<std::pair<std::uint32_t, Failure>> failures;
  {
    const Locked locked(node);
    // Taken before the exception: the next fence must not throw them again.
    failures.swap(node.failures);
  }
  if (failures.empty()) return;
  auto [where, first] = std::move(failures.front());
  const std::size_t others = failures.size() - 1;
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
    // After the counts and after flush_all(): no buffer of the program has requests of both parities.
    node.outbox.set_parity(!parity);
    const auto wait_in = [&](auto& fence) {
      fence.arrive(tree, node.settings.rule == Rule::paper ? counts() : of_fence);
      node.serve_until(kWaits[static_cast<std::size_t>(tree)], portals::kAnyRank, Flush::fence,
                       [&] { return node.inbox.at_rest() && fence.advance(counts); });
    };
    if (is_of_threads(tree)) {
      node.fence.count(tree);
      wait_in(node.thread_fence);
    } else {
      wait_in(node.fence);
    }
  }
  // Outside of the call, and after the fence has ended: an exception before its end would leave the other nodes in it.
  throw_failures(node);
}

void fence_group(std::uint32_t number) {
  // The fence of all nodes counts by parity, and ends in one wave.
  if (number == 0) return fence();
  constexpr char kCall[] = "rmi_fence";
  Node& node = this_node(kCall);
  node.refuse_in_method(kCall);
  {
    const host::Call call(node.rank, kCall);
    Group& group = node.groups.find(kCall, number);
    node.flush_all(Flush::fence);
    // A node that suspends coroutines counts them for each of its groups, because each may send requests in any.
    const auto counts = [&] {
      Sums sums{.sent = node.suspended[0] + node.suspended[1], .executed = node.resumed[0] + node.resumed[1]};
      for (const std::uint32_t member : group.members) {
        sums.sent += node.outbox.sent_to(member);
        sums.executed += node.inbox.executed_of(member);
      }
      sums.executed_ever = sums.executed;
      return sums;
    };
    // The fences of threads count all nodes.
    const Tree tree = is_of_threads(node.usual_tree) ? Tree::exchange : node.usual_tree;
    group.fence.arrive(tree, counts());
    node.serve_until(kGroupWait, portals::kAnyRank, Flush::fence,
                     [&] { return node.inbox.at_rest() && group.fence.advance(counts); });
  }
  throw_failures(node);
}

void fence() {
  fence(this_node("rmi_fence").usual_tree);
}

void wait_for_request() {
  constexpr char kCall[] = "rmi_wait";
  Node& node = this_node(kCall);
  const host::Call call(node.rank, kCall);
  const std::uint64_t before = node.inbox.executed();
  node.serve_until(kCall, portals::kAnyRank, Flush::wait, [&] { return node.inbox.executed() != before; });
}

void wait_for_request(std::uint64_t seen) {
  constexpr char kCall[] = "rmi_wait";
  Node& node = this_node(kCall);
  const host::Call call(node.rank, kCall);
  node.serve_until(kCall, portals::kAnyRank, Flush::wait, [&] { return node.inbox.executed() > seen; });
}

void set_poll_rate(std::uint32_t calls) {
  static_cast<void>(this_node("set_poll_rate"));
  if (calls == 0) fail("set_poll_rate: every 0-th call cannot poll; 1 polls in every call");
  here->poll_rate = here->calls_to_poll = calls;
}

void set_aggregation(int destination, std::uint32_t requests) {
  constexpr char kCall[] = "set_aggregation";
  Node& node = this_node(kCall);
  static_cast<void>(writer_of(node.here, kCall, destination));
  if (requests == 0) fail("set_aggregation: a buffer of 0 requests is never sent; 1 sends each request by itself");
  const auto number = static_cast<std::uint32_t>(destination);
  const Locked locked(node);
  if (number != node.here.rank || node.threaded()) node.outbox.set_factor(number, requests);
}

std::uint64_t requests_executed() {
  Node& node = this_node("requests_executed");
  const Locked locked(node);
  return node.inbox.executed();
}

namespace {

// Waits until no method of the object runs, and enters its monitor. Requires: this thread is not in it.
void enter(Node& node, const char* name, std::uint32_t object) {
  const Side side = node.side();
  bool entered = node.objects.try_enter(object, side);
  if (!entered) {
    const host::Call call(node.rank, name);
    // The condition may be tested after it has held.
    node.serve_until(name, portals::kAnyRank, Flush::poll,
                     [&] { return entered = entered || node.objects.try_enter(object, side); });
  }
  if (!node.in_method()) ++node.held;
}

}  // namespace

std::uint32_t enter_monitor(const char* name, const void* address, const std::type_info& type) {
  Node& node = this_node(name);
  const std::type_info* other = nullptr;
  const std::uint32_t object = node.objects.id_of(address, type, other);
  if (object == kNoObject) return object;
  if (node.objects.holder(object) == node.side())
    fail(std::string(name) +
         ": this thread holds the monitor of its object already; a method has it of its own object");
  enter(node, name, object);
  return object;
}

std::uint32_t enter_unless_held(const char* name, std::uint32_t object) {
  Node& node = this_node(name);
  if (node.objects.holder(object) == node.side()) return kNoObject;
  enter(node, name, object);
  return object;
}

void leave_monitor(std::uint32_t object) noexcept {
  if (object == kNoObject || here == nullptr) return;
  Node& node = *here->node;
  if (!node.in_method()) --node.held;
  node.objects.leave(object);
  // Requests for the object may have waited, for which no message arrives that would wake the communication thread.
  const Locked locked(node);
  node.sleep.wake();
}

void broadcast(std::uint32_t group, std::span<const std::uint64_t> request) {
  constexpr char kCall[] = "broadcast_rmi";
  Node& node = this_node(kCall);
  const GroupView members = view_group(kCall, group);
  const RequestView view = RequestView::parse(std::as_bytes(request));
  // The own node's request forwards it.
  post<Service>(here->writers[node.here.rank], Envelope{.object = view.object(), .atomic = view.atomic()},
                method<&Service::broadcast>, group, node.here.rank, request);
  count_call(*here, kCall);
  if (node.must_not_wait()) return;
  {
    const Locked locked(node);
    if (node.outbox.queued_bytes() == 0) return;
  }
  // Forwarding runs in a method, which does not wait for credits: without this wait, no broadcast in a loop would wait.
  const host::Call call(node.rank, kCall);
  for_each_forward(members.index, members.index, static_cast<std::uint32_t>(members.nodes.size()),
                   [&](std::uint32_t below) { node.wait_for_credits(kCall, members.nodes[below]); });
}

Collection begin_collect(const char* call, std::uint32_t number) {
  Node& node = this_node(call);
  node.refuse_in_method(call);
  const Locked locked(node);
  Group& group = node.groups.find(call, number);
  // Collections of different groups never have the same number.
  constexpr unsigned kGroupShift = 32;
  return {std::uint64_t{number} << kGroupShift | (++group.collects & 0xffff'ffff), group.children, group.parent};
}

void send_part(std::uint32_t destination, std::uint64_t collect, std::span<const std::byte> bytes) {
  Node& node = this_node("collect_rmi");
  std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  // Not atomic: the method neither waits nor calls the program, so it needs no monitor.
  post<Service>(here->writers[destination], Envelope{.object = kServiceObject, .atomic = false},
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
