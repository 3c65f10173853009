#include "command/info/info.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "sim/base/clock.hpp"
#include "sim/boot/probes.hpp"
#include "sim/wire/shm/shm_wire.hpp"

namespace margay::command {
namespace {

// A size well inside each class; the last one exceeds a processor's cache.
constexpr std::array<std::uint64_t, sim::kBodyClasses> kBytes = {32U << 10, 128U << 10, 512U << 10, 4U << 20};
// Bodies of each size. A receiver decides after 24 bodies: each method carries 12, in pairs, and the second body of
// each pair counts.
constexpr int kBodies = 48;
constexpr std::uint64_t kPatienceNs = 2'000'000'000;

// Anonymous shared memory for two ranks, inherited by fork.
class Segment {
 public:
  Segment()
      : bytes_(sim::shm_segment_bytes(2)),
        base_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Segment() {
    if (base_ != MAP_FAILED) ::munmap(base_, bytes_);
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  [[nodiscard]] bool ok() const { return base_ != MAP_FAILED; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(base_), bytes_}; }

 private:
  std::size_t bytes_;
  void* base_;
};

// One of the two ranks, which does a kernel's work without matching. It yields while nothing moves, because both ranks
// may share a processor.
class Side {
 public:
  Side(const Segment& segment, std::uint32_t rank, sim::LongMethod method)
      : wire_(segment.bytes(), rank, 2, {0, 1}, finished_, 0, method), peer_(1 - rank), memory_(kBytes.back()) {}

  [[nodiscard]] bool ok() const { return wire_.status().ok(); }
  void send(std::uint64_t bytes) {
    portals::Header header;
    header.length = bytes;
    const portals::Region body(memory_.data(), bytes);
    if (wire_.try_send(peer_, header, body)) return;
    sim::Transmission transmission;
    transmission.header = header;
    transmission.body = body;
    wire_.send(peer_, transmission);
    while (!wire_.idle()) round();
    // Takes the transmission off the wire's list, because it is on this stack.
    while (finished_.pop() != nullptr) {
    }
  }
  // Waits for the next message, which may have arrived during a send. Returns false if none has arrived within
  // kPatienceNs.
  bool receive() {
    const std::uint64_t until = sim::monotonic_ns() + kPatienceNs;
    for (++awaited_; received_ < awaited_;) {
      round();
      if (sim::monotonic_ns() > until) return false;
    }
    return true;
  }

 private:
  void round() {
    bool moved = wire_.push();
    sim::Arrival arrival;
    while (wire_.poll(arrival)) {
      moved = true;
      if (arrival.kind == sim::Arrival::Kind::whole) wire_.consume();
      if (arrival.kind == sim::Arrival::Kind::started) wire_.accept({memory_.data(), arrival.header.length}, nullptr);
      if (arrival.kind == sim::Arrival::Kind::whole || arrival.kind == sim::Arrival::Kind::finished) ++received_;
    }
    if (moved) return;
    wire_.idle_round();
    ::sched_yield();
  }

  sim::TransmissionList finished_;
  sim::ShmWire wire_;
  std::uint32_t peer_;
  std::vector<std::byte> memory_;
  std::uint64_t received_ = 0;
  std::uint64_t awaited_ = 0;
};

// The child's part: sends each body and awaits the answer, until the parent is silent for too long.
void send_all(const Segment& segment, sim::LongMethod method) {
  Side side(segment, 1, method);
  if (!side.ok()) return;
  for (const std::uint64_t bytes : kBytes) {
    for (int i = 0; i < kBodies; ++i) {
      side.send(bytes);
      if (!side.receive()) return;
    }
  }
}

// Median time of each class in microseconds; fewer classes if the other side has gone.
std::vector<double> receive_all(const Segment& segment, sim::LongMethod method) {
  Side side(segment, 0, method);
  std::vector<double> medians;
  for (std::size_t size = 0; side.ok() && size < kBytes.size(); ++size) {
    std::vector<std::uint64_t> took;
    for (int i = 0; i < kBodies; ++i) {
      const std::uint64_t begin = sim::monotonic_ns();
      if (!side.receive()) return medians;
      side.send(0);
      took.push_back(sim::monotonic_ns() - begin);
    }
    std::nth_element(took.begin(), took.begin() + kBodies / 2, took.end());
    medians.push_back(static_cast<double>(took[kBodies / 2]) / 1e3);
  }
  return medians;
}

struct Measured {
  std::vector<double> us;
  sim::BodyPreferences preferences = 0;
};

// A failed fork or mapping counts as not measured.
Measured measure(sim::LongMethod method) {
  const Segment segment;
  sim::ShmLayout layout;
  if (!segment.ok() || !sim::ShmLayout::attach(segment.bytes(), 2, layout).ok()) return {};
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    // The child must not survive an interrupted command.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    send_all(segment, method);
    ::_exit(0);
  }
  Measured measured{receive_all(segment, method), layout.channel(1, 0).consumer.preferences};
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return measured;
}

std::string size_range(std::size_t size_class) {
  constexpr std::array<std::string_view, sim::kBodyClasses> kRanges = {"below 64 KiB", "64 KiB .. 256 KiB",
                                                                       "256 KiB .. 1 MiB", "1 MiB and more"};
  return std::string(kRanges[size_class]);
}

std::string us_text(double us) {
  return us == 0 ? "not measured" : fmt::format("{:.1f} us", us);
}

}  // namespace

// Each method separately, then the receiver's own choice.
std::array<LongBodyTimes, sim::kBodyClasses> calibrate_long_bodies() {
  const Measured ring = measure(sim::LongMethod::ring);
  const Measured reading = sim::probe_process_vm_readv().works ? measure(sim::LongMethod::cma) : Measured{};
  const Measured automatic = measure(sim::LongMethod::automatic);
  std::array<LongBodyTimes, sim::kBodyClasses> result;
  for (std::size_t i = 0; i < sim::kBodyClasses; ++i) {
    result[i].bytes = kBytes[i];
    if (i < ring.us.size()) result[i].ring_us = ring.us[i];
    if (i < reading.us.size()) result[i].reading_us = reading.us[i];
    result[i].chosen = sim::preference(automatic.preferences, i);
  }
  return result;
}

std::vector<std::string> describe_calibration(const std::array<LongBodyTimes, sim::kBodyClasses>& measured) {
  std::vector<std::string> lines{
      "long bodies inside a node, measured now between two processes (each receiver of a job measures for itself)",
      "  byte ring: if it costs the receiver less than half (below 64 KiB: 0.7) of reading: the sender copies too",
      "  the times below, from a body to its answer, are not these costs and do not decide the choice",
      "  a body of more than 2 MiB is read from memory to memory, where that is possible, unless the ring is chosen"};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const LongBodyTimes& times = measured[i];
    const std::string_view chosen = times.chosen == sim::BodyPreference::ring      ? "byte ring"
                                    : times.chosen == sim::BodyPreference::reading ? "memory to memory"
                                    : times.reading_us != 0                        ? "memory to memory"
                                                                                   : "byte ring";
    lines.push_back(fmt::format("  {:<24} {:<22} {} and its answer: ring {}, memory to memory {}", size_range(i),
                                chosen, bytes_text(times.bytes), us_text(times.ring_us), us_text(times.reading_us)));
  }
  return lines;
}

}  // namespace margay::command
