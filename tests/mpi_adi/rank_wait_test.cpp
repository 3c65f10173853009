// What a long wait puts on the job board, and what takes it off.
#include "mpi_adi/rank/wait.hpp"

#include <doctest/doctest.h>

#include "sim/wire/virtual_wire.hpp"

namespace margay::mpi_adi {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

struct NoCollectives final : RankExtension {
  [[nodiscard]] const sim::WireCounts& sent() const override { return nothing; }
  void forget_messages(const Communicator& /*communicator*/) override {}
  sim::WireCounts nothing;
};

class NoRest final : public sim::Rest {
 public:
  void rest(std::uint64_t /*ns*/) override {}
};

}  // namespace

TEST_CASE("a wait of a second stands on the board, until a message moves or a part of one") {
  sim::VirtualNetwork network(1, 1);
  NoRest rest;
  sim::VirtualPlace place;
  place.job.size = place.job.node_count = 1;
  place.job.node_of_rank = {0};
  place.attach = [&](sim::TransmissionList& finished) -> sim::Wire& { return network.attach(0, finished); };
  place.rest = &rest;
  std::unique_ptr<MpiRank> rank;
  const auto none = [](MpiRank&) -> std::unique_ptr<RankExtension> { return std::make_unique<NoCollectives>(); };
  REQUIRE(MpiRank::start_on(sim::Process::start_virtual(place), none, rank).ok());
  const sim::BoardBlock& board = rank->process().board();
  StallWatch watch(*rank);
  const std::uint64_t progress = board.progress;
  watch.idle(kSecond / 2);
  CHECK_EQ(board.wait.is_waiting, 0);
  watch.idle(2 * kSecond);
  CHECK_EQ(board.wait.is_waiting, 1);
  CHECK_EQ(board.progress, progress);
  SUBCASE("a message") {
    watch.moved();
  }
  SUBCASE("a part of one: the idle time begins anew") {
    watch.idle(0);
  }
  CHECK_EQ(board.wait.is_waiting, 0);
  CHECK_EQ(board.progress, progress + 1);
}

}  // namespace margay::mpi_adi
