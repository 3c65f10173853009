// Tests of the tables of objects that no message uses: error handlers, attribute keys, info objects, hints.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/object/attribute.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/error_handler.hpp"
#include "mpi_adi/object/info.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi_adi {

namespace {

void nothing() {}

}  // namespace

TEST_CASE("the predefined error handlers have the ABI's handles, and freeing one does nothing") {
  ErrorHandlers handlers;
  for (const MPI_Errhandler handle : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN, MPI_ERRORS_ABORT}) {
    const ErrorHandlerPtr found = handlers.find(handle);
    REQUIRE(found != nullptr);
    CHECK(found->handle == handle);
    CHECK(handlers.hand_out(found) == handle);
    handlers.free_handle(*found);
    CHECK(handlers.find(handle) == found);
  }
  CHECK(handlers.fatal()->handle == MPI_ERRORS_ARE_FATAL);
  CHECK(handlers.find(MPI_ERRHANDLER_NULL) == nullptr);
  CHECK(handlers.find(make_handle(HandleKind::builtin, ObjectType::error_handler, 4)) == nullptr);
  CHECK(handlers.find(MPI_COMM_WORLD) == nullptr);
}

TEST_CASE("an attached error handler outlives its handle and can be handed out again") {
  ErrorHandlers handlers;
  const MPI_Errhandler first = handlers.create(ObjectType::communicator, &nothing);
  ErrorHandlerPtr attached = handlers.find(first);
  REQUIRE(attached != nullptr);
  CHECK(handlers.hand_out(attached) == first);
  handlers.free_handle(*attached);
  CHECK(handlers.find(first) == attached);
  handlers.free_handle(*attached);
  CHECK(handlers.find(first) == nullptr);
  CHECK((attached->function == &nothing));
  const MPI_Errhandler again = handlers.hand_out(attached);
  CHECK(again != first);
  CHECK(handlers.find(again) == attached);
  const std::weak_ptr<ErrorHandler> watched = attached;
  handlers.free_handle(*attached);
  attached.reset();
  CHECK(watched.expired());
}

TEST_CASE("error handlers that the program never freed are freed with the table") {
  std::weak_ptr<ErrorHandler> watched;
  {
    ErrorHandlers handlers;
    watched = handlers.find(handlers.create(ObjectType::communicator, &nothing));
    CHECK(!watched.expired());
  }
  CHECK(watched.expired());
}

TEST_CASE("a freed key is found while an attribute uses it; its slot's next key has another handle") {
  KeyvalTable keys;
  AttributeList attributes;
  KeyvalPtr key = keys.add(Keyval{.owner = ObjectType::datatype});
  REQUIRE(key != nullptr);
  const int handle = key->handle;
  CHECK(keyval_owner(handle) == ObjectType::datatype);
  attributes.append(key, {&attributes, AttributeKind::address});
  keys.free_keyval(*key);
  key.reset();
  REQUIRE(keys.find(handle) != nullptr);
  CHECK(keys.find(handle)->freed);
  const KeyvalPtr while_alive = keys.add(Keyval{.owner = ObjectType::datatype});
  CHECK(keyval_index(while_alive->handle) != keyval_index(handle));
  attributes.remove(*keys.find(handle));
  CHECK(keys.find(handle) == nullptr);
  std::set<int> handles{handle};
  for (int i = 1; i < 16; ++i) {
    const KeyvalPtr next = keys.add(Keyval{.owner = ObjectType::datatype});
    CHECK(handles.insert(next->handle).second);
    CHECK(keys.find(handle) == nullptr);
    keys.free_keyval(*next);
  }
}

TEST_CASE("keys of two kinds of objects are distinguished") {
  KeyvalTable keys;
  const KeyvalPtr key = keys.add(Keyval{.owner = ObjectType::communicator});
  const int as_window = make_keyval(ObjectType::window, keyval_index(key->handle));
  CHECK(keys.find(key->handle) == key);
  CHECK(keys.find(as_window) == nullptr);
  CHECK(keys.find(MPI_TAG_UB) == nullptr);
  CHECK(keys.find(MPI_KEYVAL_INVALID) == nullptr);
}

TEST_CASE("a copy of an object with attributes has none at first; a moved one keeps them") {
  KeyvalTable keys;
  const KeyvalPtr key = keys.add(Keyval{.owner = ObjectType::datatype});
  AttributeList attributes;
  attributes.append(key, {&keys, AttributeKind::address});
  const AttributeList copy = attributes;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(copy.all().empty());
  REQUIRE(attributes.find(*key) != nullptr);
  AttributeList moved = std::move(attributes);
  REQUIRE(moved.find(*key) != nullptr);
  CHECK(moved.find(*key)->value.word() == &keys);
}

TEST_CASE("C gets the address of a number set by Fortran, and Fortran an address as a number") {
  int target = 0;
  AttributeValue address{&target, AttributeKind::address};
  CHECK(address.read_as(AttributeKind::address) == &target);
  CHECK(address.read_as(AttributeKind::word) == &target);
  AttributeValue word{AttributeValue::from_number(-(std::intptr_t{1} << 40)), AttributeKind::word};
  CHECK(*static_cast<std::intptr_t*>(word.read_as(AttributeKind::address)) == -(std::intptr_t{1} << 40));
  CHECK(word.read_as(AttributeKind::integer) == AttributeValue::from_number(-(std::intptr_t{1} << 40)));
  // Its low half is the set value, or one written by a copy function in Fortran.
  AttributeValue integer{AttributeValue::from_number(0xffff'fffb), AttributeKind::integer};
  CHECK(integer.number() == -5);
  CHECK(*static_cast<int*>(integer.read_as(AttributeKind::address)) == -5);
}

TEST_CASE("the address of an attribute does not change while others are set and deleted") {
  KeyvalTable keys;
  AttributeList attributes;
  const KeyvalPtr first = keys.add(Keyval{.owner = ObjectType::datatype});
  const KeyvalPtr kept = keys.add(Keyval{.owner = ObjectType::datatype});
  attributes.append(first, {nullptr, AttributeKind::word});
  attributes.append(kept, {AttributeValue::from_number(7), AttributeKind::word});
  const void* const place = attributes.find(*kept)->value.for_c();
  for (int i = 0; i < 100; ++i) {
    attributes.append(keys.add(Keyval{.owner = ObjectType::datatype}), {nullptr, AttributeKind::word});
  }
  attributes.remove(*first);
  CHECK(attributes.find(*kept)->value.for_c() == place);
}

TEST_CASE("info pairs keep the order in which their keys were set") {
  Info info;
  info.set("a", "1");
  info.set("b", "2");
  info.set("a", "3");
  REQUIRE(info.pairs.size() == 2);
  CHECK(info.pairs[0].first == "a");
  CHECK(*info.find("a") == "3");
  CHECK(info.find("c") == nullptr);
  CHECK(info.remove("a"));
  CHECK(!info.remove("a"));
  CHECK(info.pairs.size() == 1);
}

TEST_CASE("a communicator has the four known hints, true or false, and returns all of them") {
  CommunicatorHints hints;
  Info asked;
  asked.set("mpi_assert_exact_length", "true");
  asked.set("mpi_assert_no_any_tag", "perhaps");
  asked.set("another", "true");
  hints.set_from(asked);
  Info reported;
  hints.write(reported);
  CHECK(reported.pairs.size() == 4);
  CHECK(*reported.find("mpi_assert_exact_length") == "true");
  CHECK(*reported.find("mpi_assert_no_any_tag") == "false");
  asked.set("mpi_assert_exact_length", "false");
  hints.set_from(asked);
  hints.write(reported);
  CHECK(*reported.find("mpi_assert_exact_length") == "false");
}

TEST_CASE("the predefined attributes of a job differ between several hosts and emulated nodes") {
  sim::Job job;
  job.node_count = 2;
  job.universe_size = -1;
  Inquiries apart(job);
  CHECK(*apart.find(MPI_WTIME_IS_GLOBAL, 0) == 0);
  CHECK(apart.find(MPI_UNIVERSE_SIZE, 0) == nullptr);
  CHECK(*apart.find(MPI_LASTUSEDCODE, 17) == 17);
  CHECK(*apart.find(MPI_LASTUSEDCODE, 18) == 18);
  CHECK(*apart.find(MPI_TAG_UB, 0) == kUserTagMax);
  CHECK(apart.find(MPI_WIN_BASE, 0) == nullptr);
  job.nodes_are_emulated = true;
  job.universe_size = 5;
  Inquiries together(job);
  CHECK(*together.find(MPI_WTIME_IS_GLOBAL, 0) == 1);
  CHECK(*together.find(MPI_UNIVERSE_SIZE, 0) == 5);
}

}  // namespace margay::mpi_adi
