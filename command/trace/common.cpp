#include "command/trace/common.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "command/line/standard_output.hpp"
#include "command/trace/names/end_words.hpp"
#include "sim/base/text.hpp"
#include "sim/wire/wire.hpp"

namespace margay::command {

using portals::Status;

void fail_trace(const Status& status) {
  // A folder's name may contain control characters.
  fmt::print(stderr, "margay {}\n", sim::for_terminal(status.sentence()));
  throw CLI::RuntimeError(kBadTrace);
}

// A failed write sets the stream's error flag, which finish_output() tests.
void put_line(std::string line) {
  line += '\n';
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stdout));
}

void finish_output() {
  if (!is_output_written("trace")) throw CLI::RuntimeError(kBadTrace);
}

// Without a definition a number appears in place of a name; the warning explains it.
void load_trace(const std::string& folder, Trace& trace) {
  if (Status status = read_trace(folder, trace); !status.ok()) fail_trace(status);
  for (const TraceFile& file : trace.files) {
    if (file.definitions_lost == 0) continue;
    fmt::print(stderr, "margay trace: rank {}: {}\n", file.rank, sim::lost_definitions_text(file.definitions_lost));
  }
}

void warn_unsealed(const Trace& trace) {
  const std::string text = unsealed_text(trace.files);
  if (!text.empty()) fmt::print(stderr, "margay trace: {}\n", text);
}

std::string_view wire_text(std::uint8_t wire) {
  return wire < sim::kWireCount ? name(static_cast<sim::WireId>(wire)) : "unknown wire";
}

}  // namespace margay::command
