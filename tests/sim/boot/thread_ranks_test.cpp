// Tests of the ranks of a process as set by the launcher's variables, and of the report of a rank's end on the board.
#include "sim/boot/thread_ranks.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "sim/boot/board.hpp"
#include "sim/boot/join.hpp"
#include "sim/boot/pmi_client.hpp"

namespace margay::sim {
namespace {

// The variables of the second process of a job of four ranks, two in each process.
struct SecondProcess {
  SecondProcess() : descriptor(::memfd_create("board", 0)) {
    REQUIRE(descriptor >= 0);
    REQUIRE(::ftruncate(descriptor, static_cast<off_t>(Board::bytes_for(4))) == 0);
    REQUIRE(Board::create(descriptor, 4, board).ok());
    board.header().node_count = 1;
    board.publish();
    ::setenv("MARGAY_BOARD_FD", std::to_string(descriptor).c_str(), 1);
    ::setenv("MARGAY_RANK", "2", 1);
    ::setenv("MARGAY_THREADS", "2", 1);
    // Any descriptor serves, because no data is sent.
    ::setenv("PMI_FD", "0", 1);
    ::setenv("MARGAY_PMI_FDS", (std::to_string(::dup(0)) + "," + std::to_string(descriptor)).c_str(), 1);
  }
  ~SecondProcess() {
    for (const char* name : {"MARGAY_BOARD_FD", "MARGAY_RANK", "MARGAY_THREADS", "PMI_FD", "MARGAY_PMI_FDS"}) {
      ::unsetenv(name);
    }
    ::close(descriptor);
  }
  SecondProcess(const SecondProcess&) = delete;
  SecondProcess& operator=(const SecondProcess&) = delete;

  int descriptor;
  Board board;
};

}  // namespace

TEST_CASE("a process has the number of ranks set by its launcher") {
  std::uint32_t ranks = 0;
  CHECK(ranks_of_process(ranks).ok());
  CHECK(ranks == 1);
  ::setenv("MARGAY_THREADS", "3", 1);
  // Without a board the variable is a remnant of another job, and is ignored.
  CHECK(ranks_of_process(ranks).ok());
  CHECK(ranks == 1);
  const SecondProcess process;
  CHECK(ranks_of_process(ranks).ok());
  CHECK(ranks == 2);
  for (const char* wrong : {"0", "x", "257", "-1"}) {
    ::setenv("MARGAY_THREADS", wrong, 1);
    CHECK(ranks_of_process(ranks).sentence().find(std::string("MARGAY_THREADS=") + wrong) == 0);
    CHECK(ranks == 1);
  }
}

TEST_CASE("each thread of a process joins as a rank of its own, and the process as none") {
  const SecondProcess process;
  Job job;
  const Status refused = join(job);
  CHECK(refused.sentence().find("run it without --threads") != std::string::npos);
  for (const std::uint32_t thread : {1U, 0U}) {
    REQUIRE(join(job, nullptr, thread).ok());
    CHECK(job.rank == 2 + thread);
    CHECK(job.size == 4);
    CHECK(job.process_ranks == 2);
    CHECK(process.board.block(2 + thread).pid == ::getpid());
    CHECK(process.board.block(2 + thread).thread == ::gettid());
  }
  CHECK(process.board.block(0).pid == 0);
  // A rank joins once.
  CHECK_FALSE(join(job, nullptr, 1).ok());
}

TEST_CASE("a rank without a connection of its own is an error") {
  const SecondProcess process;
  Job job;
  for (const char* wrong : {"", "0", "0,", "0,x"}) {
    ::setenv("MARGAY_PMI_FDS", wrong, 1);
    CHECK(join(job, nullptr, 1).sentence().find("MARGAY_PMI_FDS=") != std::string::npos);
  }
}

TEST_CASE("the end of a rank is recorded on the board, with its status") {
  const SecondProcess process;
  thread_rank_ended(1, 5);
  CHECK(process.board.block(3).thread_ended == 1);
  CHECK(process.board.block(3).thread_status == 5);
  CHECK(process.board.block(2).thread_ended == 0);
  // A rank beyond the job: nothing is written.
  thread_rank_ended(2, 5);
}

}  // namespace margay::sim
