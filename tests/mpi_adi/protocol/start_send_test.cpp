#include "mpi_adi/protocol/send.hpp"

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

constexpr std::uint64_t kShortLimit = 100;

// The wire is never full, and messages up to 100 bytes are short.
struct Starting {
  explicit Starting(DeviceOptions options = {}, double full_probability = 0)
      : hand(limited(options), 1, wire(full_probability)) {}
  static DeviceOptions limited(DeviceOptions options) {
    options.short_limit_virtual = kShortLimit;
    return options;
  }
  static sim::VirtualOptions wire(double full_probability) {
    sim::VirtualOptions options;
    options.full_probability = full_probability;
    return options;
  }
  SendRequest& start(SendMode mode, std::uint64_t bytes, Context context = Context::point_to_point) {
    return start_send(
        parts, {mode, data.data(), static_cast<std::int64_t>(bytes), &hand.bytes(), 1, 7, &hand.comm(), context});
  }
  [[nodiscard]] bool now(SendMode mode, std::uint64_t bytes, Context context = Context::point_to_point) {
    return send_now(parts,
                    {mode, data.data(), static_cast<std::int64_t>(bytes), &hand.bytes(), 1, 7, &hand.comm(), context});
  }
  // The header of message `number` to rank 1.
  const portals::Header& came(std::size_t number = 0) {
    hand.settle();
    REQUIRE(hand.received.size() > number);
    return hand.received.header(number);
  }

  HandMade hand;
  DeviceParts& parts = parts_of(hand.device());
  std::vector<std::byte> data = pattern(kLongBytes, 3);
};

// The counts of messages and bytes, by protocol.
bool counted(const ProtocolCounts& counts, ProtocolCounts::Count ProtocolCounts::*where, std::uint64_t bytes) {
  using Counts = ProtocolCounts;
  for (const auto each :
       {&Counts::short_, &Counts::long_matched, &Counts::long_pulled, &Counts::synchronous_short,
        &Counts::synchronous_long, &Counts::synchronous_long_pulled, &Counts::ready, &Counts::buffered}) {
    if ((counts.*each).messages != (each == where ? 1U : 0U) || (counts.*each).bytes != (each == where ? bytes : 0)) {
      return false;
    }
  }
  return true;
}

TEST_CASE("a send has its destination and protocol") {
  Starting starting;
  const SendRequest& send = starting.start(SendMode::standard, kShortBytes);
  CHECK(send.peer == 1);
  CHECK(send.tag == 7);
  CHECK(send.protocol == sim::TraceProtocol::short_send);
  CHECK(!send.synchronous);
  CHECK(!send.buffered);
  CHECK(send.body.bytes() == kShortBytes);
  CHECK(starting.came().match_bits == envelope_bits(7, 0, 0));
  CHECK(starting.start(SendMode::synchronous, kShortBytes).synchronous);
  CHECK(starting.start(SendMode::buffered, kShortBytes).buffered);
}

TEST_CASE("up to the short limit a message is short, above it long") {
  for (const std::uint64_t bytes : {std::uint64_t{0}, kShortLimit, kShortLimit + 1, std::uint64_t{kLongBytes}}) {
    CAPTURE(bytes);
    Starting starting;
    const SendRequest& send = starting.start(SendMode::standard, bytes);
    const bool is_long = bytes > kShortLimit;
    CHECK(send.complete == !is_long);
    const portals::Header& header = starting.came();
    CHECK(header.match_bits == envelope_bits(7, 0, 0, is_long ? kLongBit : 0));
    CHECK(header.length == bytes);
    CHECK(starting.hand.received.body(0) ==
          std::vector<std::byte>(starting.data.begin(), starting.data.begin() + static_cast<std::ptrdiff_t>(bytes)));
  }
}

TEST_CASE("each mode and length has its protocol, which the header contains") {
  Starting ready;
  CHECK(ready.start(SendMode::ready, kShortBytes).protocol == sim::TraceProtocol::ready_short);
  CHECK(ready.came().match_bits == envelope_bits(7, 0, 0, kReadyBit));
  CHECK(ready.start(SendMode::ready, kLongBytes).protocol == sim::TraceProtocol::ready_long);
  CHECK((ready.came(1).match_bits & kReadyBit) != 0);
  CHECK(ready.came(1).return_portal == portals::kNoPortal);  // no answer is needed
  Starting synchronous;
  CHECK(synchronous.start(SendMode::synchronous, kShortBytes).protocol == sim::TraceProtocol::synchronous_short);
  CHECK(read_note(synchronous.came().user_data).synchronous);
  CHECK(synchronous.start(SendMode::synchronous, kLongBytes).protocol == sim::TraceProtocol::synchronous_long);
  CHECK(synchronous.came(1).return_portal == kAcknowledgmentPortal);
  DeviceOptions options;
  options.long_protocol = DeviceOptions::LongProtocol::rendezvous;
  Starting rendezvous(options);
  CHECK(rendezvous.start(SendMode::standard, kLongBytes).protocol == sim::TraceProtocol::long_rendezvous);
  CHECK(rendezvous.came().length == 0);
  CHECK(message_bytes(rendezvous.came()) == kLongBytes);
}

TEST_CASE("each mode is counted under its protocol, long messages only once their transfer is known") {
  const auto counts_of = [](SendMode mode, std::uint64_t bytes) {
    Starting starting;
    static_cast<void>(starting.start(mode, bytes));
    return starting.parts.counts;
  };
  using Counts = ProtocolCounts;
  CHECK(counted(counts_of(SendMode::standard, kShortBytes), &Counts::short_, kShortBytes));
  CHECK(counted(counts_of(SendMode::synchronous, kShortBytes), &Counts::synchronous_short, kShortBytes));
  CHECK(counted(counts_of(SendMode::ready, kShortBytes), &Counts::ready, kShortBytes));
  CHECK(counted(counts_of(SendMode::ready, kLongBytes), &Counts::ready, kLongBytes));
  CHECK(counted(counts_of(SendMode::buffered, kShortBytes), &Counts::buffered, kShortBytes));
  CHECK(counted(counts_of(SendMode::buffered, kLongBytes), &Counts::buffered, kLongBytes));
  CHECK(counted(counts_of(SendMode::standard, kLongBytes), nullptr, 0));
  CHECK(counted(counts_of(SendMode::synchronous, kLongBytes), nullptr, 0));
}

TEST_CASE("a send uses the ranks and the context of its communicator") {
  Starting starting;
  auto group = std::make_shared<Group>();
  group->world_ranks = {1, 5, 0};
  group->my_rank = 2;
  Communicator turned;
  turned.context = 4;
  turned.collective_context = 5;
  turned.set_groups(group);
  const SendRequest& send = start_send(starting.parts, {SendMode::standard, starting.data.data(), 8,
                                                        &starting.hand.bytes(), 0, 9, &turned, Context::collective});
  CHECK(send.peer == 1);
  CHECK(send.communicator == &turned);
  CHECK(starting.came().match_bits == envelope_bits(9, 2, 5));
  CHECK(send_now(starting.parts, {SendMode::standard, starting.data.data(), 8, &starting.hand.bytes(), 0, 9, &turned}));
  CHECK(starting.came(1).match_bits == envelope_bits(9, 2, 4));
  starting.hand.device().free(*const_cast<SendRequest*>(&send));
}

TEST_CASE("a type with holes is sent as its bytes, with or without a request") {
  Starting starting;
  PredefinedTypes types;
  Datatype strided(make_hvector(4, 1, 8, types.find(MPI_INT)->definition, {}));
  std::vector<std::byte> expected;
  for (std::size_t i = 0; i < 32; ++i) {
    if (i % 8 < 4) expected.push_back(starting.data[i]);
  }
  static_cast<void>(
      start_send(starting.parts, {SendMode::standard, starting.data.data(), 1, &strided, 1, 7, &starting.hand.comm()}));
  CHECK(send_now(starting.parts, {SendMode::standard, starting.data.data(), 1, &strided, 1, 7, &starting.hand.comm()}));
  for (const std::size_t number : {std::size_t{0}, std::size_t{1}}) {
    CHECK(starting.came(number).length == 16);
    CHECK(starting.hand.received.body(number) == expected);
  }
  CHECK(starting.parts.counts.short_.bytes == 32);
}

TEST_CASE("without a request only short standard and ready messages are sent, and are counted") {
  Starting starting;
  CHECK(starting.now(SendMode::standard, kShortLimit));
  CHECK(starting.now(SendMode::ready, kShortBytes));
  CHECK(starting.now(SendMode::standard, 0, Context::collective));
  CHECK(!starting.now(SendMode::standard, kShortLimit + 1));
  CHECK(!starting.now(SendMode::ready, kShortLimit + 1));
  CHECK(!starting.now(SendMode::synchronous, kShortBytes));
  CHECK(!starting.now(SendMode::buffered, kShortBytes));
  CHECK(starting.parts.counts.short_.messages == 2);
  CHECK(starting.parts.counts.short_.bytes == kShortLimit);
  CHECK(starting.parts.counts.ready.messages == 1);
  CHECK(starting.parts.counts.ready.bytes == kShortBytes);
  CHECK(starting.parts.sends.in_use() == 0);
  CHECK(starting.came(0).match_bits == envelope_bits(7, 0, 0));
  CHECK(starting.came(1).match_bits == envelope_bits(7, 0, 0, kReadyBit));
  CHECK(starting.came(2).match_bits == envelope_bits(7, 0, starting.hand.comm().collective_context));
  CHECK(starting.hand.received.size() == 3);
}

TEST_CASE("the limit is that of the wire to the peer, not the least of all wires") {
  Starting starting;
  starting.parts.set_short_limit(sim::WireId::tcp, 10);
  CHECK(starting.parts.short_limit_least == 10);
  CHECK(starting.now(SendMode::standard, kShortLimit));
  CHECK(!starting.now(SendMode::standard, kShortLimit + 1));
  CHECK(starting.start(SendMode::standard, kShortLimit).protocol == sim::TraceProtocol::short_send);
  starting.parts.set_short_limit(sim::WireId::virtual_, 5);
  CHECK(!starting.now(SendMode::standard, 6));
  CHECK(starting.start(SendMode::standard, 6).protocol == sim::TraceProtocol::long_send);
}

TEST_CASE("over a full wire nothing is sent without a request, and nothing is counted") {
  Starting starting({}, 1.0);
  CHECK(!starting.now(SendMode::standard, kShortBytes));
  CHECK(starting.parts.counts.short_.messages == 0);
  const SendRequest& send = starting.start(SendMode::standard, kShortBytes);
  CHECK(!send.complete);
  CHECK(starting.parts.counts.short_.messages == 1);
  CHECK(starting.came().length == kShortBytes);
  CHECK(send.complete);
}

TEST_CASE("a trace records each choice, with the message's later number, and a message sent at once has no request") {
  Starting starting;
  CHECK(starting.now(SendMode::standard, kShortBytes));
  REQUIRE(starting.parts.recorder().open_memory().ok());
  CHECK(starting.now(SendMode::standard, kShortBytes));
  const SendRequest& other = starting.start(SendMode::synchronous, kShortBytes);
  const SendRequest& send = starting.start(SendMode::standard, kLongBytes);
  CHECK(other.pooled.index != send.pooled.index);
  std::vector<sim::TraceEvent> reported;
  for (const sim::TraceEvent& event : starting.parts.recorder().events()) {
    if (event.source == 0 && event.destination == 1) reported.push_back(event);
  }
  REQUIRE(reported.size() == 6);
  // The event is recorded when the message has left, with the time at which the send began.
  CHECK(reported[0].kind == sim::TraceKind::kernel_send);
  CHECK(reported[1].kind == sim::TraceKind::send_begin);
  CHECK(reported[1].time <= reported[0].time);
  CHECK(reported[1].sequence == 2);
  CHECK(reported[0].sequence == 2);
  CHECK(reported[1].protocol == sim::TraceProtocol::short_send);
  CHECK(reported[1].a == sim::kTraceNoRequest);
  CHECK(reported[1].match_bits == envelope_bits(7, 0, 0));
  reported.erase(reported.begin(), reported.begin() + 2);
  const std::array<const SendRequest*, 2> sends{&other, &send};
  const std::array<sim::TraceChoice, 2> why{sim::TraceChoice::mode, sim::TraceChoice::above_short};
  for (std::size_t i = 0; i < 2; ++i) {
    const sim::TraceEvent& choice = reported[2 * i];
    const sim::TraceEvent& left = reported[2 * i + 1];
    CHECK(choice.kind == sim::TraceKind::send_begin);
    CHECK(choice.protocol == sends[i]->protocol);
    CHECK(choice.reason == static_cast<std::uint8_t>(why[i]));
    CHECK(choice.a == sends[i]->pooled.index);
    CHECK(choice.bytes == sends[i]->body.bytes());
    CHECK(choice.match_bits == envelope_bits(7, 0, 0));
    CHECK(left.kind == sim::TraceKind::kernel_send);
    CHECK(choice.sequence == left.sequence);
    CHECK(choice.sequence == i + 3);
  }
  // Expect: the same messages are sent as without a trace.
  CHECK(starting.came(1).match_bits == envelope_bits(7, 0, 0));
  CHECK(starting.came(2).match_bits == envelope_bits(7, 0, 0));
  CHECK(starting.came(3).match_bits == envelope_bits(7, 0, 0, kLongBit));
}

}  // namespace
}  // namespace margay::mpi_adi
