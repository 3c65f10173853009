// Failover of links, on contexts that are threads (loop_host.hpp): a way is lost while requests are under way, and then
// all ways; a module fails with requests in its queue; a way is lost with the marker of a link. Then the bounds of the
// requests and bodies that a receiver keeps.
#include <margay/nexus.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "libraries/nexus/context.hpp"
#include "tests/libraries/support/loop_host.hpp"

namespace {

using namespace margay::nexus;
namespace portals = margay::portals;

void need(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the test expects: %s\n", what);
  std::_Exit(1);
}

void lose(int peer, const char* wire) {
  margay::testing::LoopRank& rank = margay::testing::LoopJob::mine();
  rank.lock();
  rank.lose(static_cast<std::uint32_t>(peer), wire);
  rank.unlock();
}

void program() {
  constexpr int kEach = 200;
  std::vector<int> seen(kEach);
  int count = 0;
  register_handler("count", [&](Endpoint&, Buffer& buffer) {
    ++seen[static_cast<std::size_t>(buffer.get<int>())];
    ++count;
  });
  init();
  {
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    const int other = 1 - context();
    Startpoint& next = all[static_cast<std::size_t>(other)];
    for (int i = 0; i < kEach; ++i) {
      if (i == kEach / 2) lose(other, "shm");
      send(next, "count", Buffer().put(i)).check();
      need(next.method() == (i < kEach / 2 ? "shm" : "tcp"), "the next row after the loss");
    }
    need(counts().changes == 1 && explain(next).find("the wire is lost") != std::string::npos,
         "one failover, explained");
    wait_until([&] { return count == kEach; });
    for (const int each : seen) need(each == 1, "each request once");
    static_cast<void>(exchange(Startpoint(endpoint)));
    // Without any method a send fails with a value.
    lose(other, "tcp");
    const Result result = send(next, "count", Buffer().put(0));
    need(!result.ok() && result.failures.front().why == Failure::Why::unreachable, "no method is left");
    need(result.failures.front().text.find("shm: ") != std::string::npos, "the reason of each row");
  }
  finish();
}

// A module that encrypts, is full, and fails once it is broken.
class Blocked final : public core::Module {
 public:
  explicit Blocked(const bool& broken) : broken_(broken) {}
  [[nodiscard]] std::string_view name() const override { return "blocked"; }
  [[nodiscard]] std::string_view description() const override { return "takes nothing"; }
  [[nodiscard]] core::Traits traits() const override {
    core::Traits traits;
    traits.bits = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE | MARGAY_NEXUS_SECURE;
    return traits;
  }
  [[nodiscard]] portals::Status init(core::Services&, std::span<const core::Parameter>) override { return {}; }
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override {
    out.assign(1, std::byte{1});
    return true;
  }
  [[nodiscard]] std::string why_not(core::Bytes, const core::Target&, std::uint32_t) override { return {}; }
  [[nodiscard]] portals::Status open(std::span<const core::Target>, std::unique_ptr<core::Object>& out) override {
    out = std::make_unique<core::Object>();
    return {};
  }
  [[nodiscard]] core::Sent send(core::Object&, const core::Frame&, std::span<const core::Bytes>,
                                std::string& why) override {
    why = "it is broken";
    return broken_ ? core::Sent::failed : core::Sent::full;
  }

 private:
  const bool& broken_;
};

// Puts the module before the others of this context.
void load_blocked(const bool& broken) {
  core::Context& context = *core::here.context;
  const margay::host::Call call(context.host_rank, "load");
  context.load(std::make_unique<Blocked>(broken), {});
  core::Table table = *context.tables[context.host_rank.rank()];
  table.insert(table.begin(), {"blocked", context.methods.find("blocked")->own, core::kNoContext});
  context.tables[context.host_rank.rank()] = std::make_shared<const core::Table>(std::move(table));
}

// Contexts 0 and 1 are on one node, 2 on another one. Two requests of context 0 wait in the queue of a module that
// fails. The one for context 1 goes on by TCP, by way of its forwarder, context 2, whose own endpoint does not get it.
// The one for context 2 must be encrypted, and is lost rather than sent in plain text.
void queued_program() {
  int count = 0;
  bool broken = false;
  register_handler("count", [&](Endpoint&, Buffer&) { ++count; });
  init();
  {
    load_blocked(broken);
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    forward("tcp", 2, {1});
    if (context() == 0) {
      lose(1, "shm");
      Quality quality;
      quality.secure = true;
      all[2].require(quality);
      send(all[1], "count", Buffer()).check();
      send(all[2], "count", Buffer()).check();
      need(all[1].method() == "blocked" && all[2].method() == "blocked", "both requests wait in the module");
      broken = true;
      std::string text;
      try {
        poll();
      } catch (const error& caught) {
        text = caught.what();
      }
      need(text.find("a request for context 2 is lost with its method blocked") != std::string::npos,
           "the secret request is lost");
    }
    if (context() == 1) wait_until([&] { return count == 1; });
    static_cast<void>(exchange(Startpoint(endpoint)));
    need(count == (context() == 1 ? 1 : 0), "each request at its own context only");
  }
  finish();
}

// Runs `call` until it throws an error with this text.
template <class Call>
void await_error(const char* part, Call call) {
  for (;;) {
    try {
      call();
    } catch (const error& caught) {
      if (std::string(caught.what()).find(part) != std::string::npos) return;
    }
    std::this_thread::yield();
  }
}

// Collective.
void await_all(const Endpoint& endpoint) {
  static_cast<void>(exchange(Startpoint(endpoint)));
}

// finish(), which throws errors that are left.
void finish_with_errors() {
  try {
    finish();
  } catch (const error&) {
    return;
  }
}

// Delivers a multicast for `times` times the endpoint to this context.
void deliver_list(const Endpoint& endpoint, std::uint16_t times) {
  core::Context& context = *core::here.context;
  std::vector<std::byte> body(sizeof times);
  std::memcpy(body.data(), &times, sizeof times);
  for (int i = 0; i < times; ++i) {
    std::array<std::byte, 10> each{};
    const std::uint32_t ends[2] = {context.host_rank.rank(), endpoint.number()};
    const std::uint16_t generation = endpoint.generation();
    std::memcpy(each.data(), ends, sizeof ends);
    std::memcpy(each.data() + sizeof ends, &generation, sizeof generation);
    body.insert(body.end(), each.begin(), each.end());
  }
  core::Frame frame;
  frame.flags = core::kIsMulticast;
  frame.endpoint = core::kControlEndpoint;
  frame.handler = core::handler_number("count");
  frame.body_bytes = body.size();
  const core::FrameBytes header = core::encode(frame);
  const margay::host::Call call(context.host_rank, "deliver");
  static_cast<void>(context.deliver(*context.methods.find("blocked")->module, 0, header, body));
}

// The steps of a sender, context 0, and of a receiver, which takes nothing before all is sent.
enum Step { kBegun, kReceiverWaits, kSent, kIsFull };
using Steps = std::atomic<Step>;

// Sends a request, moves the link from shared memory to TCP, and loses the request and the marker. A receiver in
// exchange() would take them before.
void lose_marker(Steps& steps, Startpoint& link, const char* handler, const Buffer& first) {
  while (steps != kReceiverWaits) std::this_thread::yield();
  send(link, handler, first).check();
  link.force("tcp");
  margay::testing::LoopRank& rank = margay::testing::LoopJob::mine();
  rank.lock();
  rank.drop(1, "shm");
  rank.unlock();
}

void await_sender(Steps& steps) {
  steps = kReceiverWaits;
  while (steps != kSent) std::this_thread::yield();
}

// A link leaves shared memory, which then loses its marker. The receiver holds the later requests, as many as fit,
// until the sender sees that the way is lost.
void drained_program(Steps& steps) {
  constexpr int kEach = 100;
  std::vector<int> seen;
  register_handler("body", [&](Endpoint&, Buffer& buffer) { seen.push_back(buffer.get<int>()); });
  init();
  {
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    if (context() == 0) {
      const std::string text(2048, 'x');
      lose_marker(steps, all[1], "body", Buffer().put(-1));
      for (int i = 0; i < kEach; ++i) send(all[1], "body", Buffer().put(i).put(text)).check();
      steps = kSent;
      await_error("raise MARGAY_NEXUS_QUEUE", [] { poll(); });
      lose(1, "shm");
    }
    if (context() == 1) {
      await_sender(steps);
      await_error("raise MARGAY_NEXUS_QUEUE", [] { poll(); });
      while (seen.empty()) {
        try {
          wait_until([&] { return !seen.empty(); });
        } catch (const error&) {
          // A further request has no room.
        }
      }
      need(seen.front() == 0, "the first request after the change, and none before the loss");
    }
    await_all(endpoint);
    need(context() == 0 || (seen.size() >= 20 && seen.size() < kEach), "the requests that fit");
    need(std::ranges::is_sorted(seen), "in order");
  }
  finish_with_errors();
}

// A list of a multicast that names one endpoint thousands of times is refused. A long body beyond the bound is fetched
// after the earlier ones.
void bounded_program() {
  constexpr int kBodies = 12;
  constexpr std::size_t kBytes = 40'000;
  int count = 0;
  register_handler("count", [&](Endpoint&, Buffer&) { ++count; });
  init();
  {
    const bool broken = false;
    load_blocked(broken);
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    core::Context& here = *core::here.context;
    if (context() == 0) {
      all[1].force("shm");
      const std::vector<std::byte> body(kBytes);
      for (int i = 0; i < kBodies; ++i) send(all[1], "count", Buffer().put(body)).check();
    } else {
      wait_until([&] {
        need(here.traffic.bodies.fetching_bytes() < 2 * kBytes, "one body at a time");
        return count == kBodies;
      });
      deliver_list(endpoint, 5000);
      await_error("damaged list of its endpoints", [] { poll(); });
      deliver_list(endpoint, 3);
      wait_until([&] { return count == kBodies + 3; });
    }
    await_all(endpoint);
  }
  finish_with_errors();
}

// A later body of a sender does not take the room for which an earlier one waits: of each pair, the second body fits
// beside a body of the other sender, and the first one does not.
void mixed_program() {
  constexpr int kPairs = 8;
  int count = 0;
  register_handler("count", [&](Endpoint&, Buffer&) { ++count; });
  init();
  {
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    for (int i = 0; i < kPairs && context() != 0; ++i) {
      for (const std::size_t bytes : {60'000U, 20'000U})
        send(all[0], "count", Buffer().put(std::vector<std::byte>(bytes))).check();
    }
    wait_until([&] { return count == (context() == 0 ? 4 * kPairs : 0); });
    await_all(endpoint);
  }
  finish();
}

// A link changes its method so often that its receiver has no room for the markers that are early, because the first
// one is lost. All other markers are confirmed nevertheless, or finish() would wait forever.
void crowded_program(Steps& steps) {
  constexpr int kChanges = 700;
  register_handler("count", [](Endpoint&, Buffer&) {});
  init();
  {
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    if (context() == 0) {
      lose_marker(steps, all[1], "count", Buffer());
      for (int i = 0; i < kChanges; ++i) {
        send(all[1], "count", Buffer()).check();
        all[1].force(i % 2 == 0 ? "shm" : "tcp");
      }
      steps = kSent;
      while (steps != kIsFull) {
        try {
          poll();
        } catch (const error&) {
          // A request has no room.
        }
        std::this_thread::yield();
      }
      lose(1, "shm");
    } else {
      await_sender(steps);
      await_error("are not in order", [] { poll(); });
      steps = kIsFull;
    }
  }
  // Errors are left.
  finish_with_errors();
}

}  // namespace

int main() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    margay::testing::LoopJob job(2, seed, 1);
    job.run([](std::uint32_t /*rank*/) { program(); });
    margay::testing::LoopJob three(3, seed, 2);
    three.run([](std::uint32_t /*rank*/) { queued_program(); });
  }
  // Fewer seeds: the contexts wait for each other often, which takes long where other processes use the processors.
  setenv("MARGAY_NEXUS_QUEUE", "65536", 1);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Steps drained_steps = kBegun;
    margay::testing::LoopJob drained(2, seed, 1);
    drained.run([&drained_steps](std::uint32_t /*rank*/) { drained_program(drained_steps); });
    margay::testing::LoopJob bounded(2, seed, 1);
    bounded.run([](std::uint32_t /*rank*/) { bounded_program(); });
    margay::testing::LoopJob mixed(3, seed, 1);
    mixed.run([](std::uint32_t /*rank*/) { mixed_program(); });
    Steps crowded_steps = kBegun;
    margay::testing::LoopJob crowded(2, seed, 1);
    crowded.run([&crowded_steps](std::uint32_t /*rank*/) { crowded_program(crowded_steps); });
  }
  std::printf("failover: right\n");
}
