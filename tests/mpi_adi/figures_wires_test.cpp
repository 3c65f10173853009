// Tests of figures 3 to 7 over the real shared memory and TCP wires; and of two threads that exchange messages at full
// speed.
#include <atomic>
#include <cstring>

#include "tests/mpi_adi/figures.hpp"
#include "tests/mpi_adi/real_worlds.hpp"

namespace margay::mpi_adi {
namespace {

WorldOptions traced(const Figure& figure) {
  WorldOptions options;
  options.trace = true;
  options.device.long_protocol = figure.long_protocol;
  return options;
}

TEST_CASE("figures 3 to 7 over shared memory") {
  for (const Figure& figure : kFigures) {
    CAPTURE(figure.name);
    ShmWorld world(traced(figure));
    play(world, figure);
  }
}

TEST_CASE("figures 3 to 7 over TCP") {
  for (const sim::TcpBackendChoice backend : {sim::TcpBackendChoice::epoll, sim::TcpBackendChoice::uring}) {
    CAPTURE(sim::name(backend));
    for (const Figure& figure : kFigures) {
      CAPTURE(figure.name);
      TcpWorld world(traced(figure), backend);
      play(world, figure);
    }
  }
}

// Numbered sends of all sizes and modes; each has at least 8 bytes and carries its number.
std::vector<std::byte> numbered(std::uint64_t number) {
  const std::size_t sizes[] = {8, 100, 4000, 16'384, 16'385, 40'000, 300'000};
  std::vector<std::byte> data = pattern(sizes[number % 7], static_cast<unsigned>(number));
  std::memcpy(data.data(), &number, sizeof number);
  return data;
}

// Waits with progress, for a bounded time.
bool wait(Device& device, const Request& request, const std::atomic<bool>& give_up) {
  const auto begun = std::chrono::steady_clock::now();
  while (!request.complete && !give_up) {
    if (!device.progress()) std::this_thread::yield();
    if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(60)) return false;
  }
  return request.complete;
}

constexpr std::uint64_t kMessages = 3000;

// One end: sends its numbered messages while it receives the other's. Returns the error, or an empty text.
std::string talk(DeviceWorld& world, std::uint32_t me, std::atomic<bool>& give_up) {
  Device& device = world.device(me);
  Datatype type = byte_type();
  const int other = me == 0 ? 1 : 0;
  std::vector<std::byte> room(300'000);
  for (std::uint64_t number = 0; number < kMessages; ++number) {
    const std::vector<std::byte> data = numbered(number);
    const bool receive_first = (number + me) % 2 == 0;
    Request* receive = nullptr;
    const auto post = [&] {
      receive = device.start_receive({room.data(), static_cast<std::int64_t>(room.size()), &type,
                                      number % 3 == 0 ? MPI_ANY_SOURCE : other, 5, &world.world(me)});
    };
    if (receive_first) post();
    const SendMode mode = number % 5 == 0 ? SendMode::synchronous : SendMode::standard;
    Request* const send = device.start_send(
        {mode, data.data(), static_cast<std::int64_t>(data.size()), &type, other, 5, &world.world(me)});
    if (!receive_first) {
      for (std::uint64_t round = number % 50; round > 0; --round) device.progress();
      post();
    }
    const bool ended = wait(device, *receive, give_up) && wait(device, *send, give_up);
    const bool right =
        ended && receive->bytes == data.size() && std::memcmp(room.data(), data.data(), data.size()) == 0;
    if (!right) {
      give_up = true;
      return "message " + std::to_string(number) + (ended ? " is wrong" : " did not end") + ": got " +
             std::to_string(receive->bytes) + " of " + std::to_string(data.size()) + " bytes, error class " +
             std::to_string(receive->error_class);
    }
    device.free(*send);
    device.free(*receive);
  }
  return {};
}

// The other side may still need the last answers.
void linger(Device& device, std::atomic<int>& ended, const std::atomic<bool>& give_up) {
  ++ended;
  while (ended < 2 && !give_up) device.progress();
}

TEST_CASE("two threads exchange messages of all sizes over shared memory") {
  ShmWorld world(WorldOptions{});
  std::atomic<bool> give_up{false};
  std::atomic<int> ended{0};
  std::array<std::string, 2> wrong;
  {
    std::jthread other([&] {
      wrong[1] = talk(world, 1, give_up);
      linger(world.device(1), ended, give_up);
    });
    wrong[0] = talk(world, 0, give_up);
    linger(world.device(0), ended, give_up);
  }
  CHECK(wrong[0] == "");
  CHECK(wrong[1] == "");
  world.settle();
  world.check_accounting();
  CHECK(world.device(0).quiet());
  CHECK(world.device(1).quiet());
}

}  // namespace
}  // namespace margay::mpi_adi
