// Messages as packets, for Wireshark and tshark with scripts' margay.lua.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>

#include "command/trace/export/timeline.hpp"

namespace margay::command {

// Before the head of each packet; docs/trace_export.md has its fields.
inline constexpr std::size_t kPacketNoteBytes = 48;
inline constexpr std::uint8_t kPacketNoteVersion = 1;
inline constexpr std::uint16_t kLinkTypeUser0 = 147;

// A packet for each hop of each message, of link type USER0: a note of what no frame carries (ranks, sequence, the
// message that it is a part of, how long it was on its way), then the head of its frame as docs/frame_format.md has it,
// with what the trace knows of it. The body is left out, as in a capture that was cut short; the packet's original
// length counts it. An interface is a wire.
void write_pcapng(const ExportSource& source, std::ostream& out);

}  // namespace margay::command
