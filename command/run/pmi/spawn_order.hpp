// A request for further processes (PMI-1.1 mcmd=spawn), as the launcher reads it from a rank. Pure: lines in, an order
// out.
//
// An order is one block of lines for each command:
//
//   mcmd=spawn | nprocs=2 | execname=./child | totspawns=1 | spawnssofar=1
//   | arg1=-x | argcnt=1 | preput_num=1 | preput_key_0=k | preput_val_0=v | info_num=1 | info_key_0=wdir
//   | info_val_0=/tmp | endcmd
//
// The fields of a block may have any order, and unknown ones are ignored. A value is the rest of its line, with spaces
// and '='. The client reads the answer after the last block (spawnssofar = totspawns), so an error in an earlier block
// is kept until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/pmi_message.hpp"

namespace margay::command {

// Bounds of an order. Beyond them it is refused, so that a rank cannot fill the launcher's memory.
inline constexpr std::uint32_t kMaxSpawnCommands = sim::kMaxSpawnCommands;
// The answer has a code and a place for each process, and must fit in a line (sim::kMaxPmiLineBytes).
inline constexpr std::uint32_t kMaxSpawnProcesses = 1024;
inline constexpr std::uint32_t kMaxSpawnArguments = 4096;
inline constexpr std::uint32_t kMaxSpawnPairs = 64;
inline constexpr std::size_t kMaxSpawnBytes = std::size_t{1} << 20;

using SpawnPairs = std::vector<std::pair<std::string, std::string>>;

// One command of an order, with MPI's info of it.
struct SpawnCommand {
  std::uint32_t processes = 0;
  std::string program;
  // Without the program's name.
  std::vector<std::string> arguments;
  SpawnPairs info;
};

struct SpawnOrder {
  std::vector<SpawnCommand> commands;
  // Keys that the new processes find in their key-value space.
  SpawnPairs preput;

  // The processes of all commands.
  [[nodiscard]] std::uint32_t processes() const;
};

// Collects the lines of one rank's order.
class SpawnReader {
 public:
  enum class Step : std::uint8_t {
    // The order continues.
    more,
    // The last line: order() has the order if error() is empty.
    whole,
  };

  // Takes the next line, without its newline; the first one is mcmd=spawn.
  [[nodiscard]] Step take_line(std::string_view line);
  // Whether the lines so far end inside a block, so that the next one belongs to the order whatever it contains.
  [[nodiscard]] bool in_block() const { return in_block_; }
  // Whether further blocks of the order must follow.
  [[nodiscard]] bool is_incomplete() const { return in_block_ || blocks_ != 0; }
  // The first error; empty: none. It names the field and its value.
  [[nodiscard]] const std::string& error() const { return error_; }
  // The order, which is removed. Requires: take_line() has returned Step::whole.
  [[nodiscard]] SpawnOrder take_order();

 private:
  // The pairs of one kind in a block: keys and values by their numbers in the field's name.
  struct NumberedPairs {
    std::string_view name;
    std::vector<std::pair<std::string, std::string>> pairs;
    std::int64_t announced = -1;
  };

  void begin_block();
  void take_field(std::string_view key, std::string_view value);
  // A field such as preput_key_3; false: the key is not of this kind.
  bool take_pair(NumberedPairs& pairs, std::string_view key, std::string_view value);
  void take_argument(std::string_view number, std::string_view value);
  [[nodiscard]] bool take_number(std::string_view key, std::string_view value, std::uint32_t most, std::int64_t& out);
  void end_block();
  void check_pairs(const NumberedPairs& pairs);
  // Keeps the first error.
  void refuse(std::string error);

  SpawnOrder order_;
  SpawnCommand command_;
  NumberedPairs info_{"info", {}, -1};
  NumberedPairs preput_{"preput", {}, -1};
  std::int64_t processes_ = -1, arguments_ = -1, total_ = -1, so_far_ = -1;
  // Whole blocks so far; bytes of all lines so far.
  std::uint32_t blocks_ = 0;
  std::size_t bytes_ = 0;
  bool in_block_ = false;
  std::string error_;
};

// MPI's info key "soft": triplets begin:end:stride, or single numbers, with commas. `allowed` has an element for each
// number from 0 to `most`. Negative numbers and those above `most` are ignored, as MPI requires. Error: quotes the
// text. Requires: `most` is at most kMaxSpawnProcesses, which bounds the work.
[[nodiscard]] portals::Status parse_soft(std::string_view text, std::uint32_t most, std::vector<bool>& allowed);

// The answer to an order. `codes`: one for each process that was requested; 0: it runs. `places`: those of the
// processes that run. `error`: why no process was started; empty: the order was carried out. `again`: a later order may
// succeed.
[[nodiscard]] std::string spawn_answer(const std::vector<int>& codes, const std::vector<std::uint32_t>& places,
                                       std::string_view error, bool again = false);

}  // namespace margay::command
