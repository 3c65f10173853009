// A benchmark of the shared memory wire between two threads on two processors: one-way latency (half a round trip) and
// one-way stream. Counters are of the best batch, which a busy machine disturbs least: `one_way_ns`; `GB_s` and
// `M_messages_s`.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "sim/wire/shm/shm_wire.hpp"

namespace {

using margay::portals::Header;
using margay::portals::Region;
using margay::portals::RegionCursor;
using margay::sim::Arrival;
using margay::sim::ShmWire;
using margay::sim::Transmission;
using margay::sim::TransmissionList;

void pin(unsigned processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

class Segment {
 public:
  Segment() : bytes_(margay::sim::shm_segment_bytes(2)) {
    base_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  ~Segment() { ::munmap(base_, bytes_); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(base_), bytes_}; }

 private:
  std::size_t bytes_;
  void* base_;
};

// One rank, with the work of a kernel except matching.
class Side {
 public:
  Side(const Segment& segment, std::uint32_t rank, std::size_t bytes)
      : wire_(segment.bytes(), rank, 2, {0, 1}, finished_), peer_(1 - rank), out_(bytes), in_(bytes) {
    std::memset(out_.data(), 1, bytes);
    std::memset(in_.data(), 2, bytes);
  }

  void send() {
    Header header;
    header.length = out_.size();
    header.match_bits = 7;
    header.user_data[0] = std::byte{1};
    const Region body(out_.data(), out_.size());
    if (wire_.try_send(peer_, header, body)) return;
    Transmission& transmission = transmissions_[next_++ % transmissions_.size()];
    transmission.header = header;
    transmission.body = body;
    wire_.send(peer_, transmission);
    while (!wire_.idle()) {
      wire_.push();
      drain();
    }
    while (finished_.pop() != nullptr) {
    }
  }

  // Takes all arrivals; counts complete messages.
  void drain() {
    Arrival arrival;
    while (wire_.poll(arrival)) {
      switch (arrival.kind) {
        case Arrival::Kind::whole:
          RegionCursor(arrival.body).read({in_.data(), static_cast<std::size_t>(arrival.header.length)});
          wire_.consume();
          ++received_;
          break;
        case Arrival::Kind::started:
          wire_.accept(Region(in_.data(), in_.size()), nullptr);
          break;
        case Arrival::Kind::finished:
          ++received_;
          break;
        case Arrival::Kind::cut:
        case Arrival::Kind::lost:
        case Arrival::Kind::left:
          break;
      }
    }
  }
  void receive(std::uint64_t count) {
    for (const std::uint64_t until = received_ + count; received_ < until;) {
      wire_.push();
      drain();
    }
  }

 private:
  TransmissionList finished_;
  ShmWire wire_;
  std::uint32_t peer_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::vector<Transmission> transmissions_ = std::vector<Transmission>(4);
  std::size_t next_ = 0;
  std::uint64_t received_ = 0;
};

void latency(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const Segment segment;
  Side here(segment, 0, bytes);
  constexpr std::uint64_t kBatch = 200;
  std::atomic<std::uint64_t> batches{0};
  std::atomic<bool> ends{false};
  std::thread echo([&] {
    pin(1);
    Side there(segment, 1, bytes);
    for (std::uint64_t done = 0;;) {
      while (batches.load(std::memory_order_acquire) == done) {
        if (ends.load(std::memory_order_acquire)) return;
      }
      for (std::uint64_t i = 0; i < kBatch; ++i) {
        there.receive(1);
        there.send();
      }
      ++done;
    }
  });
  pin(0);
  double best = 1e9;
  for (auto _ : state) {
    batches.fetch_add(1, std::memory_order_release);
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      here.send();
      here.receive(1);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count());
    best = std::min(best, took.count());
  }
  state.counters["one_way_ns"] = best * 1e9 / (2.0 * static_cast<double>(kBatch));
  ends.store(true, std::memory_order_release);
  echo.join();
}

void stream(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const Segment segment;
  Side here(segment, 0, bytes);
  const std::uint64_t batch = bytes <= 64 ? 20'000 : std::max<std::uint64_t>(64, (64 << 20) / bytes / 4);
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> taken{0};
  std::atomic<bool> ends{false};
  std::thread sink([&] {
    pin(1);
    Side there(segment, 1, bytes);
    for (std::uint64_t done = 0;;) {
      while (batches.load(std::memory_order_acquire) == done) {
        if (ends.load(std::memory_order_acquire)) return;
      }
      there.receive(batch);
      taken.store(++done, std::memory_order_release);
    }
  });
  pin(0);
  std::uint64_t begun = 0;
  double best = 1e9;
  for (auto _ : state) {
    batches.store(++begun, std::memory_order_release);
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < batch; ++i) here.send();
    while (taken.load(std::memory_order_acquire) != begun) {
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count());
    best = std::min(best, took.count());
  }
  state.counters["GB_s"] = static_cast<double>(batch * bytes) / best * 1e-9;
  state.counters["M_messages_s"] = static_cast<double>(batch) / best * 1e-6;
  ends.store(true, std::memory_order_release);
  sink.join();
}

BENCHMARK(latency)
    ->Arg(8)
    ->Arg(40)
    ->Arg(256)
    ->Arg(1 << 10)
    ->Arg(4 << 10)
    ->Arg(8 << 10)
    ->Arg(16 << 10)
    ->Arg(64 << 10)
    ->Arg(1 << 20)
    ->Arg(4 << 20)
    ->UseManualTime()
    ->MinTime(0.3);
BENCHMARK(stream)
    ->Arg(8)
    ->Arg(40)
    ->Arg(1 << 10)
    ->Arg(8 << 10)
    ->Arg(64 << 10)
    ->Arg(1 << 20)
    ->Arg(4 << 20)
    ->UseManualTime()
    ->MinTime(0.3);

}  // namespace

BENCHMARK_MAIN();
