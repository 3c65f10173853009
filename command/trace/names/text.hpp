// One event as one line of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"

namespace margay::command {

// "       12.345  1  kernel_arrive          0>1 #3      header put, portal 0, wire shm, match_bits 0x0000000700000010,
// bytes 8": microseconds since `origin_ns`, recording rank, kind, message, and its other fields by their names. No
// line end.
[[nodiscard]] std::string text_line(const Trace& trace, const Trace::Entry& entry, std::uint64_t origin_ns,
                                    WireName wire_name);
// The columns' heads.
[[nodiscard]] std::string text_heading();
// "12.345": microseconds since `origin_ns`.
[[nodiscard]] std::string time_text(std::uint64_t time_ns, std::uint64_t origin_ns);
// "0>1 #3", "any>1", or "" when the event is about no message.
[[nodiscard]] std::string message_text(const sim::TraceEvent& event);
// Why it was dropped, passed over, or sent by its protocol; "" of other kinds, and when it is none.
[[nodiscard]] std::string_view reason_text(const sim::TraceEvent& event);

}  // namespace margay::command
