// A comparison of RMI with MPI in one run: a stream of asynchronous requests beside messages of the same size, a
// synchronous call beside a ping-pong, a fence beside an allreduce of 8 bytes. Each figure is the best of several
// parts, in nanoseconds, then as a ratio to MPI's.
//
//   margay run -n 2 build/release/bench/rmi_calls
//   margay run -n 2 --nodes 2 build/release/bench/rmi_calls
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "margay/rmi.hpp"

namespace {

namespace rmi = margay::rmi;

constexpr int kParts = 10, kStream = 200000, kCalls = 10000;

struct Counter {
  std::uint64_t total = 0;
  [[gnu::noinline]] void add(int x) { total += static_cast<unsigned>(x); }
  [[gnu::noinline]] std::uint64_t get() const { return total; }
};

// The nanoseconds of one of `count` operations, in the best of kParts runs of `all`; all nodes begin together.
template <class All>
double best(int count, All&& all) {
  double least = 1e18;
  for (int part = 0; part < kParts; ++part) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    all();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / count);
  }
  return least;
}

void print(const char* what, double ours, double mpi) {
  if (rmi::get_node_id() == 0) std::printf("%-38s %9.1f ns   MPI %9.1f ns   ratio %.2f\n", what, ours, mpi, ours / mpi);
}

void stream(Counter& counter) {
  const double requests = best(kStream, [&] {
    if (rmi::get_node_id() == 0) {
      for (int i = 0; i < kStream; ++i) rmi::async_rmi(1, &counter, &Counter::add, i);
    }
    rmi::rmi_fence();
  });
  const double messages = best(kStream, [] {
    char bytes[32] = {};
    for (int i = 0; i < kStream; ++i) {
      if (rmi::get_node_id() == 0) MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      if (rmi::get_node_id() == 1) MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rmi::get_node_id() == 1) MPI_Send(bytes, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rmi::get_node_id() == 0) MPI_Recv(bytes, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  print("an asynchronous request of 32 bytes", requests, messages);
}

void calls(Counter& counter) {
  const double call = best(kCalls, [&] {
    if (rmi::get_node_id() == 0) {
      for (int i = 0; i < kCalls; ++i) static_cast<void>(rmi::sync_rmi(1, &counter, &Counter::get));
    }
    rmi::rmi_fence();
  });
  const double ping_pong = best(kCalls, [] {
    std::uint64_t word = 0;
    for (int i = 0; i < kCalls; ++i) {
      if (rmi::get_node_id() == 0) {
        MPI_Send(&word, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rmi::get_node_id() == 1) {
        MPI_Recv(&word, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      }
    }
  });
  print("a synchronous call, there and back", call, ping_pong);
}

void fences() {
  const double fence = best(kCalls, [] {
    for (int i = 0; i < kCalls; ++i) rmi::rmi_fence();
  });
  const double allreduce = best(kCalls, [] {
    std::int64_t mine = 1, sum = 0;
    for (int i = 0; i < kCalls; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  });
  print("a fence (allreduce of 8 bytes)", fence, allreduce);
}

int program(int /*argc*/, char** /*argv*/) {
  Counter counter;
  const rmi::rmi_object<Counter> handle(counter);
  if (rmi::get_num_nodes() > 1) {
    stream(counter);
    calls(counter);
  }
  fences();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = rmi::run(argc, argv, program);
  MPI_Finalize();
  return code;
}
