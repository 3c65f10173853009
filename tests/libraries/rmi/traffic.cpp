// The traffic of RMI: polls, aggregation, credits, waits, fences and bounds. rmi_traffic CASE...
//
// Cases that rmi.py counts by `--stats` or by a trace send from node 0 to node 1, and nothing else; the comment has the
// count.
#include <margay/rmi.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

using cases::has_thread, cases::need, cases::need_error;
using rmi::async_rmi, rmi::broadcast_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence, rmi::rmi_object,
    rmi::rmi_poll, rmi::rmi_wait, rmi::sync_rmi, rmi::sync_rmi_nonblocking;

struct Counter {
  int total = 0;
  void add(int x) { total += x; }
  int get() const { return total; }
};

// Calls `send` on node 0, with a counter of all nodes.
template <class Send>
void send_from_0(Send&& send) {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  if (get_node_id() == 0) send(counter);
  rmi_fence();
}

// 1000 calls of which each tenth polls: 100 buffers are sent by a poll.
void poll_rate() {
  send_from_0([](Counter& counter) {
    rmi::set_poll_rate(10);
    for (int i = 0; i < 1000; ++i) async_rmi(1, &counter, &Counter::add, 1);
  });
}

// Calls to the own node count, too: every second call is one, and polls, so that 50 buffers are sent by a poll.
void poll_rate_nonblocking() {
  send_from_0([](Counter& counter) {
    rmi::set_poll_rate(2);
    for (int i = 0; i < 50; ++i) {
      async_rmi(1, &counter, &Counter::add, 1);
      static_cast<void>(sync_rmi_nonblocking(0, &counter, &Counter::get));
    }
  });
}

// The same for broadcasts: 50 buffers are sent by a poll.
void poll_rate_broadcast() {
  send_from_0([](Counter& counter) {
    rmi::set_poll_rate(2);
    for (int i = 0; i < 50; ++i) {
      async_rmi(1, &counter, &Counter::add, 1);
      broadcast_rmi(&counter, &Counter::add, 1);
    }
  });
}

// 1000 requests of 32 bytes.
void aggregation() {
  send_from_0([](Counter& counter) {
    for (int i = 0; i < 1000; ++i) async_rmi(1, &counter, &Counter::add, 1);
  });
}

// The same with a factor of 50 for node 1.
void own_factor() {
  send_from_0([](Counter& counter) {
    rmi::set_aggregation(1, 50);
    for (int i = 0; i < 1000; ++i) async_rmi(1, &counter, &Counter::add, 1);
  });
}

// Two threads of one process: node 1 makes no call until node 0 has sent 20 buffers, of which two have left.
std::atomic<bool> sent_all = false;

void credits() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  if (get_node_id() == 0) {
    rmi::set_aggregation(1, 1);
    // Beside it, calls never wait for credits.
    const rmi::rmi_monitor alone(&counter);
    for (int i = 0; i < 20; ++i) async_rmi(1, &counter, &Counter::add, 1);
    sent_all = true;
  } else {
    while (!sent_all) {
    }
  }
  rmi_fence();
}

// Three fences, and no request.
void fences() {
  for (int i = 0; i < 3; ++i) rmi_fence();
}

void waits() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes(), me = get_node_id();
  if (nodes < 2) return;
  // A request is passed from node to node until it returns.
  if (me == 0) {
    async_rmi(1, &counter, &Counter::add, 1);
    rmi_poll();
  }
  for (;;) {
    const std::uint64_t seen = rmi::requests_executed();
    {
      const rmi::rmi_monitor alone(&counter);
      if (counter.total != 0) break;
    }
    rmi_wait(seen);
  }
  if (me != 0) {
    async_rmi((me + 1) % nodes, &counter, &Counter::add, 1);
    rmi_poll();
  }
  rmi_fence();
  need(counter.total == 1, "one request around");
  need(rmi::requests_executed() == 1, "one request is counted");
}

// Node 1 waits for one request, which node 0 sends only once node 1 asks for it.
void plain_wait() {
  struct Turn {
    int asked = 0, answered = 0;
    void ask() { ++asked; }
    void answer() { ++answered; }
  };
  Turn turn;
  const rmi_object<Turn> handle(turn);
  if (get_node_id() == 0) {
    while (turn.asked == 0) rmi_poll();
    async_rmi(1, &turn, &Turn::answer);
  } else {
    const std::uint64_t before = rmi::requests_executed();
    async_rmi(0, &turn, &Turn::ask);
    // Sends the request, too.
    rmi_wait();
    need(rmi::requests_executed() == before + 1 && turn.answered == 1, "the wait ends with the request");
  }
  rmi_fence();
}

// Nodes and methods that send more than a slow receiver takes.
struct Flood {
  int got = 0;
  void take(const std::vector<int>& values) { got += static_cast<int>(values.size()); }
  void send(int node, int count) {
    const std::vector<int> values(100, 1);
    for (int i = 0; i < count; ++i) async_rmi(node, this, &Flood::take, values);
  }
};

void floods() {
  Flood flood;
  const rmi_object<Flood> handle(flood);
  const int nodes = get_num_nodes(), me = get_node_id();
  for (int node = 0; node < nodes; ++node) async_rmi(node, &flood, &Flood::send, me, 1000);
  flood.send(0, 1000);
  rmi_fence();
  need(flood.got == nodes * 100000 + (me == 0 ? nodes * 100000 : 0), "all of the flood is there");
}

// The methods of one node, and its program beside a monitor, send more bytes than MARGAY_RMI_QUEUE allows, to another
// node and to their own.
void queue() {
  Flood flood;
  const rmi_object<Flood> handle(flood);
  const int nodes = get_num_nodes(), me = get_node_id();
  for (int receiver = 0; receiver < nodes; ++receiver) {
    const int before = flood.got;
    rmi_fence();
    if (me == 0) {
      need_error("MARGAY_RMI_QUEUE", [&] {
        static_cast<void>(sync_rmi(
            0, &flood,
            [](Flood& of, int node) {
              of.send(node, 100000);
              return 0;
            },
            receiver));
      });
      // A communication thread sends to other nodes meanwhile.
      if (receiver == 0 || !has_thread()) {
        need_error("MARGAY_RMI_QUEUE", [&] {
          const rmi::rmi_monitor alone(&flood);
          flood.send(receiver, 100000);
        });
      }
    }
    rmi_fence();
    need(me != receiver || flood.got > before, "the requests before the error are executed");
  }
}

// Broadcasts that are sent one by one wait for their receivers, as other requests do: with MARGAY_RMI_QUEUE for 61
// buffers. At most three nodes, so that node 0 sends to each of the others itself.
void stream_of_broadcasts() {
  constexpr int kBroadcasts = 3000;
  Counter counter;
  const rmi_object<Counter> handle(counter);
  for (int node = 0; node < get_num_nodes(); ++node) rmi::set_aggregation(node, 1);
  for (int i = 0; get_node_id() == 0 && i < kBroadcasts; ++i) broadcast_rmi(&counter, &Counter::add, 1);
  rmi_fence();
  need(counter.total == kBroadcasts, "each broadcast is executed");
}

// Calls the other node back from inside its method, so that all the methods wait inside one another. `bytes`: fill a
// buffer with each request.
struct Nest {
  int call(int caller, int levels, const std::vector<int>& bytes) {
    if (levels == 1) return 1;
    try {
      return 1 + sync_rmi(caller, this, rmi::non_atomic(&Nest::call), get_node_id(), levels - 1, bytes);
    } catch (const rmi::remote_error& failure) {
      // The names of all levels would cut off the reason.
      throw std::runtime_error(failure.reason());
    }
  }
};

void nested() {
  Nest nest;
  const rmi_object<Nest> handle(nest);
  const int me = get_node_id(), other = get_num_nodes() - 1;
  const auto ask = [&](int levels, std::size_t numbers) {
    return sync_rmi(other, &nest, rmi::non_atomic(&Nest::call), me, levels, std::vector<int>(numbers));
  };
  const int levels = other == 0 ? 200 : 300;
  for (const std::size_t numbers : {0U, 4000U}) {
    if (me == 0) need(ask(levels, numbers) == levels, "all nested calls have returned");
    rmi_fence();
    // Beside a communication thread, one call too many waits instead of failing.
    if (me == 0 && !has_thread()) need_error("256 results are awaited", [&] { static_cast<void>(ask(600, numbers)); });
    rmi_fence();
  }
}

constexpr cases::Case kCases[] = {
    {"waits", waits},
    {"plain_wait", plain_wait},
    {"floods", floods},
    {"queue", queue},
    {"stream_of_broadcasts", stream_of_broadcasts},
    {"nested", nested},
    {"poll_rate", poll_rate},
    {"poll_rate_nonblocking", poll_rate_nonblocking},
    {"poll_rate_broadcast", poll_rate_broadcast},
    {"aggregation", aggregation},
    {"own_factor", own_factor},
    {"credits", credits},
    {"fences", fences},
};

int program(int argc, char** argv) {
  return cases::run(argc, argv, kCases);
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
