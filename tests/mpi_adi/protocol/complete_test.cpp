#include "mpi_adi/protocol/complete.hpp"

#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

// A parent request that counts its notifications, and can complete another part during one.
struct PartsOwner final : ParentRequest {
  explicit PartsOwner(DeviceParts& the_parts) : parts(the_parts) {}
  void part_completed(const Request& part) override {
    ++reported;
    bytes = part.bytes;
    in_use_then = parts.receives.in_use() + parts.sends.in_use();
    if (again != nullptr) release_to(parts, *this, new_send(parts, *std::exchange(again, nullptr)));
  }
  DeviceParts& parts;
  Communicator* again = nullptr;  // a send on it is started when a part is complete
  int reported = 0;
  std::uint64_t bytes = 0;
  std::uint64_t in_use_then = 0;
};

struct Begun {
  HandMade hand;
  DeviceParts& parts = parts_of(hand.device());
  Communicator& comm = hand.comm();
};

TEST_CASE("a new request is in progress and holds its communicator") {
  Begun begun;
  const SendRequest& send = new_send(begun.parts, begun.comm);
  CHECK(send.kind == RequestKind::send);
  CHECK(begun.parts.incomplete_requests == 1);
  CHECK(begun.comm.references == 2);
  const ReceiveRequest& receive = new_receive(begun.parts, begun.comm);
  CHECK(receive.kind == RequestKind::receive);
  CHECK(receive.communicator == &begun.comm);
  CHECK(begun.parts.incomplete_requests == 2);
  CHECK(begun.comm.references == 3);
  CHECK(!begun.hand.device().quiet());
  CHECK(begun.parts.completions == 0);
}

// As in a new request, whatever state its last use left.
void check_begun(const Request& request) {
  CHECK(!request.complete);
  CHECK(!request.cancelled);
  CHECK(!request.detached);
  CHECK(request.error_class == MPI_SUCCESS);
  CHECK(request.source == MPI_ANY_SOURCE);
  CHECK(request.tag == MPI_ANY_TAG);
  CHECK(request.bytes == 0);
  CHECK(request.owner == nullptr);
}

void use_up(DeviceParts& parts, Request& request, ParentRequest& owner) {
  request.cancelled = true;
  request.error_class = MPI_ERR_TRUNCATE;
  request.source = request.tag = 3;
  request.bytes = 4;
  release_to(parts, owner, request);
  complete(parts, request);
}

TEST_CASE("a reused send has no state of its last use, and a name of its own") {
  Begun begun;
  PartsOwner owner(begun.parts);
  SendRequest& first = new_send(begun.parts, begun.comm);
  const std::uint32_t generation = first.pooled.generation;
  first.events = kEventSynchronous;
  first.read_done = first.synchronous = first.buffered = true;
  first.transmission.state = sim::Transmission::State::failed;
  use_up(begun.parts, first, owner);
  SendRequest& again = new_send(begun.parts, begun.comm);
  REQUIRE(&again == &first);
  CHECK(again.pooled.generation == generation + 1);
  check_begun(again);
  CHECK(again.events == 0);
  CHECK(!again.read_done);
  CHECK(!again.synchronous);
  CHECK(!again.buffered);
  CHECK(again.transmission.state == sim::Transmission::State::idle);
  CHECK(again.transmission.owner == &again);
  CHECK(again.transmission.owner_tag_kind == kOwnerSend);
  CHECK(again.answer_block.owner() == &again);
}

TEST_CASE("a reused receive has no state of its last use, and a name of its own") {
  Begun begun;
  PartsOwner owner(begun.parts);
  ReceiveRequest& first = new_receive(begun.parts, begun.comm);
  const std::uint32_t generation = first.pooled.generation;
  portals::ArrivedMessage message;
  first.state = ReceiveState::complete;
  first.truncated = first.synchronous = true;
  first.peer = 1;
  first.claimed = &message;
  use_up(begun.parts, first, owner);
  const ReceiveRequest& again = new_receive(begun.parts, begun.comm);
  REQUIRE(&again == &first);
  CHECK(again.pooled.generation == generation + 1);
  check_begun(again);
  CHECK(again.state == ReceiveState::idle);
  CHECK(!again.truncated);
  CHECK(!again.synchronous);
  CHECK(again.peer == portals::kAnyRank);
  CHECK(again.claimed == nullptr);
  CHECK(!again.entry.listed());
}

TEST_CASE("a complete request is finished and counted, and belongs to its owner until it is released") {
  Begun begun;
  for (const bool send : {true, false}) {
    CAPTURE(send);
    const std::uint64_t before = begun.parts.completions;
    Request& request = send ? static_cast<Request&>(new_send(begun.parts, begun.comm))
                            : static_cast<Request&>(new_receive(begun.parts, begun.comm));
    complete(begun.parts, request);
    CHECK(request.complete);
    CHECK(begun.parts.incomplete_requests == 0);
    CHECK(begun.parts.completions == before + 1);
    CHECK((send ? begun.parts.sends.in_use() : begun.parts.receives.in_use()) == 1);
    CHECK(begun.comm.references == 2);
    release(begun.parts, request);
    CHECK(begun.parts.sends.in_use() + begun.parts.receives.in_use() == 0);
    CHECK(begun.comm.references == 1);
  }
}

TEST_CASE("a request that is released before it is complete returns to the pool when it completes") {
  Begun begun;
  SendRequest& send = new_send(begun.parts, begun.comm);
  release(begun.parts, send);
  CHECK(send.detached);
  CHECK(begun.parts.sends.in_use() == 1);
  CHECK(begun.parts.incomplete_requests == 1);
  CHECK(begun.comm.references == 2);
  complete(begun.parts, send);
  CHECK(begun.parts.sends.in_use() == 0);
  CHECK(begun.parts.incomplete_requests == 0);
  CHECK(begun.comm.references == 1);
}

TEST_CASE("an owner is notified once, of a complete part or when it completes, while the part still exists") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    Begun begun;
    PartsOwner owner(begun.parts);
    ReceiveRequest& part = new_receive(begun.parts, begun.comm);
    part.bytes = 12;
    if (before) complete(begun.parts, part);
    release_to(begun.parts, owner, part);
    CHECK(owner.reported == (before ? 1 : 0));
    if (!before) complete(begun.parts, part);
    CHECK(owner.reported == 1);
    CHECK(owner.bytes == 12);
    CHECK(owner.in_use_then == 1);
    CHECK(begun.parts.receives.in_use() == 0);
    CHECK(begun.comm.references == 1);
  }
}

TEST_CASE("an owner that starts another part when it is notified gets another request") {
  Begun begun;
  PartsOwner owner(begun.parts);
  owner.again = &begun.comm;
  SendRequest& first = new_send(begun.parts, begun.comm);
  release_to(begun.parts, owner, first);
  complete(begun.parts, first);
  CHECK(owner.reported == 1);
  REQUIRE(begun.parts.sends.in_use() == 1);
  CHECK(!first.pooled.in_use);
  begun.parts.sends.for_each_in_use([&](SendRequest& second) { complete(begun.parts, second); });
  CHECK(owner.reported == 2);
  CHECK(begun.parts.sends.in_use() == 0);
}

TEST_CASE("a request to MPI_PROC_NULL is complete at once, and reports it") {
  Begun begun;
  ReceiveRequest& receive = new_receive(begun.parts, begun.comm);
  receive.tag = 5;
  complete_null(begun.parts, receive);
  CHECK(receive.complete);
  CHECK(receive.source == MPI_PROC_NULL);
  CHECK(receive.tag == MPI_ANY_TAG);
  CHECK(receive.bytes == 0);
  CHECK(receive.error_class == MPI_SUCCESS);
  CHECK(begun.parts.incomplete_requests == 0);
}

TEST_CASE("a communicator that its user freed is released with its last request, and no other is") {
  Begun begun;
  Communicator kept, freed;
  SendRequest& on_kept = new_send(begun.parts, kept);
  SendRequest& first = new_send(begun.parts, freed);
  SendRequest& last = new_send(begun.parts, freed);
  for (Communicator* const given_up : {&kept, &freed}) drop_reference(begun.parts, *given_up);
  freed.freed = true;
  for (SendRequest* const request : {&on_kept, &first}) {
    complete(begun.parts, *request);
    release(begun.parts, *request);
  }
  CHECK(kept.references == 0);
  CHECK(begun.parts.unreferenced.empty());
  release(begun.parts, last);
  CHECK(begun.parts.unreferenced.empty());
  complete(begun.parts, last);
  CHECK(begun.parts.unreferenced == std::vector<Communicator*>{&freed});
  begun.parts.unreferenced.clear();
}

TEST_CASE("a trace records a request's end once, with its pair and its number in the pool") {
  Begun begun;
  sim::Recorder& recorder = begun.parts.recorder();
  REQUIRE(recorder.open_memory().ok());
  SendRequest& other = new_send(begun.parts, begun.comm);
  SendRequest& send = new_send(begun.parts, begun.comm);
  send.peer = 1;
  send.protocol = sim::TraceProtocol::ready_short;
  send.bytes = 9;
  ReceiveRequest& receive = new_receive(begun.parts, begun.comm);
  receive.peer = 1;
  receive.bytes = 11;
  CHECK(send.pooled.index != other.pooled.index);
  complete(begun.parts, send);
  complete(begun.parts, receive);
  trace_request(begun.parts, sim::TraceKind::search_hit, receive, 3, 0xab, 0xcd);
  release(begun.parts, send);
  release(begun.parts, receive);
  const std::vector<sim::TraceEvent> events = recorder.events();
  REQUIRE(events.size() == 3);
  CHECK(events[0].kind == sim::TraceKind::request_complete);
  CHECK(events[0].source == 0);
  CHECK(events[0].destination == 1);
  CHECK(events[0].protocol == sim::TraceProtocol::ready_short);
  CHECK(events[0].bytes == 9);
  CHECK(events[0].a == send.pooled.index);
  CHECK(events[1].kind == sim::TraceKind::request_complete);
  CHECK(events[1].source == 1);
  CHECK(events[1].destination == 0);
  CHECK(events[1].bytes == 11);
  CHECK(events[1].a == receive.pooled.index);
  CHECK(events[2].kind == sim::TraceKind::search_hit);
  CHECK(events[2].bytes == 3);
  CHECK(events[2].match_bits == 0xab);
  CHECK(events[2].detail == 0xcd);
}

}  // namespace
}  // namespace margay::mpi_adi
