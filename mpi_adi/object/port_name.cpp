#include "mpi_adi/object/port_name.hpp"

#include <array>
#include <cstddef>

#include "sim/base/text.hpp"
#include "sim/boot/parse.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::string_view kBegin = "margay-port:";
constexpr std::string_view kVersion = "2";
constexpr std::string_view kCardBegin = "tcp#";
constexpr std::string_view kNoAddress = "-";
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
         ":" + hexadecimal(name.key) + ":" + (name.address.empty() ? std::string(kNoAddress) : name.address);
}

bool is_address(std::string_view text) {
  return !text.empty() && text.size() <= kPortAddressBytesMax &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:%_-,") ==
             std::string_view::npos;
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
  // The address may contain colons, so the check is cut off first.
  std::string_view rest = text.substr(kBegin.size());
  const std::size_t last = rest.rfind(':');
  if (last == std::string_view::npos) return invalid(text, "is truncated");
  rest = rest.substr(0, last);
  std::array<std::string_view, 5> fields;  // version, job, place, key, address
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? rest.find(':') : rest.size();
    fields[i] = rest.substr(0, end);
    if (i == 0 && fields[0] != kVersion) return invalid(text, "was made by another version of margay");
    if (end == std::string_view::npos) return invalid(text, "is truncated");
    rest.remove_prefix(i + 1 < fields.size() ? end + 1 : end);
  }
  PortName name;
  const bool numbers = parse_hexadecimal(fields[1], name.job) && sim::parse_number(fields[2], name.place) &&
                       parse_hexadecimal(fields[3], name.key) && is_address(fields[4]);
  if (fields[4] != kNoAddress) name.address = fields[4];
  // The comparison with the whole text rejects other spellings of the same numbers (a place with leading zeros).
  if (!numbers || port_name_text(name) != text) return invalid(text, "is damaged: its fields do not match its check");
  out = name;
  return {};
}

std::string port_address_of_card(std::string_view card) {
  if (card.substr(0, kCardBegin.size()) != kCardBegin) return {};
  const std::string_view rest = card.substr(kCardBegin.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::string_view host = rest.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::string address = std::string(host) + "," + std::string(rest.substr(colon + 1));
  return is_address(address) ? address : std::string();
}

std::string card_of_port_address(std::string_view address) {
  const std::size_t comma = address.rfind(',');
  if (comma == std::string_view::npos) return {};
  const std::string host(address.substr(0, comma));
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return std::string(kCardBegin) + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::string(address.substr(comma + 1));
}

}  // namespace margay::mpi_adi
