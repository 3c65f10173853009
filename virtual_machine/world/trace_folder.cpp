#include "virtual_machine/world/trace_folder.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sim/trace/recorder.hpp"
#include "virtual_machine/model/network_file.hpp"

namespace margay::virtual_machine {
namespace {

// The rings take at most this together, but each has kEventsLeast events or more.
constexpr std::uint64_t kRingBytesMost = std::uint64_t{1} << 30;
constexpr std::uint64_t kEventsLeast = 4'096;

}  // namespace

std::uint64_t trace_events_for(std::uint32_t ranks) {
  const std::uint64_t fitting = std::bit_floor(kRingBytesMost / sim::kTraceEventBytes / ranks);
  return std::clamp(fitting, kEventsLeast, sim::kDefaultTraceEvents);
}

void write_network_file(const std::string& folder, const NetworkModel& model, const LinkLoads& loads) {
  const std::string path = folder + "/" + kNetworkFileName;
  const std::string text = format_network_file(network_file_of(model, loads));
  std::FILE* const file = std::fopen(path.c_str(), "wx");
  if (file == nullptr && errno == ENOENT) return;
  bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) != 0) is_written = false;
  if (!is_written)
    std::fprintf(stderr, "margay simulate: %s: cannot be written: %s\n", path.c_str(), std::strerror(errno));
}

}  // namespace margay::virtual_machine
