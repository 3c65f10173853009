// A rank's standard output and standard error as whole lines, each labelled with the rank, as `margay run -l` labels
// them. Lines of several ranks never mix; the order within a rank's stream is kept.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace margay::virtual_machine {

// libc's write(), which this library replaces.
ssize_t write_to_process(int descriptor, const void* data, std::size_t bytes);
// The same until all is written, or an error: then the rest is lost, as in a program that does not test for errors.
void write_all_to_process(int descriptor, std::string_view text);

// Whether lines begin with "[RANK] "; initially they do.
void label_lines(bool on);

// The two output streams of one rank. The rank's exit must call write_partial_lines().
class RankOutput {
 public:
  explicit RankOutput(std::uint32_t rank);

  [[nodiscard]] std::uint32_t rank() const { return rank_; }

  // Text of a stream (descriptor 1 or 2). Whole lines leave by one write; a partial line is kept until it is whole.
  void add(int descriptor, std::string_view text);
  // Writes the partial lines as they are: for use before a rank reads its input, and at its end. The next text of
  // another rank begins on a new line.
  void write_partial_lines();

 private:
  [[nodiscard]] std::string& partial_line(int descriptor) { return partial_[static_cast<std::size_t>(descriptor - 1)]; }
  // Writes text at once, with the labels of the lines that begin in it.
  void write(int descriptor, std::string_view text) const;

  std::uint32_t rank_;
  // "[RANK] ".
  std::string label_;
  // By stream: the text after the last newline.
  std::array<std::string, 2> partial_;
};

}  // namespace margay::virtual_machine
