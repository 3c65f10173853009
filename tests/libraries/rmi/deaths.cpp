// Node 1 kills itself at a place of RMI: rmi_deaths PLACE. Each other node must get an `error` from the call that needs
// node 1, prints "node N: lost: MESSAGE", and exits with status 0; it prints nothing if no call fails. No node exits
// before all have the error, because a node that has left is as lost as a dead one.
#include <margay/rmi.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace rmi = margay::rmi;

namespace {

using rmi::async_rmi, rmi::broadcast_rmi, rmi::collect_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence,
    rmi::rmi_object, rmi::sync_rmi;

constexpr int kVictim = 1;

bool is_victim() {
  return get_node_id() == kVictim;
}

// Ends node 1, as the out-of-memory killer does.
void die_if_victim() {
  if (is_victim()) static_cast<void>(raise(SIGKILL));
}

struct Part {
  int calls = 0;
  int ready = 0, met = 0;
  bool released = false;
  void be_ready() { ++ready; }
  bool all_ready() const { return ready == get_num_nodes() - 1; }
  void meet() { ++met; }
  void release() { released = true; }
  void count() { ++calls; }
  int answer(int x) { return x + 1; }
  // Dies after some calls.
  void die_later(int after) {
    if (++calls == after) die_if_victim();
  }
  int die(int x) {
    die_if_victim();
    return x;
  }
  // Sends a request back and dies while the caller's fence waits for it.
  void send_and_die(int caller) {
    async_rmi(caller, this, &Part::count);
    die_if_victim();
  }
  void collected(const int& die, int& part) {
    if (die != 0) die_if_victim();
    part = 1;
  }
};

// Requests without an end: their sender waits for the credits of its buffers.
void stream(Part& part) {
  for (;;) {
    if (is_victim())
      rmi::rmi_poll();
    else
      async_rmi(kVictim, &part, &Part::die_later, 3000);
  }
}

// A method that waits for node 1 fails, and so does the call that waits for the method.
void nested(Part& part) {
  const int last = get_num_nodes() - 1;
  if (get_node_id() == 0)
    static_cast<void>(sync_rmi(last, &part, [](Part& of) { return sync_rmi(kVictim, &of, &Part::die, 1); }));
  rmi_fence();
}

// Nodes that live answer each other although one is dead; a fence fails.
void living(Part& part) {
  die_if_victim();
  const int me = get_node_id();
  const int other = me == 0 ? get_num_nodes() - 1 : 0;
  for (int i = 0; i < 1000; ++i) {
    if (sync_rmi(other, &part, &Part::answer, i) != i + 1) std::_Exit(3);
  }
  rmi_fence();
}

// The registration fails, and leaves nothing registered: its address is unknown afterwards.
void object(Part& /*part*/) {
  die_if_victim();
  Part other;
  std::string failed;
  try {
    const rmi_object<Part> handle(other);
  } catch (const rmi::error& error) {
    failed = error.what();
  }
  if (failed.empty()) return;
  try {
    async_rmi(get_node_id(), &other, &Part::count);
  } catch (const rmi::error&) {
    rmi::fail(failed);
  }
  std::_Exit(3);
}

void collect(Part& part) {
  int sum = 0;
  collect_rmi(&part, &Part::collected, 0, sum);
  if (sum != get_num_nodes()) std::_Exit(3);
  collect_rmi(&part, &Part::collected, 1, sum);
  rmi_fence();
}

// Returns when all nodes are past the registration, which a death would fail.
void get_ready(Part& part) {
  if (is_victim()) {
    while (!part.all_ready()) rmi::rmi_poll();
    return;
  }
  try {
    async_rmi(kVictim, &part, &Part::be_ready);
    while (!sync_rmi(kVictim, &part, &Part::all_ready)) continue;
  } catch (const rmi::error&) {
    // Node 1 dies only when all are ready.
  }
}

// The end of the nodes that live: node 0 releases the others.
void meet(Part& part) {
  const auto attempt = [](auto&& step) {
    try {
      step();
    } catch (const rmi::error&) {
      // A released node may have left already.
    }
  };
  if (get_node_id() != 0) {
    attempt([&] { sync_rmi(0, &part, &Part::meet); });
    while (!part.released) rmi::rmi_poll();
    return;
  }
  while (part.met != get_num_nodes() - 2) rmi::rmi_poll();
  for (int node = 1; node < get_num_nodes(); ++node) {
    if (node != kVictim) attempt([&] { sync_rmi(node, &part, &Part::release); });
  }
}

constexpr std::pair<const char*, void (*)(Part&)> kPlaces[] = {
    {"stream", stream},
    {"nested", nested},
    {"living", living},
    {"object", object},
    {"collect", collect},
    {"sync",
     [](Part& part) {
       for (;;) static_cast<void>(sync_rmi(kVictim, &part, &Part::die, 1));
     }},
    {"before_fence",
     [](Part& part) {
       for (int node = 0; node < get_num_nodes(); ++node) async_rmi(node, &part, &Part::count);
       die_if_victim();
       rmi_fence();
     }},
    {"in_fence",
     [](Part& part) {
       if (!is_victim()) async_rmi(kVictim, &part, &Part::send_and_die, get_node_id());
       rmi_fence();
     }},
    {"broadcast",
     [](Part& part) {
       if (get_node_id() == 0) broadcast_rmi(&part, &Part::die, 1);
       rmi_fence();
     }},
    {"wait",
     [](Part&) {
       die_if_victim();
       // More than once: a node that has found the loss sends a request (meet()), which ends the wait.
       for (;;) rmi::rmi_wait();
     }},
};

int program(int argc, char** argv) {
  const auto* const found = std::find_if(std::begin(kPlaces), std::end(kPlaces), [&](const auto& each) {
    return argc == 2 && std::string(each.first) == argv[1];
  });
  if (found == std::end(kPlaces)) std::_Exit(2);
  Part part;
  const rmi_object<Part> handle(part);
  get_ready(part);
  try {
    found->second(part);
  } catch (const rmi::error& error) {
    std::printf("node %d: lost: %s\n", get_node_id(), error.what());
  }
  std::fflush(stdout);
  meet(part);
  // Without stop(), which would wait for node 1.
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
