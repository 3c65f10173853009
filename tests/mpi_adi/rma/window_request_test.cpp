#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/rma/elements.hpp"
#include "tests/mpi_adi/window_requests.hpp"

using namespace margay::mpi_adi;
using namespace margay::mpi_adi::test;

namespace {

WindowRequestHead accumulate_head(MPI_Op op, MPI_Datatype type, std::uint64_t bytes) {
  WindowRequestHead head;
  head.kind = WindowRequestKind::accumulate;
  head.op = op;
  head.type = type;
  head.bytes = bytes;
  return head;
}

int carried_out(GuardedMemory& memory, const std::vector<std::byte>& body, std::vector<std::byte>& old) {
  std::vector<margay::portals::Buffer> table;
  margay::sim::AccumulateLockData data;
  margay::sim::AccumulateLock lock(data, 0,
                                   margay::sim::HolderDeathTest([](void*, std::uint32_t) { return false; }, nullptr));
  return ReceivedWindowRequest::read(body)->combine(memory.exposed(), table, old, lock);
}

}  // namespace

TEST_CASE("an element's size is the predefined datatype's, whatever the handle's bits say") {
  PredefinedTypes types;
  int known = 0, wrong = 0;
  for (int low = 0; low <= 0xffff; ++low) {
    const MPI_Datatype type = kBasic | low;
    const std::uint32_t bytes = accumulate_element_bytes(type);
    const Datatype* const found = types.find(type);
    const bool good = bytes == (found == nullptr ? 0 : found->size) && bytes <= kElementBytesMax;
    wrong += good && accumulate_data_bytes(type) == bytes ? 0 : 1;
    known += bytes != 0 ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(known > 50);
  CHECK(accumulate_element_bytes(MPI_LONG_DOUBLE_INT) == kElementBytesMax);
  CHECK(accumulate_data_bytes(MPI_LONG_DOUBLE_INT) == sizeof(long double) + sizeof(int));
  CHECK(accumulate_element_bytes(MPI_DATATYPE_NULL) == 0);
  CHECK(accumulate_element_bytes(MPI_LB) == 0);
}

TEST_CASE("an accumulate whose elements have no predefined datatype is rejected") {
  GuardedMemory memory(false);
  std::vector<std::byte> old;
  const std::vector<std::byte> operands(255, std::byte{1});
  const auto result_of = [&](MPI_Op op, MPI_Datatype type, std::uint64_t bytes) {
    return carried_out(memory, request_body(accumulate_head(op, type, bytes), {}, std::span(operands).first(bytes)),
                       old);
  };
  CHECK(result_of(MPI_REPLACE, kBasic | 0xff0d, 255) == MPI_ERR_OP);  // MPI_BYTE's index, 255 bytes
  CHECK(result_of(MPI_REPLACE, kBasic | 0x400d, 64) == MPI_ERR_OP);
  CHECK(result_of(MPI_REPLACE, MPI_LB, 0) == MPI_ERR_OP);
  CHECK(result_of(MPI_SUM, MPI_BYTE, 8) == MPI_ERR_OP);
  CHECK(result_of(MPI_REPLACE, MPI_INT, 6) == MPI_ERR_RMA_RANGE);
  CHECK(memory.begin()[0] == std::byte{0x5a});
  CHECK(result_of(MPI_REPLACE, MPI_INT, 8) == MPI_SUCCESS);
  CHECK(memory.begin()[7] == std::byte{1});
  CHECK(memory.is_intact());
}

TEST_CASE("the previous value is returned to the origin if it requests it") {
  GuardedMemory memory(false);
  std::vector<std::byte> old(3);
  const std::array operands{std::byte{7}, std::byte{8}};
  WindowRequestHead head = accumulate_head(MPI_REPLACE, MPI_BYTE, 2);
  CHECK(carried_out(memory, request_body(head, {}, operands), old) == MPI_SUCCESS);
  CHECK(old.empty());
  head.reply_bits = 1;
  const std::array pieces{Piece{1, 1}, Piece{0, 1}};
  CHECK(carried_out(memory, request_body(head, pieces, operands), old) == MPI_SUCCESS);
  CHECK(old == std::vector{std::byte{8}, std::byte{7}});
  head.bare_answer = 1;
  CHECK(carried_out(memory, request_body(head, {}, operands), old) == MPI_SUCCESS);
  CHECK(old.empty());
}

TEST_CASE("a truncated request is invalid") {
  const std::array pieces{Piece{0, 4}, Piece{8, 4}};
  const std::vector<std::byte> body = request_body(accumulate_head(MPI_NO_OP, MPI_INT, 8), pieces);
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes)
    CHECK_FALSE(ReceivedWindowRequest::read(std::span(body).first(bytes)));
  CHECK(ReceivedWindowRequest::read(body)->pieces().size() == 2);
  std::vector<Piece> many(kPiecesPerRequest + 1, Piece{0, 4});
  CHECK_FALSE(ReceivedWindowRequest::read(request_body({}, many)));
}

TEST_CASE("an announced access with numbers that no origin sends is invalid") {
  AnnouncedAccess access;
  std::fill(std::begin(access.call), std::end(access.call), 'x');
  WindowRequestHead head;
  head.kind = WindowRequestKind::announce;
  head.origin = 3;
  std::vector<std::byte> body = request_body(head, {}, std::as_bytes(std::span(&access, 1)));
  const auto read = ReceivedWindowRequest::read(body)->announced();
  REQUIRE(read);
  CHECK(read->origin == 3);
  CHECK(std::strlen(read->call) == sizeof read->call - 1);
  for (const std::size_t at :
       {offsetof(AnnouncedAccess, kind), offsetof(AnnouncedAccess, epoch), offsetof(AnnouncedAccess, mixed_ops),
        offsetof(AnnouncedAccess, ordered), offsetof(AnnouncedAccess, ends_alone)}) {
    std::vector<std::byte> damaged = body;
    damaged[sizeof head + at] = std::byte{3};
    CHECK_FALSE(ReceivedWindowRequest::read(damaged)->announced());
  }
}

TEST_CASE("an access may span adjacent attached pieces") {
  std::array<std::byte, 64> memory{};
  TargetMemory window;
  window.make_dynamic();
  const auto from = [&](std::size_t at, std::uint64_t bytes) {
    return window.at(reinterpret_cast<std::uintptr_t>(memory.data() + at), bytes) != nullptr;
  };
  for (const std::size_t piece : {1U, 3U, 0U, 2U, 6U}) REQUIRE(window.attach(memory.data() + 8 * piece, 8));
  CHECK(from(4, 8));
  CHECK(from(0, 32));
  CHECK(from(31, 1));
  CHECK_FALSE(from(0, 33));
  CHECK_FALSE(from(40, 16));
  CHECK(from(48, 8));
  CHECK_FALSE(from(48, 9));
  CHECK_FALSE(from(4, ~std::uint64_t{0}));
  REQUIRE(window.detach(memory.data() + 16));
  CHECK(from(0, 16));
  CHECK_FALSE(from(8, 9));
  CHECK(from(24, 8));
}

TEST_CASE("no request accesses memory outside of the window") {
  std::mt19937_64 random(7);
  for (const bool dynamic : {false, true}) {
    GuardedMemory memory(dynamic);
    ConflictTable announced;
    for (int i = 0; i < 20'000; ++i) {
      if (i % 1000 == 0) announced = {};
      const std::vector<std::byte> body = random_request(random, memory.origin());
      REQUIRE(memory.meets(body, announced));
    }
  }
}
