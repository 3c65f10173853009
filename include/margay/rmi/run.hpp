// The begin and the end of a job of RMI, its number of nodes, and the choice of a scheduler. Part of margay/rmi.hpp.
//
//   int program(int argc, char** argv);                                                    // runs on each node
//   int main(int argc, char** argv) { return margay::rmi::run(argc, argv, program); }
//
// run() is the usual way: it starts a node in each process, or in each of its threads (`margay run --threads N`), and
// ends the job if the program throws. A program may instead call start() and stop() itself, on the thread that calls
// RMI.
#pragma once

#include <exception>

#include "margay/rmi/identity.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi {

// Chooses how this process's nodes schedule requests (paper, 6.2), before start() or run(). It has precedence over
// MARGAY_RMI_SCHEDULER, whose values are polling, interrupt, blocking and nonblocking. Nodes may differ, but a node
// that does not choose `interrupt` itself does not interrupt others. Throws `error` on a thread that is a node.
inline void set_scheduler(Scheduler scheduler) {
  core::set_scheduler(scheduler);
}
// Joins the job: the calling thread becomes a node. Collective, before all other calls. The usual way is run().
//
// Throws `error` for an invalid MARGAY_RMI_* variable, if the process cannot join (host::join()), and if the nodes run
// different programs ("different programs in one job: node 0 runs ..., node 1 runs ..."); the thread is then not a
// node. A second start() throws `error` ("rmi::start() is called twice"), without an effect. Cost: a barrier, and two
// messages between node 0 and each other node, by which the programs are compared; and a thread, if the scheduler needs
// one.
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

}  // namespace margay::rmi
