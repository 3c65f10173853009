#include "command/run/pmi/name_file.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <span>

#include "sim/base/random.hpp"
#include "sim/boot/parse.hpp"

namespace margay::command {
namespace {

constexpr std::string_view kNameFirstLine = "margay-name 1";
// File systems allow 255 bytes.
constexpr std::size_t kPlainNameBytesMax = 200;
constexpr std::size_t kNameHashBytes = 32;

bool is_unchanged(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '-' || letter == '_';
}

// A line end inside a value would begin another line.
bool is_one_line(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char byte) { return byte >= ' ' && byte != 0x7f; });
}

// Takes the line "FIELD: VALUE" from the beginning of `text`.
bool take_line(std::string_view& text, std::string_view field, std::string& value) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(field)) return false;
  std::string_view line = text.substr(field.size(), end - field.size());
  text.remove_prefix(end + 1);
  if (!line.starts_with(": ")) return false;
  value = line.substr(2);
  return true;
}

}  // namespace

std::string name_file_of(std::string_view service) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (const char letter : service) {
    const auto byte = static_cast<unsigned char>(letter);
    if (is_unchanged(letter)) {
      name += letter;
    } else {
      name += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  if (!name.empty() && name.size() <= kPlainNameBytesMax) return name;
  std::array<std::byte, kNameHashBytes> hash;
  static_cast<void>(::crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(),
                                         reinterpret_cast<const unsigned char*>(service.data()), service.size(),
                                         nullptr, 0));
  return "hash." + sim::to_hex(hash);
}

std::string name_file_text(const NameFile& content) {
  for (const std::string* value : {&content.job, &content.service, &content.port}) {
    if (!is_one_line(*value)) return {};
  }
  std::string text(kNameFirstLine);
  text += "\nlauncher: " + std::to_string(content.launcher.pid) + " " + std::to_string(content.launcher.start_ticks) +
          "\njob: " + content.job + "\nservice: " + content.service + "\nport: " + content.port + "\n";
  return text.size() <= kNameFileBytesMax ? text : std::string();
}

// The comparison at the end finds every other form, such as numbers with leading zeros, control characters and a text
// that is too long.
bool parse_name_file(std::string_view text, NameFile& out) {
  const std::string_view whole = text;
  if (!text.starts_with(kNameFirstLine)) return false;
  text.remove_prefix(kNameFirstLine.size());
  if (!text.starts_with('\n')) return false;
  text.remove_prefix(1);
  NameFile read;
  std::string launcher;
  if (!take_line(text, "launcher", launcher) || !take_line(text, "job", read.job) ||
      !take_line(text, "service", read.service) || !take_line(text, "port", read.port)) {
    return false;
  }
  const std::string_view numbers(launcher);
  const std::size_t space = numbers.find(' ');
  if (space == std::string_view::npos || !sim::parse_number(numbers.substr(0, space), read.launcher.pid) ||
      !sim::parse_number(numbers.substr(space + 1), read.launcher.start_ticks) || read.launcher.pid <= 0 ||
      name_file_text(read) != whole) {
    return false;
  }
  out = std::move(read);
  return true;
}

}  // namespace margay::command
