#include "sim/trace/definition.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sim/base/text.hpp"

namespace margay::sim {

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

std::string lost_definitions_text(std::uint64_t lost) {
  return fmt::format(
      "there was no room for {} more {} of communicators, datatypes or entries; after the last recorded name, "
      "only numbers are recorded",
      lost, noun(lost, "name"));
}

std::string named_bits_text(std::uint64_t ignore_bits, std::string_view name) {
  return fmt::format("{:x} {}", ignore_bits, name);
}

std::size_t parse_definitions(std::span<const std::byte> room, std::vector<Definition>& definitions) {
  std::size_t at = 0;
  while (room.size() - at >= sizeof(DefinitionHead)) {
    DefinitionHead head;
    // The head is copied, because the bytes may have any alignment.
    std::memcpy(&head, room.data() + at, sizeof head);
    const bool whole =
        head.bytes % 8 == 0 && head.bytes >= sizeof head + head.text_bytes && head.bytes <= room.size() - at;
    // The file is damaged here; the definitions before this one are valid.
    if (!whole || head.text_bytes > kMaxDefinitionText) break;
    const auto* const text = reinterpret_cast<const char*>(room.data() + at + sizeof head);
    definitions.push_back({head.kind, head.time, head.number, head.value, printable({text, head.text_bytes})});
    at += head.bytes;
  }
  return at;
}

}  // namespace margay::sim
