// The buffers that have arrived at one node, and the execution of their requests (paper, 5.1, 6.2 and 6.3).
//
// 1. Requests of one source begin in the order in which it sent them: by the numbers of its buffers, because a short
//    buffer may pass a long one in the mailbox.
// 2. An atomic method runs as in a monitor of its object. A method that waits (sync_rmi) lets methods of other objects
//    run meanwhile. A request for an object that is in execution waits, and with it all that its source sent behind it.
// 3. Requests of a buffer are executed by one step out of the lock, up to one whose result travels.
// 4. Executed requests are counted at the end of their step, under the lock, before the lock is left again: a fence of
//    the node's other thread finds either a method in execution, or all that it has sent.
// 5. When all requests of a buffer have been executed, its room is freed, and its source gets a credit. While a method
//    waits, it gets the credit of a buffer whose requests have all begun: otherwise it could not send the request that
//    the method waits for, such as a call back.
//
// The way of a buffer: take() or add_own() queues it; execute() runs its requests, perhaps in several steps and with
// other buffers in between; it leaves the queue when all its requests have begun, and finish() frees it when all have
// ended.
//
// A step: the thread leaves the lock, executes requests one after the other, and returns with at most one reply, which
// is sent inside. So an asynchronous request costs no lock of its own, and a buffer of them costs one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "libraries/rmi/bodies.hpp"
#include "libraries/rmi/calls.hpp"
#include "libraries/rmi/mailbox.hpp"
#include "libraries/rmi/objects.hpp"
#include "libraries/rmi/outbox.hpp"
#include "margay/rmi/request_head.hpp"

namespace margay::rmi::core {

// The receiving side of one node. One thread runs the methods; the node's other thread takes messages, too. "Inside":
// with the process lock. Methods of the program run outside of it, and may call this class again: all loops here allow
// for that.
class Inbox {
 public:
  // All are the node's. `side`: the thread that runs the methods, and alone calls the functions about methods.
  // `broadcast`: the hash of the functor of Service::broadcast(), whose requests name the broadcast's object, but are
  // executed on kServiceObject.
  Inbox(host::Rank& rank, Mailbox& mailbox, Wire& wire, Bodies& bodies, Objects& objects, Calls& calls, Outbox& outbox,
        Side side, std::uint32_t broadcast);
  ~Inbox();

  // Takes what has arrived at portal 48, and the credits that ride on it. Runs no method. Ends the job for a damaged
  // message. Inside.
  void take();
  // Adds a buffer of the node's own requests, which takes no message and no credit. Inside, unless the node has one
  // thread. `side`: the thread that has sent them.
  void add_own(Filled filled, Side side);
  // Whether run() would execute a request. The condition of a wait, so it executes nothing.
  [[nodiscard]] bool runnable() { return queued_ != 0 && any_runnable(); }
  // Executes requests of the next source, in turn, so that a busy source does not starve the others. Returns whether
  // there was one. Inside.
  bool run();
  // The same for the own node's requests, outside: a request to itself costs no lock. Requires: the node has one
  // thread.
  bool run_own();
  // Buffers of the own node's program that have not been executed.
  [[nodiscard]] std::size_t own_queued() const { return queues_[me_].buffers.size(); }
  // The bytes of memory of the node's buffers to itself with requests that have not begun. Inside.
  [[nodiscard]] std::size_t own_bytes() const { return own_bytes_; }

  // Owes the credits of buffers whose requests have all begun, before a wait inside a method (invariant 5). Inside.
  void owe_early_credits();

  // How many methods are in execution, each inside a wait of the one before. For the thread that runs them: 0 means
  // that it is in none, so that its calls may wait for all nodes.
  [[nodiscard]] unsigned depth() const { return depth_; }
  // Makes the rules of methods hold for other functions of the program that this node runs by itself.
  void begin_method() { ++depth_; }
  void end_method() { --depth_; }
  // Whether no request is in execution. Inside.
  [[nodiscard]] bool at_rest() const { return running_.empty(); }
  // Requests executed since start(), by the parity of their sender's fence, and all; those of RMI itself too.
  [[nodiscard]] std::uint64_t executed(bool parity) const { return executed_[parity ? 1 : 0]; }
  [[nodiscard]] std::uint64_t executed() const { return executed_[0] + executed_[1]; }
  // Requests of one node.
  [[nodiscard]] std::uint64_t executed_of(std::uint32_t node) const { return executed_of_[node]; }

 private:
  // A buffer that arrived. Its memory is the mailbox's, or owned. Its address does not change, because executions refer
  // to it while others run inside them.
  struct Arrived {
    std::uint32_t source = 0;
    std::uint32_t queue = 0;  // its index in queues_
    std::uint32_t number = 0;
    std::uint32_t count = 0;  // requests that have not begun
    unsigned running = 0;     // executions that are in it
    bool parity = false;
    bool queued = true;
    bool credited = false;  // the source has its credit, or has nothing to get
    const std::byte* next = nullptr;
    const std::byte* end = nullptr;
    Mailbox::Message message;  // its header is null: the memory is owned
    Fetch* fetch = nullptr;    // its body is on the way
    Filled owned;
  };
  // The results of one execution out of the lock, which the lock's holder then sends.
  struct Step;

  // Whether a source has a request that may begin now. Ends fetches that are done.
  [[nodiscard]] bool any_runnable();
  // A description of a buffer, made or used again: buffers arrive too often for an allocation of each.
  [[nodiscard]] std::unique_ptr<Arrived> obtain(std::uint32_t source, std::uint32_t number, bool parity,
                                                std::uint32_t count);
  // Puts a buffer into its source's queue, in the order of numbers. A long request's buffer is queued while its body is
  // still on the way, so that later ones wait for it.
  void add(std::unique_ptr<Arrived> arrived);
  // Whether a buffer of this number is due from a source: it is one of the kCredits next numbers, and not queued
  // already. Earlier buffers have left the queue before their credits returned (invariant 5).
  [[nodiscard]] bool is_due(std::uint32_t source, std::uint32_t number) const;
  // The buffer of a queue's next request, if that may begin now, otherwise nullptr: the buffer with the next number is
  // missing or is being fetched, or the request's object is in execution. Takes the first buffer out of the queue if
  // its requests have all begun.
  [[nodiscard]] Arrived* next_of(std::uint32_t queue);
  // Removes a buffer, the first of its queue, from it if all its requests have begun, even if the last one waits.
  void leave_queue(Arrived& arrived);
  // Whether the buffer's next request is for an object whose monitor is held. Damage does not block: it is reported
  // when the request is executed.
  [[nodiscard]] bool blocked(const Arrived& arrived) const;
  // Executes requests of a buffer, and then sends the reply and the credit that result. Requires: it is the first one
  // of its queue.
  void execute(Arrived& arrived, bool inside);
  // The part of execute() out of the lock: methods run here. Does not throw.
  void execute_requests(Arrived& arrived, Step& step);
  // Executes one request. Returns false if the rest of the buffer must wait for the end of the step: for a reply, which
  // needs the lock, or for an object. Ends the job for a damaged request.
  bool execute_next(Arrived& arrived, Step& step);
  // Ends the job because of a damaged buffer, naming its source and number.
  [[noreturn]] void refuse(const Arrived& arrived, const std::string& why);
  // All its requests have been executed: frees its memory and owes its credit, unless it had it early.
  void finish(Arrived& arrived);
  // Sends the reply of a step's last request, with the credits that are owed to its receiver. Inside.
  void send_reply(std::uint32_t source, Step& step);

  host::Rank& rank_;
  Mailbox& mailbox_;
  Wire& wire_;
  Bodies& bodies_;
  Objects& objects_;
  Calls& calls_;
  Outbox& outbox_;
  const Side side_;
  // This node: buffers of its own requests need no credit and no message.
  const std::uint32_t me_;
  const std::uint32_t broadcast_;
  // A source's buffers with requests that have not begun, in the order of their numbers. Numbers wrap after 2^32.
  struct Queue {
    std::deque<std::unique_ptr<Arrived>> buffers;
    std::uint32_t next_number = 0;  // of the buffer that is executed next
  };
  // By source. The last queue has the buffers that this node's communication thread has sent to its own node: a method
  // may wait for them while the program's are blocked.
  std::vector<Queue> queues_;
  // Descriptions that are used again.
  std::vector<std::unique_ptr<Arrived>> spare_;
  // Buffers in which methods are in execution, the innermost last.
  std::vector<Arrived*> running_;
  std::size_t queued_ = 0;  // buffers in all queues
  std::size_t own_bytes_ = 0;
  std::uint32_t turn_ = 0;  // the queue that is served next
  unsigned depth_ = 0;
  // By parity. Counted when the method has returned: a fence must not end while one runs.
  std::array<std::uint64_t, 2> executed_{};
  std::vector<std::uint64_t> executed_of_;
};

}  // namespace margay::rmi::core
