#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/boot/board.hpp"
#include "sim/boot/node_segment.hpp"

using namespace margay::sim;

namespace {

struct File {
  explicit File(std::uint64_t bytes) {
    SegmentRequest request;
    request.sizes = only_size(bytes);
    REQUIRE(create_segment(request, descriptor).ok());
  }
  ~File() { ::close(descriptor); }
  int descriptor = -1;
};

}  // namespace

TEST_CASE("data written by one side of the board is read by the other, and regions do not overlap") {
  constexpr std::uint32_t kSize = 5;
  File file(Board::bytes_for(kSize));
  Board maker;
  REQUIRE(Board::create(file.descriptor, kSize, maker).ok());
  maker.header().job_id = 42;
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    maker.node_of_rank()[rank] = rank / 2;
    set_text(maker.block(rank).mpi_call, "MPI_Recv");
    for (std::uint32_t peer = 0; peer < kSize; ++peer) {
      maker.sent(rank)[peer] = rank * 100 + peer;
      maker.delivered(rank)[peer] = rank * 1000 + peer;
      for (std::size_t reason = 0; reason < kDropReasons; ++reason) {
        maker.dropped(rank)[peer * kDropReasons + reason] = rank * 10000 + peer * 100 + reason;
      }
    }
  }
  maker.publish();
  Board reader;
  REQUIRE(Board::attach(file.descriptor, reader).ok());
  CHECK(reader.size() == kSize);
  CHECK(reader.header().job_id == 42);
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    CHECK(reader.node_of_rank()[rank] == rank / 2);
    CHECK(std::string(reader.block(rank).mpi_call.data()) == "MPI_Recv");
    CHECK(reader.sent(rank)[kSize - 1] == rank * 100 + kSize - 1);
    CHECK(reader.delivered(rank)[0] == rank * 1000);
    CHECK(reader.dropped(rank)[kSize * kDropReasons - 1] == rank * 10000 + (kSize - 1) * 100 + kDropReasons - 1);
  }
}

TEST_CASE("a file that is not a board is rejected") {
  Board board;
  CHECK_FALSE(Board::attach(-1, board).ok());
  File small(16);
  CHECK_FALSE(Board::attach(small.descriptor, board).ok());
  File fresh(Board::bytes_for(3));
  CHECK_FALSE(Board::attach(fresh.descriptor, board).ok());  // not published
  Board maker;
  REQUIRE(Board::create(fresh.descriptor, 3, maker).ok());
  maker.publish();
  REQUIRE(Board::attach(fresh.descriptor, board).ok());
  for (std::uint32_t lie : {0U, 2U, 4U, 65537U, 0xffffffffU}) {
    maker.header().size = lie;
    Board other;
    CHECK_FALSE(Board::attach(fresh.descriptor, other).ok());
  }
  maker.header().size = 3;
  maker.header().version = 99;
  Board other;
  CHECK(Board::attach(fresh.descriptor, other).sentence().find("another version") != std::string::npos);
}

TEST_CASE("the longest name of MPI fills its field") {
  BoardBlock block;
  set_name(block.mpi_call, "MPI_Type_create_hindexed_block_c and more");
  CHECK(name_in(block.mpi_call) == "MPI_Type_create_hindexed_block_c");
  set_name(block.mpi_call, "MPI_Recv");
  CHECK(name_in(block.mpi_call) == "MPI_Recv");
  CHECK(block.mpi_call.back() == '\0');
}

TEST_CASE("a long text is truncated and ends with a zero") {
  BoardBlock block;
  set_text(block.mpi_call, std::string(100, 'x'));
  CHECK(std::string(block.mpi_call.data()) == std::string(27, 'x') + " ...");
  set_text(block.mpi_call, "a line that is cut after a whole word");
  CHECK(std::string(block.mpi_call.data()) == "a line that is cut after a ...");
  const std::string fits = "thirty-one letters, and no more";
  set_text(block.mpi_call, fits);
  CHECK(block.mpi_call.data() == fits);
  set_text(block.mpi_call, fits + "x");
  CHECK(std::string(block.mpi_call.data()) == "thirty-one letters, and no ...");
}

TEST_CASE("a segment is zero at first and cannot shrink") {
  File file(1 << 20);
  char byte = 1;
  CHECK(::pread(file.descriptor, &byte, 1, (1 << 20) - 1) == 1);
  CHECK(byte == 0);
  CHECK(::ftruncate(file.descriptor, 4096) != 0);
  CHECK((::fcntl(file.descriptor, F_GETFD) & FD_CLOEXEC) == 0);
}

TEST_CASE("without memfd the segment is a nameless file, allocated in full") {
  SegmentRequest request;
  request.sizes = only_size(1 << 20);
  request.refuse_memfd = true;
  int descriptor = -1;
  REQUIRE(create_segment(request, descriptor).ok());
  struct stat info {};
  REQUIRE(::fstat(descriptor, &info) == 0);
  CHECK(info.st_nlink == 0);
  CHECK(info.st_size == 1 << 20);
  CHECK(info.st_blocks * 512 >= 1 << 20);
  CHECK((info.st_mode & 0777) == 0600);
  ::close(descriptor);
}

TEST_CASE(
    "without memfd a segment is as small as it may be where its memory would be more than half of what is there") {
  constexpr std::uint64_t kLeast = 1 << 16, kSmall = 1 << 20, kHuge = std::uint64_t{1} << 44;
  for (const bool refuse_memfd : {false, true}) {
    for (const std::uint64_t allocated : {kSmall, kHuge}) {
      CAPTURE(allocated);
      SegmentRequest request;
      request.sizes = {.sparse = kHuge, .allocated = allocated, .least = kLeast};
      request.refuse_memfd = refuse_memfd;
      int descriptor = -1;
      REQUIRE(create_segment(request, descriptor).ok());
      CHECK(bytes_of_segment(descriptor) == (!refuse_memfd ? kHuge : allocated == kSmall ? kSmall : kLeast));
      ::close(descriptor);
    }
  }
}

TEST_CASE("a segment that cannot be allocated is an error with the requested size, the available size, and the limit") {
  SegmentRequest request;
  request.sizes = only_size(std::uint64_t{1} << 44);
  request.refuse_memfd = true;
  int descriptor = -1;
  const auto status = create_segment(request, descriptor);
  REQUIRE_FALSE(status.ok());
  CHECK(status.sentence().find("17592186044416 bytes") != std::string::npos);
  CHECK(status.sentence().find("are free in /dev/shm") != std::string::npos);
  request.sizes = only_size(4096);
  request.directory = "/nonexistent";
  CHECK(create_segment(request, descriptor).sentence().find("/nonexistent cannot be used") != std::string::npos);
  request.sizes = only_size(0);
  CHECK_FALSE(create_segment(request, descriptor).ok());
}

TEST_CASE("a board has a record for each place, and only those below the number of used ones are shown") {
  for (const std::uint32_t size : {3U, 4U}) {
    File file(Board::bytes_for(size));
    Board maker;
    REQUIRE(Board::create(file.descriptor, size, maker).ok());
    CHECK(maker.used() == size);
    CHECK(maker.header().first_ranks == size);
    maker.header().used = 2;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      maker.node_of_rank()[rank] = rank;
      maker.place(rank) = {.world = rank, .world_rank = 2 * rank, .starts = 3 * rank};
      maker.block(rank).calls = 7;
    }
    maker.publish();
    Board reader;
    REQUIRE(Board::attach(file.descriptor, reader).ok());
    CHECK(reader.used() == 2);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      CHECK(reader.node_of_rank()[rank] == rank);
      CHECK(reader.place(rank).world == rank);
      CHECK(reader.place(rank).world_rank == 2 * rank);
      CHECK(reader.place(rank).starts == 3 * rank);
      CHECK(reader.block(rank).calls == 7);
    }
    // A damaged number never leads beyond the places.
    reader.header().used = 1000;
    CHECK(reader.used() == size);
  }
}
