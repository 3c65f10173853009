// RMI beside MPI in one program: rmi_beside_mpi. Node 1 has the scheduler `interrupt`, and its program is in MPI while
// its communication thread is in a method: a request that MPI's progress finds meanwhile is executed after the method.
#include <mpi.h>
#include <margay/rmi.hpp>

#include <atomic>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

constexpr int kTag = 1;

struct Busy {
  std::atomic<bool> begun = false, ends = false, asked = false;
  void work() {
    begun = true;
    while (!ends) {
    }
  }
};

struct Asked {
  Busy* busy = nullptr;
  void ask() { busy->asked = true; }
};

// Waits for a message of the other rank.
void receive() {
  MPI_Recv(nullptr, 0, MPI_INT, 1 - rmi::get_node_id(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send() {
  MPI_Send(nullptr, 0, MPI_INT, 1 - rmi::get_node_id(), kTag, MPI_COMM_WORLD);
}

void asleep() {
  Busy busy;
  Asked asked{&busy};
  const rmi::rmi_object<Busy> one(busy);
  const rmi::rmi_object<Asked> two(asked);
  if (rmi::get_node_id() == 0) {
    rmi::async_rmi(1, one, rmi::method<&Busy::work>);
    rmi::rmi_poll();
    receive();
    rmi::async_rmi(1, two, rmi::method<&Asked::ask>);
    rmi::rmi_poll();
    send();
  } else {
    // Messages of one sender are in order: after the second one, the request lies in its mailbox.
    while (!busy.begun) rmi::rmi_poll();
    send();
    receive();
    busy.ends = true;
    while (!busy.asked) {
    }
  }
  rmi::rmi_fence();
}

constexpr cases::Case kCases[] = {{"asleep", asleep}};

}  // namespace

int main(int argc, char** argv) {
  int level = 0, me = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 1) rmi::set_scheduler(rmi::Scheduler::interrupt);
  const int code = rmi::run(argc, argv, [](int count, char** words) { return cases::run(count, words, kCases); });
  MPI_Finalize();
  return code;
}
