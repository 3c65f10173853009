// Tests of the predefined communicators, and of the error handler for errors that concern no object.
#include "mpi_adi/rank/worlds.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "mpi_adi/rank/object_tables.hpp"
#include "tests/mpi_adi/lone_rank.hpp"

namespace margay::mpi_adi {

TEST_CASE("worlds: the program has its two from begin to end, the library always has its own") {
  test::LoneRank lone;
  Worlds& worlds = lone.rank->worlds();
  CHECK_EQ(worlds.find(MPI_COMM_WORLD), nullptr);
  CHECK_EQ(worlds.find(MPI_COMM_SELF), nullptr);
  worlds.begin(MPI_THREAD_FUNNELED);
  CHECK_EQ(worlds.find(MPI_COMM_WORLD), &worlds.world());
  CHECK_EQ(worlds.find(MPI_COMM_SELF), &worlds.self());
  CHECK_EQ(worlds.find(MPI_COMM_NULL), nullptr);
  CHECK_EQ(worlds.thread_level(), MPI_THREAD_FUNNELED);
  CHECK(worlds.on_main_thread());
  std::thread([&] { CHECK_FALSE(worlds.on_main_thread()); }).join();
  worlds.end();
  CHECK_EQ(worlds.find(MPI_COMM_WORLD), nullptr);
  CHECK_EQ(worlds.own_world().context, worlds.world().context);
  CHECK_EQ(worlds.own_world().group->session, Group::kNoSession);
}

TEST_CASE(
    "worlds: errors of no communicator are the world's, unless the program set a handler of MPI_COMM_SELF alone") {
  test::LoneRank lone;
  Worlds& worlds = lone.rank->worlds();
  const ErrorHandlerPtr returns = lone.rank->tables().error_handlers.find(MPI_ERRORS_RETURN);
  REQUIRE(returns != nullptr);
  const auto reported_by = [&](MPI_Comm expected) {
    CHECK_EQ(worlds.fallback_communicator().handle, expected);
    CHECK_EQ(worlds.fallback_handler().communicator, expected);
    CHECK_EQ(worlds.fallback_handler().handler, worlds.fallback_communicator().error_handler);
  };
  reported_by(MPI_COMM_WORLD);
  worlds.set_error_handler(worlds.self(), returns);
  reported_by(MPI_COMM_SELF);
  worlds.set_error_handler(worlds.world(), returns);
  reported_by(MPI_COMM_WORLD);
  worlds.end();  // the program's handlers are removed too
  reported_by(MPI_COMM_WORLD);
  CHECK_EQ(worlds.world().error_handler, lone.rank->tables().initial_handler);
}

TEST_CASE("worlds: the first communicators have distinct contexts; both groups of an intercommunicator get one pair") {
  test::LoneRank lone;
  Worlds& worlds = lone.rank->worlds();
  std::set<ContextId> taken;
  for (Communicator* communicator : {&worlds.world(), &worlds.self(), &worlds.places()}) {
    CHECK_FALSE(worlds.contexts().is_free(communicator->context / 2));
    CHECK(taken.insert(communicator->context).second);
    CHECK(taken.insert(communicator->collective_context).second);
  }
  Communicator inter;
  inter.context = kNoContext;
  inter.both = std::make_unique<Communicator>();
  Worlds::set_context(inter, AgreedContext{10, 77});
  CHECK_EQ(inter.context, 10);
  CHECK_EQ(inter.collective_context, 11);
  CHECK_EQ(inter.both->context, 10);
  CHECK_EQ(inter.both->collective_context, 11);
  CHECK_EQ(inter.both->generation, 77);
  std::set<std::uint64_t> generations;
  for (int i = 0; i < 1'000; ++i) CHECK(generations.insert(worlds.next_generation()).second);
}

}  // namespace margay::mpi_adi
