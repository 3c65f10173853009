// Tests of MpiProcess: each process has its own parts, each created at its first use.
#include "mpi_adi/rank/mpi_process.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi_adi {
namespace {

struct NoStart final : ProcessStart {
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& /*out*/) override {
    return portals::Status::error("there is no machine");
  }
};

std::string gone;

template <PartSlot Slot, char Name>
struct NotedPart final : ProcessPart {
  static constexpr PartSlot kSlot = Slot;
  ~NotedPart() override { gone += Name; }
  int value = 0;
};
using Lower = NotedPart<PartSlot::tool, 't'>;
using Upper = NotedPart<PartSlot::job, 'j'>;

// Assigns the calling thread to a process for a while.
struct Visit {
  explicit Visit(MpiProcess& process) { set_thread_process(process); }
  ~Visit() { set_thread_process(system_process()); }
};

void no_handler() {}

}  // namespace

TEST_CASE("an unassigned thread belongs to the operating system's process") {
  CHECK(&current_process() == &system_process());
  CHECK(system_process().clock() == nullptr);
  NoStart start;
  sim::VirtualClock clock;
  VirtualMpiProcess other(start, clock);
  const Visit visit(other);
  CHECK(&current_process() == &other);
  std::thread([] { CHECK(&current_process() == &system_process()); }).join();
}

TEST_CASE("a process has parts of its own, creates each once, and destroys them in the opposite order") {
  NoStart start;
  sim::VirtualClock clock(17);
  gone.clear();
  {
    VirtualMpiProcess first(start, clock);
    VirtualMpiProcess second(start, clock);
    CHECK(first.now_ns() == 17);
    CHECK(first.find_part<Lower>() == nullptr);
    first.part<Upper>().value = 1;
    first.part<Lower>().value = 2;
    CHECK(first.part<Upper>().value == 1);
    CHECK(first.find_part<Lower>() == &first.part<Lower>());
    CHECK(second.part<Lower>().value == 0);
    first.set_init_state(InitState::running);
    CHECK(second.init_state() == InitState::before);
  }
  CHECK(gone == "tjt");
}

TEST_CASE("threads that ask concurrently get the same part") {
  NoStart start;
  sim::VirtualClock clock;
  gone.clear();
  {
    VirtualMpiProcess process(start, clock);
    const auto count = [&process] { static_cast<void>(process.part<Lower>()); };
    std::thread one(count);
    std::thread another(count);
    one.join();
    another.join();
    CHECK(process.find_part<Lower>() != nullptr);
  }
  CHECK(gone == "t");
}

TEST_CASE("an error handler is known in the process that created it") {
  NoStart start;
  sim::VirtualClock clock;
  VirtualMpiProcess first(start, clock);
  VirtualMpiProcess second(start, clock);
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  {
    const Visit visit(first);
    handle = process_error_handlers().create(ObjectType::communicator, &no_handler);
    CHECK(process_error_handlers().find(handle) != nullptr);
  }
  const Visit visit(second);
  CHECK(process_error_handlers().find(handle) == nullptr);
}

TEST_CASE("a process begins as requested, or reports why it cannot") {
  NoStart start;
  sim::VirtualClock clock;
  VirtualMpiProcess process(start, clock);
  std::unique_ptr<sim::Process> made;
  CHECK(process.start(made).sentence() == "there is no machine");
}

}  // namespace margay::mpi_adi
