// Exports of a trace in the formats of other tools (docs/trace_export.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/export/timeline.hpp"
#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Tables as values between commas (RFC 4180), with a line of names first. Times are microseconds since the trace's
// first event. A field that an event or a message does not have is empty.
void write_events_csv(const ExportSource& source, std::ostream& out);
void write_messages_csv(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);
void write_calls_csv(const ExportSource& source, std::ostream& out);

// A field, in quotes where it needs them.
[[nodiscard]] std::string csv_field(std::string_view text);

// The events themselves, by the names of their fields (docs/trace_export.md): for programs that read a trace.

// All events of all ranks, the trace's definitions, and what each kind and field means.
void write_json(const Trace& trace, std::ostream& out);

// Mermaid's sequence diagram, which GitHub, GitLab and many editors draw within Markdown.

// A participant is a rank, a message's hop an arrow (a reply or an acknowledgment a broken one, a lost one ends in a
// cross), a note what a rank does with the message; each with its microseconds.
void write_mermaid(const Chart& chart, std::ostream& out);

// A message sequence chart in Mscgen's language: `mscgen -T svg -i FILE -o FILE.svg` draws it.

// As write_mermaid(): a line is a rank, an arrow a hop, a note what a rank does with the message.
void write_msc(const Chart& chart, std::ostream& out);

// Chrome's trace event format (JSON), which chrome://tracing, ui.perfetto.dev and Speedscope open.

// A process of the format is a rank, a thread one of its threads. Calls and waits are slices, a message is an arrow
// from the call that sent it to where it was received, and a bar of its own. Times are microseconds since the first
// event, with their nanoseconds. `stories` live as long as the call; `out`'s state tells whether it could be written.
void write_chrome(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);

// Perfetto's trace (protobuf), for ui.perfetto.dev and trace_processor.

// A process of the format is a rank; a track below it is one of its threads, or a message on its way in time. Calls and
// waits are slices; a message's flow leads from its sending to its arrival and its receive. Times are nanoseconds since
// the first event. tests/mpi/exports/perfetto.proto has the fields.
void write_perfetto(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);

// Messages as packets, for Wireshark and tshark with scripts' margay.lua.

// Before the head of each packet; docs/trace_export.md has its fields.
inline constexpr std::size_t kPacketNoteBytes = 48;
inline constexpr std::uint8_t kPacketNoteVersion = 1;
inline constexpr std::uint16_t kLinkTypeUser0 = 147;

// A packet for each hop of each message, of link type USER0: a note of what no frame carries (ranks, sequence, the
// message that it is a part of, how long it was on its way), then the head of its frame as docs/frame_format.md has it,
// with what the trace knows of it. The body is left out, as in a capture that was cut short; the packet's original
// length counts it. An interface is a wire.
void write_pcapng(const ExportSource& source, std::ostream& out);

// OTF2, the Open Trace Format 2 of Score-P, Vampir, Scalasca and Cube: an archive of files, by its own library.

// FOLDER/traces.otf2 and what belongs to it. A location is a thread of a rank; calls and waits are regions, the
// messages of MPI's receives are sends and receives between ranks of the world. Times are nanoseconds since the first
// event. OTF2's library is loaded here, so that the command does without it otherwise. Requires: the folder is there.
// Errors: there is no such library, or this margay was built without its headers; what the library tells.
[[nodiscard]] portals::Status write_otf2(const ExportSource& source, const std::vector<MessageStory>& stories,
                                         const std::string& folder);

// SimGrid's time-independent trace: what each rank computes, sends and waits for, which `smpirun -replay` runs again on
// a platform of one's own.

struct Replay {
  std::vector<std::vector<std::string>> ranks;  // by rank: its actions, a line each
  // What the trace does not tell enough of to be replayed.
  std::uint64_t left_out_messages = 0;  // of one-sided communication or of the library, cancelled, not received
  std::uint64_t left_out_accesses = 0;  // of windows
  std::uint64_t left_out_calls = 0;     // collective ones in memory of a node, of which nothing tells who read what
};

// Messages have their real sizes, those of collective calls too: margay's algorithms are replayed, not SimGrid's. The
// third number of an action is the message's sequence in its pair, in place of its tag, so each receive takes the
// message that it took. `flops_per_second`: what a second between two calls is worth. Errors: a rank without a file; no
// call of MPI.
[[nodiscard]] portals::Status replay_of(const ExportSource& source, const std::vector<MessageStory>& stories,
                                        double flops_per_second, Replay& replay);
// FOLDER/actions names a file of each rank beside it. Requires: the folder is there. Errors: as the system tells.
[[nodiscard]] portals::Status write_smpi_ti(const Replay& replay, const std::string& folder);

}  // namespace margay::command
