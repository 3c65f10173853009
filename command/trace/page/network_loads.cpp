#include "command/trace/page/network_loads.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "virtual_machine/model/network_file.hpp"

namespace margay::command {

using portals::Status;

Status read_network(const std::string& folder, std::string& text) {
  text.clear();
  const std::string path = folder + "/" + virtual_machine::kNetworkFileName;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) return Status::error(fmt::format("trace view: {}: cannot be read: {}", path, std::strerror(errno)));
  virtual_machine::NetworkFile network;
  const Status status = virtual_machine::parse_network_file(text, network);
  if (status.ok()) return {};
  return Status::error(
      fmt::format("trace view: {}: {}; remove it to view the trace without it", path, status.sentence()));
}

// Its times are those of the events, so the page needs the time of its own zero, the first event.
void add_network(const PageInput& input, PageData& data) {
  if (input.network.empty()) return;
  const std::size_t blob = data.add_blob(std::as_bytes(std::span(input.network)));
  data.member("network",
              fmt::format(R"({{"blob":{},"first_event_ns":{}}})", blob, input.trace.entries.front().event.time));
}

}  // namespace margay::command
