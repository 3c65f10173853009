#include "sim/launch/options/trace_place.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "sim/trace/folder.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {
namespace {

bool is_trace_file(const std::string& name) {
  return name.rfind("rank_", 0) == 0 && name.size() > 6 && name.compare(name.size() - 6, 6, ".trace") == 0;
}

Status check_folder(const std::string& folder) {
  std::error_code error;  // what cannot be listed is told by the try below
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_trace_file(entry->path().filename().string())) continue;
    return Status::error("option --trace: " + folder + " holds a trace of an earlier run (" +
                         entry->path().filename().string() + "); name a new folder for each run");
  }
  const std::uint64_t tried_bytes = trace_file_bytes({});  // a rank's file in full: no room is told here already
  std::string path;
  void* memory = nullptr;
  if (Status status = map_new_trace_file(folder, 0, tried_bytes, path, memory); !status.ok()) return status;
  ::munmap(memory, tried_bytes);
  ::unlink(path.c_str());
  return {};
}

}  // namespace

std::string trace_folder(const RunOptions& options) {
  std::string folder;
  for (const auto& [name, value] : options.rank_options) {
    if (name == "MARGAY_TRACE") folder = value;
  }
  return folder;
}

std::vector<std::string> trace_files(const RunOptions& options, const std::string& folder) {
  std::vector<std::string> files;
  if (folder.empty()) return files;
  for (const ProgramSpec& program : options.programs) {
    const std::filesystem::path place = std::filesystem::path(program.working_directory) / folder;
    for (std::uint32_t i = 0; i < program.ranks; ++i) {
      files.push_back((place / trace_file_name(static_cast<std::uint32_t>(files.size()))).string());
    }
  }
  return files;
}

Status check_trace_place(const RunOptions& options) {
  const std::string folder = trace_folder(options);
  if (folder.empty()) return {};
  for (const ProgramSpec& program : options.programs) {
    const std::string place = (std::filesystem::path(program.working_directory) / folder).string();
    if (Status status = check_folder(place); !status.ok()) return status;
  }
  return {};
}

}  // namespace margay::sim
