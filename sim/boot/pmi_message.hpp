// One line of PMI-1.1 as both sides read it: `cmd=put kvsname=k key=a value=b`. Pure: text in, fields out. Lenient,
// because implementations differ: fields in any order, unknown ones kept, several spaces, a carriage return at the end,
// `mcmd=` as the first field of a block of lines; and a word without '=' belongs to the field before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::sim {

// Bounds that no line of the protocol approaches. A line beyond them is an error, so that no peer can make the other
// side's memory grow.
inline constexpr std::size_t kMaxPmiLineBytes = 16384;
inline constexpr std::size_t kMaxPmiFields = 64;
inline constexpr std::size_t kMaxPmiName = 256;
inline constexpr std::size_t kMaxPmiKey = 64;
inline constexpr std::size_t kMaxPmiValue = 1024;
// Commands of a spawn request. Margay's launcher cannot find the end of a request that announces more.
inline constexpr std::size_t kMaxSpawnCommands = 256;

// One parsed line: a command and its fields, in their order.
class PmiMessage {
 public:
  // Parses a line without its newline. Fails when the line is empty or too long, or has a control character, too many
  // fields, or a first word without '='.
  [[nodiscard]] static portals::Status parse(std::string_view line, PmiMessage& out);

  // The value of cmd or mcmd; "endcmd" for the end of a block.
  [[nodiscard]] const std::string& command() const { return command_; }
  // Whether this line begins a block: its first field is mcmd=. The block ends with a line "endcmd".
  [[nodiscard]] bool is_block() const { return is_block_; }
  // Fields by key; the first one of equal keys.
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise = "") const;
  // The field as a decimal number; false when it is missing or does not fit an int.
  [[nodiscard]] bool number(std::string_view key, int& out) const;

 private:
  // The value of the first field with this key; nullptr: none.
  [[nodiscard]] const std::string* find(std::string_view key) const;

  std::string command_;
  bool is_block_ = false;
  // In the line's order, `cmd` included; at most kMaxPmiFields.
  std::vector<std::pair<std::string, std::string>> fields_;
};

// The node of each rank from `(vector,(first_node,nodes,ranks_per_node)...)`, repeated until every rank is placed.
// Fails for another form, or numbers that place no rank. Node numbers are dense, in order of first appearance.
[[nodiscard]] portals::Status parse_process_mapping(std::string_view text, std::uint32_t size,
                                                    std::vector<std::uint32_t>& node_of_rank);
// The reverse, for a launcher's own plan; blocks of equal nodes are combined.
[[nodiscard]] std::string format_process_mapping(const std::vector<std::uint32_t>& node_of_rank);

}  // namespace margay::sim
