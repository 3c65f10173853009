// One event as one line: its raw fields, without interpretation. Sentences are in story/event_text.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"

namespace margay::command {

// "       12.345  1  kernel_arrive          0>1 #3      header put, portal 0, wire shm, match_bits 0x0000000700000010,
// bytes 8": microseconds since `origin_ns`, recording rank, kind, message, and the other fields by the names of the
// schema. Without a newline.
[[nodiscard]] std::string text_line(const Trace& trace, const Trace::Entry& entry, std::uint64_t origin_ns,
                                    WireName wire_name);
// The heading of text_line()'s columns.
[[nodiscard]] std::string text_heading();
// Microseconds since `origin_ns` with three decimals: "12.345". Negative for an earlier time.
[[nodiscard]] std::string time_text(std::uint64_t time_ns, std::uint64_t origin_ns);
// "0>1 #3", "any>1", or "" when the event is about no message.
[[nodiscard]] std::string message_text(const sim::TraceEvent& event);
// The reason in a drop, a passed entry, or the choice of a protocol; "" for other kinds, or without a reason.
[[nodiscard]] std::string_view reason_text(const sim::TraceEvent& event);

}  // namespace margay::command
