// Tests of handles: lookups of objects, references that keep objects alive, and the records of their creators for the
// list of leaks.
#include "mpi_adi/rank/handles.hpp"

#include <doctest/doctest.h>

#include "mpi_adi/rank/origins.hpp"
#include "tests/mpi_adi/lone_rank.hpp"

namespace margay::mpi_adi {
namespace {

Request& pending(test::LoneRank& lone) {
  return *lone.rank->device().start_receive(
      {nullptr, 0, lone.rank->handles().datatype(MPI_BYTE), 0, 5, &lone.rank->worlds().world()});
}

}  // namespace

TEST_CASE("handles: a datatype is found until it is freed, and lives while an object refers to it") {
  test::LoneRank lone;
  Handles& handles = lone.rank->handles();
  Datatype& bytes = *handles.datatype(MPI_BYTE);
  Datatype* const made = handles.add_datatype(Datatype(bytes));
  REQUIRE(made != nullptr);
  const MPI_Datatype handle = made->handle;
  CHECK_EQ(handles.datatype(handle), made);
  CHECK_EQ(handles.living_datatypes().size(), 1);
  ++made->references;
  handles.free_datatype(*made);
  CHECK_EQ(handles.datatype(handle), nullptr);
  CHECK_EQ(made->size, bytes.size);  // still there, or the address sanitizer reports it
  Handles::release(*made);
  CHECK(handles.living_datatypes().empty());
  CHECK_EQ(handles.datatype(MPI_BYTE), &bytes);
}

TEST_CASE("handles: a request's handle is valid until it is freed, and the next request has another one") {
  test::LoneRank lone;
  Handles& handles = lone.rank->handles();
  Request& receive = pending(lone);
  UserRequest* const first = handles.add_request(&receive, lone.rank->worlds().world());
  REQUIRE(first != nullptr);
  const MPI_Request handle = first->handle;
  CHECK_EQ(handles.request(handle), first);
  handles.free_request(*first);
  CHECK_EQ(handles.request(handle), nullptr);
  UserRequest* const second = handles.add_request(&receive, lone.rank->worlds().world());
  CHECK_NE(second->handle, handle);
  CHECK_EQ(handles.request(handle), nullptr);
  handles.free_request(*second);
  lone.rank->device().cancel(receive);
  lone.rank->device().free(receive);
}

TEST_CASE("handles: completed sends have one request, which has no owner") {
  test::LoneRank lone;
  Handles& handles = lone.rank->handles();
  UserRequest* const sent = handles.request(handles.sent_request());
  REQUIRE(sent != nullptr);
  CHECK(sent->common);
  CHECK(sent->device->complete);
  CHECK_EQ(sent->device->kind, RequestKind::sent);
  CHECK_EQ(sent->communicator, &lone.rank->worlds().world());
  CHECK(handles.living_requests().empty());
  Request& receive = pending(lone);
  UserRequest* const other = handles.add_request(&receive, lone.rank->worlds().world());
  CHECK_NE(other->handle, handles.sent_request());
  CHECK_EQ(handles.living_requests().size(), 1);
  handles.free_request(*other);
  lone.rank->device().cancel(receive);
  lone.rank->device().free(receive);
}

TEST_CASE("handles: a freed communicator is released with the last request that holds it, when the call ends") {
  test::LoneRank lone;
  MpiRank& rank = *lone.rank;
  Handles& handles = rank.handles();
  Communicator& world = rank.worlds().world();
  Communicator* const made = handles.add_communicator(world.group, nullptr, world.error_handler);
  REQUIRE(made != nullptr);
  CHECK_EQ(made->error_handler, world.error_handler);
  const MPI_Comm handle = made->handle;
  UserRequest* const kept = handles.add_request(nullptr, *made);
  kept->persistent = true;
  kept->call.type = nullptr;
  ++made->references;
  rank.enter();
  rank.free_communicator(*made);
  CHECK_EQ(handles.communicator(handle), nullptr);
  CHECK_EQ(made->references, 1);
  handles.free_request(*kept);
  CHECK(rank.device().has_unreferenced());
  CHECK(made->freed);  // there until the call's end
  rank.leave();
  CHECK_FALSE(rank.device().has_unreferenced());
}

TEST_CASE("handles: with origins each request is created separately, so that its creator is recorded") {
  test::LoneRank lone;
  Handles& handles = lone.rank->handles();
  handles.keep_origins();
  const void* const caller = reinterpret_cast<const void*>(&pending);
  Request& receive = pending(lone);
  for (const char* const name : {"MPI_Irecv", "MPI_Recv_init"}) {
    handles.origins()->enter(name, caller);
    UserRequest* const made = handles.add_request(&receive, lone.rank->worlds().world());
    CHECK_EQ(handles.origins()->of(*made).function, name);
    CHECK_EQ(handles.origins()->of(*made).location.offset, sim::source_location(caller).offset);
    handles.free_request(*made);
    handles.origins()->leave();
    handles.hide_free_requests();
  }
  lone.rank->device().cancel(receive);
  lone.rank->device().free(receive);
}

}  // namespace margay::mpi_adi
