// Synchronisation (paper, 5.1): fences, waits and polls, and how often calls poll and buffers leave (6.2, 6.3). Part of
// margay/rmi.hpp.
//
//   rmi_fence();                                                        // all requests of all nodes are executed
//   while (!done) {                                                     // which a method of this node's object sets
//     const std::uint64_t seen = requests_executed();
//     if (!done) rmi_wait(seen);
//   }
//
// Only a fence waits for the requests of all nodes. A wait or a poll executes those that have arrived on this node.
#pragma once

#include <cstdint>

#include "margay/rmi/group.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi {

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
// and mcs unless all nodes are threads of one process. Requires: the same tree on all nodes; otherwise the job ends
// with an error that names two nodes and their trees, or, if no message shows it, the nodes wait for one another.
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
// Waits until more than `seen` requests have been executed on this node. No request is missed if `seen` is the value of
// requests_executed() from before the test of the program's own condition. Throws `error` if a node is lost.
inline void rmi_wait(std::uint64_t seen) {
  core::wait_for_request(seen);
}
// Sends all requests that still lie in buffers, and executes the requests that have arrived (paper, 6.2). Inside a
// method it sends only, because methods run only while another one waits; so it does where a communication thread runs
// the methods. A node that polls explicitly and computes for long calls it in its loop; otherwise it executes no
// requests. Without anything to do it costs a progress round of the host.
inline void rmi_poll() {
  core::poll("rmi_poll");
}
// Makes every `calls`-th asynchronous call of this node poll (paper, 6.2): 1024 unless set. Counted are async_rmi(),
// broadcast_rmi() and sync_rmi_nonblocking(); the other calls poll or wait each time. With a low value, other nodes get
// answers sooner, and buffers are smaller. Sending a buffer polls in any case. Throws `error` for 0.
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

}  // namespace margay::rmi
