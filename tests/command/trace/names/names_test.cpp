// Tests of the names of numbers in events, from hand-made definitions.
#include <doctest/doctest.h>

#include <string>

#include "command/trace/names/names.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using made::HandMade;
using made::kTag7;
using made::kType;

TEST_CASE("story: tags of partitioned communication are shown as partitions") {
  HandMade made;
  const TraceNames names(made.trace);
  const auto bits = [&](std::uint64_t tag) { return names.bits(0, 0, tag << 32U, 0); };
  CHECK(bits(0xc000'0007U) == "the setup of partitions with tag 7 from 0 in MPI_COMM_WORLD");
  CHECK(bits(0xe000'0000U | 13U << 10U | 2U) == "partitions of channel 13, message 2 from 0 in MPI_COMM_WORLD");
  CHECK(names.program_tag(0, std::uint64_t{0xc000'0007U} << 32U, 0) == 7U);
  CHECK(names.program_tag(0, std::uint64_t{0xe000'0007U} << 32U, 0) == std::nullopt);
}

TEST_CASE("story: partitions are shown as either side named them, and found by the program's tag") {
  constexpr std::uint64_t kChannel = std::uint64_t{0xe000'0000U | 13U << 10U} << 32U;
  constexpr std::uint64_t kThird = kChannel | std::uint64_t{2} << 32U;
  const auto value = [](std::uint64_t partitions) { return partitions << 32U | 7U; };
  HandMade made;
  made.trace.files[0].definitions.push_back(
      {sim::DefinitionKind::partitions, 5, mpi_adi::partitions_number(kChannel, true), value(4), "100 x MPI_INT"});
  made.trace.files[0].definitions.push_back(
      {sim::DefinitionKind::partitions, 50, mpi_adi::partitions_number(kChannel, true), value(2000), "1 x MPI_CHAR"});
  made.trace.files[1].definitions.push_back(
      {sim::DefinitionKind::partitions, 5, mpi_adi::partitions_number(kChannel, false), value(2), "200 x MPI_INT"});
  const TraceNames names(made.trace);
  CHECK(names.bits(0, 0, kThird, 5) == "partition 2 of 4 (each 100 x MPI_INT) with tag 7 from 0 in MPI_COMM_WORLD");
  CHECK(names.bits(0, 0, kThird, 50) ==
        "partitions 4 to 5 of 2000 (each 1 x MPI_CHAR) with tag 7 from 0 in MPI_COMM_WORLD");
  const std::string wanted = "message 2 of partitions with tag 7 (2, each 200 x MPI_INT) from 0 in MPI_COMM_WORLD";
  CHECK(names.wanted(1, 0, kThird, 5, 5) == wanted);
  CHECK(names.bits(1, 0, kThird, 5) == wanted);  // the sender's file is not there
  CHECK(names.program_tag(0, kThird, 5) == 7U);
  CHECK(names.program_tag(1, kThird, 5) == 7U);
  CHECK(names.program_tag(1, kThird, 4) == std::nullopt);
  CHECK(names.program_tag(1, kThird | 0x10000, 5) == std::nullopt);  // of another sender
  CHECK(names.bits(0, 0, kThird, 4) == "partitions of channel 13, message 2 from 0 in MPI_COMM_WORLD");
}

TEST_CASE("story: messages of a window's synchronisation are distinguished from accesses, and a window has its name") {
  HandMade made;
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::communicator, 5, 4, std::uint64_t{2} << 32U, "halo"});
  const TraceNames names(made.trace);
  constexpr std::uint64_t kWindow4 = std::uint64_t{4} << 32U | mpi_adi::kWindowTag;
  constexpr std::uint64_t kExclusive = 2, kAccumulate = 10;
  const auto request = [](std::uint64_t which) { return kWindow4 | which << mpi_adi::kWindowRequestShift; };
  CHECK(names.bits(0, 6, kWindow4, 0) == "an access of window 4");
  const auto differs = [&](std::uint64_t bits) { return names.mismatch(0, 6, kWindow4, 0, 5, {bits, 0, 5}); };
  CHECK(differs(kWindow4 + (std::uint64_t{2} << 32U)) ==
        "it accepts an access of window \"halo\", and the message is an access of window 6");
  CHECK(differs(std::uint64_t{1} << 32U | mpi_adi::kPiecesTag) ==
        "it accepts an access of window \"halo\", and the message is the described body 1");
  CHECK(names.wanted(0, 6, kWindow4, 0, 5) == "an access of window \"halo\"");
  CHECK(names.bits(0, 10, request(kExclusive), 5) == "a request for an exclusive lock of window \"halo\"");
  CHECK(names.bits(0, 10, request(kAccumulate), 5) == "an access of window \"halo\"");
  CHECK(names.bits(0, 10, request(0x70), 5) == "an access of window \"halo\"");  // an unknown request
  sim::TraceEvent event;
  event.bytes = 48;
  const auto belongs_to_library = [&](std::uint8_t portal, std::uint64_t bits) {
    event.match_bits = bits;
    return names.belongs_to_library(0, portal, event);
  };
  CHECK(belongs_to_library(10, request(kExclusive)));
  CHECK_FALSE(belongs_to_library(10, request(kAccumulate)));
  CHECK_FALSE(belongs_to_library(6, kWindow4));
  CHECK(belongs_to_library(0, std::uint64_t{0x4000'004dU} << 32U));  // leaders of two groups
  CHECK_FALSE(belongs_to_library(0, std::uint64_t{0xe000'0000U} << 32U));
  CHECK_FALSE(belongs_to_library(0, kTag7));
  event.header = static_cast<std::uint8_t>(portals::Kind::get);
  CHECK_FALSE(belongs_to_library(7, kWindow4));
  event.bytes = 0;  // a flush
  CHECK(belongs_to_library(7, kWindow4));
}

TEST_CASE("names: a library's portal has the library's names for match bits, and no meaning in MPI") {
  HandMade made;
  constexpr std::uint8_t kPortal = 53;
  const auto define = [&](std::uint64_t index, std::uint64_t bits, std::uint64_t ignored, std::string_view name) {
    made.trace.files[0].definitions.push_back({sim::DefinitionKind::match_bits, 5, sim::entry_number(kPortal, index),
                                               bits, sim::named_bits_text(ignored, name)});
  };
  define(0, 0x100, 0xff, "letter {number} of the day");
  define(1, 0x200, 0, "bill");
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::portal, 5, kPortal, 0, "mail: bag"});
  const TraceNames names(made.trace);
  CHECK_EQ(names.bits(0, kPortal, 0x107, 5), "letter 7 of the day");
  CHECK_EQ(names.bits(0, kPortal, 0x200, 5), "bill");
  CHECK_EQ(names.bits(0, kPortal, 0x201, 5), "bits 0x201");
  CHECK_EQ(names.bits(1, kPortal, 0x200, 5), "bits 0x200");  // another file
  CHECK_EQ(names.wanted(0, kPortal, 0x200, 0, 5), "bill");
  CHECK_EQ(names.mismatch(0, kPortal, 0x200, 0, 5, {0x107, 0, 5}),
           "it accepts bill, and the message is letter 7 of the day");
  CHECK(names.is_of_library(0, kPortal));
  define(2, 0x1000, 0xf0f, "parcel {id=8:4} of {kind=0:4}");
  const TraceNames more(made.trace);
  CHECK_EQ(more.bits(0, kPortal, 0x1203, 5), "parcel 2 of 3");
  CHECK_EQ(more.library_message(0, kPortal, 0x1203).field("id"), "2");
  CHECK_EQ(more.wanted(0, kPortal, 0x1203, 0xf, 5), "parcel 2 of any");
  CHECK(more.wanted(0, kPortal, 0x1203, 0xf0, 5).starts_with("bits 0x"));  // ignores what the name compares
  CHECK(more.wanted(0, kPortal, 0x107, 0xff, 5).starts_with("bits 0x"));   // {number} of criteria
  CHECK(more.library_message(0, kPortal, 0x207).text.empty());
  // Bits of a library may look like those of a window.
  constexpr std::uint64_t kLikeWindow = std::uint64_t{4} << 32U | mpi_adi::kWindowTag;
  CHECK(names.bits(0, kPortal, kLikeWindow, 5).starts_with("bits 0x"));
  sim::TraceEvent event;
  event.match_bits = kLikeWindow;
  event.header = static_cast<std::uint8_t>(portals::Kind::get);
  CHECK_FALSE(names.belongs_to_library(0, kPortal, event));
}

TEST_CASE("names: the latest definition before an event is used, and without one the number is printed") {
  HandMade made;
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::communicator, 5000, 2, std::uint64_t{4} << 32U, ""});
  made.trace.files[0].definitions.push_back(
      {sim::DefinitionKind::communicator, 9000, 2, std::uint64_t{4} << 32U, "row"});
  const TraceNames names(made.trace);
  CHECK_EQ(names.communicator(0, 2, 5000), "communicator 2 (4 ranks)");
  CHECK_EQ(names.communicator(0, 3, 8999), "communicator 2 (4 ranks)");
  CHECK_EQ(names.communicator(0, 2, 9000), "row");
  CHECK_EQ(names.communicator(1, 2, 9000), "communicator 2");
  CHECK_EQ(names.communicator(0, 2, 4999), "communicator 2");
  CHECK_EQ(names.elements(0, kType, 40, 0), "10 x MPI_INT");
  CHECK_EQ(names.elements(0, 17, 40, 0), "40 bytes");
  // If the table was full, the number may belong to another type by now; a predefined type's never does.
  constexpr std::uint32_t kDerived = 0x8c000001;
  made.trace.files[1].definitions.push_back({sim::DefinitionKind::datatype, 0, kDerived, 8, "pair"});
  made.trace.files[1].definitions_lost = 1;
  const TraceNames full(made.trace);
  CHECK_EQ(full.elements(1, kDerived, 40, 0), "5 x pair");
  CHECK_EQ(full.elements(1, kDerived, 40, 1), "40 bytes");
  CHECK_EQ(full.elements(1, kType, 40, 1), "10 x MPI_INT");
  CHECK_EQ(full.communicator(1, 0, 1), "MPI_COMM_WORLD");
  CHECK_EQ(names.portal(1, 0), "portal 0 (receives)");
  CHECK_EQ(names.bits(0, 0, std::uint64_t{0xa000'0003U} << 32U, 0),
           "the library's tag 0xa0000003 from 0 in MPI_COMM_WORLD");
  CHECK_EQ(names.portal(0, 9), "portal 9");
  CHECK(names.is_internal(0, 3));
  CHECK_FALSE(names.is_internal(0, 0));
  CHECK_EQ(names.entry(0, 0, 12, 77, 0), "entry 12");
  CHECK_EQ(names.bits(0, 5, 0x17, 0), "bits 0x17");
  CHECK_EQ(names.wanted(0, 0, 4, ~std::uint64_t{7}, 0), "any long message");
  CHECK_EQ(names.wanted(0, 0, kTag7, 0xffff'0005, 0), "tag 7 from any source in MPI_COMM_WORLD");
  CHECK_EQ(names.mismatch(0, 0, kTag7, 5, 0, {kTag7 | 0x20000, 0, 0}),
           "it accepts source 0, and the message is from 2");
  CHECK_EQ(names.mismatch(0, 0, kTag7, 5, 9000, {kTag7 | 0x10, 0, 9000}),
           "it accepts MPI_COMM_WORLD, and the message is of row");
  CHECK_EQ(names.mismatch(0, 0, 0, ~std::uint64_t{7}, 0, {kTag7 | 1, 0, 0}),
           "it takes no ready message, and the message is ready");
  CHECK_EQ(names.mismatch(0, 0, 0, ~std::uint64_t{7}, 0, {kTag7 | 4, 0, 0}), "it accepts any message that is short");
  constexpr std::uint64_t kPartition0 = std::uint64_t{0xe000'0000U} << 32U;
  CHECK_EQ(names.mismatch(0, 0, kPartition0, 5, 0, {kPartition0 | std::uint64_t{3} << 32U, 0, 0}),
           "it accepts partitions of channel 0, message 0, and the message has partitions of channel 0, message 3");
  CHECK_EQ(names.split(0, 0, kTag7 | 0x20004 | 0x20), "tag 7, source 2, context 4, type long");
  CHECK_EQ(names.split(0, 0, kTag7), "tag 7, source 0, context 0, type short");
  CHECK_EQ(names.split(0, 3, kTag7), "");
  CHECK_EQ(names.bits(0, mpi_adi::kAcknowledgmentPortal, std::uint64_t{3} << 32U | 2, 0),
           "the answer to send request 3");
  CHECK_EQ(names.bits(0, mpi_adi::kReadPortal, std::uint64_t{3} << 32U | 2, 0), "the body of send request 3");
  CHECK_EQ(names.bits(0, mpi_adi::kCancelPortal, 0, 0), "in place of a cancelled message");
  CHECK_EQ(names.mismatch(0, mpi_adi::kAcknowledgmentPortal, std::uint64_t{3} << 32U | 2, 0, 0,
                          {std::uint64_t{4} << 32U | 2, 0, 0}),
           "it accepts the answer to send request 3, and the message is the answer to send request 4");
  CHECK_EQ(names.mismatch(0, mpi_adi::kAcknowledgmentPortal, std::uint64_t{3} << 32U | 2, 0, 0,
                          {std::uint64_t{3} << 32U | 5, 0, 0}),
           "it accepts the answer to send request 3, and the message is of another use of that request");
  constexpr std::uint64_t kOfRank2 = kTag7 | 0x20008;
  CHECK_EQ(names.mismatch(0, 3, kOfRank2, 0, 0, {kTag7 | 0x30008, 0, 0}),
           "it accepts the message of rank 2 in MPI_COMM_WORLD, and this is another one");
  CHECK_EQ(names.mismatch(0, 3, kOfRank2, 0, 0, {kTag7 | 0x30008, 0, 0}, true),
           "it accepts a row of 2 bytes, and the message does not have that form");
  CHECK_EQ(names.mismatch(0, 3, kOfRank2, 0, 0, {kOfRank2 + 1, 0, 0}),
           "it accepts round 1 of the call, and the message is of round 2");
  CHECK_EQ(names.mismatch(0, 3, kOfRank2, 0, 0, {kOfRank2 + kTag7, 0, 0}),
           "it accepts collective call 7, and the message is of collective call 14");
}

}  // namespace
}  // namespace margay::command::test
