#include <doctest/doctest.h>

#include "command/trace/names/text.hpp"
#include "mpi_adi/rma/window.hpp"
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

// The line without its time and rank, with single blanks.
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

TEST_CASE("the columns are microseconds since the origin, rank, event, message, fields") {
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
        "        12.345     1  kernel_arrive         0>1 #3          header put, portal 0, wire shm, "
        "match_bits 0x0000000700000010, bytes 8, offset 0");
  CHECK(text_line(trace, {event, 0}, 5'012'346, nullptr).starts_with("        -0.001     1"));
  CHECK(text_line(trace, {event, 0}, 0, nullptr).find("wire shm") != std::string::npos);
  CHECK(text_heading().find("message") == text_line(trace, {event, 0}, 0, nullptr).find("0>1"));
}

TEST_CASE("each kind prints its fields by their names") {
  sim::TraceEvent event = about(sim::TraceKind::send_begin);
  event.sequence = 0;
  event.protocol = sim::TraceProtocol::long_send;
  event.reason = static_cast<std::uint8_t>(sim::TraceChoice::above_short);
  event.a = 7;
  CHECK(line_of(event) ==
        "send_begin 0>1 protocol long, choice above_short, match_bits 0x0000000000000000, bytes 0, count 0, request 7, "
        "datatype 0");
  event.a = sim::kTraceNoRequest;
  CHECK(line_of(event).find("request") == std::string::npos);

  event = about(sim::TraceKind::kernel_match);
  event.portal = 0;
  event.detail = 12;
  event.a = 3;
  event.reason = sim::kTraceWalkByIndex | sim::kTraceWalkCut | 2U << sim::kTraceDescriptorShift;
  CHECK(line_of(event) ==
        "kernel_match 0>1 #3 portal 0, place 12, visited 3, walk by_index_and_cut, descriptor dynamic block, owner 0");

  event = about(sim::TraceKind::kernel_pass);
  event.reason = static_cast<std::uint8_t>(Passed::inactive);  // number 0 is a valid reason here
  event.a = sim::TracePass{.step = 4, .owner = 1, .link = sim::TraceLink::none, .type = 0}.packed();
  CHECK(line_of(event) ==
        "kernel_pass 0>1 #3 reason inactive, place 0, match_bits 0x0000000000000000, ignore_bits 0x0000000000000000, "
        "step 4, owner 1, link none, accepts 0");
  event.reason = static_cast<std::uint8_t>(Passed::too_small);
  event.b = 40;
  CHECK(line_of(event).ends_with("link none, room 40"));

  event = about(sim::TraceKind::kernel_drop);
  event.reason = static_cast<std::uint8_t>(DropReason::no_match);
  event.a = 40;
  CHECK(line_of(event) == "kernel_drop 0>1 #3 reason no match, match_bits 0x0000000000000000, bytes 0, visited 40");

  event = about(sim::TraceKind::kernel_deposit);
  event.saved = Saved::header;
  event.reason = sim::body_reason(sim::TraceBody::ring, true);
  event.b = 1;
  CHECK(line_of(event) ==
        "kernel_deposit 0>1 #3 saved header, bytes 0, offset 0, body ring, in_pieces, aside_bytes 4294967296");

  event = sim::TraceEvent();
  event.kind = sim::TraceKind::mpi_leave;
  CHECK(line_of(event) == "mpi_leave call MPI_Send, thread 0");
  event.a = 5;
  event.b = 6;
  event.detail = 3;
  event.reason = 1;
  CHECK(line_of(event) == "mpi_leave call call 5, error_class 6, thread 3, fatal");

  event = sim::TraceEvent();
  event.kind = sim::TraceKind::window_access;
  event.destination = 1;
  event.match_bits = std::uint64_t{7} << 32 | 1;
  event.detail = 400;
  event.reason = static_cast<std::uint8_t>(mpi_adi::WindowMethod::message);
  event.a = static_cast<std::uint32_t>(sim::TraceAccess::get_accumulate);
  event.b = static_cast<std::uint32_t>(sim::TraceEpoch::lock_all);
  CHECK(line_of(event) ==
        "window_access any>1 match_bits 0x0000000700000001, window 7, bytes 0, offset 400, way message, "
        "access get_accumulate, epoch lock_all");

  event = sim::TraceEvent();
  event.kind = sim::TraceKind::entry_linked;
  event.source = 3;
  event.reason = sim::kTraceEntryInactive;
  event.b = sim::TraceEntry{.heap = 2, .type = 2}.packed();
  CHECK(line_of(event) ==
        "entry_linked accepts 3, match_bits 0x0000000000000000, ignore_bits 0x0000000000000000, place 0, heap 2, "
        "descriptor dynamic block, inactive");

  event = sim::TraceEvent();
  event.a = 5;
  event.kind = sim::TraceKind::wake;
  CHECK(line_of(event) == "wake");
  event.kind = sim::TraceKind::coprocessor_end;
  CHECK(line_of(event) == "coprocessor_end messages 5");
}

TEST_CASE("numbers outside the tables are printed as numbers") {
  sim::TraceEvent event = about(static_cast<sim::TraceKind>(999));
  event.reason = 255;
  event.protocol = static_cast<sim::TraceProtocol>(200);
  event.saved = static_cast<Saved>(77);
  event.header = 99;
  CHECK(line_of(event) == "kind 999 0>1 #3 header 99, protocol 200, reason 255, saved 77");
  event.kind = sim::TraceKind::kernel_pass;
  CHECK(line_of(event).find("reason 255") != std::string::npos);
  event.kind = sim::TraceKind::send_begin;
  CHECK(line_of(event).find("choice 255") != std::string::npos);
}
