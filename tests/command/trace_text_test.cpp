#include <doctest/doctest.h>

#include "command/trace/names/text.hpp"
#include "portals/base/verdict.hpp"

using namespace margay;
using namespace margay::command;
using margay::portals::DropReason;
using margay::portals::Kind;
using margay::portals::Passed;
using margay::portals::Saved;

namespace {

std::string_view test_wire(std::uint8_t wire) {
  return wire == 1 ? "shm" : "?";
}

// The line without its time and rank, blanks squeezed.
std::string line_of(const sim::TraceEvent& event) {
  Trace trace;
  trace.files.emplace_back().rank = 2;
  trace.files[0].names = {"MPI_Send"};
  const std::string line = text_line(trace, {event, 0}, 0, test_wire);
  std::string squeezed;
  for (const char c : line.substr(22)) {
    if (c != ' ' || (!squeezed.empty() && squeezed.back() != ' ')) squeezed += c;
  }
  return squeezed;
}

sim::TraceEvent about(sim::TraceKind kind) {
  sim::TraceEvent event;
  event.kind = kind;
  event.source = 0;
  event.destination = 1;
  event.sequence = 3;
  return event;
}

}  // namespace

TEST_CASE("columns: microseconds since the origin, rank, event, message, fields") {
  Trace trace;
  trace.files.emplace_back().rank = 1;
  sim::TraceEvent event = about(sim::TraceKind::kernel_arrive);
  event.time = 5'012'345;
  event.header = static_cast<std::uint8_t>(Kind::put);
  event.portal = 0;
  event.wire = 1;
  event.bytes = 8;
  event.match_bits = 0x0000'0007'0000'0010;
  CHECK(text_line(trace, {event, 0}, 5'000'000, test_wire) ==
        "        12.345     1  kernel_arrive         0>1 #3          put, portal 0, shm, 8 bytes, bits "
        "0x0000000700000010");
  CHECK(text_line(trace, {event, 0}, 5'012'346, nullptr).starts_with("        -0.001     1"));
  CHECK(text_line(trace, {event, 0}, 0, nullptr).find("wire 1") != std::string::npos);
  CHECK(text_heading().find("message") == text_line(trace, {event, 0}, 0, nullptr).find("0>1"));
}

TEST_CASE("each kind tells what its fields mean") {
  sim::TraceEvent event = about(sim::TraceKind::send_begin);
  event.sequence = 0;
  event.protocol = sim::TraceProtocol::long_send;
  event.reason = static_cast<std::uint8_t>(sim::TraceChoice::above_short);
  event.a = 7;
  CHECK(line_of(event) == "send_begin 0>1 long, because above_short, request 7");

  event = about(sim::TraceKind::kernel_match);
  event.portal = 0;
  event.detail = 12;
  event.a = 3;
  CHECK(line_of(event) == "kernel_match 0>1 #3 portal 0, entry 12, 3 visited");
  event.reason = sim::kTraceWalkByIndex | sim::kTraceWalkCut;
  CHECK(line_of(event) == "kernel_match 0>1 #3 portal 0, entry 12, at least 3 visited but for the index");

  event = about(sim::TraceKind::kernel_pass);
  event.reason = static_cast<std::uint8_t>(Passed::no_room);
  CHECK(line_of(event) ==
        "kernel_pass 0>1 #3 because no room, ignores 0x0000000000000000, entry 0, step 0, owner 0, link "
        "next, from 0");
  event.reason = static_cast<std::uint8_t>(Passed::inactive);  // number 0 is a reason here
  CHECK(line_of(event) ==
        "kernel_pass 0>1 #3 because inactive, ignores 0x0000000000000000, entry 0, step 0, owner 0, link "
        "next, from 0");

  event = about(sim::TraceKind::kernel_drop);
  event.reason = static_cast<std::uint8_t>(DropReason::no_match);
  CHECK(line_of(event) == "kernel_drop 0>1 #3 because no match");
  event.a = 40;
  CHECK(line_of(event) == "kernel_drop 0>1 #3 because no match, 40 visited");

  event = about(sim::TraceKind::kernel_ack_sent);
  event.saved = Saved::header;
  event.detail = 9;
  CHECK(line_of(event) == "kernel_ack_sent 0>1 #3 saved header, answers 1>0 #9");

  event = sim::TraceEvent();
  event.kind = sim::TraceKind::post_receive;
  event.destination = 1;
  event.detail = 0xff;
  event.a = 4;
  CHECK(line_of(event) == "post_receive any>1 ignore 0x00000000000000ff, request 4");

  event = sim::TraceEvent();
  event.kind = sim::TraceKind::mpi_enter;
  CHECK(line_of(event) == "mpi_enter MPI_Send");
  event.kind = sim::TraceKind::mpi_leave;
  event.a = 5;
  event.b = 6;
  CHECK(line_of(event) == "mpi_leave call 5, error class 6");
  event.detail = 3;
  CHECK(line_of(event) == "mpi_leave call 5, thread 3, error class 6");
  event.kind = sim::TraceKind::wait_begin;
  CHECK(line_of(event) == "wait_begin call 5, thread 3");
  event.detail = 0;  // the thread of most programs
  CHECK(line_of(event) == "wait_begin call 5");
  event.kind = sim::TraceKind::window_access;
  event.match_bits = std::uint64_t{7} << 32 | 1;
  event.detail = 400;
  event.reason = static_cast<std::uint8_t>(mpi_adi::WindowWay::message);
  event.a = static_cast<std::uint32_t>(sim::TraceAccess::get_accumulate);
  event.b = static_cast<std::uint32_t>(sim::TraceEpoch::lock_all);
  CHECK(line_of(event) ==
        "window_access bits 0x0000000700000001, at offset 400, window 7, get_accumulate, epoch lock_all, by message");
  event.kind = sim::TraceKind::window_sync;
  event.reason = 0;
  event.a = static_cast<std::uint32_t>(sim::TraceSync::complete);
  CHECK(line_of(event) == "window_sync bits 0x0000000700000001, window 7, complete");
  event = sim::TraceEvent();
  event.a = 5;
  event.kind = sim::TraceKind::wake;
  CHECK(line_of(event) == "wake");
  event.kind = sim::TraceKind::coprocessor_end;
  CHECK(line_of(event) == "coprocessor_end 5 messages");
}

TEST_CASE("numbers that no table has are printed, not looked up") {
  sim::TraceEvent event = about(static_cast<sim::TraceKind>(999));
  event.reason = 255;
  event.protocol = static_cast<sim::TraceProtocol>(200);
  event.saved = static_cast<Saved>(77);
  event.header = 99;
  CHECK(line_of(event) == "kind 999 0>1 #3 unknown, because unknown, saved 77, 0 bytes");
  event.kind = sim::TraceKind::kernel_pass;
  CHECK(line_of(event).find("because unknown") != std::string::npos);
  event.kind = sim::TraceKind::send_begin;
  CHECK(line_of(event).find("because unknown") != std::string::npos);
}
