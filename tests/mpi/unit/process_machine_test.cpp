// Tests of the library from MPI_Init to MPI_Finalize in two processes of a virtual machine, run alternately by one
// thread, with time that the test sets.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/process/machine.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/base/limits.hpp"
#include "sim/machine/process.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::mpi {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

// The wait of a rank: its turn passes to the test.
class TestPolicy final : public sim::YieldPolicy {
 public:
  void yield(std::uint64_t ns) override {
    if (passes) passes(ns);
  }
  std::function<void(std::uint64_t ns)> passes;
};

class Place final : public mpi_adi::ProcessStart {
 public:
  explicit Place(const sim::VirtualSettings& settings)
      : process_(sim::Process::start_virtual(settings)), mpi_process(*this, *settings.clock) {}
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out) override {
    out = std::move(process_);
    return {};
  }

 private:
  std::unique_ptr<sim::Process> process_;

 public:
  mpi_adi::VirtualMpiProcess mpi_process;
};

struct TwoProcesses {
  TwoProcesses() {
    sim::VirtualSettings settings;
    settings.job.size = 2;
    settings.job.node_count = 1;
    settings.job.node_of_rank = {0, 0};
    settings.yield_policy = &rest;
    settings.clock = &clock;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      settings.job.rank = rank;
      settings.attach = [this, rank](sim::TransmissionList& finished) -> sim::Wire& {
        return network.attach(rank, finished);
      };
      places.push_back(std::make_unique<Place>(settings));
    }
  }
  ~TwoProcesses() { mpi_adi::set_thread_process(mpi_adi::system_process()); }
  [[nodiscard]] mpi_adi::MpiProcess& process(std::size_t rank) { return places[rank]->mpi_process; }
  // The following calls belong to this rank.
  void be(std::size_t rank) { mpi_adi::set_thread_process(process(rank), process(rank).rank()); }
  void init(std::size_t rank) {
    be(rank);
    REQUIRE(MPI_Init(nullptr, nullptr) == MPI_SUCCESS);
  }

  sim::VirtualNetwork network{2, 1};
  sim::VirtualClock clock{7 * kSecond};
  TestPolicy rest;
  std::vector<std::unique_ptr<Place>> places;
};

// Captures the output to stderr during its lifetime.
class Stderr {
 public:
  Stderr() : file_(std::tmpfile()), was_(dup(STDERR_FILENO)) { dup2(fileno(file_), STDERR_FILENO); }
  ~Stderr() {
    dup2(was_, STDERR_FILENO);
    close(was_);
    std::fclose(file_);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  [[nodiscard]] std::string text() const {
    std::string text;
    std::rewind(file_);
    for (int byte = std::fgetc(file_); byte != EOF; byte = std::fgetc(file_)) text += static_cast<char>(byte);
    return text;
  }

 private:
  std::FILE* file_;
  int was_;
};

int initialized() {
  int flag = -1;
  MPI_Initialized(&flag);
  return flag;
}

}  // namespace

TEST_CASE("each process of a virtual machine begins its own MPI and sessions") {
  TwoProcesses two;
  two.init(0);
  CHECK(initialized() == 1);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == 2);
  two.be(1);
  CHECK(initialized() == 0);
  CHECK(mpi_adi::current_rank() == nullptr);
  MPI_Session session = MPI_SESSION_NULL;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  CHECK(mpi_adi::current_rank() == joined_rank(two.process(1)));
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
  CHECK(mpi_adi::current_rank() == nullptr);
  CHECK(joined_rank(two.process(1)) != nullptr);  // dormant
  mpi_adi::set_thread_process(mpi_adi::system_process());
  CHECK(initialized() == 0);
  CHECK(joined_rank(mpi_adi::system_process()) == nullptr);
}

TEST_CASE("each process has its own info objects and tool interface") {
  TwoProcesses two;
  two.be(0);
  MPI_Info info = MPI_INFO_NULL;
  int provided = 0, keys = -1, variables = 0;
  MPI_Info_create(&info);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_get_num(&variables) == MPI_SUCCESS);
  CHECK(MPI_Info_get_nkeys(info, &keys) == MPI_SUCCESS);
  two.be(1);
  CHECK(MPI_T_cvar_get_num(&variables) == MPI_T_ERR_NOT_INITIALIZED);
  two.init(1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(MPI_Info_get_nkeys(info, &keys) != MPI_SUCCESS);
}

TEST_CASE("MPI_Wtime and the tool interface return the process's time, also before MPI begins") {
  TwoProcesses two;
  two.be(0);
  CHECK(MPI_Wtime() == 7.0);
  CHECK(MPI_Wtick() == 1e-9);
  two.clock.advance_ns(kSecond / 2);
  CHECK(MPI_Wtime() == 7.5);
  two.init(0);
  two.clock.advance_ns(kSecond);
  CHECK(MPI_Wtime() == 8.5);
  int provided = 0;
  MPI_Count timestamp = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  CHECK(MPI_T_source_get_timestamp(0, &timestamp) == MPI_SUCCESS);
  CHECK(timestamp == 8'500'000'000);
  mpi_adi::set_thread_process(mpi_adi::system_process());
  CHECK(MPI_Wtime() != 8.5);
}

TEST_CASE("a wait is reported after 30 s of the process's time, and ends when the message arrives") {
  TwoProcesses two;
  two.init(1);
  two.be(0);
  int level = -1;
  SUBCASE("one thread") {
    level = MPI_THREAD_SINGLE;
  }
  SUBCASE("several threads, whose lock a wait releases while it yields") {
    level = MPI_THREAD_MULTIPLE;
  }
  int provided = -1;
  REQUIRE(MPI_Init_thread(nullptr, nullptr, level, &provided) == MPI_SUCCESS);
  CHECK(provided == level);
  const std::uint64_t began_ns = two.clock.now_ns();
  const sim::BoardWait& board = joined_rank(two.process(0))->process().board().wait;
  bool on_board = false;
  bool sent = false;
  two.rest.passes = [&](std::uint64_t ns) {
    if (sent) return;
    two.clock.advance_ns(ns + kMillisecond);
    const std::uint64_t waited_ns = two.clock.now_ns() - began_ns;
    on_board |= board.is_waiting != 0 && waited_ns < 5 * kSecond;
    if (waited_ns < sim::kStallReportNs + kSecond) return;
    sent = true;
    two.be(1);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    two.be(0);
    while (two.network.advance()) continue;
  };
  std::string text;
  {
    const Stderr reported;
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text = reported.text();
  }
  CHECK(sent);
  CHECK(on_board);
  // With several threads, each call is read from the thread's stack, which has no frames of the library in this
  // program.
  const std::string call = level == MPI_THREAD_SINGLE ? "MPI_Recv" : "MPI";
  CHECK_MESSAGE(text.find("rank 0 has waited 30 s in " + call + " without progress") != std::string::npos, text);
  CHECK(board.is_waiting == 0);
}

}  // namespace margay::mpi
