#include "command/run/options/trace_folder.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/boot/options.hpp"
#include "sim/trace/folder.hpp"
#include "sim/trace/format.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::command {
namespace {

// "rank_00000.trace" and similar, as the recorder names them.
bool is_trace_file(const std::string& name) {
  return name.rfind("rank_", 0) == 0 && name.size() > 6 && name.compare(name.size() - 6, 6, ".trace") == 0;
}

// A run's files must not mix with another's: the reader would reject the folder.
Status check_folder(const std::string& folder, std::uint64_t tried_bytes) {
  // A folder that cannot be listed is reported by the test below.
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_trace_file(entry->path().filename().string())) continue;
    return Status::error("option --trace: " + folder + " holds a trace of an earlier run (" +
                         entry->path().filename().string() + "); name a new folder for each run");
  }
  std::string path;
  void* memory = nullptr;
  // A file of full size: a lack of space shows now and not as a SIGBUS in a rank.
  if (Status status = sim::map_new_trace_file(folder, 0, tried_bytes, path, memory); !status.ok()) return status;
  ::munmap(memory, tried_bytes);
  ::unlink(path.c_str());
  return {};
}

// The value that the command line gives to a variable of the ranks; empty if it gives none.
std::string rank_option(const RunOptions& options, std::string_view wanted) {
  // The last setting counts.
  std::string found;
  for (const auto& [name, value] : options.rank_options) {
    if (name == wanted) found = value;
  }
  return found;
}

}  // namespace

std::string whole_trace_folder(const ProgramSpec& program, const std::string& folder) {
  if (folder.empty()) return folder;
  std::filesystem::path path = std::filesystem::path(program.working_directory) / folder;
  // An error means that the launcher's working directory has been removed; the rank's own error reports it.
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return (error ? path : whole).string();
}

Status check_trace_folder(const RunOptions& options) {
  const std::string folder = rank_option(options, "MARGAY_TRACE");
  if (folder.empty()) return {};
  // The size of a rank's file with these options.
  sim::RecorderOptions tried;
  const std::string events = rank_option(options, "MARGAY_TRACE_EVENTS");
  if (std::uint64_t count = 0; sim::parse_bytes(events, count))
    tried.capacity_events = std::clamp(count, std::uint64_t{1}, sim::kMaxTraceEvents);
  for (const ProgramSpec& program : options.programs) {
    const std::string path = (std::filesystem::path(program.working_directory) / folder).string();
    if (Status status = check_folder(path, sim::trace_file_bytes(tried)); !status.ok()) return status;
  }
  return {};
}

}  // namespace margay::command
