// Tests of MPI_Comm_join: pairs of processes that a TCP connection joins, several times over one socket; descriptors
// that are no connected sockets, and other ends that speak another protocol.
// ranks: 2 3 4
// reference: none: Debian's MPICH has no MPI_Comm_join with UCX
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"

enum { kTag = 7, kNameTag = 8 };

static void expect_class(const char* what, int code, int expected) {
  CHECK(class_of(code) == expected, "%s: class %d, expected %d", what, class_of(code), expected);
}

// The other end of a TCP connection to `peer`, or -1 after a failure.
static int connected_socket(int peer) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t bytes = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (world_rank() < peer) {
    CHECK(bind(fd, (struct sockaddr*)&address, bytes) == 0 && listen(fd, 1) == 0, "no listening socket");
    getsockname(fd, (struct sockaddr*)&address, &bytes);
    MPI_Send(&address, sizeof address, MPI_BYTE, peer, kNameTag, MPI_COMM_WORLD);
    const int accepted = accept(fd, NULL, NULL);
    close(fd);
    return accepted;
  }
  MPI_Recv(&address, sizeof address, MPI_BYTE, peer, kNameTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(connect(fd, (struct sockaddr*)&address, bytes) == 0, "the socket does not connect");
  return fd;
}

static void join_by_sockets(void) {
  const int peer = partner_of(world_rank());
  if (peer < 0) return;
  const int fd = connected_socket(peer);
  for (int round = 0; round < 3; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    int theirs = -1, mine = world_rank(), size = -1;
    CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL, "no intercommunicator by a socket");
    MPI_Comm_remote_size(inter, &size);
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, kTag, &theirs, 1, MPI_INT, 0, kTag, inter, MPI_STATUS_IGNORE);
    CHECK(size == 1 && theirs == peer, "%d processes there; the first is %d", size, theirs);
    MPI_Comm_disconnect(&inter);
  }
  // The socket is quiescent again (MPI 4.0, 11.10.5).
  char byte = 0;
  CHECK(write(fd, "x", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x', "the socket has other bytes");
  close(fd);
}

static void join_by_wrong_sockets(void) {
  MPI_Comm inter = MPI_COMM_SELF;
  int pair[2];
  expect_class("closed descriptor", MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
  CHECK(pipe(pair) == 0, "no pipe");
  expect_class("pipe", MPI_Comm_join(pair[0], &inter), MPI_ERR_ARG);
  close(pair[0]);
  close(pair[1]);
  const int datagrams = socket(AF_INET, SOCK_DGRAM, 0), unconnected = socket(AF_INET, SOCK_STREAM, 0);
  expect_class("datagram socket", MPI_Comm_join(datagrams, &inter), MPI_ERR_ARG);
  expect_class("unconnected socket", MPI_Comm_join(unconnected, &inter), MPI_ERR_ARG);
  close(datagrams);
  close(unconnected);
  // An end that closes, and one that sends other bytes.
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "no sockets");
  const char other[] = "GET / HTTP/1.1\r\nHost: margay\r\n\r\n";
  CHECK(write(pair[1], other, sizeof other) == sizeof other, "not written");
  expect_class("other bytes", MPI_Comm_join(pair[0], &inter), MPI_ERR_OTHER);
  close(pair[1]);
  expect_class("closed end", MPI_Comm_join(pair[0], &inter), MPI_ERR_OTHER);
  close(pair[0]);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  join_by_sockets();
  join_by_wrong_sockets();
  return suite_end("ports_join");
}
