// Failover of links, on contexts that are threads (loop_host.hpp): a way is lost while requests are under way, and then
// all ways.
#include <margay/nexus.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/libraries/nexus/loop_host.hpp"

extern "C" int MPI_Get_version(int* version, int* subversion) {
  *version = 4, *subversion = 0;
  return 0;
}
extern "C" margay::host::Host* MPIX_Margay_host(std::uint32_t /*version*/) {
  static margay::testing::LoopHost host;
  return &host;
}

namespace {

using namespace margay::nexus;

void need(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the test expects: %s\n", what);
  std::_Exit(1);
}

void lose(int peer, const char* wire) {
  margay::testing::LoopRank& rank = *margay::testing::LoopJob::mine;
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

}  // namespace

int main() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    margay::testing::LoopJob job(2, seed, 1);
    job.run([](std::uint32_t /*rank*/) { program(); });
  }
  std::printf("failover: right\n");
}
