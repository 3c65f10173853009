// Writers of a trace in the formats of other tools (docs/trace_export.md). A failed write shows in the stream's state.
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

// Tables of comma-separated values (RFC 4180) with a line of names first. Times are microseconds since the trace's
// first event. A field that an event or a message does not have is empty.
void write_events_csv(const ExportSource& source, std::ostream& out);
void write_messages_csv(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);
void write_calls_csv(const ExportSource& source, std::ostream& out);

// A field, quoted where necessary.
[[nodiscard]] std::string csv_field(std::string_view text);

// JSON: the events with the names of their fields, for programs that read a trace.

// All events of all ranks, the trace's definitions, and the meaning of each kind and field.
void write_json(const Trace& trace, std::ostream& out);

// Mermaid's sequence diagram, which GitHub, GitLab and many editors draw within Markdown.

// A participant is a rank. An arrow is a hop: broken for a reply or an acknowledgment, and ending in a cross if the hop
// is lost. A note is an action of a rank on the message. Arrows and notes have their time in microseconds.
void write_mermaid(const Chart& chart, std::ostream& out);

// A message sequence chart in Mscgen's language: `mscgen -T svg -i FILE -o FILE.svg` draws it.

// Like write_mermaid(): a line is a rank, an arrow a hop, a note an action of a rank on the message.
void write_msc(const Chart& chart, std::ostream& out);

// Chrome's trace event format (JSON), which chrome://tracing, ui.perfetto.dev and Speedscope open.

// A process of the format is a rank, and a thread one of its threads. Calls and waits are slices; a message is an arrow
// from the call that sent it to the place where it was received, and a bar of its own. Times are microseconds since the
// first event, with nanoseconds as decimals. `stories` must outlive the call.
void write_chrome(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);

// Perfetto's trace (protobuf), for ui.perfetto.dev and trace_processor.

// A process of the format is a rank; a track below it is one of its threads, or a lane of messages in flight. Calls and
// waits are slices; a message's flow leads from its sending to its arrival and its receive. Times are nanoseconds since
// the first event. tests/mpi/exports/perfetto.proto has the fields.
void write_perfetto(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);

// Packets, for Wireshark and tshark with margay.lua.

// The note before the head of each packet; docs/trace_export.md has its fields.
inline constexpr std::size_t kPacketNoteBytes = 48;
inline constexpr std::uint8_t kPacketNoteVersion = 1;
inline constexpr std::uint16_t kLinkTypeUser0 = 147;

// One packet for each hop of each message, of link type USER0. It contains a note with facts that no frame carries
// (ranks, sequence, the hop's message, time on the wire), and then the head of the hop's frame as in
// docs/frame_format.md, as far as the trace has it. The body is omitted, as in a truncated capture, but counted in the
// packet's original length. An interface is a wire.
void write_pcapng(const ExportSource& source, std::ostream& out);

// OTF2, the Open Trace Format 2 of Score-P, Vampir, Scalasca and Cube: an archive of files, written by OTF2's own
// library.

// Writes FOLDER/traces.otf2 and its other files. A location is a thread of a rank; calls and waits are regions;
// messages to MPI's receives are sends and receives between ranks of the world. Times are nanoseconds since the first
// event. Loads OTF2's library; other formats do not need it. Requires: the folder exists. Errors: the library is
// missing, or this margay was built without its headers; the library's own.
[[nodiscard]] portals::Status write_otf2(const ExportSource& source, const std::vector<MessageStory>& stories,
                                         const std::string& folder);

// SimGrid's time-independent trace: each rank's computation, sends and waits, which `smpirun -replay` repeats on a
// simulated platform.

// The actions of a run, and counts of events that could not be converted.
struct Replay {
  // By rank: its actions, one on each line.
  std::vector<std::vector<std::string>> ranks;
  // The next three fields count parts of the run that are omitted, because the trace lacks data for their replay.
  // Messages: one-sided ones, the library's own, cancelled and unreceived ones.
  std::uint64_t left_out_messages = 0;
  // Accesses of windows.
  std::uint64_t left_out_accesses = 0;
  // Collective calls in a node's memory, where the trace does not show which rank read which data.
  std::uint64_t left_out_calls = 0;
};

// Converts a trace. Messages have their real sizes, also those of collective calls: margay's algorithms are replayed,
// not SimGrid's. In place of a tag, an action has the message's sequence number in its pair, so that each receive takes
// the same message as in the run. `flops_per_second`: the work that replaces one second between two calls. Errors: a
// rank without a file; no MPI call.
[[nodiscard]] portals::Status replay_of(const ExportSource& source, const std::vector<MessageStory>& stories,
                                        double flops_per_second, Replay& replay);
// Writes FOLDER/actions, which names one file for each rank beside it. Requires: the folder exists. Errors: the
// system's.
[[nodiscard]] portals::Status write_smpi_ti(const Replay& replay, const std::string& folder);

}  // namespace margay::command
