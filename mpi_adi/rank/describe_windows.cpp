#include "mpi_adi/rank/describe_windows.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "mpi_adi/rma/window_way.hpp"
#include "sim/boot/probes.hpp"
#include "sim/machine/shared_heap.hpp"

namespace margay::mpi_adi {

namespace {

// Of memory that files of memfd have. "always within_size [advise] never deny force": the one in brackets holds.
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

std::string window_line(std::string_view memory, const WayFacts& facts, const std::string& means) {
  const WayChoice choice = choose_window_way(facts);
  return fmt::format("  {:<18} {:<28} {}{}", memory, words_of(choice.way), choice.reason,
                     means.empty() ? "" : " (" + means + ")");
}

}  // namespace

WindowMeans try_window_means(const sim::Options& options) {
  WindowMeans means;
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
  WayFacts allocated{.is_on_node = true, .is_mapped = means.shares_heap, .reads_others = means.reads_others};
  WayFacts other{.is_on_node = true, .reads_others = means.reads_others};
  std::vector<std::string> lines{"windows: the way of puts and gets to a member's memory"};
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
