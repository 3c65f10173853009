// One node of RMI: a rank that has joined, with all parts of the library. Its public functions are those of
// include/margay/rmi/node.hpp, which starting.cpp, calling.cpp, grouping.cpp and synchronization.cpp define.
//
// Threads: the program's thread, which called start(), and with a communication thread (scheduler.hpp) that one too. It
// then runs all methods and resumes all coroutines; otherwise the program's thread does. Each has buffers and a Here of
// its own, and Objects has a mutex; the process lock guards all else. "Inside" marks functions that need this lock
// (host::Call, or Locked), "outside" those that must not hold it. Methods and coroutines of the program run outside.
//
// A wait, in serve_until(): send the thread's buffers that are being filled; execute a request, if this thread runs
// methods and one may begin, and start again; return credits; sleep in the host until a message arrives; take all
// messages. Each part has its own file: outbox, inbox, wire, mailbox.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libraries/rmi/bodies.hpp"
#include "libraries/rmi/buffers.hpp"
#include "libraries/rmi/calls.hpp"
#include "libraries/rmi/fence.hpp"
#include "libraries/rmi/groups.hpp"
#include "libraries/rmi/inbox.hpp"
#include "libraries/rmi/library.hpp"
#include "libraries/rmi/mailbox.hpp"
#include "libraries/rmi/objects.hpp"
#include "libraries/rmi/outbox.hpp"
#include "libraries/rmi/settings.hpp"
#include "libraries/rmi/sleep.hpp"
#include "libraries/rmi/thread_fence.hpp"
#include "libraries/rmi/wire.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

class Node;

// The object kServiceObject of each node: the requests that nodes send one another for RMI itself. They are counted and
// ordered as the program's, so that fences wait for them. Its methods run as the program's do. None of them waits,
// except for the program's method that broadcast() executes, which may wait.
class Service {
 public:
  // `node` owns this object.
  explicit Service(Node& node) : node_(node) {}
  // A method that the receiver had called asynchronously ended with an exception at `node`: its next fence throws it.
  void keep_failure(std::uint32_t node, const Failure& failure);
  // A part of a collection, from a child or the parent. Kept until the program takes it, because a node may be ahead.
  // In words, so that the bytes are aligned to 8; `bytes`: those that count. Throws `error` if they are more than the
  // words have.
  void take_part(std::uint32_t node, std::uint64_t collect, const std::vector<std::uint64_t>& words,
                 std::uint64_t bytes);
  // Forwards a broadcast of `root` in a group: sends the packed `request` to the nodes below, and then executes it on
  // its object. The only method whose requests name that object instead of kServiceObject, so that the object's monitor
  // and order hold; it runs whether the object exists or not, because the nodes below need it. Failures go to `root`.
  // Throws `error` if the request is damaged.
  void broadcast(std::uint32_t group, std::uint32_t root, std::span<const std::uint64_t> request);

 private:
  Node& node_;
};

class Node {
 public:
  // Allocates all memory for arrivals, by the bounds of library.hpp. Inside. `rank` outlives the node.
  Node(host::Rank& rank, const Settings& settings);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Attaches the portals, waits until all nodes have, and compares the programs. Throws `error` if a portal is in use,
  // if a node is lost, if the programs differ, and for a fence of threads (MARGAY_RMI_FENCE) that this job cannot have.
  // Once. Inside.
  void open(const char* call, const ProgramIdentity& identity);
  // Waits until nothing of this node's is under way: no buffer without its credit, no parcel, no long body, no awaited
  // call. The other nodes must serve meanwhile. Inside.
  void drain(const char* call);

  // Serves the other nodes until `done()`: sends buffers, takes what arrives, executes it. All waits of RMI are this
  // one. `call`: the name that reports show. `peer`: the node that the wait needs, or kAnyRank; throws `error` if it,
  // or any, is lost. `why`: the reason for which buffers leave. `done` is called often, and runs no method. Inside; not
  // in a condition of a wait.
  template <typename Done>
  void serve_until(const char* call, portals::Rank peer, Flush why, Done done);
  // One round of the same, without a wait: sends, takes, and outside of a method executes until nothing is left.
  // Inside.
  void poll(Flush why);
  // Sends all buffers that are being filled. Inside.
  void flush_all(Flush why);
  // Takes everything that has arrived. Runs no method, but wakes the communication thread for them. Inside.
  void take() {
    // Each round of a wait comes here, mostly without an arrival.
    if (!activity_.arrived && wire.idle() && bodies.idle() && !calls.fetching()) [[likely]]
      return;
    take_activity();
  }
  // Adds the requests since the last time to the rank's counters, which `--stats` and `margay top` read. Inside.
  void publish();
  // Waits until at most kAhead of the destination's buffers queue, so that a sender is not faster than its receiver.
  // Throws `error` if that node is lost. Inside, outside of a method.
  void wait_for_credits(const char* call, std::uint32_t node);
  // Executes the requests of this node to itself, and those that their methods add. Outside; not in a method. Requires:
  // !threaded().
  void run_own_requests();
  // Throws `error` in a method, and while the program holds a monitor: for calls that wait for all nodes, because a
  // fence waits for the end of the method that would call it, and for requests that the monitor keeps waiting.
  void refuse_in_method(const char* call) const;
  // Throws `error` if the program holds calls, for which drain() would wait forever.
  void refuse_held_calls(const char* call);
  // Whether the node has a communication thread, whether the calling thread is that one, and whether it runs the
  // methods.
  [[nodiscard]] bool threaded() const { return settings.scheduler != Scheduler::explicit_polling; }
  [[nodiscard]] bool on_thread() const { return core::here == &thread_here; }
  [[nodiscard]] bool runs_methods() const { return !threaded() || on_thread(); }
  // Whether the calling thread is in a method.
  [[nodiscard]] bool in_method() const { return runs_methods() && inbox.depth() != 0; }
  // Whether the calling thread must not wait for room: the requests that it keeps from running may be the ones that
  // their senders need executed to make room.
  [[nodiscard]] bool must_not_wait() const { return in_method() || (!on_thread() && held != 0); }
  [[nodiscard]] Side side() const { return on_thread() ? Side::thread : Side::program; }
  // The calling thread's buffers.
  [[nodiscard]] Buffers& buffers() { return on_thread() ? thread_buffers : program_buffers; }
  // Closes the calling thread's buffer of a destination, and sends or executes it later. Inside.
  void flush(std::uint32_t node, Flush why);
  // Executes requests. Returns whether there were any. Inside. Requires: runs_methods(), as for resume().
  bool run();
  // Whether something has arrived that the communication thread would take or execute. Inside.
  [[nodiscard]] bool has_arrivals();
  // Resumes a coroutine whose result is here, by the rules of a method; nothing while a method is in execution. Returns
  // whether there was one. Inside.
  bool resume();
  // Whether run() or resume() would do anything. Inside.
  [[nodiscard]] bool runnable() { return inbox.runnable() || (inbox.depth() == 0 && calls.resumable()); }
  // Counts for fences: requests sent and coroutines suspended; requests executed and coroutines resumed. A suspended
  // coroutine counts like a request on its way, because it may send others.
  [[nodiscard]] std::uint64_t begun(bool parity) const { return outbox.sent(parity) + suspended[parity ? 1 : 0]; }
  [[nodiscard]] std::uint64_t ended(bool parity) const { return inbox.executed(parity) + resumed[parity ? 1 : 0]; }
  // Throws `error` for a fence of threads, unless all nodes are threads of one process.
  void check_tree(const char* call, Tree tree) const;
  // A barrier that executes requests meanwhile. Inside. Throws `error` if a node is lost.
  void barrier(const char* call);

  // The parts, in the order of their construction: later ones have references to earlier ones. Public, because the
  // functions of the library are written in several files over them.
  host::Rank& rank;
  // The counters of the rank and the settings of this start(). `here` is the part that inline calls read.
  const Counters counters{counters_of(rank)};
  const Settings settings;
  // The program's, and the communication thread's.
  Here here, thread_here;
  Buffers program_buffers, thread_buffers;
  Objects objects;
  Wire wire{rank};
  Bodies bodies{rank, wire};
  Calls calls{bodies};
  // Portals 48 to 51. Declared before the parts that take from them.
  Mailbox requests, replies, control, credits;
  Outbox outbox;
  Inbox inbox;
  Groups groups{rank, wire, settings.rule};
  // Of all nodes.
  Fence& fence = groups.all().fence;
  ThreadFence thread_fence{rank, settings.rule};
  Tree usual_tree = Tree::exchange;  // of fences that name none
  Service service{*this};
  // Coroutines that waited for a result, and those that have it, by the parity of their suspension.
  std::array<std::uint64_t, 2> suspended{}, resumed{};
  // Failures of asynchronous methods that this node called, and their nodes.
  std::vector<std::pair<std::uint32_t, Failure>> failures;
  // Parts of collections that have arrived, by collection and node; and the one taken last.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<std::byte>> parts;
  std::vector<std::byte> taken_part;
  // The communication thread's sleep, if it is one of interrupts.
  Sleep sleep;
  // Monitors that the program holds.
  unsigned held = 0;
  // Whether the fence of stop() has begun.
  bool past_last_fence = false;

 private:
  // Whether a message has arrived, or a node was lost, since the last take_activity(). Set by the host in progress
  // rounds, so that an idle round reads one flag instead of four portals.
  struct Activity final : host::Observer {
    bool arrived = false;
    void notify() override { arrived = true; }
  };
  // The part of take() with something to take. The order is a choice: credits first, so that queued buffers leave.
  void take_activity();
  // The messages of one portal each. They end the job if the message is damaged or not due.
  void take_credits(const portals::Header& header);
  void take_reply(const Mailbox::Message& message);
  void take_control(const Mailbox::Message& message);
  // The exchange of program identities with node 0, which answers each node with the first difference, or with an empty
  // text. Throws `error` with it.
  void compare(const char* call, const ProgramIdentity& identity);
  Activity activity_;
  // On node 0, until compared: the other nodes' identities.
  std::map<std::uint32_t, ProgramIdentity> identities_;
  bool has_verdict_ = false;
  // The part of both counts that is on the job board.
  std::uint64_t published_sent_ = 0, published_executed_ = 0;
  std::string verdict_;
};

// The calling thread's node, which owns the object of core::here. Throws `error` if the thread has none.
[[nodiscard]] inline Node& this_node(const char* call) {
  return *node_of(call).node;
}

// Excludes the node's other thread, if it has one. Requires: outside.
class Locked {
 public:
  explicit Locked(Node& node) : rank_(node.threaded() ? &node.rank : nullptr) {
    if (rank_ != nullptr) rank_->lock();
  }
  ~Locked() {
    if (rank_ != nullptr) rank_->unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  host::Rank* const rank_;
};

template <typename Done>
void Node::serve_until(const char* call, portals::Rank peer, Flush why, Done done) {
  const bool runs = runs_methods();
  for (;;) {
    flush_all(why);
    if (done()) return;
    if (runs && (run() || resume())) continue;
    if (in_method()) inbox.owe_early_credits();
    outbox.send_owed();
    // One message at a time: most waits are for one.
    const host::Wait wait{.call = call, .peer = peer, .messages = 1, .is_idle = on_thread() && !in_method()};
    // The node's other thread may test the condition.
    const portals::Status status = host::wait_until(rank, wait, [&] {
      take();
      return done() || (runs && runnable());
    });
    publish();
    if (!status.ok()) fail(status.sentence());
  }
}

}  // namespace margay::rmi::core
