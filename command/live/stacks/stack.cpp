#include "command/live/stacks/stack.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "sim/trace/definition.hpp"

namespace margay::command {

namespace {

bool is_mpi(std::string_view function) {
  return function.starts_with("MPI_") || function.starts_with("PMPI_");
}

// The function of a thread that is a rank (mpi/process/threads). It calls the program, and so is neither the program's
// nor a call of the library.
constexpr std::string_view kRankFunction = "margay_rank_thread";

// Libraries whose frames do not help to find a place in the program.
bool is_system(const Frame& frame) {
  if (frame.function == kRankFunction) return true;
  constexpr std::array<std::string_view, 10> kNames{"libc.",    "libc-", "libpthread", "ld-",    "libstdc++",
                                                    "libgcc_s", "libm.", "liburing",   "[vdso]", "linux-vdso"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return frame.module.starts_with(name); });
}

// `_start` is in the program's file, but belongs to the C library.
bool belongs_to_program(const Frame& frame) {
  return !is_library(frame) && !is_system(frame) && frame.function != "_start";
}

}  // namespace

bool is_library(const Frame& frame) {
  if (frame.function == kRankFunction) return false;
  return frame.module.starts_with("libmpi.so") || frame.module.starts_with("libmargay_portals") ||
         is_mpi(frame.function) || frame.function.starts_with("margay::");
}

bool has_program(const Stack& stack) {
  return std::ranges::any_of(stack, belongs_to_program);
}

// The outermost library frame is the call's entry.
bool is_unnamed_call(const Stack& stack) {
  const auto first = std::ranges::find_if(stack, is_library);
  return first != stack.end() && !is_mpi(first->function);
}

// A callback of the program inside a call of the library is kept: it is the program's own code.
Stack fold(const Stack& stack, const std::string& call) {
  Stack out;
  // Inside a call of the library or the system.
  bool inside = false;
  auto at =
      std::ranges::find_if(stack, [](const Frame& frame) { return belongs_to_program(frame) || is_library(frame); });
  if (at == stack.end()) at = stack.begin();
  for (bool first = true; at != stack.end(); ++at) {
    const bool library = is_library(*at);
    if (inside && !belongs_to_program(*at)) continue;
    inside = !belongs_to_program(*at);
    Frame frame = *at;
    if (library) {
      if (first && !call.empty() && !is_mpi(frame.function)) frame.function = call;
      if (frame.function.starts_with("PMPI_")) frame.function.erase(0, 1);
      first = false;
    }
    // Lines of foreign sources do not help.
    if (inside) frame.location.clear();
    out.push_back(std::move(frame));
  }
  return out;
}

// Parameters make lines long and rarely help.
std::string function_name(const std::string& symbol) {
  // A name that is not mangled would be taken for a type: "i" is int.
  if (!symbol.starts_with("_Z")) return sim::printable(symbol.substr(0, symbol.find("@@")));
  int status = 0;
  char* const demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string text = demangled != nullptr ? demangled : symbol;
  std::free(demangled);
  if (demangled != nullptr) {
    // The parentheses of this name would be taken for the beginning of the parameters.
    std::size_t from = text.find("(anonymous namespace)");
    constexpr std::size_t kLength = sizeof "(anonymous namespace)" - 1;
    while (from != std::string::npos && text.find('(') == from) {
      text.replace(from, kLength, "{anonymous}");
      from = text.find("(anonymous namespace)");
    }
    if (!text.starts_with('(')) text = text.substr(0, text.find('('));
  }
  return sim::printable(text.substr(0, text.find("@@")));
}

std::string format_frame(const Frame& frame) {
  const std::string name = frame.function.empty() ? "?" : frame.function;
  if (!frame.location.empty()) return fmt::format("{} ({})", name, frame.location);
  return frame.function.empty() && !frame.module.empty() ? fmt::format("{} ({})", name, frame.module) : name;
}

// Two neighbours are written "0,1"; a range has three or more.
std::string ranges(std::vector<std::uint32_t> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (last > first) text += (last == first + 1 ? "," : "-") + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

std::string not_begun_text(const std::vector<std::uint32_t>& ranks) {
  const std::string numbers = ranges(ranks);
  if (ranks.size() == 1) {
    return fmt::format("rank {} has not begun MPI, so its process is not known; name the process instead", numbers);
  }
  return fmt::format("ranks {} have not begun MPI, so their processes are not known; name a process instead", numbers);
}

// Stacks are compared as text, so differences that are not shown do not separate ranks.
std::vector<std::string> merged(const std::vector<StackOf>& stacks, bool long_form) {
  struct Group {
    bool main_thread = true;
    std::string text;
    std::vector<std::uint32_t> ranks;
  };
  std::vector<Group> groups;
  std::map<std::pair<bool, std::string>, std::size_t> known;
  for (const StackOf& of : stacks) {
    std::string text;
    for (const Frame& frame : of.stack) {
      text += (long_form ? "\n    " : text.empty() ? " " : " > ") + format_frame(frame);
    }
    const auto [entry, is_new] = known.try_emplace({of.main_thread, text}, groups.size());
    if (is_new) groups.push_back({of.main_thread, text.empty() ? " no frames could be read" : text, {}});
    groups[entry->second].ranks.push_back(of.rank);
  }
  std::ranges::stable_sort(groups, [](const Group& one, const Group& other) {
    // Main threads first, and the largest groups first, so that the few ranks in another place follow the many.
    return one.main_thread != other.main_thread ? one.main_thread : one.ranks.size() > other.ranks.size();
  });
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    const std::string numbers = ranges(group.ranks);
    const bool several = numbers.find_first_of(",-") != std::string::npos;
    lines.push_back(fmt::format("{}rank{} {}:{}", group.main_thread ? "" : "a thread of ", several ? "s" : "", numbers,
                                group.text));
  }
  return lines;
}

}  // namespace margay::command
