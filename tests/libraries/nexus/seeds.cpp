// Random requests of Nexus on a virtual machine (tests/libraries/support/virtual_machine.hpp), one run for each seed:
//
//   nexus_seeds FIRST_SEED LAST_SEED
//
// The seed draws the number of contexts, all requests, and whose turn is next. Handlers send further requests, by
// startpoints that travel with them, to any depth. Each request is entered in a ledger that all contexts share, because
// they are threads that run in turn. When finish() returns on any context, each request has been executed once;
// requests by one link are executed in order.
//
// Prints a line for each seed that failed, "seed 17: REASON".
#include <margay/nexus.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/libraries/support/seed_runs.hpp"
#include "tests/libraries/support/virtual_machine.hpp"

namespace {

using namespace margay::nexus;

using margay::testing::need;

// The state that all contexts of a run share.
struct World {
  std::uint64_t seed;
  std::uint32_t contexts;
  // By request: how often it was executed.
  std::vector<std::uint8_t> executed{};
  // By link, numbered by its sender: the requests sent and executed.
  struct Order {
    std::uint32_t sent = 0, executed = 0;
  };
  std::map<std::uint64_t, Order> links{};
};
World* world = nullptr;

// One context.
class Player {
 public:
  explicit Player(std::uint32_t context) : random_(world->seed * 64 + context), context_(context) {}

  void play() {
    register_handler("pass", [this](Endpoint& endpoint, Buffer& buffer) { take(endpoint, buffer); });
    init();
    {
      std::vector<std::unique_ptr<Endpoint>> endpoints;
      for (std::uint32_t i = 0; i <= below(3); ++i) endpoints.push_back(std::make_unique<Endpoint>(this));
      std::vector<Startpoint> first = exchange(Startpoint(*endpoints.front()));
      for (Startpoint& each : first) known_.push_back({std::move(each), next_link_++});
      for (const auto& each : endpoints) known_.push_back({Startpoint(*each), next_link_++});
      if (below(3) == 0) known_.back().startpoint.make_light();
      const std::uint32_t rounds = below(30);
      for (std::uint32_t i = 0; i < rounds; ++i) {
        send_one(below(5));
        if (below(4) == 0) poll();
      }
      finish();
      for (const std::uint8_t count : world->executed)
        need(count == 1, "a request was not executed once when finish() returned");
      known_.clear();
    }
  }

 private:
  struct Known {
    Startpoint startpoint;
    std::uint64_t number;  // of this copy, in this context
  };
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void send_one(std::uint32_t depth) {
    Known& by = known_[below(static_cast<std::uint32_t>(known_.size()))];
    const std::uint64_t link = std::uint64_t{context_} << 32 | by.number;
    const auto request = static_cast<std::uint32_t>(world->executed.size());
    world->executed.push_back(0);
    Buffer buffer;
    buffer.put(request)
        .put(link)
        .put(world->links[link].sent++)
        .put(depth)
        .put(known_[below(static_cast<std::uint32_t>(known_.size()))].startpoint);
    // Some are long, so that they are fetched.
    buffer.put(std::vector<std::uint32_t>(below(10) == 0 ? 5000 : below(10), request));
    const Result result = send(by.startpoint, "pass", buffer);
    need(result.ok(), "a request was not sent");
  }

  void take(Endpoint& endpoint, Buffer& buffer) {
    need(endpoint.local_address() == this, "a request has reached another context's endpoint");
    const auto request = buffer.get<std::uint32_t>();
    const auto link = buffer.get<std::uint64_t>();
    const auto number = buffer.get<std::uint32_t>();
    const auto depth = buffer.get<std::uint32_t>();
    Startpoint startpoint = buffer.get<Startpoint>();
    for (const std::uint32_t each : buffer.get<std::vector<std::uint32_t>>())
      need(each == request, "a body is damaged");
    need(buffer.at_end() && world->executed[request]++ == 0, "a request was executed twice");
    need(world->links[link].executed++ == number, "the requests of a link are not in order");
    if (known_.size() < 12) known_.push_back({std::move(startpoint), next_link_++});
    if (depth == 0) return;
    const std::uint32_t more = below(3);
    for (std::uint32_t i = 0; i < more; ++i) send_one(depth - 1);
  }

  std::mt19937_64 random_;
  const std::uint32_t context_;
  std::vector<Known> known_;
  std::uint64_t next_link_ = 0;
};

// Returns the failure; empty: none.
std::string run(std::uint64_t seed) {
  World made{.seed = seed, .contexts = static_cast<std::uint32_t>(1 + seed % 5)};
  world = &made;
  margay::testing::VirtualMachine machine(made.contexts, seed);
  return machine.run([](std::uint32_t context) {
    try {
      Player(context).play();
    } catch (const std::exception& exception) {
      need(false, exception.what());
    }
    return 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return margay::testing::run_seeds(argc, argv, nullptr, run);
}
