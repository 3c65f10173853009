// Calls of RMI between all nodes: rmi_calls CASE...
#include <margay/rmi.hpp>

#include <algorithm>
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

using rmi::async_rmi, rmi::broadcast_rmi, rmi::collect_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence,
    rmi::rmi_object, rmi::rmi_poll, rmi::rmi_wait, rmi::sync_rmi, rmi::sync_rmi_nonblocking;

using cases::has_thread, cases::need, cases::need_error;

struct Counter {
  int total = 0;
  int latest = -1;
  void add(int x) { total += x, latest = x; }
  int get() const { return total; }
  int add_and_get(int x) { return total += x; }
  void add_all(const std::vector<int>& values) {
    for (const int value : values) total += value;
  }
  std::vector<int> numbers(int count) const {
    std::vector<int> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i;
    return values;
  }
  void throw_number(int x) { throw x; }
  void refuse(int x) { throw std::runtime_error("refused " + std::to_string(x)); }
  int refuse_to_answer(int x) { throw std::runtime_error("no answer to " + std::to_string(x)); }
};

// Each node adds 1 to `count` to each node's counter.
void add_to_all(int count) {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes();
  for (int i = 1; i <= count; ++i) {
    for (int node = 0; node < nodes; ++node) async_rmi(node, &counter, &Counter::add, i);
  }
  rmi_fence();
  need(counter.total == nodes * (count * (count + 1) / 2), "all additions are there after the fence");
  need(counter.latest == (count == 0 ? -1 : count), "the last addition of a node is its last one");
}

void statements() {
  for (const int count : {0, 1, 100, 5000}) add_to_all(count);
}

// A synchronous call is executed after the asynchronous ones before it, and sees their effects.
void questions() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes(), me = get_node_id();
  for (int turn = 0; turn < nodes; ++turn) {
    if (turn == me) {
      for (int node = 0; node < nodes; ++node) {
        const int before = sync_rmi(node, &counter, &Counter::get);
        async_rmi(node, handle, &Counter::add, 3);
        async_rmi(
            node, handle, [](Counter& of, int x) { of.add(x); }, 4);
        need(sync_rmi(node, handle, &Counter::get) == before + 7, "the answer has the earlier additions");
        need(sync_rmi(node, handle, &Counter::add_and_get, 1) == before + 8, "a method with an argument and a result");
      }
    }
    rmi_fence();
  }
  need(counter.total == 8 * nodes, "each node has added 8");
  rmi_fence();
  // All nodes call all nodes concurrently.
  for (int i = 0; i < 200; ++i) {
    for (int node = 0; node < nodes; ++node) static_cast<void>(sync_rmi(node, &counter, &Counter::add_and_get, 1));
  }
  rmi_fence();
  need(counter.total == 208 * nodes, "each node has added 200 more");
}

void handles() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int next = (get_node_id() + 1) % get_num_nodes();
  std::vector<rmi::rmi_handle<int>> asked;
  // Fewer calls than may be awaited at once.
  for (int i = 0; i < 200; ++i) asked.push_back(sync_rmi_nonblocking(next, &counter, &Counter::add_and_get, 1));
  while (!asked.back().test()) {
  }
  for (int i = 0; i < 200; ++i) need(asked[static_cast<std::size_t>(i)].wait() == i + 1, "results in order");
  need_error("after wait()", [&] { static_cast<void>(asked[0].test()); });
  // Handles that are discarded, with and without an answer; their slots are reused.
  for (int i = 0; i < 1000; ++i) static_cast<void>(sync_rmi_nonblocking(next, &counter, &Counter::add_and_get, 1));
  rmi_fence();
  need(counter.total == 1200, "thrown away results are computed");
  // Beside a communication thread the 257th call waits.
  if (has_thread()) return;
  std::vector<rmi::rmi_handle<int>> held;
  for (int i = 0; i < 256; ++i) held.push_back(sync_rmi_nonblocking(next, &counter, &Counter::get));
  need_error("256 results are awaited", [&] { static_cast<void>(sync_rmi(next, &counter, &Counter::get)); });
  held.clear();
  static_cast<void>(sync_rmi(next, &counter, &Counter::get));
  rmi_fence();
}

// A coroutine without a waiter: it destroys itself.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// Asks each node in turn, and leaves the sum on node 0.
Detached ask_all(Counter* counter, int turns) {
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const int node = (get_node_id() + turn) % get_num_nodes();
    sum += co_await sync_rmi_nonblocking(node, counter, [](Counter&) { return 1; });
  }
  async_rmi(0, counter, &Counter::add, sum);
}

void coroutines() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes();
  for (int i = 0; i < 20; ++i) ask_all(&counter, i);
  rmi_fence();
  need(counter.total == (get_node_id() == 0 ? nodes * 190 : 0), "a fence waits for coroutines and what they send");
}

// Requests and results longer than a buffer, in the order of others.
void long_ones() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes(), me = get_node_id();
  int expected = 0;
  for (const std::size_t count : {100U, 4000U, 4090U, 5000U, 100000U, 1000000U, 10U}) {
    const std::vector<int> ones(count, 1);
    for (int node = 0; node < nodes; ++node) {
      async_rmi(node, &counter, &Counter::add, 1);
      async_rmi(node, &counter, &Counter::add_all, ones);
      async_rmi(node, &counter, &Counter::add, 1);
    }
    expected += nodes * (static_cast<int>(count) + 2);
  }
  rmi_fence();
  need(counter.total == expected, "all long requests are there");
  for (const int count : {0, 400, 600, 5000, 1000000}) {
    const std::vector<int> numbers = sync_rmi((me + 1) % nodes, &counter, &Counter::numbers, count);
    need(numbers == counter.numbers(count), "a long result");
  }
  // Other nodes may still call this one.
  rmi_fence();
}

// Each method sends on to a random node, several times if `fan` is more than 1. The counts of all nodes are exact after
// one fence.
struct Chain {
  std::mt19937 random{static_cast<unsigned>(get_node_id()) + 1};
  int executed = 0;
  void pass(int depth, int fan) {
    ++executed;
    if (depth == 0) return;
    for (int i = 0; i < fan; ++i) {
      const auto node = static_cast<int>(random() % static_cast<unsigned>(get_num_nodes()));
      async_rmi(node, this, &Chain::pass, depth - 1, fan);
    }
  }
  void sum(const int& /*nothing*/, int& total) { total = executed; }
};

// Chains with each of the first `trees` trees in turn.
void chains_by(int trees) {
  Chain chain;
  const rmi_object<Chain> handle(chain);
  const int nodes = get_num_nodes();
  int expected = 0;
  for (int round = 0; round < 50; ++round) {
    const int fan = round % 5 == 0 ? 3 : 1, depth = 5;
    int all = 0;
    for (int level = 0, width = 1; level <= depth; ++level, width *= fan) all += width;
    // Some nodes send nothing.
    const int senders = 1 + round % nodes;
    if (get_node_id() < senders) {
      const rmi::rmi_monitor alone(&chain);
      chain.pass(depth, fan);
    }
    expected += senders * all;
    rmi_fence(static_cast<rmi::Tree>(round % trees));
    int total = 0;
    collect_rmi(&chain, &Chain::sum, 0, total);
    need(total == expected, "the fence of round " + std::to_string(round) + " has waited for " +
                                std::to_string(expected) + " methods, not " + std::to_string(total));
  }
}

void chains() {
  chains_by(4);
}

// Requires nodes that are threads of one process.
void thread_chains() {
  chains_by(6);
}

// Requires nodes that are not threads of one process.
void no_thread_fence() {
  for (const rmi::Tree tree : {rmi::Tree::central, rmi::Tree::mcs})
    need_error("threads of one process", [tree] { rmi_fence(tree); });
  rmi_fence();
}

// A part of a collection that its node cannot pack.
struct Refusing {
  bool refuses = false;
  void define_type(rmi::typer& type) {
    if (refuses) throw std::runtime_error("cannot be packed");
    type.local(refuses);
  }
};

struct Collector {
  int value = get_node_id() + 1;
  std::map<int, int> seen;
  void sum(const int& factor, long& part) { part = static_cast<long>(value) * factor; }
  void name(const std::string& prefix, std::string& part) { part = prefix + std::to_string(value) + " "; }
  void fail_on(const int& node, int& /*part*/) {
    if (node == get_node_id()) throw std::runtime_error("no part");
  }
  void throw_on(const int& node, int& /*part*/) {
    if (node == get_node_id()) throw node;
  }
  void refuse_on(const int& node, Refusing& part) { part.refuses = node == get_node_id(); }
  void big(const int& size, std::vector<int>& part) { part.assign(static_cast<std::size_t>(size), value); }
  void see(int root, int round) { ++seen[root * 1000 + round]; }
  void see_text(const std::string& text) { seen[-1] += static_cast<int>(text.size()); }
};

void collections() {
  Collector collector;
  const rmi_object<Collector> handle(collector);
  const int nodes = get_num_nodes();
  for (int round = 0; round < 20; ++round) {
    long sum = -1;
    collect_rmi(&collector, &Collector::sum, 10, sum);
    need(sum == 5L * nodes * (nodes + 1), "the sum");
    std::string names, expected;
    for (int node = 0; node < nodes; ++node) expected += "n" + std::to_string(node + 1) + " ";
    collect_rmi(&collector, &Collector::name, std::string("n"), names);
    need(names == expected, "parts in the order of nodes, not " + names);
    std::vector<int> all;
    collect_rmi(&collector, &Collector::big, 10000, all, [](std::vector<int> one, const std::vector<int>& other) {
      one.insert(one.end(), other.begin(), other.end());
      return one;
    });
    need(all.size() == 10000U * static_cast<unsigned>(nodes) && std::is_sorted(all.begin(), all.end()), "long parts");
    int nothing = 0;
    need_error("node " + std::to_string(round % nodes) + ": no part",
               [&] { collect_rmi(&collector, &Collector::fail_on, round % nodes, nothing); });
    need_error("node " + std::to_string(round % nodes) + ": an exception that does not derive",
               [&] { collect_rmi(&collector, &Collector::throw_on, round % nodes, nothing); });
    // A part that is not packed, because its node is alone, is the result.
    if (nodes == 1) continue;
    Refusing refusing;
    const auto any = [](const Refusing& one, const Refusing& other) { return Refusing{one.refuses || other.refuses}; };
    need_error("cannot be packed",
               [&] { collect_rmi(&collector, &Collector::refuse_on, round % nodes, refusing, any); });
  }
}

void broadcasts() {
  Collector collector;
  const rmi_object<Collector> handle(collector);
  const int nodes = get_num_nodes(), me = get_node_id();
  for (int round = 0; round < 100; ++round) broadcast_rmi(&collector, &Collector::see, me, round);
  broadcast_rmi(&collector, &Collector::see_text, std::string(50000, 'x'));
  rmi_fence();
  for (int root = 0; root < nodes; ++root) {
    for (int round = 0; round < 100; ++round)
      need(collector.seen[root * 1000 + round] == 1, "each broadcast is executed once on each node");
  }
  need(collector.seen[-1] == 50000 * nodes, "long broadcasts");
}

// One node after the other removes its object: the failures go to node 0, the caller.
void broadcasts_to_removed() {
  Counter counter;
  auto handle = std::make_unique<rmi_object<Counter>>(counter);
  const int nodes = get_num_nodes(), me = get_node_id();
  rmi_fence();
  for (int missing = 1; missing < nodes; ++missing) {
    if (me == missing) handle.reset();
    const int before = counter.total;
    rmi_fence();
    if (me == 0) {
      broadcast_rmi(*handle, &Counter::add, 1);
      const std::string failures =
          missing == 1 ? "was removed on this node" : "(and " + std::to_string(missing - 1) + " more methods failed";
      need_error(failures, [] { rmi_fence(); });
    } else {
      rmi_fence();
    }
    need(counter.total == before + (me <= missing && me != 0 ? 0 : 1), "the nodes below get the broadcast");
  }
  rmi_fence();
}

// Atomic methods and methods that wait.
struct Pair {
  int overlaps = 0;
  bool busy = false;
  Pair* other = nullptr;
  int answer(int x) { return x + 1; }
  // Asks the other object of `node`, so that this node polls meanwhile.
  int ask(int node, int x) {
    overlaps += busy ? 1 : 0;
    busy = true;
    const int result = sync_rmi(node, other, &Pair::answer, x);
    busy = false;
    return result;
  }
  void touch() { overlaps += busy ? 1 : 0; }
};

// Calls its caller back, one object further, up to the last one.
struct Back {
  std::vector<Back>* levels = nullptr;
  int back(int caller, int level) {
    if (level + 1 == static_cast<int>(levels->size())) return level + 1;
    Back* const next = &(*levels)[static_cast<std::size_t>(level) + 1];
    return sync_rmi(caller, next, &Back::back, get_node_id(), level + 1);
  }
};

// Node 0 asks an object that waits for another one, while others send requests for the object that waits. (If node 0
// sent such a request too, its later ones would wait behind it.)
void monitors() {
  Pair asking, answering;
  asking.other = &answering;
  const rmi_object<Pair> one(asking), two(answering);
  const int nodes = get_num_nodes(), me = get_node_id(), asked = 1 % nodes;
  for (int i = 0; i < 300; ++i) {
    if (me == 0)
      need(sync_rmi(asked, &asking, &Pair::ask, (asked + i) % nodes, i) == i + 1, "a nested answer");
    else
      async_rmi(asked, &asking, &Pair::touch);
    if (me != 0) rmi_poll();
  }
  rmi_fence();
  need(asking.overlaps == 0, "methods of one object do not overlap");
  // A method that is not atomic runs although its object waits for it.
  Counter counter;
  const rmi_object<Counter> counted(counter);
  const auto ask_itself = [](Counter& of) { return sync_rmi(get_node_id(), &of, rmi::non_atomic(&Counter::get)); };
  need(sync_rmi((me + 1) % nodes, &counter, ask_itself) == 0, "a method that is not atomic");
  // Call back and forth between nodes, on an object for each level.
  std::vector<Back> levels(20);
  std::vector<std::unique_ptr<rmi_object<Back>>> handles;
  for (Back& level : levels) {
    level.levels = &levels;
    handles.push_back(std::make_unique<rmi_object<Back>>(level));
  }
  need(sync_rmi((me + 1) % nodes, &levels[0], &Back::back, me, 0) == 20, "calls back");
  rmi_fence();
}

void failures() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes(), me = get_node_id(), next = (me + 1) % nodes;
  for (int i = 0; i < 10; ++i) {
    need_error("node " + std::to_string(next) + ": ",
               [&] { static_cast<void>(sync_rmi(next, &counter, &Counter::refuse_to_answer, i)); });
    async_rmi(next, &counter, &Counter::refuse, 100 * me + i);
    async_rmi(next, &counter, &Counter::add, 1);
    need_error("refused " + std::to_string(100 * me + i), [] { rmi_fence(); });
  }
  async_rmi(next, &counter, &Counter::refuse, 1);
  async_rmi(next, &counter, &Counter::refuse, 2);
  need_error("1 more methods failed", [] { rmi_fence(); });
  async_rmi(next, &counter, &Counter::throw_number, 1);
  need_error("does not derive from std::exception", [] { rmi_fence(); });
  rmi_fence();
  need(counter.total == 10, "requests after a failed one are executed");
  broadcast_rmi(&counter, &Counter::refuse, me);
  need_error("refused " + std::to_string(me), [] { rmi_fence(); });
}

// The calls that wait for all nodes, which a method must not make.
constexpr int kCallsForAll = 5;
void call_for_all(Counter& of, int which) {
  Counter another;
  int sum = 0;
  switch (which) {
    case 0:
      return rmi_fence();
    case 1:
      return rmi_fence(rmi::Tree::flat);
    case 2:
      return static_cast<void>(rmi_object<Counter>(another));
    case 3:
      return collect_rmi(
          &of, [](Counter&, const int&, int&) {}, 0, sum);
    default:
      return rmi::stop();
  }
}

// Objects that were removed on the other nodes, and on this one.
void freed_objects() {
  Counter counter;
  auto handle = std::make_unique<rmi_object<Counter>>(counter);
  const int nodes = get_num_nodes(), me = get_node_id();
  rmi_fence();
  if (me != 0) handle.reset();
  rmi_fence();
  if (me == 0 && nodes > 1) {
    need_error("was removed on this node", [&] { static_cast<void>(sync_rmi(1, *handle, &Counter::get)); });
    async_rmi(nodes - 1, *handle, &Counter::add, 1);
    need_error("was removed on this node", [] { rmi_fence(); });
  } else {
    rmi_fence();
  }
  handle.reset();
  need_error("not registered", [&] { async_rmi(0, &counter, &Counter::add, 1); });
  need_error("not registered", [&] { broadcast_rmi(&counter, &Counter::add, 1); });
  rmi_fence();
}

void misuse() {
  Counter counter, unknown;
  Collector other;
  const int nodes = get_num_nodes();
  const rmi_object<Counter> handle(counter);
  need_error("invalid node", [&] { async_rmi(nodes, &counter, &Counter::add, 1); });
  need_error("invalid node -1", [&] { async_rmi(-1, &counter, &Counter::add, 1); });
  need_error("invalid node", [&] { static_cast<void>(sync_rmi(nodes, &counter, &Counter::get)); });
  need_error("not registered", [&] { async_rmi(0, &unknown, &Counter::add, 1); });
  need_error("not registered", [&] { broadcast_rmi(&other, &Collector::see, 0, 0); });
  need_error("null pointer", [&] { async_rmi(0, &counter, static_cast<void (Counter::*)(int)>(nullptr), 1); });
  need_error("poll", [] { rmi::set_poll_rate(0); });
  need_error("never sent", [] { rmi::set_aggregation(0, 0); });
  need_error("invalid node", [] { rmi::set_aggregation(1000, 1); });
  need_error("twice", [] { rmi::start(); });
  for (int which = 0; which < kCallsForAll; ++which) {
    need_error("inside a method", [&] {
      static_cast<void>(sync_rmi(
          nodes - 1, &counter,
          [](Counter& of, int chosen) {
            call_for_all(of, chosen);
            return 0;
          },
          which));
    });
  }
  need_error("waits for another method of its own", [&] {
    static_cast<void>(
        sync_rmi(nodes - 1, &counter, [](Counter& of) { return sync_rmi(get_node_id(), &of, &Counter::get); }));
  });
  rmi_fence();
  // A thread that is not a node.
  std::thread([&] {
    need_error("is not a node", [] { rmi_fence(); });
    need_error("is not a node", [&] { async_rmi(0, handle, &Counter::add, 1); });
    need_error("is not a node", [] { static_cast<void>(get_node_id()); });
  }).join();
  freed_objects();
}

void factors() {
  rmi::set_poll_rate(1);
  for (int node = 0; node < get_num_nodes(); ++node) rmi::set_aggregation(node, 1);
  add_to_all(300);
  for (int node = 0; node < get_num_nodes(); ++node) rmi::set_aggregation(node, 7 + static_cast<unsigned>(node));
  add_to_all(300);
  for (int node = 0; node < get_num_nodes(); ++node) rmi::set_aggregation(node, 1000000);
  add_to_all(3000);
}

// Two objects that wait for each other: a deadlock, which the launcher proves.
struct Cycle {
  int ask(int node) { return sync_rmi(node, this, &Cycle::ask, get_node_id()); }
};

void cycle() {
  Cycle asking;
  const rmi_object<Cycle> handle(asking);
  if (get_node_id() == 0) static_cast<void>(sync_rmi(1, &asking, &Cycle::ask, 0));
  rmi_fence();
}

// Node 1 dies while the others wait.
void lost() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  if (get_node_id() == 1) std::abort();
  static_cast<void>(sync_rmi(1, &counter, &Counter::get));
}

constexpr cases::Case kCases[] = {
    {"statements", statements},
    {"questions", questions},
    {"handles", handles},
    {"long", long_ones},
    {"chains", chains},
    {"collections", collections},
    {"broadcasts", broadcasts},
    {"broadcasts_to_removed", broadcasts_to_removed},
    {"monitors", monitors},
    {"failures", failures},
    {"misuse", misuse},
    {"coroutines", coroutines},
    {"factors", factors},
    {"cycle", cycle},
    {"lost", lost},
    {"thread_chains", thread_chains},
    {"no_thread_fence", no_thread_fence},
};

int program(int argc, char** argv) {
  return cases::run(argc, argv, kCases);
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
