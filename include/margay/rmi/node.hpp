// The interface of a node: the functions of libmargay_rmi.so for the templates of margay/rmi.hpp, beside core.hpp.
// Programs do not call these functions themselves.
//
// A node is a rank that has called start(). One thread of the program calls RMI for it, and its communication thread if
// it has one; another thread of the same process may be another node. All functions reach their node through one
// thread-local pointer, without a lock. What the two threads of a node share is guarded by the process lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <typeinfo>

#include "margay/rmi/core.hpp"
#include "margay/rmi/error.hpp"
#include "margay/rmi/identity.hpp"

namespace margay::rmi {

// The trees of a fence (paper, 6.5), with the messages of a wave among p nodes and the number that follow one another:
//   flat        node 0 is the parent of all: 2 (p - 1), 2 in a row, all of them at node 0
//   binary      0 is the parent of 1 and 2, 1 of 3 and 4: 2 (p - 1), about 2 log2(p) in a row
//   hypercube   a node differs from its parent in one bit, so that each edge is one of a hypercube: as binary
//   exchange    in each step all nodes exchange their sums along one dimension of the hypercube, so that all have the
//               result after half as many steps as up and down a tree: p log2(p), log2(p) in a row. Not in the paper
//   central     for threads of one process: a counter, and a sense that the last node reverses. No messages
//   mcs         for threads of one process: the tree of Algorithm 11 of Mellor-Crummey and Scott (1991). No messages
enum class Tree : std::uint8_t { flat, binary, hypercube, exchange, central, mcs };
// Whether the fence is one for threads, which goes through memory: all nodes must be threads of one process.
[[nodiscard]] constexpr bool is_of_threads(Tree tree) {
  return tree == Tree::central || tree == Tree::mcs;
}

// The ways to schedule requests (paper, 6.2). `explicit_polling`: methods run in the calls of RMI alone. In the others
// a thread of the library runs them, beside the program: `interrupt` at their arrival, which the message coprocessor
// finds; `blocking_thread` waits for them; `nonblocking_thread` polls and yields. libraries/rmi/README.md has the
// departures from the paper.
enum class Scheduler : std::uint8_t { explicit_polling, interrupt, blocking_thread, nonblocking_thread };

namespace core {

class Node;

// The id of an object that is not registered.
inline constexpr std::uint32_t kNoObject = std::numeric_limits<std::uint32_t>::max();
// The invalid node number, and the invalid group number.
inline constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();
// The id of each node's Service (libraries/rmi/node.hpp), which receives the requests that nodes send one another
// for RMI itself: parts of collections, and reports of failed methods. Ids of the program's objects begin at 1.
inline constexpr std::uint32_t kServiceObject = 0;

// The part of its node that a thread reads without a function call; the communication thread has one of its own. Owned
// by the library, from start() to stop(); its address is constant in between. The program's templates write only
// `calls_to_poll`.
struct Here {
  // One for each node, by number; the own one too.
  Writer* writers = nullptr;
  std::uint32_t nodes = 0;
  std::uint32_t rank = 0;
  // Whether a communication thread runs the methods, beside the program.
  bool beside = false;
  // Asynchronous calls until the next poll, and from poll to poll; see set_poll_rate().
  std::uint32_t calls_to_poll = 0;
  std::uint32_t poll_rate = 0;
  // The whole node, for the library.
  Node* node = nullptr;

  // The object that was looked up last: most programs call methods of one object many times. The node's other thread
  // clears it when it removes the object; remember() and forget() exclude each other (Objects).
  [[nodiscard]] bool remembers(const void* named, const std::type_info& by) const {
    // relaxed: this thread has written type and object, and a program orders a removal before the calls that follow it
    return address.load(std::memory_order_relaxed) == named && type == &by;
  }
  void remember(const void* named, const std::type_info& by, std::uint32_t id) {
    address.store(named, std::memory_order_relaxed);  // relaxed: as above
    type = &by;
    object = id;
  }
  void forget(std::uint32_t id) {
    if (object == id) address.store(nullptr, std::memory_order_relaxed);  // relaxed: as above
  }
  std::atomic<const void*> address{nullptr};
  const std::type_info* type = nullptr;
  std::uint32_t object = kNoObject;
};

// This thread's node; nullptr: the thread has none. initial-exec: one load.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Here* here;

// Throws `error`: `call` was made before start() or after stop().
[[noreturn]] void not_started(const char* call);
// Throws `error` for an invalid node number.
[[noreturn]] void out_of_range(const char* call, int node);
// The id of a registered object, which `here` then remembers. Throws `error` if it is not registered, or only by
// another type; the message has the cure. Time: proportional to the number of registrations.
[[nodiscard]] std::uint32_t look_up(const char* call, const void* address, const std::type_info& type);
// Sends all buffers, takes what has arrived, and outside of a method executes it. `call`: a literal, the name of the
// program's call for reports and messages, as in all functions here. Throws `error` on a thread that is not a node.
void poll(const char* call);

// The node of the calling thread. Throws `error` if it has none.
[[nodiscard]] inline Here& node_of(const char* call) {
  if (here == nullptr) [[unlikely]]
    not_started(call);
  return *here;
}
// The writer of a destination. Throws `error` for an invalid node number.
[[nodiscard]] inline Writer& writer_of(Here& node, const char* call, int destination) {
  if (static_cast<std::uint32_t>(destination) >= node.nodes) [[unlikely]]
    out_of_range(call, destination);
  return node.writers[destination];
}
// The id of an object by its own address.
[[nodiscard]] inline std::uint32_t id_of(Here& node, const char* call, const void* address,
                                         const std::type_info& type) {
  if (node.remembers(address, type)) [[likely]]
    return node.object;
  return look_up(call, address, type);
}
// Counts an asynchronous call, and polls if it is the n-th one.
inline void count_call(Here& node, const char* call) {
  if (--node.calls_to_poll == 0) [[unlikely]]
    poll(call);
}

// Calls node(argc, argv, program) in each rank of this process: once, or in each thread that is a rank (`margay run
// --threads N`). Returns when all have returned: the first status that is not 0. One call at a time in a process. A
// plain function, because the library cannot instantiate templates of the program.
int run_nodes(int argc, char** argv, int (*node)(int, char**, int (*)(int, char**)), int (*program)(int, char**));
// Chooses the scheduler of the nodes that start() from now on, in this process. Throws `error` on a thread that is a
// node.
void set_scheduler(Scheduler scheduler);
// Joins the job, and compares this program with the other nodes'. Collective. Throws `error`, and the thread is then no
// node: see margay/rmi.hpp. Starts the communication thread, if the scheduler has one.
void start(const ProgramIdentity& identity);
// A fence, then leaves the job. Collective. Throws as fence().
void stop();
// Ends the job with a message, or only this process if it has not joined. For an exception that leaves the program,
// because the other nodes would wait for this one forever.
[[noreturn]] void give_up(const std::string& why);

// Gives an object the same id on all nodes. Collective, outside of a method: returns once all nodes have registered
// theirs. `id` is set before: a communication thread may run the object's methods meanwhile. The type is that of
// `address`. The caller owns the object, and calls remove_object() before it ends. Throws `error` inside a method, and
// if a node is lost.
void add_object(void* address, const std::type_info& type, std::uint32_t& id);
// Forgets the object: later requests for it fail, at their callers. Local. Does nothing after stop().
void remove_object(std::uint32_t id);

// Enters the monitor of the object that is registered by this address and type, and returns its id; kNoObject if there
// is none. Waits while a method of the object runs; throws `error` if this thread is in one.
[[nodiscard]] std::uint32_t enter_monitor(const char* call, const void* address, const std::type_info& type);
// The same by the id of a registered object, for a container's own operations: returns kNoObject, without a wait, if
// the calling thread is in the monitor already.
[[nodiscard]] std::uint32_t enter_unless_held(const char* call, std::uint32_t object);
void leave_monitor(std::uint32_t object) noexcept;

// A call whose result is awaited. Its number goes into the request's envelope; a nested call is another one.
//   number = begin_call(); post the request; finish_call(); then test_call() or wait_call(), reply_of(), end_call().
// Each number ends once, by end_call() or cancel_call(). At most 256 calls at once: begin_call() waits for the end of
// one, executing requests meanwhile. Throws `error` if none can end meanwhile, and if the request would wait for the
// calling method itself: its object is in execution on this node. kNoObject: the method is not atomic.
[[nodiscard]] std::uint64_t begin_call(const char* name, std::uint32_t node, std::uint32_t object);
// The request could not be written: ends the call.
void cancel_call(std::uint64_t call) noexcept;
// Sends the request's buffer, unless it was sent because it was full.
void finish_call(const char* name, std::uint64_t call);
// finish_call() and wait_call() in one.
void complete_call(const char* name, std::uint64_t call);
// Whether the reply is here; polls once if not. wait_call(): waits for it, and throws `error` if the call's node is
// lost.
[[nodiscard]] bool test_call(const char* name, std::uint64_t call);
void wait_call(const char* name, std::uint64_t call);
// Calls resume(argument), once, in a call of RMI after the reply's arrival, outside of a method, or in the
// communication thread. The fence waits for its return as for a request's. `argument` must live until then, or until
// end_call(). Requires: the call is not awaited already; resume() throws nothing.
void await_call(std::uint64_t call, void (*resume)(void*), void* argument);
// The reply's bytes (reply.hpp), owned by the library. Valid from the reply's arrival to end_call().
[[nodiscard]] std::span<const std::byte> reply_of(std::uint64_t call);
// Ends a call, and frees its reply. Without a reply yet, the reply is discarded when it arrives, and nothing is
// resumed. Does nothing after stop().
void end_call(std::uint64_t call) noexcept;

// Keeps a failure of an asynchronous method for the next fence of its caller, `node`: sends it there, as a request, so
// that the fence waits for it. If it cannot be sent, this node's own next fence throws it.
void report_failure(std::uint32_t node, Failure failure);

// The fence (paper, 6.5), by the tree of MARGAY_RMI_FENCE, or by a given one; and the other functions of margay/rmi.hpp
// of the same names, where their contracts are.
void fence();
void fence(Tree tree);
void wait_for_request();
// Waits until more than `seen` requests have been executed since start().
void wait_for_request(std::uint64_t seen);
void set_poll_rate(std::uint32_t calls);
void set_aggregation(int node, std::uint32_t requests);
[[nodiscard]] std::uint64_t requests_executed();

// Groups (rmi_group). Number 0: all nodes. make_group() and split_group() are collective over the parent, outside of a
// method; they return the group's number, or kNoGroup if this node is not a member, and throw the same `error` on all
// nodes of the parent. A number that was freed is an `error`.
[[nodiscard]] std::uint32_t make_group(const char* call, std::uint32_t parent, std::span<const int> nodes);
[[nodiscard]] std::uint32_t split_group(const char* call, std::uint32_t parent, int color, int key);
// Local. Does nothing for a number that is freed already, and after stop().
void free_group(std::uint32_t group) noexcept;
// The members by their indices, and this node's index. Valid until the group is freed.
struct GroupView {
  std::span<const std::uint32_t> nodes;
  std::uint32_t index = 0;
};
[[nodiscard]] GroupView view_group(const char* call, std::uint32_t group);
void fence_group(std::uint32_t group);

// Broadcasts a packed request (request.hpp) to all members of a group, of which this node is one, and counts the call.
// Outside of a method, waits while a node to which it sends is slower. Throws as async_rmi().
void broadcast(std::uint32_t group, std::span<const std::uint64_t> request);

// A collection of a group (paper, 5), outside of a method: bytes from each child and to the parent, then bytes from the
// parent and to each child of the hypercube tree. begin_collect() throws `error` inside a method. send_part() copies
// the bytes into a request, and does not wait for its arrival. take_part() waits for the bytes of this node and
// collection, and throws `error` if a node is lost.
struct Collection {
  std::uint64_t number = 0;                 // equal on all members, and of no other collection of their groups
  std::span<const std::uint32_t> children;  // node numbers, not indices; valid until the group is freed
  std::uint32_t parent = kNoNode;           // kNoNode: this node is the root
};
[[nodiscard]] Collection begin_collect(const char* call, std::uint32_t group);
void send_part(std::uint32_t node, std::uint64_t collect, std::span<const std::byte> bytes);
// Valid until the next call of take_part().
[[nodiscard]] std::span<const std::byte> take_part(std::uint32_t node, std::uint64_t collect);

}  // namespace core
}  // namespace margay::rmi
