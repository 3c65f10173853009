// Choices in words, for `margay info`: of protocol/select for point-to-point messages (wire by wire, mode by mode, on
// both sides of the short limit), and of the way to a window's memory.
#pragma once

#include <string>
#include <vector>

#include "sim/boot/options.hpp"

namespace margay::mpi_adi {

// With the options of a run, as a rank would have them. Lines; options that no rank would take give the sentence.
[[nodiscard]] std::vector<std::string> describe_choices(const sim::Options& options);
// With those of this process's environment, whatever the number of ranks.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

// `margay info`, of windows: which way leads to which memory on this machine.

// What this machine allows. Reasons are sentences without an end.
struct WindowMeans {
  bool shares_heap = false;
  std::string heap_reason;
  bool reads_others = false;
  std::string reading_reason;
  std::string huge_pages;  // whether long pieces of the heap get them
};
// Found out by trying it, with the options of a run.
[[nodiscard]] WindowMeans try_window_means(const sim::Options& options);
// Lines: a way for each kind of memory, as windows of such a machine would choose.
[[nodiscard]] std::vector<std::string> describe_windows(const WindowMeans& means);
// Of this machine, with the options of this process's environment.
[[nodiscard]] std::vector<std::string> describe_windows();

}  // namespace margay::mpi_adi
