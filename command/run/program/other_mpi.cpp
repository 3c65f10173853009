#include "command/run/program/other_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace margay::command {
namespace {

constexpr std::int64_t kFirstLookNs = 20'000'000;
constexpr std::int64_t kLongestPauseNs = 1'000'000'000;
// Bounds the descent through wrappers and shells.
constexpr int kDeepestChild = 8;

std::string real_path(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  std::string result = real == nullptr ? path : real;
  std::free(real);
  return result;
}

std::string last_name(const std::string& path) {
  // npos + 1 is 0, the whole path.
  return path.substr(path.rfind('/') + 1);
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string mpi_behind(const std::string& path, const std::string& ours) {
  const std::string name = last_name(path);
  // Margay's library has the name of MPICH's, whose ABI it implements.
  if (path == ours) return {};
  if (name.starts_with("libmpi.so.12") || name.starts_with("libmpich.so.12")) return "MPICH or a derivative of it";
  if (name.starts_with("libmpi.so.") || name.starts_with("libopen-rte.so") || name.starts_with("libopen-pal.so")) {
    return "Open MPI";
  }
  return {};
}

void OtherMpi::begin(const std::string& library_folder, std::int64_t now_ns) {
  if (library_folder.empty()) return;
  ours_ = real_path(library_folder + "/libmpi.so.12");
  began_ns_ = now_ns;
  due_ns_ = now_ns + kFirstLookNs;
}

void OtherMpi::look(const std::vector<int>& pids, std::int64_t now_ns) {
  if (began_ns_ < 0) return;
  bool some_left = false;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    // Skips a rank that has begun margay's MPI, a rank whose other library was found, and a rank without a process.
    if (board_.block(rank).state != sim::RankState::started || !found_[rank].library.empty() || pids[rank] <= 0)
      continue;
    found_[rank] = find(pids[rank], 0);
    some_left = some_left || found_[rank].library.empty();
  }
  // The interval is a quarter of the job's age, within bounds, which keeps the cost of reading the maps small.
  due_ns_ = some_left ? now_ns + std::clamp((now_ns - began_ns_) / 4, kFirstLookNs, kLongestPauseNs) : -1;
}

// Depth first: a rank is often a wrapper whose child loads the library.
OtherMpi::FoundLibrary OtherMpi::find(int pid, int depth) const {
  const std::string process = "/proc/" + std::to_string(pid);
  if (std::string library = loaded_by(pid); !library.empty()) return {first_line(process + "/comm"), library};
  if (depth == kDeepestChild) return {};
  std::ifstream children(process + "/task/" + std::to_string(pid) + "/children");
  for (int child = 0; children >> child;) {
    if (FoundLibrary seen = find(child, depth + 1); !seen.library.empty()) return seen;
  }
  return {};
}

std::string OtherMpi::loaded_by(int pid) const {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    const std::string mpi = mpi_behind(path, ours_);
    if (!mpi.empty()) return last_name(path) + " (" + mpi + ")";
  }
  return {};
}

// Names the first rank only, because usually all ranks run the same program.
std::string OtherMpi::conclude(std::vector<std::uint32_t>& ranks) {
  ranks.clear();
  bool none_used = true;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    sim::BoardBlock& block = board_.block(rank);
    none_used = none_used && block.state == sim::RankState::started;
    if (block.state != sim::RankState::started || found_[rank].library.empty()) continue;
    ranks.push_back(rank);
    // No other process writes there, because the rank never began MPI.
    ++block.findings;
  }
  if (ranks.empty()) return {};
  const FoundLibrary& first = found_[ranks.front()];
  return fmt::format(
      "margay: {}; {} of rank {}{} loaded {}: build it for margay with its mpicc, or start it with that library's own "
      "mpiexec",
      none_used ? std::string("no process used margay's MPI")
                : fmt::format("{} of {} ranks did not use margay's MPI", ranks.size(), board_.used()),
      first.program, ranks.front(), ranks.size() > 1 ? fmt::format(" (and of {} more)", ranks.size() - 1) : "",
      first.library);
}

}  // namespace margay::command
