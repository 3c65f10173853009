#include "mpi_adi/rank/describe_choices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>

#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/select.hpp"
#include "mpi_adi/rank/device_options.hpp"
#include "mpi_adi/rma/window_method.hpp"
#include "sim/boot/probes.hpp"
#include "sim/machine/shared_heap.hpp"

namespace margay::mpi_adi {

namespace {

struct ModeRow {
  SendMode mode;
  std::string_view name;
};
constexpr std::array kModes = {ModeRow{SendMode::standard, "standard"}, ModeRow{SendMode::synchronous, "synchronous"},
                               ModeRow{SendMode::ready, "ready"}, ModeRow{SendMode::buffered, "buffered"}};

// Ready sends are tested first, because their mode decides, not the shape.
std::string_view send_mode_text(SendMode mode, SendShape shape) {
  if (mode == SendMode::ready)
    return "header and body, into the posted receive; without one the message is dropped and counted";
  switch (shape) {
    case SendShape::short_message:
      return "header and body at once; unexpected ones wait in the receiver's heap";
    case SendShape::long_message:
      return "header and body; the body of an unexpected message is discarded, and pulled later";
    case SendShape::rendezvous:
      return "header only; the receiver pulls the body";
    case SendShape::ready_long:
      break;  // ready sends returned above
  }
  return {};
}

std::string in_bytes(std::uint64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

// The rows are computed by the same function that a run's sends use, so the table cannot differ from the sends.
void add_wire(std::vector<std::string>& lines, std::string_view title, std::uint64_t limit,
              DeviceOptions::LongProtocol long_protocol) {
  lines.push_back(std::string(title));
  const auto add = [&](const std::string& sizes, std::uint64_t bytes) {
    for (const ModeRow& row : kModes) {
      const ProtocolChoice choice = select_protocol(row.mode, bytes, limit, long_protocol);
      lines.push_back(fmt::format("  {:<16} {:<12} {:<19} {:<12} {}", sizes, row.name, sim::name(choice.protocol),
                                  sim::name(choice.reason), send_mode_text(row.mode, choice.shape)));
    }
  };
  add("up to " + in_bytes(limit), limit);
  add("above", limit + 1);
}

}  // namespace

std::vector<std::string> describe_choices(const sim::Options& options) {
  DeviceOptions device;
  if (const portals::Status status = device_options(options, device); !status.ok()) return {status.sentence()};
  std::vector<std::string> lines{
      "point-to-point (by bytes, mode and wire; --protocol short_limit=BYTES, long=rendezvous)"};
  add_wire(lines, "inside a node", short_limit_of(device, sim::WireId::shm), device.long_protocol);
  add_wire(lines, "between nodes", short_limit_of(device, sim::WireId::tcp), device.long_protocol);
  return lines;
}

std::vector<std::string> describe_choices(unsigned /*ranks*/, bool /*crowded*/) {
  return describe_choices(sim::Options::from_environment(environ));
}

namespace {

// The setting for memory of memfd files. The operating system's text is "always within_size [advise] never deny force",
// where the word in brackets is the present setting.
std::string huge_pages_of_files() {
  constexpr const char* kFile = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
  std::ifstream file(kFile);
  std::string text;
  std::getline(file, text);
  const std::size_t begin = text.find('['), end = text.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "no huge pages on this system";
  const std::string chosen = text.substr(begin + 1, end - begin - 1);
  const bool given = chosen != "never" && chosen != "deny";
  return fmt::format("{} huge pages for pieces from {} MiB on: {} is {}", given ? "with" : "without",
                     sim::kHugeMinBytes >> 20, kFile, chosen);
}

std::string window_line(std::string_view memory, const MethodFacts& facts, const std::string& means) {
  const MethodChoice choice = choose_window_method(facts);
  return fmt::format("  {:<18} {:<28} {}{}", memory, method_name(choice.method), choice.reason,
                     means.empty() ? "" : " (" + means + ")");
}

}  // namespace

WindowMeans try_window_means(const sim::Options& options) {
  WindowMeans means;
  // A trial allocation of one byte shows whether the machine allows shared memory.
  sim::SharedHeap heap;
  void* memory = nullptr;
  const portals::Status status = heap.allocate(1, memory);
  means.shares_heap = status.ok();
  means.heap_reason = status.ok() ? "memfd" : status.sentence();
  if (status.ok()) heap.free(memory);
  const sim::ProbeResult reading = sim::probe_process_vm_readv();
  const bool wanted = options.item("method", "long") != "ring";
  means.reads_others = reading.works && wanted;
  means.reading_reason = wanted ? "process_vm_readv: " + reading.detail : "--method long=ring forbids it";
  means.huge_pages = huge_pages_of_files();
  return means;
}

std::vector<std::string> describe_windows(const WindowMeans& means) {
  MethodFacts allocated{.is_on_node = true, .is_mapped = means.shares_heap, .reads_others = means.reads_others};
  MethodFacts other{.is_on_node = true, .reads_others = means.reads_others};
  std::vector<std::string> lines{"windows: the method of puts and gets, by the kind of a member's memory"};
  lines.push_back(window_line("one's own", {.is_own = true}, {}));
  lines.push_back(window_line("allocated", allocated, means.heap_reason + "; " + means.huge_pages));
  lines.push_back("  (by MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Alloc_mem)");
  lines.push_back(window_line("the program's", other, means.reading_reason));
  lines.push_back(window_line("on other nodes", {}, {}));
  lines.push_back(window_line("dynamic", {.is_dynamic = true, .is_on_node = true}, {}));
  lines.push_back(window_line("of MPI_RMA_init", {.of_1996 = true}, {}));
  return lines;
}

std::vector<std::string> describe_windows() {
  return describe_windows(try_window_means(sim::Options::from_environment(environ)));
}

}  // namespace margay::mpi_adi
