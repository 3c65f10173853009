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
//
// The declarations, with the contract of each call, are in margay/rmi/: run.hpp, object.hpp, call.hpp, collective.hpp,
// synchronize.hpp, group.hpp and task.hpp. Programs include this header only.
#pragma once

#include "margay/rmi/call.hpp"
#include "margay/rmi/collective.hpp"
#include "margay/rmi/group.hpp"
#include "margay/rmi/object.hpp"
#include "margay/rmi/run.hpp"
#include "margay/rmi/synchronize.hpp"
#include "margay/rmi/task.hpp"

#ifdef MARGAY_RMI_STAPL
namespace stapl = margay::rmi;
#endif
