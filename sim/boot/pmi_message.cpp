#include "sim/boot/pmi_message.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include "sim/base/random.hpp"
#include "sim/boot/parse.hpp"

namespace margay::sim {
namespace {

using portals::Status;

// Whether `text` may be the key of a field. Only a key before '=' starts a field, because a value may contain '=' too.
bool is_name(std::string_view text) {
  if (text.empty()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// The position of '=' when the word starts a field, otherwise npos.
std::size_t field_start(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && is_name(word.substr(0, equals)) ? equals : std::string_view::npos;
}

Status check_line(std::string_view line) {
  if (line.size() > kMaxPmiLineBytes) {
    return Status::error("PMI line of " + std::to_string(line.size()) + " bytes; at most " +
                         std::to_string(kMaxPmiLineBytes) + " are allowed");
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(line.begin(), line.end(), is_control)) return Status::error("PMI line has a control character");
  return {};
}

}  // namespace

Status PmiMessage::parse(std::string_view line, PmiMessage& out) {
  out = PmiMessage();
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (Status status = check_line(line); !status.ok()) return status;
  // The only line without a field: the end of an mcmd block.
  if (line == "endcmd") {
    out.command_ = "endcmd";
    return {};
  }
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const std::size_t equals = field_start(word);
    if (equals == std::string_view::npos) {
      if (out.fields_.empty()) return Status::error("PMI line does not start with a field key=value");
      // The word belongs to the value before it, which has spaces, as error messages do.
      out.fields_.back().second.append(" ").append(word);
      continue;
    }
    // Tested before the field is added, so the bound holds also for a line that is refused.
    if (out.fields_.size() == kMaxPmiFields) return Status::error("PMI line has too many fields");
    out.fields_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (out.fields_.empty()) return Status::error("PMI line is empty");
  out.is_block_ = out.fields_.front().first == "mcmd";
  out.command_ = out.text(out.is_block_ ? "mcmd" : "cmd");
  return {};
}

const std::string* PmiMessage::find(std::string_view key) const {
  for (const auto& [name, value] : fields_) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string PmiMessage::text(std::string_view key, std::string_view otherwise) const {
  const std::string* value = find(key);
  return value != nullptr ? *value : std::string(otherwise);
}

bool PmiMessage::number(std::string_view key, int& out) const {
  const std::string* value = find(key);
  return value != nullptr && parse_number(*value, out);
}

std::string to_pmi_word(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7f && byte != '=' && byte != '%') {
      word += letter;
    } else {
      word += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return word;
}

std::string from_pmi_word(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::byte byte{};
    if (word[i] == '%' && from_hex(word.substr(i + 1, 2), std::span(&byte, 1))) {
      text += static_cast<char>(byte);
      i += 2;
    } else {
      text += word[i];
    }
  }
  return text;
}

namespace {

struct MappingBlock {
  std::uint32_t first_node = 0;
  std::uint32_t nodes = 0;
  std::uint32_t ranks_per_node = 0;
};

bool take(std::string_view& text, std::string_view prefix) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Digits only: a sign or an overflow makes the mapping invalid.
bool take_number(std::string_view& text, std::uint32_t& out) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (!parse_number(text.substr(0, digits), out)) return false;
  text.remove_prefix(digits);
  return true;
}

bool take_blocks(std::string_view text, std::vector<MappingBlock>& blocks) {
  if (!take(text, "(") || !take(text, "vector")) return false;
  while (take(text, ",")) {
    MappingBlock block;
    const bool whole = take(text, "(") && take_number(text, block.first_node) && take(text, ",") &&
                       take_number(text, block.nodes) && take(text, ",") && take_number(text, block.ranks_per_node) &&
                       take(text, ")");
    if (!whole) return false;
    blocks.push_back(block);
  }
  return take(text, ")") && text.empty();
}

}  // namespace

Status parse_process_mapping(std::string_view text, std::uint32_t size, std::vector<std::uint32_t>& node_of_rank) {
  std::vector<MappingBlock> blocks;
  node_of_rank.clear();
  const auto places_ranks = [](const MappingBlock& block) { return block.nodes > 0 && block.ranks_per_node > 0; };
  // Without a block that places ranks, the loop below would not end.
  if (!take_blocks(text, blocks) || std::none_of(blocks.begin(), blocks.end(), places_ranks)) {
    return Status::error("PMI_process_mapping \"" + std::string(text.substr(0, 200)) +
                         "\" is not (vector,(first_node,nodes,ranks_per_node),...)");
  }
  // Keys have 64 bits, because first_node + nodes may exceed 32 bits.
  std::map<std::uint64_t, std::uint32_t> dense;
  while (node_of_rank.size() < size) {
    for (const MappingBlock& block : blocks) {
      if (!places_ranks(block)) continue;
      for (std::uint64_t slot = 0; node_of_rank.size() < size; ++slot) {
        if (slot / block.ranks_per_node >= block.nodes) break;
        const std::uint64_t node = block.first_node + slot / block.ranks_per_node;
        const auto fresh = static_cast<std::uint32_t>(dense.size());
        node_of_rank.push_back(dense.emplace(node, fresh).first->second);
      }
    }
  }
  return {};
}

// Adjacent nodes with equally many ranks make one block.
std::string format_process_mapping(const std::vector<std::uint32_t>& node_of_rank) {
  std::vector<MappingBlock> blocks;
  for (std::size_t begin = 0; begin < node_of_rank.size();) {
    std::size_t end = begin;
    while (end < node_of_rank.size() && node_of_rank[end] == node_of_rank[begin]) ++end;
    const auto ranks = static_cast<std::uint32_t>(end - begin);
    if (!blocks.empty() && blocks.back().ranks_per_node == ranks &&
        blocks.back().first_node + blocks.back().nodes == node_of_rank[begin]) {
      ++blocks.back().nodes;
    } else {
      blocks.push_back({node_of_rank[begin], 1, ranks});
    }
    begin = end;
  }
  std::string text = "(vector";
  for (const MappingBlock& block : blocks) {
    text += ",(" + std::to_string(block.first_node) + "," + std::to_string(block.nodes) + "," +
            std::to_string(block.ranks_per_node) + ")";
  }
  return text + ")";
}

}  // namespace margay::sim
