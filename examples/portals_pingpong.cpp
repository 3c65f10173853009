// Latency and bandwidth between two processes on portals, without MPI. "put": a message goes to an independent block of
// the other process and comes back; half a round trip is reported. "acknowledged put": each message goes to a window in
// the other process's memory, and that kernel's acknowledgment comes back, without involving the other program.
//
//   margay run -n 2 portals_pingpong [LARGEST_BYTES [ROUND_TRIPS]]        default: 4194304 bytes, as many as make sense
#include <margay/portals.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using namespace margay;
using namespace margay::portals;

namespace {

constexpr PortalIndex kBall = 1;
constexpr PortalIndex kWindow = 2;
constexpr PortalIndex kAcknowledgments = 3;
// Approximate number of bytes sent for each size.
constexpr std::uint64_t kBytesPerSize = 64ULL << 20;
constexpr std::uint64_t kMostTrips = 20'000;

void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "portals_pingpong: %s\n", status.sentence().c_str());
  std::exit(1);
}

// One side's portals. The ball is deposited in a circular independent block of one buffer, whose saved header has the
// ball's length. The window is a single block in the same memory, at an offset that the sender chooses. An
// acknowledgment is a header without a body, so its block needs no memory.
class Player {
 public:
  Player(Program& program, std::size_t largest_bytes) : program_(program), in_(largest_bytes), out_(largest_bytes) {
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = static_cast<std::byte>(i * 31 + program.rank());
    rows_[0].memory = Region(in_.data(), in_.size());
    need(program_.table().attach(kBall, ball_, {}));
    need(program_.table().attach(kWindow, window_,
                                 {.save = Save::body, .offset_by = OffsetBy::sender, .acknowledge = true}));
    need(program_.table().attach(kAcknowledgments, acknowledgments_, {.save = Save::header}));
  }
  ~Player() {
    program_.table().detach(kBall);
    program_.table().detach(kWindow);
    program_.table().detach(kAcknowledgments);
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void hit(std::uint64_t bytes) {
    need(program_.put({.destination = 1 - program_.rank(), .portal = kBall}, Region(out_.data(), bytes)));
  }
  // Waits for the ball and releases its buffer.
  void take(std::uint64_t bytes) {
    need(program_.wait_until([this] { return rows_[0].state == IndependentBuffer::State::filled; }));
    if (rows_[0].bytes != bytes) need(Status::error("a ball of another size came"));
    ball_.release(0);
  }
  // Puts into the other side's window and waits for the acknowledgment.
  void put_acknowledged(std::uint64_t bytes) {
    need(program_.put({.destination = 1 - program_.rank(), .portal = kWindow, .return_portal = kAcknowledgments},
                      Region(out_.data(), bytes)));
    ++awaited_;
    need(program_.wait_until([this] { return acknowledgments_.messages() == awaited_; }));
    const Header& acknowledgment = acknowledgments_.saved_header();
    if (saved_of(acknowledgment) == Saved::body && acknowledgment.return_length == bytes) return;
    need(Status::error("the acknowledgment says that not all was saved"));
  }
  // Whether the last ball has the contents that the other side sends.
  [[nodiscard]] bool intact(std::uint64_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (in_[i] != static_cast<std::byte>(i * 31 + (1 - program_.rank()))) return false;
    }
    return true;
  }

 private:
  Program& program_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::array<IndependentBuffer, 1> rows_;
  IndependentBlock ball_{rows_, Progression::circular};
  SingleBlock window_{Buffer{in_.data(), in_.size()}};
  SingleBlock acknowledgments_{Buffer{}};
  std::uint64_t awaited_ = 0;
};

// Nanoseconds of one way of the ball: half a round trip.
double ping_pong_ns(Program& program, Player& player, std::uint64_t bytes, std::uint64_t trips) {
  const std::uint64_t begin = program.now_ns();
  for (std::uint64_t trip = 0; trip < trips; ++trip) {
    if (program.rank() == 0) player.hit(bytes);
    player.take(bytes);
    if (program.rank() == 1) player.hit(bytes);
  }
  return static_cast<double>(program.now_ns() - begin) / static_cast<double>(2 * trips);
}

// Nanoseconds from a put to its acknowledgment.
double acknowledged_ns(Program& program, Player& player, std::uint64_t bytes, std::uint64_t trips) {
  const std::uint64_t begin = program.now_ns();
  for (std::uint64_t trip = 0; program.rank() == 0 && trip < trips; ++trip) player.put_acknowledged(bytes);
  return static_cast<double>(program.now_ns() - begin) / static_cast<double>(trips);
}

bool play(Program& program, std::uint64_t largest_bytes, std::uint64_t asked_trips) {
  Player player(program, largest_bytes);
  need(program.barrier());
  if (program.rank() == 0) {
    std::printf("%12s %12s %14s %14s %22s\n", "bytes", "round trips", "put, us", "put, MB/s", "acknowledged put, us");
  }
  bool intact = true;
  for (std::uint64_t bytes = 0; bytes <= largest_bytes; bytes = bytes == 0 ? 1 : bytes * 4) {
    const std::uint64_t fitting = std::clamp<std::uint64_t>(kBytesPerSize / (bytes + 1), 8, kMostTrips);
    const std::uint64_t trips = asked_trips != 0 ? asked_trips : fitting;
    // Warm-up.
    static_cast<void>(ping_pong_ns(program, player, bytes, trips / 10 + 1));
    const double way_ns = ping_pong_ns(program, player, bytes, trips);
    intact = intact && player.intact(bytes);
    need(program.barrier());
    const double acknowledged = acknowledged_ns(program, player, bytes, trips);
    need(program.barrier());
    if (program.rank() != 0) continue;
    std::printf("%12llu %12llu %14.2f %14.1f %22.2f\n", static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(trips), way_ns / 1e3, static_cast<double>(bytes) * 1e3 / way_ns,
                acknowledged / 1e3);
  }
  need(program.settle());
  return intact;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t largest_bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4ULL << 20;
  const std::uint64_t trips = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  std::unique_ptr<Program> program;
  need(Program::start(program));
  if (program->size() != 2) {
    std::fprintf(stderr, "portals_pingpong: takes two; start it with: margay run -n 2 portals_pingpong\n");
    return 2;
  }
  const bool intact = play(*program, largest_bytes, trips);
  if (!intact) std::fprintf(stderr, "portals_pingpong: rank %u: a ball came damaged\n", program->rank());
  need(program->finish());
  return intact ? 0 : 1;
}
