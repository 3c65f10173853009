// By MPI: matching sends and receives of 32 bytes, MPI_Barrier, and an MPI_Allreduce of 8 bytes.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <margay/rmi.hpp>
#include <stdexcept>

#include "by_hand.hpp"

namespace by_hand {
namespace {

namespace rmi = margay::rmi;

constexpr int kWindow = 64;

// As long as a request of RMI with one int.
struct Ping {
  std::int64_t left = 0;  // pings behind this one
  std::array<std::int64_t, 3> rest{};
};
static_assert(sizeof(Ping) == 32);

void check(std::int64_t left, std::int64_t expected) {
  if (left != expected) throw std::runtime_error("a ping of MPI is lost or out of order");
}

void send_pong() {
  MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}
void receive_pong() {
  MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void play_blocking(int pings) {
  Ping ping;
  if (rmi::get_node_id() == 0) {
    for (ping.left = pings - 1; ping.left >= 0; --ping.left) MPI_Send(&ping, 32, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    return receive_pong();
  }
  for (std::int64_t left = pings - 1; left >= 0; --left) {
    MPI_Recv(&ping, 32, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(ping.left, left);
  }
  send_pong();
}

// A window of nonblocking operations hides the latency of each.
void play_nonblocking(int pings) {
  std::array<Ping, kWindow> window;
  std::array<MPI_Request, kWindow> requests{};
  const bool sends = rmi::get_node_id() == 0;
  while (pings > 0) {
    int count = 0;
    for (; count < kWindow && count < pings; ++count) {
      Ping& ping = window[static_cast<std::size_t>(count)];
      MPI_Request& request = requests[static_cast<std::size_t>(count)];
      ping.left = sends ? pings - 1 - count : -1;
      if (sends)
        MPI_Isend(&ping, 32, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
      else
        MPI_Irecv(&ping, 32, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    }
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    pings -= count;
    check(window[static_cast<std::size_t>(count - 1)].left, pings);
  }
  if (sends) return receive_pong();
  send_pong();
}

void barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}
void allreduce() {
  std::int64_t mine = rmi::get_node_id() + 1, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const std::int64_t nodes = rmi::get_num_nodes();
  if (sum != nodes * (nodes + 1) / 2) throw std::runtime_error("MPI_Allreduce has a wrong sum");
}

}  // namespace

std::span<const PingPong> ping_pongs() {
  static constexpr std::array<PingPong, 2> kAll{{{"MPI_Send", play_blocking}, {"MPI_Isend", play_nonblocking}}};
  return kAll;
}

std::span<const Barrier> barriers() {
  static constexpr std::array<Barrier, 2> kAll{{{"MPI_Barrier", barrier}, {"MPI_Allreduce", allreduce}}};
  return kAll;
}

bool is_by_threads() {
  return false;
}

int run(int argc, char** argv, int (*program)(int, char**)) {
  MPI_Init(&argc, &argv);
  const int status = rmi::run(argc, argv, program);
  MPI_Finalize();
  return status;
}

}  // namespace by_hand
