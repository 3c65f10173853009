#include "mpi_adi/object/port_name.hpp"

#include <array>
#include <cstddef>

#include "sim/base/text.hpp"
#include "sim/boot/parse.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::string_view kBegin = "margay-port:";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kShownBytes = 60;  // of an invalid name, in messages

// FNV-1a, 32 bits.
std::uint32_t check_of(std::string_view text) {
  std::uint32_t hash = 0x811c'9dc5;
  for (const char letter : text) hash = (hash ^ static_cast<std::uint8_t>(letter)) * 0x0100'0193U;
  return hash;
}

template <typename Number>
std::string hexadecimal(Number number) {
  std::string text(2 * sizeof number, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U)
    *digit = "0123456789abcdef"[number & 15U];
  return text;
}

// True if `text` is exactly what hexadecimal() makes of a number.
template <typename Number>
bool parse_hexadecimal(std::string_view text, Number& out) {
  if (text.size() != 2 * sizeof out) return false;
  out = 0;
  for (const char digit : text) {
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && (digit < 'a' || digit > 'f')) return false;
    out = out << 4U | static_cast<Number>(decimal ? digit - '0' : digit - 'a' + 10);
  }
  return true;
}

std::string without_check(const PortName& name) {
  return std::string(kBegin) + std::string(kVersion) + ":" + hexadecimal(name.job) + ":" + std::to_string(name.place) +
         ":" + hexadecimal(name.key);
}

portals::Status invalid(std::string_view text, const std::string& why) {
  return portals::Status::error("port_name '" + sim::one_line(text.substr(0, kShownBytes)) + "' " + why);
}

}  // namespace

std::string port_name_text(const PortName& name) {
  const std::string text = without_check(name);
  return text + ":" + hexadecimal(check_of(text));
}

portals::Status parse_port_name(std::string_view text, PortName& out) {
  if (text.substr(0, kBegin.size()) != kBegin) {
    return invalid(text, "is not a name that margay's MPI_Open_port made");
  }
  std::array<std::string_view, 5> fields;  // version, job, place, key, check
  std::string_view rest = text.substr(kBegin.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? rest.find(':') : rest.size();
    if (end == std::string_view::npos) return invalid(text, "is truncated");
    fields[i] = rest.substr(0, end);
    rest.remove_prefix(i + 1 < fields.size() ? end + 1 : end);
  }
  if (fields[0] != kVersion) return invalid(text, "was made by another version of margay");
  PortName name;
  const bool numbers = parse_hexadecimal(fields[1], name.job) && sim::parse_number(fields[2], name.place) &&
                       parse_hexadecimal(fields[3], name.key);
  // The comparison with the whole text rejects other spellings of the same numbers (a place with leading zeros).
  if (!numbers || port_name_text(name) != text) return invalid(text, "is damaged: its fields do not match its check");
  out = name;
  return {};
}

}  // namespace margay::mpi_adi
