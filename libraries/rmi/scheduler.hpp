// The communication thread of one node: the paper's ways to schedule requests (6.2) except explicit polling. It alone
// runs the methods of its node.
//
// interrupt:           the thread sleeps. The progress round that finds a message, of the message coprocessor or of a
//                      call of the program, wakes it.
// blocking_thread:     the thread waits for messages in the host, as a call does.
// nonblocking_thread:  the thread polls, runs the methods, and yields its processor.
#pragma once

#include <sys/types.h>

#include <semaphore>
#include <stop_token>
#include <thread>

#include "libraries/rmi/node.hpp"
#include "margay/host.hpp"

namespace margay::rmi::core {

// Starts with the node, after its open(), and ends before it, because the thread uses the node.
class CommunicationThread final : private host::Observer {
 public:
  explicit CommunicationThread(Node& node) : node_(node) {}
  // Calls stop().
  ~CommunicationThread() override { stop(); }

  // Starts the thread, if the node has one. Throws `error` if it cannot be created. Outside, as stop().
  void start();
  // Ends the thread, after the method in execution. Does nothing if there is none.
  void stop();
  // The same in exit(), if the program has not called stop(). A method in execution may never return, so it waits for a
  // few seconds only, and then ends the job, because the method could use objects that exit() destroys. start() may
  // follow. Inside or outside.
  void stop_soon();

 private:
  // A progress round of any thread of the process, for `interrupt`. Inside; runs no method.
  void notify() override;
  // The thread. An exception ends the job, because there is no caller to which it could go.
  void run();
  void run_interrupts();

  Node& node_;
  // Outside of the lock too: see stop_soon().
  std::stop_source stopping_;
  // Released at the end of the thread.
  std::binary_semaphore ended_{0};
  pid_t process_ = 0;
  std::thread thread_;
};

}  // namespace margay::rmi::core
