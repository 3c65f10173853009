// Random requests of RMI on a virtual machine (virtual_machine.hpp), one run for each seed:
//
//   rmi_seeds FIRST_SEED LAST_SEED [TREE]
//
// TREE: of all fences, as MARGAY_RMI_FENCE has it; otherwise each fence draws one. The nodes are threads of one
// process, so it may be one for threads.
//
// The seed draws the number of nodes, the settings of RMI, all requests, and whose turn is next. Requests send others
// to random nodes: to any depth, and from methods that wait. Each is entered in a ledger that all nodes share, because
// they are threads that run in turn. When a fence ends on any node, each request sent before it, directly or by another
// one, has been executed once; requests of one node for another begin in the order of its calls.
//
// Prints a line for each seed that failed, "seed 17: REASON". The reason begins with "fence" for a fence that ended too
// early, which MARGAY_RMI_FENCE_RULE=paper produces.
#include <margay/rmi.hpp>

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/libraries/rmi/ledger.hpp"
#include "tests/libraries/support/seed_runs.hpp"
#include "tests/libraries/support/virtual_machine.hpp"

namespace {

namespace rmi = margay::rmi;
using margay::testing::end_run, rmi::test::kAllNodes, rmi::test::Ledger, rmi::test::need, rmi::test::Ticket;
using rmi::async_rmi, rmi::broadcast_rmi, rmi::collect_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence,
    rmi::rmi_object, rmi::rmi_poll, rmi::sync_rmi, rmi::sync_rmi_nonblocking;

// The state that all nodes of a run share. Each run has a process of its own, so nothing of it is freed.
struct World {
  std::uint64_t seed;
  std::uint32_t nodes;
  std::uint32_t fences;
  bool draws_trees;   // of fences; otherwise all have the tree of the environment
  bool nested_waits;  // methods that wait are not atomic; otherwise they ask nodes above theirs only
  Ledger ledger{nodes, fences};
};
World* world = nullptr;

// Ends a ticket when a method returns or throws.
class Execution {
 public:
  explicit Execution(const Ticket& ticket) : ticket_(ticket) { world->ledger.begin(ticket); }
  ~Execution() { world->ledger.finish(ticket_); }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

 private:
  const Ticket ticket_;
};

// Answers without a wait.
struct Answering {
  std::uint32_t answer(const Ticket& ticket) {
    const Execution execution(ticket);
    return ticket.number + 1;
  }
  void part(const int& factor, long& part) { part = long{factor} * (get_node_id() + 1); }
};

// The objects of one node, and the requests that it draws.
class Player {
 public:
  explicit Player(std::uint32_t node) : random_(world->seed * 64 + node) {}
  void play();

  // Sends requests with `depth` more behind each.
  void send_some(std::uint32_t count, std::uint32_t fence, std::uint32_t depth) {
    for (std::uint32_t i = 0; i < count; ++i) send_one(fence, depth);
  }
  // The node to which this one may put a question inside a method; nullopt: none.
  [[nodiscard]] std::optional<std::uint32_t> asked_in_method() {
    if (world->nested_waits) return below(world->nodes);
    const auto above = static_cast<std::uint32_t>(get_node_id()) + 1;
    if (above == world->nodes) return std::nullopt;
    return above + below(world->nodes - above);
  }
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  Answering answering;

 private:
  // A method that sends others.
  struct Chain {
    Player* player;
    void pass(const Ticket& ticket) {
      const Execution execution(ticket);
      go_on(ticket);
    }
    void pass_long(const Ticket& ticket, const std::vector<std::uint32_t>& numbers) {
      const Execution execution(ticket);
      for (const std::uint32_t number : numbers) need(number == ticket.number, "a long request is damaged");
      go_on(ticket);
    }
    void refuse(const Ticket& ticket) {
      const Execution execution(ticket);
      world->ledger.fail(ticket);
      throw std::runtime_error("refused");
    }
    void go_on(const Ticket& ticket) const {
      if (ticket.depth != 0) player->send_some(player->below(4), ticket.fence, ticket.depth - 1);
    }
  };
  // A method that waits for an answer, and then sends others.
  struct Asking {
    Player* player;
    void ask(const Ticket& ticket) {
      const Execution execution(ticket);
      if (const std::optional<std::uint32_t> node = player->asked_in_method()) player->ask(*node, ticket.fence);
      if (ticket.depth != 0) player->send_some(player->below(3), ticket.fence, ticket.depth - 1);
    }
  };

  void send_one(std::uint32_t fence, std::uint32_t depth);
  void send_roots(std::uint32_t fence, bool few);
  void dawdle();
  void ask(std::uint32_t node, std::uint32_t fence);
  void collect(int factor);
  void wait_at_fence(std::uint32_t fence, std::uint64_t shared);

  std::mt19937_64 random_;
  Chain chain_{this};
  Asking asking_{this};
};

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

Detached ask_and_send(Player* player, std::uint32_t node, std::uint32_t fence) {
  const Ticket ticket = world->ledger.send(node, fence, 0);
  const std::uint32_t answer =
      co_await sync_rmi_nonblocking(static_cast<int>(node), &player->answering, &Answering::answer, ticket);
  need(answer == ticket.number + 1, "a wrong answer in a coroutine");
  player->send_some(2, fence, 1);
}

void Player::send_one(std::uint32_t fence, std::uint32_t depth) {
  const std::uint32_t node = below(world->nodes), kind = below(40);
  const auto to = static_cast<int>(node);
  if (kind == 0) return broadcast_rmi(&chain_, &Chain::pass, world->ledger.send(kAllNodes, fence, depth / 2));
  const Ticket ticket = world->ledger.send(node, fence, depth);
  if (kind == 1) {
    async_rmi(to, &chain_, &Chain::refuse, ticket);
  } else if (kind == 2) {
    // Up to three times the longest buffer.
    async_rmi(to, &chain_, &Chain::pass_long, ticket, std::vector<std::uint32_t>(below(12'000), ticket.number));
  } else if (kind >= 8) {
    async_rmi(to, &chain_, &Chain::pass, ticket);
  } else if (world->nested_waits) {
    async_rmi(to, &asking_, rmi::non_atomic(&Asking::ask), ticket);
  } else {
    async_rmi(to, &asking_, &Asking::ask, ticket);
  }
  world->ledger.sent(ticket);
}

void Player::ask(std::uint32_t node, std::uint32_t fence) {
  const Ticket ticket = world->ledger.send(node, fence, 0);
  need(sync_rmi(static_cast<int>(node), &answering, &Answering::answer, ticket) == ticket.number + 1, "a wrong answer");
}

// Lets other nodes get ahead; this one executes their requests before it arrives at a fence.
void Player::dawdle() {
  for (std::uint32_t left = below(6); left != 0; --left) {
    margay::testing::Seat::mine()->yield(below(100'000));
    rmi_poll();
  }
}

// Sends a node's requests between two fences, outside of methods. `few`: only one of the nodes sends one, whose method
// sends others, as in the counterexample to the paper's rule.
void Player::send_roots(std::uint32_t fence, bool few) {
  if (few) {
    if (fence % world->nodes == static_cast<std::uint32_t>(get_node_id())) send_one(fence, 5);
    return;
  }
  std::vector<std::pair<Ticket, rmi::rmi_handle<std::uint32_t>>> asked;
  for (std::uint32_t left = below(2) == 0 ? 0 : below(12); left != 0; --left) {
    const std::uint32_t node = below(world->nodes);
    switch (below(12)) {
      case 0:
        ask(node, fence);
        break;
      case 1: {
        const Ticket ticket = world->ledger.send(node, fence, 0);
        asked.emplace_back(ticket,
                           sync_rmi_nonblocking(static_cast<int>(node), &answering, &Answering::answer, ticket));
        world->ledger.sent(ticket);
        break;
      }
      case 2:
        ask_and_send(this, node, fence);
        break;
      case 3:
        rmi_poll();
        break;
      case 4:
        rmi::set_aggregation(static_cast<int>(node), 1U << below(10));
        break;
      case 5:
        send_some(below(200), fence, 0);
        break;
      default:
        send_one(fence, below(5));
    }
  }
  // Some answers are discarded.
  for (auto& [ticket, handle] : asked) {
    if (below(2) == 0) need(handle.wait() == ticket.number + 1, "a wrong answer of a nonblocking call");
  }
}

void Player::collect(int factor) {
  long sum = 0;
  collect_rmi(&answering, &Answering::part, factor, sum);
  const auto nodes = long{get_num_nodes()};
  need(sum == factor * (nodes * (nodes + 1) / 2), "a wrong sum of a collection");
}

void Player::wait_at_fence(std::uint32_t fence, std::uint64_t shared) {
  bool threw = false;
  try {
    if (world->draws_trees && shared % 7 != 6)
      rmi_fence(static_cast<rmi::Tree>(shared % 7));
    else
      rmi_fence();
  } catch (const rmi::remote_error&) {
    threw = true;
  }
  const std::uint64_t open = world->ledger.open(fence);
  if (open != 0) {
    end_run("fence " + std::to_string(fence) + " ends on node " + std::to_string(get_node_id()) + " before " +
            std::to_string(open) + " requests");
  }
  world->ledger.end_fence(fence, threw);
}

void Player::play() {
  const rmi_object<Chain> chain(chain_);
  const rmi_object<Asking> asking(asking_);
  const rmi_object<Answering> answers(answering);
  // The same numbers on all nodes, for collective decisions.
  std::mt19937_64 shared(world->seed);
  for (std::uint32_t fence = 1; fence <= world->fences; ++fence) {
    rmi::set_poll_rate(1 + below(50));
    send_roots(fence, shared() % 2 == 0);
    dawdle();
    if (shared() % 4 == 0) collect(static_cast<int>(fence));
    wait_at_fence(fence, shared());
  }
}

int run_node(std::uint32_t node) {
  try {
    rmi::start();
    Player(node).play();
    rmi::stop();
    return 0;
  } catch (const std::exception& exception) {
    end_run("node " + std::to_string(node) + ": " + exception.what());
  }
}

template <std::size_t N>
void set_drawn(const char* name, const std::array<const char*, N>& values, std::uint64_t number) {
  setenv(name, values[number % N], 1);
}

// `tree`: of all fences; nullptr: they draw theirs. Returns the failure; empty: none.
std::string run(std::uint64_t seed, const char* tree) {
  std::mt19937_64 random(seed);
  set_drawn("MARGAY_RMI_BUFFER", std::array{"256", "1024", "16384"}, random());
  set_drawn("MARGAY_RMI_FACTOR", std::array{"1", "2", "7", "32", "128", "512"}, random());
  set_drawn("MARGAY_RMI_FENCE", std::array{"flat", "binary", "hypercube", "exchange"}, random());
  if (tree != nullptr) setenv("MARGAY_RMI_FENCE", tree, 1);
  const auto nodes = static_cast<std::uint32_t>(2 + random() % 8);
  world = new World{
      .seed = seed, .nodes = nodes, .fences = 6, .draws_trees = tree == nullptr, .nested_waits = random() % 2 == 0};
  margay::testing::VirtualMachine machine(nodes, seed);
  const std::string wrong = machine.run([](std::uint32_t node) { return run_node(node); });
  if (wrong.empty())
    std::printf("%u nodes, %zu requests: %s\n", nodes, world->ledger.requests(), machine.measure().c_str());
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const tree = argc == 4 ? argv[3] : nullptr;
  return margay::testing::run_seeds(argc, argv, "TREE", [tree](std::uint64_t seed) { return run(seed, tree); });
}
