// Stress tests of the shared memory wire, between threads and between processes that run at once, with bells and sleep.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "tests/sim/shm_set.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

struct Plan {
  std::uint64_t messages;
  std::size_t bytes_max;
  bool sleeps;  // waits on the bell whenever it is idle
  LongMethod long_method = LongMethod::ring;
};

std::size_t size_of(const Plan& plan, std::uint64_t number) {
  std::mt19937_64 random(number);
  const std::size_t limit = number % 5 == 0 ? plan.bytes_max : std::min<std::size_t>(plan.bytes_max, 70);
  return limit == 0 ? 0 : random() % limit;
}

// Plays one rank: sends the plan's messages to every other, receives and checks theirs. No doctest here, because it
// also runs in forked processes. Returns the error, or nullptr.
class Player {
 public:
  Player(std::span<std::byte> segment, std::uint32_t rank, std::uint32_t ranks, const Plan& plan)
      : wire_(segment, rank, ranks, counting(ranks), finished_, 0, plan.long_method),
        rank_(rank),
        ranks_(ranks),
        plan_(plan) {}

  const char* play() {
    if (!wire_.status().ok()) return "the segment is refused";
    sent_.assign(ranks_, 0);
    taken_.assign(ranks_, 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!done()) {
      const bool moved = work();
      if (wrong_ != nullptr) return wrong_;
      if (moved) continue;
      if (std::chrono::steady_clock::now() > end) return "no progress for too long";
      remainder();
    }
    return wrong_;
  }

 private:
  [[nodiscard]] bool done() const {
    if (!wire_.idle() || in_hands_ != 0) return false;
    for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
      if (peer != rank_ && (sent_[peer] != plan_.messages || taken_[peer] != plan_.messages)) return false;
    }
    return true;
  }

  void remainder() {
    wire_.idle_round();
    if (!plan_.sleeps) {
      std::this_thread::yield();
      return;
    }
    wire_.bell().begin_sleep();
    const auto asleep = std::chrono::steady_clock::now();
    if (!work() && wrong_ == nullptr && !done()) wire_.bell().sleep(40'000'000'000);
    wire_.bell().end_sleep();
    const bool long_asleep = std::chrono::steady_clock::now() - asleep > std::chrono::seconds(35);
    if (wrong_ == nullptr && work() && long_asleep) wrong_ = "slept through a message, or through room that came";
  }

  bool work() {
    bool moved = wire_.push();
    for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
      if (peer != rank_ && sent_[peer] < plan_.messages && in_hands_ < 8) moved |= send(peer);
    }
    Arrival arrival;
    while (wrong_ == nullptr && wire_.poll(arrival)) moved = true, take(arrival);
    while (Transmission* done = finished_.pop()) {
      moved = true;
      --in_hands_;
      delete static_cast<std::vector<std::byte>*>(done->owner);
      delete done;
    }
    return moved;
  }

  bool send(std::uint32_t peer) {
    const std::uint64_t number = ++sent_[peer];
    auto body = std::make_unique<std::vector<std::byte>>(pattern_body(number + rank_, size_of(plan_, number)));
    portals::Header header;
    header.match_bits = number;
    header.length = body->size();
    const portals::Region region(body->data(), body->size());
    if (wire_.try_send(peer, header, region)) return true;
    auto* transmission = new Transmission;
    transmission->header = header;
    transmission->body = region;
    transmission->owner = body.release();
    ++in_hands_;
    wire_.send(peer, *transmission);
    return true;
  }

  void take(const Arrival& arrival) {
    switch (arrival.kind) {
      case Arrival::Kind::whole: {
        std::vector<std::byte> body(static_cast<std::size_t>(arrival.header.length));
        portals::RegionCursor(arrival.body).read(body);
        check_header(arrival);
        check_body(body, arrival.peer, arrival.sequence);
        ++taken_[arrival.peer];
        wire_.consume();
        return;
      }
      case Arrival::Kind::started: {
        check_header(arrival);
        auto& landing = landings_[arrival.peer];
        landing.assign(static_cast<std::size_t>(arrival.header.length), std::byte{0});
        wire_.accept(portals::Region(landing.data(), landing.size()), nullptr);
        return;
      }
      case Arrival::Kind::finished:
        ++taken_[arrival.peer];
        check_body(landings_[arrival.peer], arrival.peer, taken_[arrival.peer]);
        return;
      case Arrival::Kind::cut:
      case Arrival::Kind::lost:
      case Arrival::Kind::left:
        wrong_ = "an arrival that was not requested";
        return;
    }
  }

  void check_header(const Arrival& arrival) {
    if (arrival.sequence != taken_[arrival.peer] + 1) wrong_ = "a sequence number is missing";
    if (arrival.header.match_bits != arrival.sequence) wrong_ = "match bits of another message";
    if (arrival.header.length != size_of(plan_, arrival.sequence)) wrong_ = "a length of another message";
  }
  void check_body(const std::vector<std::byte>& body, std::uint32_t peer, std::uint64_t number) {
    if (body != pattern_body(number + peer, size_of(plan_, number))) wrong_ = "a body is damaged";
  }

  TransmissionList finished_;
  ShmWire wire_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  Plan plan_;
  std::vector<std::uint64_t> sent_, taken_;
  std::vector<std::vector<std::byte>> landings_ = std::vector<std::vector<std::byte>>(ranks_);
  int in_hands_ = 0;
  const char* wrong_ = nullptr;
};

void play_threads(std::uint32_t ranks, const Plan& plan) {
  const SharedSegment segment(ranks);
  std::vector<const char*> wrong(ranks, nullptr);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { wrong[rank] = Player(segment.bytes(), rank, ranks, plan).play(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* word : wrong) CHECK_MESSAGE(word == nullptr, (word == nullptr ? "" : word));
}

void play_processes(std::uint32_t ranks, const Plan& plan) {
  const SharedSegment segment(ranks);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    REQUIRE_GE(child, 0);
    if (child == 0) {
      const char* wrong = Player(segment.bytes(), rank, ranks, plan).play();
      if (wrong != nullptr) static_cast<void>(!::write(2, wrong, std::strlen(wrong)));
      ::_exit(wrong == nullptr ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    CHECK_EQ(::waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
  }
}

TEST_CASE("shm between threads: small messages arrive intact") {
  play_threads(2, {testing::of_threads(200'000), 70, false});
}
TEST_CASE("shm between threads: messages of all sizes arrive intact") {
  play_threads(2, {testing::of_threads(3000), 300'000, false});
}
TEST_CASE("shm between threads: four ranks on two processors exchange messages") {
  play_threads(4, {testing::of_threads(5000), 20'000, false});
}
TEST_CASE("shm between threads: ranks that sleep whenever idle miss no message") {
  play_threads(2, {testing::of_threads(20'000), 70, true});
  play_threads(3, {testing::of_threads(1000), 300'000, true});
}
TEST_CASE("shm between processes: messages of all sizes arrive intact") {
  play_processes(2, {testing::of_threads(3000), 300'000, false});
}
TEST_CASE("shm between processes: both sides carry long bodies from memory to memory") {
  play_processes(2, {testing::of_threads(400), 2'000'000, false, LongMethod::cma});
  play_processes(3, {testing::of_threads(200), 1'000'000, true, LongMethod::automatic});
}
TEST_CASE("shm between processes: ranks that sleep whenever idle miss no message") {
  play_processes(2, {testing::of_threads(20'000), 70, true});
  play_processes(4, {testing::of_threads(1000), 100'000, true});
}

}  // namespace
}  // namespace margay::sim::test
