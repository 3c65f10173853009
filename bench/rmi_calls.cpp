// A comparison of RMI with MPI in one run: a stream of asynchronous requests beside messages of the same size, a
// synchronous call and an asynchronous one with a reply beside a ping-pong, a fence beside an allreduce of 8 bytes; and
// the bounds of bench/rmi_bounds.hpp. Each figure is the best of several parts, in nanoseconds, then as a ratio to
// MPI's and to the bounds.
//
//   margay run -n 2 build/release/bench/rmi_calls
//   margay run -n 2 --nodes 2 build/release/bench/rmi_calls
//   margay run -n 1 --threads 2 build/release/bench/rmi_calls
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "margay/rmi.hpp"
#include "rmi_bounds.hpp"

namespace {

namespace rmi = margay::rmi;

constexpr int kParts = 10, kStream = 200000, kCalls = 10000;

struct Counter {
  std::uint64_t total = 0;
  [[gnu::noinline]] void add(int x) { total += static_cast<unsigned>(x); }
  [[gnu::noinline]] std::uint64_t get() const { return total; }
  [[gnu::noinline]] void answer() { rmi::async_rmi(0, this, &Counter::add, 1); }
};

// Nodes of this process, and the word that two of them send back and forth.
std::atomic<int> nodes_here{0};
bench::Flag flag;

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

// A row: RMI's time, MPI's, and two bounds; 0: there is none.
void print(const char* what, double ours, double mpi, double host = 0, double flag_time = 0) {
  if (rmi::get_node_id() != 0) return;
  std::printf("%-38s %9.1f ns   MPI %9.1f ns   ratio %.2f", what, ours, mpi, ours / mpi);
  if (host != 0) std::printf("   host %9.1f ns   ratio %.2f", host, ours / host);
  if (flag_time != 0) std::printf("   flag %7.1f ns   ratio %.2f", flag_time, ours / flag_time);
  std::printf("\n");
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

double ping_pong() {
  return best(kCalls, [] {
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
}

double echo() {
  bench::Echo bound;
  const double time = best(kCalls, [&] {
    if (rmi::get_node_id() == 1) bound.answer(0, kCalls);
    for (int i = 0; rmi::get_node_id() == 0 && i < kCalls; ++i) bound.ask(1);
  });
  bound.end();
  return time;
}

// 0: the nodes are not threads of one process.
double flag_time() {
  if (nodes_here != rmi::get_num_nodes()) return 0;
  return best(kCalls, [] {
    if (rmi::get_node_id() < 2) flag.go_back_and_forth(rmi::get_node_id() == 0, kCalls);
  });
}

void calls(Counter& counter) {
  const double mpi = ping_pong(), host = echo(), word = flag_time();
  const double sync = best(kCalls, [&] {
    for (int i = 0; rmi::get_node_id() == 0 && i < kCalls; ++i)
      static_cast<void>(rmi::sync_rmi(1, &counter, &Counter::get));
    rmi::rmi_fence();
  });
  print("a synchronous call, there and back", sync, mpi, host, word);
  const double async = best(kCalls, [&] {
    for (int i = 0; rmi::get_node_id() == 0 && i < kCalls; ++i) {
      const std::uint64_t before = counter.total;
      rmi::async_rmi(1, &counter, &Counter::answer);
      while (counter.total == before) rmi::rmi_wait();
    }
    rmi::rmi_fence();
  });
  print("an asynchronous one and its answer", async, mpi, host, word);
}

void fences() {
  const double allreduce = best(kCalls, [] {
    std::int64_t mine = 1, sum = 0;
    for (int i = 0; i < kCalls; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  });
  const auto row = [&](const char* what, rmi::Tree tree) {
    const double fence = best(kCalls, [&] {
      for (int i = 0; i < kCalls; ++i) rmi::rmi_fence(tree);
    });
    print(what, fence, allreduce);
  };
  row("a fence (allreduce of 8 bytes)", rmi::Tree::exchange);
  if (nodes_here != rmi::get_num_nodes()) return;
  row("a fence, central", rmi::Tree::central);
  row("a fence, tree of threads", rmi::Tree::mcs);
}

int program(int /*argc*/, char** /*argv*/) {
  MPI_Init(nullptr, nullptr);
  ++nodes_here;
  rmi::rmi_fence();
  Counter counter;
  const rmi::rmi_object<Counter> handle(counter);
  if (rmi::get_num_nodes() > 1) {
    stream(counter);
    calls(counter);
  }
  fences();
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
