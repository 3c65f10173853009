#include "sim/wire/tcp/tcp_uring_ring.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "sim/wire/tcp/tcp_socket.hpp"

using margay::sim::close_if_open;
using margay::sim::TcpUringRing;

namespace {

constexpr std::size_t kReads = 64;

// A receive in progress into one byte of memory.
struct Read {
  int ends[2] = {-1, -1};
  char byte = 0;

  ~Read() {
    for (int& end : ends) close_if_open(end);
  }
};

}  // namespace

TEST_CASE("after a failure of the ring the kernel does not write to memory any more") {
  for (int round = 0; round < 4; ++round) {
    TcpUringRing ring;
    if (!ring.open().ok()) {
      MESSAGE("no io_uring here");
      return;
    }
    std::vector<Read> reads(kReads);
    for (Read& read : reads) {
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, read.ends) == 0);
      io_uring_sqe* const entry = ring.entry();
      REQUIRE(entry != nullptr);
      io_uring_prep_recv(entry, read.ends[0], &read.byte, 1, 0);
    }
    ring.submit();
    ::close(ring.descriptor());  // as in a program that closes all descriptors
    io_uring_prep_nop(ring.entry());
    ring.submit();
    REQUIRE(ring.failure() != 0);
    for (Read& read : reads) REQUIRE(::write(read.ends[1], "w", 1) == 1);
    ::usleep(1000);  // enters the kernel, which could write now
    int written = 0;
    for (const Read& read : reads) written += read.byte != 0;
    CHECK(written == 0);
  }
}
